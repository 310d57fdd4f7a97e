"""`openmsmq trace`: everything that is known of a message."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from openmsmq.cli.failure import NOTHING_CAME, reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import time_text


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

    The exit code is 3 when nothing is known of it.
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
                    {"queue": place.name, "kind": str(place.kind), **message.to_dict()}
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
            }
        )
    else:
        for place, message in record.places:
            label = f", label {message.label}" if message.label else ""
            typer.echo(printable(f"It is in {place.name}, lookup id {message.lookup_id}{label}"))
        if not record.places:
            typer.echo("It is in no queue here, or a reader has locked it")
        for event in record.events:
            moment = time_text(datetime.fromtimestamp(event.time, UTC))
            typer.echo(f"{moment}  It {printable(event.text)}")
        if record.why:
            typer.echo(record.why)
        for name, reason in record.not_searched:
            typer.echo(f"Not searched: {printable(name)}: {printable(reason)}", err=True)
    if not record.places and not record.events:
        raise typer.Exit(NOTHING_CAME)
