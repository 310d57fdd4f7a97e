"""`openmsmq outgoing`: what is on its way to other machines."""

from typing import Annotated, Any, Final

import typer

from openmsmq.terminal.quantities import count_text, duration_text, size_text

from .connection import SocketOption, connect
from .failure import reporting
from .output import Column, JsonOption, print_json, print_table

_COLUMNS: Final = (
    Column("Destination"),
    Column("State"),
    Column("Messages", right=True),
    Column("Oldest", right=True),
    Column("Last error", cut=True, optional=True),
    Column("Retry in", right=True, optional=True),
    Column("Unacknowledged", right=True, optional=True),
    Column("Next hop", cut=True, optional=True),
    Column("Size", right=True, optional=True),
)

DestinationArgument = Annotated[
    str, typer.Argument(metavar="DEST", help="Destination, as `openmsmq outgoing` shows it.")
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
    group.callback()(reporting("outgoing", outgoing))
    group.command("pause")(reporting("outgoing pause", pause))
    group.command("resume")(reporting("outgoing resume", resume))
    app.add_typer(group, name="outgoing")


def outgoing(
    context: typer.Context, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Show the outgoing queues, pause one or let it go on."""
    if context.invoked_subcommand is not None:
        return
    with connect(socket) as manager:
        queues = manager.outgoing()
    if as_json:
        for queue in queues:
            print_json(queue)
    elif queues:
        print_table(_COLUMNS, map(outgoing_row, queues))
    else:
        typer.echo("Nothing is on its way to another machine.")


def pause(
    destination: DestinationArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Keep an outgoing queue from sending; messages to it are kept."""
    with connect(socket) as manager:
        _show(manager.pause_outgoing(destination), as_json=as_json)


def resume(
    destination: DestinationArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Let a paused outgoing queue send again."""
    with connect(socket) as manager:
        _show(manager.resume_outgoing(destination), as_json=as_json)


def _show(queue: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(queue)
    else:
        print_table(_COLUMNS, [outgoing_row(queue)])


def outgoing_row(queue: dict[str, Any]) -> tuple[str, ...]:
    """An outgoing queue in a line."""
    return (
        queue["destination"],
        queue["state"],
        count_text(queue["messages"]),
        duration_text(queue["oldest_message_age_seconds"]),
        queue["last_error"] or queue["reason"],
        duration_text(queue["retry_in_seconds"]),
        count_text(queue["unacknowledged"]),
        queue["next_hop"],
        size_text(queue["bytes"]),
    )
