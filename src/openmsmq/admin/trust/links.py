"""Links that sign a user of this machine in: requested over a Unix socket, valid once."""

import asyncio
import os
import pwd
import secrets
import socket
import struct
import time
from pathlib import Path
from typing import Final

import msgspec

from .person import Person, Role

SOCKET_NAME: Final = "link.sock"
LINK_SECONDS: Final = 60.0
# More unused links than this drop the oldest.
MOST_LINKS: Final = 1_000
_PEER: Final = struct.Struct("3i")


class Link(msgspec.Struct, frozen=True):
    """The answer to a request for a link: the path of an address of the console."""

    path: str
    seconds: float
    principal: str
    role: str
    tls: bool


class Links:
    """Issues links and accepts each of them once.

    A user who may connect to the socket gets a link for the account in the kernel. The user of
    the console and root are administrators, others operators; the permissions of the queue
    manager limit the actions of each.

    Args:
        folder: the folder of the socket; None for no links.
        tls: whether the console speaks HTTPS.
    """

    def __init__(self, folder: Path | None, *, tls: bool = False) -> None:
        self._tls = tls
        self._path = None if folder is None else folder / SOCKET_NAME
        self._links: dict[str, tuple[float, Person]] = {}
        self._server: asyncio.AbstractServer | None = None

    async def start(self) -> None:
        """Listen on the socket."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Other users may ask for a link, and read nothing else here.
        self._path.parent.chmod(0o711)
        self._path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._answer, self._path)
        self._path.chmod(0o666)

    async def stop(self) -> None:
        """Close the socket."""
        if self._server is not None and self._path is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    def make(self, user: int, now: float) -> Link:
        """A new link for a user of this machine."""
        role = Role.ADMINISTRATOR if user in (0, os.getuid()) else Role.OPERATOR
        person = Person(principal=principal_of(user), role=role, bodies=True, credential="link")
        code = secrets.token_urlsafe(32)
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        self._links[code] = (now + LINK_SECONDS, person)
        return Link(f"/sign-in/{code}", LINK_SECONDS, person.principal, role.word, self._tls)

    def take(self, code: str, now: float) -> Person | None:
        """The person of a link, which becomes invalid."""
        ends, person = self._links.pop(code, (0.0, None))
        return person if now < ends else None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        connection: socket.socket = writer.get_extra_info("socket")
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        _, user, _ = _PEER.unpack(peer)
        writer.write(msgspec.json.encode(self.make(user, time.monotonic())) + b"\n")
        await writer.drain()
        writer.close()


def principal_of(user: int) -> str:
    """The principal of a user of this machine."""
    try:
        return f"user:{pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"uid:{user}"
