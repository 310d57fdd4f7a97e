"""`openmsmq events`: the events of a queue manager."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, time_text


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("events")(reporting("events", events))


def events(
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for further events, until Ctrl-C.")
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Show the newest events: queues, links, refusals, dead letters, drops, flow control.

    The queue manager keeps the last 1,000.
    """
    try:
        with connect(socket) as manager:
            last = -1
            while True:
                page = manager.events(last)
                _show(page, as_json=as_json)
                last = page["last"]
                if not follow:
                    return
    except KeyboardInterrupt:
        return


def _show(page: dict[str, Any], *, as_json: bool) -> None:
    left_out = page["left_out"]
    if as_json:
        for event in page["events"]:
            print_json({**event, "time": _moment(event).isoformat()})
        if left_out:
            print_json({"left_out": left_out})
        return
    if left_out:
        typer.echo(f"{count_text(left_out, 'event')} are no longer kept.", err=True)
    for event in page["events"]:
        typer.echo(printable(_line(event)))


def _moment(event: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(event["time"], UTC)


def _line(event: dict[str, Any]) -> str:
    words = [time_text(_moment(event)), event["kind"], event["queue"], event["detail"]]
    if event["count"] > 1:
        words.append(f"({count_text(event['count'])} messages)")
    return "  ".join(word for word in words if word)
