"""`openmsmq conformance`, with the tool that it runs replaced by one that shows its arguments."""

from pathlib import Path

import pytest

from openmsmq.cli import conformance, main

SHOW_ARGUMENTS = "import sys\nprint(sys.argv[1:], flush=True)\nsys.exit(3)\n"


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(["conformance", *arguments])
    return ended.value.code


def test_the_tool_of_the_checkout_runs_with_the_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").touch()
    (tmp_path / conformance.TOOL).write_text(SHOW_ARGUMENTS)
    monkeypatch.setattr(conformance, "CHECKOUT", tmp_path)
    assert run("--spec", "MQQB-2", "--json", "--check") == 3
    assert capfd.readouterr().out == "['--spec', 'MQQB-2', '--json', '--check']\n"
    assert run() == 3
    assert capfd.readouterr().out == "[]\n"


def test_an_installed_package_says_that_it_has_no_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conformance, "CHECKOUT", tmp_path)
    assert run() == 1
    assert "Remedy: clone the repository" in capsys.readouterr().err


def test_the_tool_is_where_the_command_looks_for_it() -> None:
    assert (conformance.CHECKOUT / conformance.TOOL).is_file()
