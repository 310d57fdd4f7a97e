"""`openmsmq delayed`: lists, delivers and cancels delayed messages."""

from datetime import datetime
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.options.lookup_ids import parse_lookup_id
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.terminal.quantities import count_text, size_text, time_text
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

_HELP: Final = "List delayed messages; deliver or cancel them."
_COLUMNS: Final = (
    Column("Due"),
    Column("Queue", cut=True),
    Column("Lookup id", right=True),
    Column("Size", right=True, optional=True),
    Column("Label", cut=True, optional=True),
)

QueueArgument = Annotated[
    str, typer.Argument(metavar="QUEUE", help="Path name or format name of the destination.")
]
LookupIdOption = Annotated[
    list[int] | None,
    typer.Option(
        "--lookup-id",
        parser=parse_lookup_id,
        metavar="ID",
        help="Message with this lookup id; may be repeated.",
    ),
]
AllOption = Annotated[bool, typer.Option("--all", help="All delayed messages of the queue.")]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {"list": list_delayed, "deliver": deliver, "cancel": cancel}
    add_group(app, "delayed", commands, help_text=_HELP)


def list_delayed(
    queue: Annotated[
        str, typer.Argument(metavar="[QUEUE]", help="Path name or format name [all queues].")
    ] = "",
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """List delayed messages, in local and in outgoing queues."""
    with connect(socket) as manager:
        messages = manager.delayed(queue)
    if as_json:
        for message in messages:
            print_json({**message, "lookup_id": str(message["lookup_id"])})
        return
    messages.sort(key=lambda message: message["deliver_at"])
    if messages:
        print_table(_COLUMNS, map(_row, messages))
    else:
        typer.echo("No message waits for its time.")


def _row(message: dict[str, Any]) -> tuple[str, ...]:
    return (
        time_text(datetime.fromisoformat(message["deliver_at"])),
        message["queue"],
        str(message["lookup_id"]),
        size_text(message["body_size"]),
        message["label"],
    )


def deliver(
    queue: QueueArgument,
    *,
    lookup_id: LookupIdOption = None,
    every: AllOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Deliver delayed messages now."""
    chosen = choose(lookup_id, every=every)
    with connect(socket) as manager:
        if dry_run:
            count = _count(manager.delayed(queue), chosen, queue)
        else:
            count = manager.deliver_delayed(queue, chosen)
    did = "Would deliver" if dry_run else "Delivered"
    result = {"queue": queue, "delivered": count, "dry_run": dry_run}
    _tell(did, result, count, as_json=as_json)


def cancel(
    queue: QueueArgument,
    *,
    lookup_id: LookupIdOption = None,
    every: AllOption = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove delayed messages without delivering them."""
    chosen = choose(lookup_id, every=every)
    with connect(socket) as manager:
        count = _count(manager.delayed(queue), chosen, queue)
        if not dry_run:
            confirm(f"Cancel {count_text(count, 'delayed message')} for {queue}?", yes=yes)
            count = manager.cancel_delayed(queue, chosen)
    did = "Would cancel" if dry_run else "Cancelled"
    result = {"queue": queue, "cancelled": count, "dry_run": dry_run}
    _tell(did, result, count, as_json=as_json)


def _count(messages: list[dict[str, Any]], chosen: list[int] | None, queue: str) -> int:
    """How many messages are meant; each that is named must be there."""
    waiting = {message["lookup_id"] for message in messages}
    wanted = waiting if chosen is None else set(chosen)
    for lookup_id in sorted(wanted - waiting):
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue}: no delayed message {lookup_id}"
        )
    return len(wanted)


def choose(lookup_ids: list[int] | None, *, every: bool) -> list[int] | None:
    """The lookup ids that were given; None for all.

    Raises:
        BadParameter: neither or both were given.
    """
    if bool(lookup_ids) == every:
        raise typer.BadParameter("name messages with --lookup-id, or all with --all")
    return lookup_ids or None


def _tell(did: str, result: dict[str, Any], count: int, *, as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        say(f"{did} {count_text(count, 'message')} for {result['queue']}")
