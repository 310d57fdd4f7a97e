"""Passwords: from a file or from somebody at a terminal, never from the command line."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from openmsmq.terminal.streams import is_terminal
from openmsmq.wire.errors import file_fault

_OPTION: Final = "--password-file"
_STANDARD_INPUT: Final = Path("-")

PasswordFileOption = Annotated[
    Path | None,
    typer.Option(
        _OPTION, metavar="FILE", help="File whose first line is the password; - for stdin."
    ),
]


def password_in(file: Path | None) -> str | None:
    """The first line of a file, because what is on a command line can be seen by others."""
    if file is None:
        return None
    try:
        if file == _STANDARD_INPUT:
            line = sys.stdin.readline()
        else:
            with file.open(encoding="utf-8") as stream:
                line = stream.readline()
    except (OSError, UnicodeDecodeError) as exc:
        raise typer.BadParameter(f"{file}: {file_fault(exc)}", param_hint=_OPTION) from exc
    password = line.rstrip("\r\n")
    if not password:
        raise typer.BadParameter(f"{file}: no password in it", param_hint=_OPTION)
    return password


def new_password(file: Path | None, user: str) -> str:
    """The password in a file, else the one that somebody types twice."""
    password = password_in(file)
    if password is not None:
        return password
    if not is_terminal(sys.stdin):
        raise typer.BadParameter(
            "without a terminal the password comes from it", param_hint=_OPTION
        )
    typed: str = typer.prompt(
        f"Password of {user}", hide_input=True, confirmation_prompt=True, err=True
    )
    return typed
