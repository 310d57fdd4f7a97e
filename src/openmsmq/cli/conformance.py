"""`openmsmq conformance`: what `make conformance` does, in a checkout of the project."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

CHECKOUT: Final = Path(__file__).resolve().parents[3]
TOOL: Final = Path("tools", "conformance.py")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("conformance")(conformance)


def conformance(
    *,
    spec: Annotated[
        str | None,
        typer.Option(metavar="PREFIX", help="Only requirements with this prefix: MQQB-2.2.3."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Fail if a page is out of date.")] = False,
) -> None:
    """Count the requirements of the specifications that tests prove.

    Runs the tests that name requirements and writes docs/conformance. It needs a checkout of
    openmsmq: an installed package has neither the tests nor the requirements.
    """
    if not (CHECKOUT / TOOL).is_file():
        typer.echo(
            "openmsmq conformance: this is an installed package, without the tests.\n"
            "Likely cause: the command was not run from a checkout of openmsmq.\n"
            "Remedy: clone the repository and run `make conformance` in it.",
            err=True,
        )
        raise typer.Exit(1)
    options = [
        *(["--spec", spec] if spec else []),
        *(["--json"] if as_json else []),
        *(["--check"] if check else []),
    ]
    command = [sys.executable, "-m", "tools.conformance", *options]
    # Our own tool, with options that were checked above.
    raise typer.Exit(subprocess.run(command, cwd=CHECKOUT, check=False).returncode)  # noqa: S603
