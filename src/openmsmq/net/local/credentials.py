"""Who is at the other end of a Unix socket: the kernel knows."""

import grp
import os
import pwd
import socket
from struct import Struct
from typing import Final

_CREDENTIALS: Final = Struct("3i")


def peer_credentials(sock: socket.socket) -> tuple[int, int, list[int]]:
    """Process id, user id and group ids of the process that connected."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    return pid, uid, group_ids(uid, gid)


def group_ids(uid: int, gid: int) -> list[int]:
    """All groups of a user; only the one given when the user has no entry."""
    try:
        return os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        return [gid]


def user_id(name: str) -> int | None:
    """The number of a user name."""
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def group_id(name: str) -> int | None:
    """The number of a group name."""
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        return None
