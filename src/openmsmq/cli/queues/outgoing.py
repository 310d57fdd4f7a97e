"""`openmsmq outgoing`: queues of messages to other machines."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.messages.output import make_style
from openmsmq.cli.messages.reading import (
    AllOption,
    CountOption,
    LookupIdOption,
    RawOption,
    SeparatorOption,
    limit_of,
    look,
    printing,
)
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import (
    Column,
    JsonOption,
    print_json,
    print_properties,
    say,
    screen_width,
    table_lines,
)
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text, duration_text, size_text, time_text

if TYPE_CHECKING:
    pass

_COLUMNS: Final = (
    Column("Destination"),
    Column("State"),
    Column("Messages", right=True),
    Column("Oldest", right=True),
    Column("Last error", cut=True, optional=True),
    Column("Retry in", right=True, optional=True),
    Column("Unacknowledged", right=True, optional=True),
    Column("Awaiting final", right=True, optional=True),
    Column("Next hop", cut=True, optional=True),
    Column("Size", right=True, optional=True),
)

# Steps of the connection that `show` prints.
HISTORY_SHOWN: Final = 10
DestinationArgument = Annotated[
    str, typer.Argument(metavar="DEST", help="Destination, as `openmsmq outgoing` shows it.")
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
    group.callback()(reporting("outgoing", outgoing))
    for name, function in (
        ("show", show),
        ("pause", pause),
        ("resume", resume),
        ("peek", peek),
        ("purge", purge),
        ("move", move),
        ("delete", delete),
    ):
        group.command(name)(reporting(f"outgoing {name}", function))
    app.add_typer(group, name="outgoing")


def outgoing(
    context: typer.Context, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Show outgoing queues; pause, empty or delete one."""
    if context.invoked_subcommand is not None:
        return
    with connect(socket) as manager:
        queues = manager.outgoing()
    if as_json:
        for queue in queues:
            print_json(queue)
    elif queues:
        _print_queues(queues)
    else:
        typer.echo("There are no outgoing queues.")


def pause(
    destination: DestinationArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Pause an outgoing queue; its messages wait."""
    with connect(socket) as manager:
        _show(manager.pause_outgoing(destination), as_json=as_json)


def resume(
    destination: DestinationArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Resume a paused outgoing queue."""
    with connect(socket) as manager:
        _show(manager.resume_outgoing(destination), as_json=as_json)


def show(
    destination: DestinationArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Show one outgoing queue and the steps of its connection."""
    with connect(socket) as manager:
        info = manager.outgoing_info(destination)
    if as_json:
        print_json(info)
    else:
        print_properties(list(outgoing_properties(info)))


def peek(
    destination: DestinationArgument,
    *,
    count: CountOption = None,
    everything: AllOption = False,
    lookup_id: LookupIdOption = None,
    raw: RawOption = False,
    separator: SeparatorOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Show messages that wait to be sent, but not those in transit.

    The exit code is 3 if there is none.
    """
    limit = limit_of(count, everything=everything, follow=False)
    style = make_style(as_json=as_json, raw=raw, separator=separator)
    with (
        printing(style, kept=False) as printer,
        connect(socket) as manager,
        manager.open_queue(destination, "peek_admin") as queue,
    ):
        look(queue, printer, lookup_id, limit, 0.0)


def purge(
    destination: DestinationArgument,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove all messages that wait to be sent; those in transit stay."""
    with connect(socket) as manager:
        info = manager.outgoing_info(destination)
        name, count = info["destination"], waiting(info)
        if not dry_run:
            if count:
                confirm(f"Remove {count_text(count, 'message')} to {name}?", yes=yes)
            with (
                progress("purging", count) as update,
                manager.open_queue(name, "receive_admin") as queue,
            ):
                count = queue.purge(progress=update)
    if as_json:
        print_json({"destination": name, "purged": count, "dry_run": dry_run})
    else:
        did = "Would remove" if dry_run else "Removed"
        say(f"{did} {count_text(count, 'message')} to {name}")


def move(
    destination: DestinationArgument,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Another destination, or a local queue.")
    ],
    *,
    lookup_id: LookupIdOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All messages that wait to be sent.")
    ] = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Move waiting messages to another destination or a local queue."""
    if bool(lookup_id) == everything:
        raise typer.BadParameter("say which messages: --lookup-id ID, or --all")
    ids = list(dict.fromkeys(lookup_id)) if lookup_id else None
    with connect(socket) as manager:
        info = manager.outgoing_info(destination)
        name, count = info["destination"], waiting(info)
        with manager.open_queue(name, "receive_admin") as queue:
            if ids:
                # A message that is not there is refused before any is moved.
                count = len([queue.peek_by_lookup_id(wanted) for wanted in ids])
            if not dry_run:
                if everything and count:
                    confirm(f"Send {count_text(count, 'message')} to {target} instead?", yes=yes)
                with progress("moving", count) as update:
                    count = queue.move(target, ids, progress=update)
    if as_json:
        print_json({"destination": name, "target": target, "moved": count, "dry_run": dry_run})
    else:
        did = "Would move" if dry_run else "Moved"
        say(f"{did} {count_text(count, 'message')} from {name} to {target}")


def delete(
    destination: DestinationArgument,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Delete an empty outgoing queue. The next message to its name creates a new one."""
    with connect(socket) as manager:
        name = manager.outgoing_info(destination)["destination"]
        if not dry_run:
            confirm(f"Delete the outgoing queue of {name}?", yes=yes)
            manager.delete_outgoing(name)
    if as_json:
        print_json({"destination": name, "deleted": not dry_run, "dry_run": dry_run})
    else:
        say(f"{'Would delete' if dry_run else 'Deleted'} the outgoing queue of {name}")


def waiting(info: dict[str, Any]) -> int:
    """How many messages of an outgoing queue are not under way."""
    count: int = info["messages"] - info["unacknowledged"]
    return count


def _show(queue: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(queue)
    else:
        _print_queues([queue])


def _print_queues(queues: list[dict[str, Any]]) -> None:
    """A line for each queue, and below those that are routed the way that they go."""
    title, *lines = table_lines(_COLUMNS, [outgoing_row(info) for info in queues], screen_width())
    typer.echo(title)
    for queue, line in zip(queues, lines, strict=True):
        typer.echo(line)
        if queue["next_hop_reason"]:
            hops = ", ".join(queue["next_hops"])
            say(f"  {f'via {hops}: ' if hops else ''}{queue['next_hop_reason']}")


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
        count_text(queue["awaiting_final_ack"]),
        queue["next_hop"],
        size_text(queue["bytes"]),
    )


def outgoing_properties(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """An outgoing queue with everything that is known of it."""
    yield "Destination", info["destination"]
    yield "Transport", info["transport"]
    yield "State", info["state"]
    if info["reason"]:
        yield "Why it waits", info["reason"]
    if info["queue_manager"]:
        yield "Queue manager", info["queue_manager"]
    yield "Next hop", info["next_hop"] or "-"
    if info["next_hops"] and info["next_hops"] != [info["next_hop"]]:
        yield "Next hops", ", ".join(info["next_hops"])
    if info["next_hop_reason"]:
        yield "Why this hop", info["next_hop_reason"]
    yield "Messages", f"{count_text(info['messages'])} ({size_text(info['bytes'])})"
    yield "Unacknowledged", count_text(info["unacknowledged"])
    yield "Awaiting final acknowledgment", count_text(info["awaiting_final_ack"])
    yield "Oldest", duration_text(info["oldest_message_age_seconds"])
    if info["last_error"]:
        yield "Last error", info["last_error"]
    if info["retry_in_seconds"] is not None:
        yield "Retry in", duration_text(info["retry_in_seconds"])
    for step in info["history"][-HISTORY_SHOWN:]:
        addresses = ", ".join(step["addresses"])
        moment = time_text(datetime.fromisoformat(step["time"]))
        reason = f": {step['reason']}" if step["reason"] else ""
        yield moment, f"{step['status']} {addresses}".strip() + reason
