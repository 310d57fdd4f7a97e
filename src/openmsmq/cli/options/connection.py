"""The queue manager that a command talks to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openmsmq.client import QueueManager

SocketOption = Annotated[
    Path | None,
    typer.Option(
        "--socket",
        metavar="PATH",
        help=(
            "Socket of the queue manager, or HOST:PORT (token in $OPENMSMQ_TOKEN_FILE); else "
            "$OPENMSMQ_SOCKET, else the default data directory."
        ),
    ),
]


def connect(socket: Path | None, *, wait: float = 0.0) -> "QueueManager":
    """Connect to the queue manager at this socket or host and port, or where one is by default.

    Args:
        wait: how many seconds one may still be starting.

    Raises:
        ConnectionLost: no queue manager answers there.
    """
    # Loaded only here: help and wrong usage need no client.
    from openmsmq.client import connect as connect_client

    return connect_client(None if socket is None else str(socket), wait=wait)
