"""The machine that a SOURCE is on: the queue manager here, or another one over remote read."""

import socket as sockets
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .connection import connect
from .passwords import password_in

if TYPE_CHECKING:
    from openmsmq.client import QueueManager

_HELP_PANEL: Final = "SOURCE on another machine"

UserOption = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="NAME",
        help="User for the logon; else $OPENMSMQ_RPC_USER, else your Kerberos ticket.",
        rich_help_panel=_HELP_PANEL,
    ),
]
PasswordFileOption = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="File whose first line is the password; else $OPENMSMQ_RPC_PASSWORD_FILE.",
        rich_help_panel=_HELP_PANEL,
    ),
]


class Auth(StrEnum):
    """How to log on to another machine."""

    KERBEROS = "kerberos"
    NTLM = "ntlm"
    NONE = "none"


class Level(StrEnum):
    """How calls to another machine are protected."""

    NONE = "none"
    CONNECT = "connect"
    PACKET = "packet"
    INTEGRITY = "integrity"
    PRIVACY = "privacy"


AuthOption = Annotated[
    Auth | None,
    typer.Option(
        "--auth",
        metavar="kerberos|ntlm|none",
        help="Logon method; none is Anonymous Logon.",
        rich_help_panel=_HELP_PANEL,
    ),
]
LevelOption = Annotated[
    Level | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        help="none, connect, packet, integrity or privacy [privacy].",
        rich_help_panel=_HELP_PANEL,
    ),
]


def connect_to(
    source: str,
    socket: Path | None,
    *,
    user: str | None,
    password_file: Path | None,
    auth: str | None,
    level: str | None,
) -> "QueueManager":
    """Connect to the machine that has a queue.

    A name that means this machine stays with the queue manager here.

    Raises:
        ConnectionLost: no queue manager answers there.
        BadParameter: the options do not go with the source.
    """
    from openmsmq.client import connect as connect_client
    from openmsmq.client.remote.address import server_address

    host = host_of(source)
    named = {"--user": user, "--password-file": password_file, "--auth": auth, "--level": level}
    manager = None if host is None else _manager_here(host, socket)
    if host is None or manager is not None:
        options = [option for option, value in named.items() if value is not None]
        if options:
            raise typer.BadParameter(f"{source} is on this machine", param_hint=options)
        return manager or connect(socket)
    return connect_client(
        server_address(host),
        user=user,
        password=password_in(password_file),
        auth=auth,
        level=level,
    )


def is_remote(manager: "QueueManager") -> bool:
    """Whether queues are read over remote read."""
    return manager.address.startswith("msmq://")


def host_of(source: str) -> str | None:
    """The machine that a path name or a direct format name is for; None for this one."""
    from openmsmq.client.machines import other_machine

    here = {".", "localhost", "127.0.0.1", "::1", sockets.gethostname().lower()}
    return other_machine(source, here)


def _manager_here(host: str, socket: Path | None) -> "QueueManager | None":
    """The queue manager of this machine, if it is the one that a host means."""
    from openmsmq.client import ConnectionLost

    try:
        manager = connect(socket)
    except ConnectionLost:
        return None
    if host.lower() in manager.identity.names:
        return manager
    manager.close()
    return None


def info_of(manager: "QueueManager", source: str) -> dict[str, Any]:
    """Properties of a queue; of one on another machine only its name and how many are in it."""
    if not is_remote(manager):
        return manager.queue_info(source)
    with manager.open_queue(source, "peek") as queue:
        info = queue.ranges.info()
    return {"path": source, "messages": info.count, "bytes": info.bytes, "journal_messages": 0}


def free_messages(info: dict[str, Any]) -> int:
    """How many messages no reader has, as far as known: another machine does not tell."""
    count: int = info["messages"] - info.get("locked_messages", 0)
    return count
