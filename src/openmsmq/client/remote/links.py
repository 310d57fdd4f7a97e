"""Sockets of the links of a channel, on an event loop."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, cast

from openmsmq.net.streams import keep_alive

from .channel import Link, RemoteChannel

# How often is looked at what is held for too long.
TICK_SECONDS: Final = 10.0


class LinkSocket(asyncio.Protocol):
    """Moves the bytes of one link."""

    def __init__(self, owner: "Links", link: Link) -> None:
        self._owner = owner
        self.link: Final = link
        self.stream: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        self.stream = stream
        # Event loops set TCP_NODELAY by themselves.
        keep_alive(stream.get_extra_info("socket"))
        self._owner.flush()

    def data_received(self, data: bytes) -> None:
        self._owner.received(self.link, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.stream = None
        reason = "the server closed the connection" if exc is None else str(exc)
        self._owner.lost(self, reason)


class Links:
    """All sockets of a channel; everything here runs on one event loop.

    Args:
        host: the server.
        timeout: seconds for a connection with its bind.
        changed: called when a request is over or the channel is lost.
        lock: guards the channel.
    """

    def __init__(
        self,
        channel: RemoteChannel,
        host: str,
        timeout: float | None,
        changed: Callable[[], None],
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._channel = channel
        self._host = host
        self._timeout = timeout
        self._changed = changed
        self._lock = nullcontext() if lock is None else lock
        self._sockets: dict[Link, LinkSocket] = {}
        self._opening: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._ticks = self._loop.call_later(TICK_SECONDS, self._tick)

    def flush(self) -> None:
        """Open and close links, and write everything."""
        with self._lock:
            while self._channel.new_links:
                task = self._loop.create_task(self._open(self._channel.new_links.popleft()))
                self._opening.add(task)
                task.add_done_callback(self._opening.discard)
            for link, end in list(self._sockets.items()):
                stream = end.stream
                if stream is None:
                    continue
                data = link.connection.data_to_send()
                if data:
                    stream.writelines(data)
                if link.closing:
                    stream.close()

    async def _open(self, link: Link) -> None:
        end = LinkSocket(self, link)
        self._sockets[link] = end
        try:
            async with asyncio.timeout(self._timeout):
                await self._loop.create_connection(lambda: end, self._host, link.port)
        except TimeoutError:
            self.lost(end, f"port {link.port}: no answer in {self._timeout:g} seconds")
        except OSError as exc:
            self.lost(end, f"port {link.port}: {exc.strerror or exc}")
        else:
            if self._timeout is not None:
                self._loop.call_later(self._timeout, self._check_bound, end)

    def _check_bound(self, end: LinkSocket) -> None:
        if end.link.bound is not None and end.stream is not None:
            end.stream.abort()

    def received(self, link: Link, data: bytes) -> None:
        """Bytes came."""
        channel = self._channel
        with self._lock:
            before = channel.arrivals
            channel.receive(link, data)
            changed = channel.arrivals != before
        self.flush()
        if changed:
            self._changed()

    def lost(self, end: LinkSocket, reason: str) -> None:
        """A link is gone, or could not be opened."""
        self._sockets.pop(end.link, None)
        with self._lock:
            self._channel.lose_link(end.link, reason)
        self.flush()
        self._changed()

    def _tick(self) -> None:
        with self._lock:
            if self._channel.fault is None:
                self._channel.on_timer(self._loop.time())
        self.flush()
        self._ticks = self._loop.call_later(TICK_SECONDS, self._tick)

    async def close(self) -> None:
        """Hang up."""
        self._ticks.cancel()
        self.flush()
        for task in list(self._opening):
            task.cancel()
        streams = [end.stream for end in self._sockets.values() if end.stream is not None]
        for stream in streams:
            stream.close()
        # Sockets tell in the next turns that they are closed.
        while any(end.stream is not None for end in self._sockets.values()):
            await asyncio.sleep(0)
