"""`openmsmq diff`: compares a file of definitions with the queue manager."""

from typing import Final

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, say

from .definitions import FileArgument, changes_of, print_changes, read_file

DIFFERENT: Final = 4


def register(app: typer.Typer) -> None:
    app.command("diff")(reporting("diff", diff))


def diff(file: FileArgument, *, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """Show what a file of definitions would change, and queues that it does not list.

    The exit code is 0 if there is no difference, and 4 if there is one.
    """
    read = read_file(file)
    with connect(socket) as manager:
        changes = changes_of(manager, read)
    print_changes(changes, done=False, as_json=as_json)
    if changes:
        raise typer.Exit(DIFFERENT)
    if not as_json:
        say(f"No difference from {read.source}")
