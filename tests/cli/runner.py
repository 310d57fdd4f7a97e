"""Runs the program inside the tests, as a shell would."""

from typing import NamedTuple

from typer.testing import CliRunner

from openmsmq.cli import build_app


class Outcome(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def run(*arguments: str, stdin: bytes = b"", environment: dict[str, str] | None = None) -> Outcome:
    """Call `openmsmq` with these arguments."""
    # The width and colours of the terminal that runs the tests must not matter.
    clean = {"COLUMNS": None, "NO_COLOR": None, "FORCE_COLOR": None, "TERM": "xterm"}
    result = CliRunner().invoke(
        build_app(arguments), list(arguments), input=stdin, env=clean | (environment or {})
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)
