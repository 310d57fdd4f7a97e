"""Who is at the other end of a Unix socket: the kernel knows."""

import socket
from struct import Struct
from typing import Final, NamedTuple

_CREDENTIALS: Final = Struct("3i")


class Credentials(NamedTuple):
    """Process, user and group that connected."""

    pid: int
    uid: int
    gid: int


def peer_credentials(sock: socket.socket) -> Credentials:
    """The credentials of the process that connected."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return Credentials(*_CREDENTIALS.unpack(raw))
