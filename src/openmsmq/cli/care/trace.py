"""`openmsmq trace`: the places and the history of a message."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from openmsmq.cli.failure import NOTHING_CAME, reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import time_text

if TYPE_CHECKING:
    from openmsmq.care.places import Place
    from openmsmq.client import BrowsedMessage


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("trace")(reporting("trace", trace))


def trace(
    identifier: Annotated[str, typer.Argument(metavar="ID", help=r"Message id, '{guid}\\number'.")],
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Show where a message is and what happened to it.

    The exit code is 3 if the message is unknown.
    """
    from openmsmq.care.tracing import trace_message

    with connect(socket) as manager:
        try:
            record = trace_message(manager, identifier)
        except ValueError as exc:
            raise typer.BadParameter(str(exc), param_hint="ID") from None
    if as_json:
        print_json(
            {
                "id": record.id,
                "places": [
                    {
                        "queue": place.name,
                        "kind": str(place.kind),
                        "state": message.state,
                        "holder": message.holder,
                        **message.to_dict(soap=True),
                    }
                    for place, message in record.places
                ],
                "events": [
                    {
                        "time": datetime.fromtimestamp(event.time, UTC).isoformat(),
                        "event": event.event,
                        "place": event.place,
                        "reason": event.reason,
                    }
                    for event in record.events
                ],
                "why": record.why,
                "not_searched": [
                    {"queue": name, "reason": reason} for name, reason in record.not_searched
                ],
            }
        )
    else:
        for place, message in record.places:
            typer.echo(printable(_place_text(place, message)))
        if not record.places:
            typer.echo("It is in no queue here")
        for event in record.events:
            moment = time_text(datetime.fromtimestamp(event.time, UTC))
            typer.echo(f"{moment}  It {printable(event.text)}")
        if record.why:
            typer.echo(record.why)
        for name, reason in record.not_searched:
            typer.echo(f"Not searched: {printable(name)}: {printable(reason)}", err=True)
    if not record.places and not record.events:
        raise typer.Exit(NOTHING_CAME)


def _place_text(place: "Place", message: "BrowsedMessage") -> str:
    due = message.deliver_at
    where = (
        f"is in {place.name}" if due is None else f"waits in {place.name} until {time_text(due)}"
    )
    label = f", label {message.label}" if message.label else ""
    locked = f"; locked: {message.holder}" if message.state == "locked" else ""
    return f"It {where}, lookup id {message.lookup_id}{label}{locked}"
