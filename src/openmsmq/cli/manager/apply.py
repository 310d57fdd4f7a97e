"""`openmsmq apply`: applies a file of definitions to queues and permissions."""

from typing import Annotated

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption

from .definitions import FileArgument, changes_of, deletions, print_changes, read_file, summary


def register(app: typer.Typer) -> None:
    app.command("apply")(reporting("apply", apply))


def apply(
    file: FileArgument,
    *,
    dry_run: DryRunOption = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete queues that the file does not list.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --prune: also delete queues with messages.")
    ] = False,
    recreate: Annotated[
        bool,
        typer.Option("--recreate", help="Replace an empty queue if it cannot be changed."),
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Apply a file of definitions: queues, permissions, paused outgoing queues, redirections.

    The whole file is checked first; then all changes are made, or none.
    """
    if force and not prune:
        raise typer.BadParameter("--force goes with --prune")
    read = read_file(file)
    options = {"prune": prune, "force": force, "recreate": recreate}
    with connect(socket) as manager:
        if prune and not dry_run:
            deleted = deletions(changes_of(manager, read, dry_run=True, **options))
            if deleted:
                contents = ", with all messages in them" if force else ""
                confirm(f"Delete {deleted}{contents}?", yes=yes)
        changes = changes_of(manager, read, dry_run=dry_run, **options)
    print_changes(changes, done=not dry_run, as_json=as_json)
    if not as_json:
        typer.echo(f"{summary(changes)}{', none made (dry run)' if dry_run else ''}")
