"""One client of the local protocol: bytes in, replies out once they are true on disk."""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol, cast

from openmsmq.protocol.local.framing import FrameBuffer, frame
from openmsmq.wire.errors import ProtocolViolation

WRITE_HIGH_WATER: Final = 4 * 1024 * 1024


class Session(Protocol):
    """What answers the requests of one client."""

    def receive(self, payload: memoryview) -> None:
        """Carry out one request; its replies go to the connection's `reply`."""

    def close(self) -> None:
        """Give back everything the client holds."""


class LocalHost(Protocol):
    """What the connections of a queue manager share."""

    def open_session(self, connection: "LocalConnection") -> Session:
        """A session for a client that has just connected.

        Raises:
            ProtocolViolation: this client is not let in.
        """

    def release(self, depends: int, connection: "LocalConnection", data: bytes) -> None:
        """Call `connection.write(data)` once batch `depends` is on disk."""

    def wake(self) -> None:
        """There may be something to store or to tell."""

    def fault(self, connection: "LocalConnection", error: Exception) -> None:
        """A client broke the protocol, or a request failed inside; the connection is closed."""

    def closed(self, connection: "LocalConnection") -> None:
        """A client is gone."""


class LocalConnection(asyncio.Protocol):
    """The socket of one client, with bounds on what it may have in flight."""

    def __init__(self, host: LocalHost, max_bytes: int) -> None:
        self._host = host
        self._max_bytes = max_bytes
        self._buffer = FrameBuffer()
        self._session: Session | None = None
        self._transport: asyncio.Transport | None = None
        self._held_bytes = 0
        self._full = False
        self._waiting: list[memoryview] = []
        self._resume: list[Callable[[], None]] = []

    @property
    def transport(self) -> asyncio.Transport | None:
        return self._transport

    @property
    def congested(self) -> bool:
        """Whether the client should read replies before it gets more."""
        return self._full or self._held_bytes > self._max_bytes

    def when_writable(self, callback: Callable[[], None]) -> None:
        """Call back once the client has read enough of what was sent."""
        self._resume.append(callback)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Stream servers make no other; uvloop's are no subclass of it.
        self._transport = stream = cast(asyncio.Transport, transport)
        stream.set_write_buffer_limits(WRITE_HIGH_WATER)
        try:
            self._session = self._host.open_session(self)
        except ProtocolViolation as exc:
            self._host.fault(self, exc)
            self.close()

    def data_received(self, data: bytes) -> None:
        if self._session is None:
            return
        try:
            self._waiting += self._buffer.feed(data)
        except ProtocolViolation as exc:
            self._host.fault(self, exc)
            self.close()
            return
        self._run()

    def _run(self) -> None:
        """Carry out the requests that are here, as far as the client keeps up."""
        waiting, session = self._waiting, self._session
        done = 0
        try:
            while session is not None and done < len(waiting) and not self.congested:
                session.receive(waiting[done])
                done += 1
        except ProtocolViolation as exc:
            self._host.fault(self, exc)
            self.close()
            return
        except Exception as exc:  # noqa: BLE001 - the top loop of a connection: logged and closed
            self._host.fault(self, exc)
            self.close()
            return
        finally:
            self._host.wake()
        del waiting[:done]
        self._pace()

    def _pace(self) -> None:
        """Read from the client only while it keeps up."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._waiting or self.congested:
            transport.pause_reading()
        elif not transport.is_reading():
            transport.resume_reading()

    def reply(self, depends: int, payload: bytes) -> None:
        """Send a reply once the batch it depends on is on disk; 0 sends at once."""
        data = frame(payload)
        if depends:
            self._held_bytes += len(data)
            self._host.release(depends, self, data)
        else:
            self._write(data)

    def write(self, data: bytes) -> None:
        """Send a reply that was held back."""
        self._held_bytes -= len(data)
        self._write(data)
        if self._waiting or self._resume:
            self._continue()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._continue()

    def _continue(self) -> None:
        if self.congested:
            return
        callbacks, self._resume = self._resume, []
        for callback in callbacks:
            callback()
        if self._waiting:
            self._run()
        else:
            self._pace()

    def close(self) -> None:
        """Hang up; what was already written still goes out."""
        if self._transport is not None:
            self._transport.close()
        self._leave()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._leave()
        self._transport = None
        self._host.closed(self)

    def _leave(self) -> None:
        session, self._session = self._session, None
        self._waiting.clear()
        self._resume.clear()
        if session is not None:
            session.close()
            self._host.wake()
