"""The coverage gate, run over a small package of its own."""

from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
BOTH: Final = "import small\n\ndef test_above():\n    assert small.sign(1)\n\n"
ONE: Final = "def test_below():\n    assert not small.sign(-1)\n"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{pytester.path}")
    monkeypatch.setenv("OPENMSMQ_COVERED_WHOLE", "small")
    monkeypatch.setenv("OPENMSMQ_COVERAGE_DATA", str(pytester.path / "data"))
    pytester.mkpydir("small")
    pytester.path.joinpath("small", "__init__.py").write_text(
        "def sign(number):\n    if number > 0:\n        return True\n"
    )
    pytester.makeini("[pytest]\naddopts = -p tests.plugins.coverage_gate\ntestpaths = .\n")
    return pytester


def test_full_coverage_from_two_processes_together_passes(suite: pytest.Pytester) -> None:
    suite.makepyfile(BOTH + ONE)
    outcome = suite.runpytest_subprocess("-n", "2")
    outcome.stdout.fnmatch_lines(["small: 100 %"])
    assert outcome.stdout.lines[-1].strip("= ").startswith("2 passed in ")
    assert outcome.ret == pytest.ExitCode.OK


def test_a_branch_not_taken_fails_the_run_and_pytest_has_the_last_line(
    suite: pytest.Pytester,
) -> None:
    suite.makepyfile(BOTH)
    outcome = suite.runpytest_subprocess()
    outcome.stdout.fnmatch_lines(
        ["small/__init__.py * 2->exit", "small: 80.00 %, not 100 %", "ERROR branch coverage*"]
    )
    assert outcome.stdout.lines[-1].strip("= ").startswith("1 passed, 1 error in ")
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


def test_a_module_that_nothing_imports_counts_too(suite: pytest.Pytester) -> None:
    suite.path.joinpath("small", "forgotten.py").write_text("number = 1\n")
    suite.makepyfile(BOTH + ONE)
    outcome = suite.runpytest_subprocess()
    outcome.stdout.fnmatch_lines(["small/forgotten.py *0.00%*"])
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


def test_a_part_of_the_tests_is_not_judged(suite: pytest.Pytester) -> None:
    suite.makepyfile(BOTH + ONE)
    outcome = suite.runpytest_subprocess("-k", "above")
    outcome.stdout.fnmatch_lines(["Not judged: only a part of the tests ran."])
    assert outcome.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("folder", ["simulation", "cli"])
def test_what_only_tests_of_something_else_touch_is_not_covered(
    suite: pytest.Pytester, folder: str
) -> None:
    suite.makepyfile(BOTH)
    suite.path.joinpath(folder).mkdir()
    suite.path.joinpath(folder, "test_runs.py").write_text("import small\n\n" + ONE)
    outcome = suite.runpytest_subprocess()
    outcome.stdout.fnmatch_lines(["small: 80.00 %, not 100 %"])
    # What comes after it is measured again.
    suite.path.joinpath("test_last.py").write_text("import small\n\n" + ONE)
    outcome = suite.runpytest_subprocess()
    outcome.stdout.fnmatch_lines(["small: 100 %"])
