"""Questions before a command removes something, and dry runs."""

import sys
from typing import Annotated

import typer

from openmsmq.terminal.printable import printable
from openmsmq.terminal.streams import is_terminal

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Skip the question on a terminal.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the effect and change nothing.")
]


def confirm(question: str, *, yes: bool) -> None:
    """Ask somebody at a terminal; scripts are not asked.

    Raises:
        Abort: the answer is no.
    """
    if not yes and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        typer.confirm(printable(question), abort=True, err=True)
