"""A test that needs a program of the system is skipped, or fails where it must not be."""

import re
from pathlib import Path

import pytest

TESTS = """
    import pytest

    @pytest.mark.skipif(True, reason="needs a sieve (Debian: sieve)")
    def test_program(): ...

    @pytest.mark.skipif(True, reason="only root can")
    def test_root(): ...
"""
FOLDER = Path(__file__).parent.parent


@pytest.mark.parametrize(("value", "failed", "skipped"), [("", 0, 2), ("1", 1, 1)])
def test_what_is_missing_skips_or_fails(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    failed: int,
    skipped: int,
) -> None:
    monkeypatch.setenv("OPENMSMQ_REQUIRE_PROGRAMS", value)
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_inprocess("-p", "tests.plugins.programs", "-p", "no:xdist")
    counts = result.parseoutcomes()
    found = sum(counts.get(word, 0) for word in ("failed", "error", "errors"))
    assert (found, counts.get("skipped", 0)) == (failed, skipped)


def test_the_list_has_every_package_that_tests_name() -> None:
    named = set()
    for path in FOLDER.rglob("*.py"):
        if path.name != Path(__file__).name:
            named |= set(
                re.findall(r"\(Debian: ([a-z0-9.+-]+)\)", path.read_text(encoding="utf-8"))
            )
    listed = (FOLDER / "programs.txt").read_text(encoding="utf-8").split()
    assert sorted(named) == listed
