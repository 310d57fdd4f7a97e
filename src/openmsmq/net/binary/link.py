"""One TCP connection between two queue managers."""

import asyncio
from typing import Final, Protocol, cast

WRITE_HIGH_WATER: Final = 1024 * 1024


class LinkOwner(Protocol):
    """Who drives the connections."""

    def made(self, link: "Link", address: str) -> None:
        """The connection is there."""

    def received(self, link: "Link", data: bytes) -> None:
        """Bytes came."""

    def writable(self, link: "Link") -> None:
        """The peer has read enough to be sent more."""

    def lost(self, link: "Link") -> None:
        """The connection is gone."""


class Link(asyncio.Protocol):
    """The socket of one session; `number` names it to the protocol, 0 before it has one."""

    def __init__(self, owner: LinkOwner, number: int = 0) -> None:
        self._owner = owner
        self.number = number
        self.full = False
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Stream transports are no other; uvloop's are no subclass of it.
        stream = cast(asyncio.Transport, transport)
        self._transport = stream
        stream.set_write_buffer_limits(WRITE_HIGH_WATER)
        peer = stream.get_extra_info("peername")
        self._owner.made(self, str(peer[0]) if peer else "")

    def data_received(self, data: bytes) -> None:
        if self.number:
            self._owner.received(self, data)

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self._owner.writable(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._transport = None
        self._owner.lost(self)

    def write(self, parts: list[bytes] | tuple[bytes, ...]) -> None:
        """Send bytes in order."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines(parts)

    def read_on(self, *, wanted: bool) -> None:
        """Go on reading, or stop for a while."""
        transport = self._transport
        if transport is None or transport.is_closing() or transport.is_reading() == wanted:
            return
        if wanted:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def close(self) -> None:
        """Hang up once what was written has left."""
        self.number = 0
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        self.number = 0
        if self._transport is not None:
            self._transport.abort()
