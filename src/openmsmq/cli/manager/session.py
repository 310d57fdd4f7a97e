"""`openmsmq session`: lists and ends sessions with other queue managers and clients."""

from typing import Annotated, Any, Final

import typer

from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.terminal.quantities import count_text, size_text

_HELP: Final = "List sessions and clients; end one."
_SESSION_COLUMNS: Final = (
    Column("Protocol"),
    Column("Number", right=True),
    Column("Direction"),
    Column("State"),
    Column("Transport"),
    Column("Address", cut=True),
    Column("In", right=True),
    Column("Out", right=True),
    Column("Unacknowledged", right=True, optional=True),
    Column("Bytes in", right=True, optional=True),
    Column("Bytes out", right=True, optional=True),
    Column("Sources", right=True, optional=True),
    Column("Lost", right=True, optional=True),
    Column("Queues", right=True, optional=True),
    Column("Peer", optional=True),
)
_CLIENT_COLUMNS: Final = (
    Column("Protocol"),
    Column("Number", right=True),
    Column("Who", cut=True),
    Column("Address", cut=True),
    Column("Queues", right=True),
    Column("Waiting reads", right=True),
    Column("Transactions", right=True, optional=True),
    Column("Unread", right=True, optional=True),
)


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {"list": list_sessions, "clients": list_clients, "hangup": hang_up}
    add_group(app, "session", commands, help_text=_HELP)


def list_sessions(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """List sessions with other queue managers and multicast groups."""
    with connect(socket) as manager:
        sessions = manager.sessions()
    _show(_SESSION_COLUMNS, sessions, _session_row, "There is no session.", as_json=as_json)


def list_clients(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """List connected programs: your own, or all for administrators."""
    with connect(socket) as manager:
        clients = manager.clients()
    _show(_CLIENT_COLUMNS, clients, _client_row, "There is no client.", as_json=as_json)


def _show(
    columns: tuple[Column, ...],
    entries: list[dict[str, Any]],
    row: Any,
    nothing: str,
    *,
    as_json: bool,
) -> None:
    if as_json:
        for entry in entries:
            print_json(entry)
    elif entries:
        print_table(columns, [row(entry) for entry in entries])
    else:
        typer.echo(nothing)


def _session_row(session: dict[str, Any]) -> tuple[str, ...]:
    return (
        session["protocol"],
        str(session["id"]),
        session["direction"],
        session["state"],
        session["transport"],
        session["address"],
        count_text(session["incoming_messages"]),
        count_text(session["outgoing_messages"]),
        count_text(session["unacknowledged"]),
        size_text(session["incoming_bytes"]),
        size_text(session["outgoing_bytes"]),
        count_text(session["source_count"]) if session["group"] else "",
        count_text(session["lost_packets"]) if session["group"] else "",
        count_text(session["queues"]),
        session["peer"],
    )


def _client_row(client: dict[str, Any]) -> tuple[str, ...]:
    return (
        client["protocol"],
        str(client["id"]),
        client["principal"] or "(not said yet)",
        client["address"] or "this machine",
        count_text(client["queues"]),
        count_text(client["waiting_reads"]),
        count_text(len(client["transactions"])),
        size_text(client["unread_bytes"]),
    )


def hang_up(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help="Protocol, as listed.")],
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Number, as listed.")],
    *,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """End a session or a client.

    Locked messages of a client go back to their place. A session that is needed is opened again.
    """
    with connect(socket) as manager:
        if dry_run:
            listed = [*manager.sessions(), *manager.clients()]
            if all((entry["protocol"], entry["id"]) != (protocol, number) for entry in listed):
                raise _unknown(protocol, number)
        else:
            confirm(f"Hang up on {protocol} {number}?", yes=yes)
            manager.hang_up(protocol, number)
    if as_json:
        print_json({"protocol": protocol, "number": number, "dry_run": dry_run})
    else:
        did = "Would hang up" if dry_run else "Hung up"
        say(f"{did} on {protocol} {number}")


def _unknown(protocol: str, number: int) -> Exception:
    from openmsmq.wire.codes.hresult import Hresult
    from openmsmq.wire.codes.queue_error import QueueError

    return QueueError(
        Hresult.MQ_ERROR_INVALID_PARAMETER,
        f"{protocol} {number} is neither a session nor a client",
        cause="It has ended meanwhile, or the number is wrong.",
        remedy="List sessions and clients again.",
    )
