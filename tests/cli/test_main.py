"""The program itself: help, version, commands that are loaded when called."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.runner import run
from typer.main import get_command

from openmsmq import __version__
from openmsmq.cli import COMMANDS, build_app, main


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version") == (0, f"openmsmq {__version__}\n", "")


@pytest.mark.parametrize("arguments", [("--help",), ("-h",)])
def test_help_lists_every_command(arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert outcome.code == 0
    for entry in COMMANDS:
        assert entry.name in outcome.out
        assert entry.help in outcome.out


def test_without_arguments_the_help_is_shown() -> None:
    outcome = run()
    assert outcome.code == 2
    assert "Usage: " in outcome.out + outcome.err


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_has_help_of_its_own(entry: object) -> None:
    name = getattr(entry, "name", "")
    outcome = run(name, "--help")
    assert outcome.code == 0
    assert f"{name} [OPTIONS]" in outcome.out


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_help_of_every_command_begins_with_what_it_does(entry: object) -> None:
    _usage, what, *_rest = run(getattr(entry, "name", ""), "--help").out.split("\n\n")
    assert what.startswith("  ")


@pytest.mark.parametrize("arguments", [("dekode",), ("decode", "--jason"), ("--nothing",)])
def test_wrong_usage_has_exit_code_2(arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "Error: " in outcome.err


def test_every_command_that_ends_prints_json() -> None:
    program = get_command(build_app([], everything=True))
    without = sorted(
        name
        for name, command in _commands(program)
        if not any("--json" in parameter.opts for parameter in command.params)
    )
    assert without == ["demo", "serve"]


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its name, those of groups as well."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word, part in command.commands.items():
        yield from _commands(part, f"{name} {word}".strip())


def test_main_ends_the_process_with_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"openmsmq {__version__}\n"


LOADED = """
import sys
from openmsmq.cli import main
sys.argv = ["openmsmq", *{arguments!r}]
try:
    main()
except SystemExit:
    pass
print(sorted(name for name in sys.modules if name.startswith(("openmsmq.", "rich", "pydantic"))))
"""


def loaded(*arguments: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": "", **environment},
    )
    return result.stdout.splitlines()[-1]


def test_help_loads_no_command() -> None:
    assert loaded("--help") == "['openmsmq.cli', 'openmsmq.version']"


def test_the_socket_may_stand_before_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(arguments=["--socket", "/nowhere/s", "status"])],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": ""},
    )
    assert (
        "MQ_ERROR_SERVICE_NOT_AVAILABLE (0xC00E000B): no queue manager answers at /nowhere/s"
        in (done.stderr)
    )


@pytest.mark.parametrize("arguments", [("send", "--help"), ("queue", "list", "--help")])
def test_help_of_a_command_loads_no_client(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert "openmsmq.cli." in modules
    for heavy in ("openmsmq.client", "openmsmq.service", "openmsmq.server", "rich", "pydantic"):
        assert f"'{heavy}" not in modules


def test_a_shell_that_completes_words_gets_every_command() -> None:
    modules = loaded(_OPENMSMQ_COMPLETE="complete_bash", COMP_WORDS="openmsmq d", COMP_CWORD="1")
    assert "openmsmq.cli.decode'" in modules
    assert "openmsmq.cli.demo'" in modules
