"""`openmsmq status`: the queue manager and its totals."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json, print_properties
from openmsmq.terminal.quantities import count_text, duration_text, size_text


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("status")(reporting("status", status))


def status(
    *,
    wait: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="Maximum wait for one that is starting."),
    ] = 0.0,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Show state, endpoints and totals of the queue manager."""
    with connect(socket, wait=wait) as manager:
        report = manager.status()
    if as_json:
        print_json(report)
    else:
        print_properties(status_properties(report))


def status_properties(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The lines for people."""
    yield "Queue manager", report["name"]
    yield (
        "State",
        report["state"]
        + ("" if report["online"] else ", offline")
        + (", refuses messages: disk full" if report["throttled"] else "")
        + (", refuses messages: quota_kilobytes used up" if report["quota_used_up"] else ""),
    )
    yield "GUID", report["guid"]
    up = f"process {report['pid']}, up {duration_text(report['uptime_seconds'])}"
    yield "Version", f"{report['version']}, {up}"
    endpoints = report["endpoints"]
    if endpoints:
        width = max(map(len, endpoints))
        yield "Endpoints", "\n".join(f"{name:{width}}  {at}" for name, at in endpoints.items())
    yield "Data", report["data"]
    yield (
        "Queues",
        f"{count_text(report['queues'])}, and {count_text(report['outgoing_queues'])} outgoing",
    )
    yield "Messages", f"{count_text(report['messages'])} ({size_text(report['bytes'])})"
    awaiting = report["awaiting_final_ack"]
    delivered = f", and {count_text(awaiting)} delivered but not received" if awaiting else ""
    yield "To be sent", count_text(report["outgoing_messages"]) + delivered
    yield "Dead letters", count_text(report["dead_letters"])
    for title, key in (
        ("Left unread", "deleted_messages"),
        ("Refused", "refused_requests"),
        ("Dropped", "dropped_messages"),
    ):
        if report[key]:
            yield title, "\n".join(f"{count_text(n)}  {why}" for why, n in report[key].items())
    memory, disk = size_text(report["memory_bytes"]), size_text(report["disk_bytes"])
    yield "Kept", f"{memory} in memory, {disk} on disk"
    doubt = report["in_doubt_transactions"]
    in_doubt = f", {count_text(doubt)} in doubt" if doubt else ""
    yield "Transactions", f"{count_text(report['transactions'])} open{in_doubt}"
    yield "Sessions", f"{sessions_text(report)}, {count_text(report['clients'], 'client')}"


def sessions_text(report: dict[str, Any]) -> str:
    """How many sessions with other queue managers there are."""
    return count_text(sum(report["sessions"].values()), "session") + " with other queue managers"


def troubles(report: dict[str, Any]) -> Iterator[str]:
    """Counts that may need attention, as text; only those that are not 0."""
    if report["outgoing_messages"]:
        yield f"{count_text(report['outgoing_messages'])} to be sent"
    if report["dead_letters"]:
        yield count_text(report["dead_letters"], "dead letter")
    for key, words in (("refused_requests", "refused"), ("dropped_messages", "dropped")):
        count = sum(report[key].values())
        if count:
            yield f"{count_text(count)} {words}"
