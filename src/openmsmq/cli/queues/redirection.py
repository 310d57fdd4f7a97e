"""`openmsmq redirection`: redirects messages over HTTP to other queues or hosts."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say

from .mapping_files import read_mapping_file

_HELP: Final = "Redirect messages over HTTP to other queues or hosts."
_COLUMNS: Final = (Column("Kind"), Column("From"), Column("To", cut=True))
KindArgument = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="inbound, outbound, exception (to outbound), receipts (of streams), or forward.",
    ),
]
FromArgument = Annotated[
    str, typer.Argument(metavar="FROM", help="URL of a queue; `*` at its end stands for any text.")
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(help=_HELP, rich_markup_mode=None, no_args_is_help=True)
    for name, function in (
        ("list", list_redirections),
        ("add", add),
        ("remove", remove),
        ("import", import_file),
    ):
        group.command(name)(reporting(f"redirection {name}", function))
    app.add_typer(group, name="redirection")


def list_redirections(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """List the redirections of messages over HTTP."""
    with connect(socket) as manager:
        redirections = manager.redirections()
    if as_json:
        for redirection in redirections:
            print_json(redirection)
    elif redirections:
        print_table(_COLUMNS, map(_row, redirections))
    else:
        typer.echo("There are no redirections.")


def add(
    kind: KindArgument,
    source: FromArgument,
    target: Annotated[
        str, typer.Argument(metavar="TO", help="URL to use instead; none for exceptions.")
    ] = "",
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Add a redirection of messages or receipts, or replace one."""
    with connect(socket) as manager:
        redirection = manager.add_redirection(kind, source, target)
    if as_json:
        print_json(redirection)
    else:
        print_table(_COLUMNS, [_row(redirection)])


def remove(
    kind: KindArgument,
    source: FromArgument,
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove a redirection."""
    with connect(socket) as manager:
        manager.remove_redirection(kind, source)
    if as_json:
        print_json({"kind": kind, "url": source, "removed": True})
        return
    say(f"Removed the {kind} redirection of {source}")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Mapping file of Windows, in XML.")],
    *,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Add the redirections of a mapping file of Windows."""
    redirections = read_mapping_file(file.read_bytes())
    rows: list[dict[str, Any]] = [
        {"kind": kind, "url": source, "to": target} for kind, source, target in redirections
    ]
    if not dry_run:
        with connect(socket) as manager:
            rows = [manager.add_redirection(*redirection) for redirection in redirections]
    if as_json:
        for row in rows:
            print_json(row)
    else:
        print_table(_COLUMNS, map(_row, rows))


def _row(redirection: dict[str, Any]) -> tuple[str, ...]:
    return redirection["kind"], redirection["url"], redirection["to"]
