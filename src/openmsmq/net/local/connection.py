"""One client of the local protocol: bytes in, replies out once they are true on disk."""

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import Any, Final, NamedTuple, Protocol, cast

from openmsmq.protocol.local.framing import HELLO_FRAME_SIZE, LENGTH, MAX_FRAME_SIZE, FrameBuffer
from openmsmq.wire.errors import ProtocolViolation

# Beyond this, what the client has not read is left where it is.
WRITE_HIGH_WATER: Final = 4 * 1024 * 1024
# Replies are put together up to about this size.
WRITE_SIZE: Final = 256 * 1024
# Small ones are cheaper to copy than to hand over one by one.
COPY_SIZE: Final = 4096
# How long the requests of one client are carried out before others have their turn.
SLICE_SECONDS: Final = 0.005
# The same for a client that has asked for much.
STEPS_SECONDS: Final = 0.0001
# How long a client may take to say who it is.
HELLO_SECONDS: Final = 10.0
_CREDENTIALS: Final = Struct("3i")


class Credentials(NamedTuple):
    """Process, user and group that connected."""

    pid: int
    uid: int
    gid: int


def peer_credentials(sock: socket.socket) -> Credentials:
    """The credentials of the process that connected to a Unix socket: the kernel knows."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return Credentials(*_CREDENTIALS.unpack(raw))


class Session(Protocol):
    """What answers the requests of one client."""

    @property
    def greeted(self) -> bool:
        """Whether the client has said who it is."""

    @property
    def busy(self) -> bool:
        """Whether there are requests that take long, for `step`."""

    def receive(self, payload: memoryview) -> None:
        """Carry out one request; its replies go to the connection's `reply`."""

    def step(self) -> None:
        """Carry out one step of a request that takes long."""

    def pause(self) -> None:
        """The client does not read its replies: let others have what it waits for."""

    def resume(self) -> None:
        """The client reads again."""

    def stop(self) -> None:
        """The client is about to be cut off: let others have what it waits for."""

    def close(self) -> None:
        """Give back everything the client holds."""


class Clients(Protocol):
    """Who keeps the clients of a queue manager."""

    def open_session(self, connection: "LocalConnection") -> Session:
        """A session for a client that has just connected.

        Raises:
            ProtocolViolation: this client is not let in.
        """

    def fault(self, connection: "LocalConnection", error: Exception) -> None:
        """A client broke the protocol, or a request failed inside; the connection is closed."""

    def closed(self, connection: "LocalConnection") -> None:
        """A client has disconnected."""


class LocalHost(Protocol):
    """The queue manager's turn of the event loop."""

    def when_durable(self, depends: int, effect: Callable[[Any], None], argument: object) -> None:
        """Call `effect(argument)` once batch `depends` is on disk."""

    @property
    def saturated(self) -> bool:
        """Whether enough waits for the disk: no more requests for now."""

    def when_free(self, action: Callable[[], None]) -> None:
        """Call back when it is saturated no longer."""

    def wake(self) -> None:
        """There may be something to store or to tell."""


class LocalConnection(asyncio.BufferedProtocol):
    """The socket of one client, with bounds on what it may have in flight.

    Requests are carried out while the client reads the replies, the disk keeps up and the slice
    of time is not over. Otherwise the rest waits, and nothing more is read from the client.
    """

    def __init__(
        self,
        host: LocalHost,
        clients: Clients,
        max_bytes: int,
        hello_seconds: float = HELLO_SECONDS,
    ) -> None:
        self._host = host
        self._clients = clients
        self._max_bytes = max_bytes
        self._hello_seconds = hello_seconds
        self._loop = asyncio.get_running_loop()
        self._buffer = FrameBuffer(HELLO_FRAME_SIZE)
        self._session: Session | None = None
        self._transport: asyncio.Transport | None = None
        self._hello_timer: asyncio.TimerHandle | None = None
        self._requests: deque[memoryview] = deque()
        self._running = False
        self._scheduled = False
        self._stopping = False
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._held_bytes = 0
        self._full = False
        # Over the socket so far.
        self.received_bytes = 0
        self.sent_bytes = 0

    @property
    def transport(self) -> asyncio.Transport | None:
        return self._transport

    @property
    def congested(self) -> bool:
        """Whether the client should read replies before it gets more."""
        return self._full or self._held_bytes > self._max_bytes

    @property
    def unread_bytes(self) -> int:
        """Replies that are ready or wait for the disk, and that the client has not read."""
        waiting = self._held_bytes + self._out_bytes
        return waiting + (self._transport.get_write_buffer_size() if self._transport else 0)

    # The client comes and goes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Stream servers make no other; uvloop's are no subclass of it.
        self._transport = stream = cast(asyncio.Transport, transport)
        stream.set_write_buffer_limits(WRITE_HIGH_WATER)
        try:
            self._session = self._clients.open_session(self)
        except ProtocolViolation as exc:
            self._fail(exc)
            return
        self._hello_timer = self._loop.call_later(self._hello_seconds, self._expect_hello)

    def _expect_hello(self) -> None:
        self._hello_timer = None
        if self._session is not None and not self._session.greeted:
            self._fail(ProtocolViolation(f"no Hello in {self._hello_seconds:g} seconds"))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._leave()
        self._transport = None
        self._clients.closed(self)

    def _fail(self, error: Exception) -> None:
        self._clients.fault(self, error)
        self.close()

    def close(self) -> None:
        """Hang up; what is ready to be sent still goes out."""
        self._flush()
        if self._transport is not None:
            self._transport.close()
        self._leave()

    def abort(self) -> None:
        """Hang up at once; what the client has not read is lost to it."""
        if self._transport is not None:
            self._transport.abort()

    def stop(self) -> None:
        """Carry out no more requests; replies that wait for the disk still go out."""
        self._requests.clear()
        self._stopping = True
        if self._session is not None:
            self._session.stop()
        if self._transport is not None:
            self._transport.pause_reading()

    def _leave(self) -> None:
        session, self._session = self._session, None
        self._requests.clear()
        if self._hello_timer is not None:
            self._hello_timer.cancel()
            self._hello_timer = None
        if session is not None:
            session.close()
            self._host.wake()

    # Requests

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        if self._requests:
            self._buffer.release()
        return self._buffer.space()

    def buffer_updated(self, nbytes: int) -> None:
        if self._session is None:
            return
        self.received_bytes += nbytes
        try:
            self._requests.extend(self._buffer.filled(nbytes))
        except ProtocolViolation as exc:
            self._fail(exc)
            return
        if not self._scheduled:
            self._run()

    def _run(self) -> None:
        """Carry out what is here, as far as client, disk and other clients allow."""
        self._scheduled = False
        session = self._session
        if session is None or self._running:
            return
        self._running = True
        try:
            if not self._stopping:
                self._carry_out(session)
        except Exception as exc:  # noqa: BLE001 - the top loop of a connection: logged and closed
            self._fail(exc)
            return
        finally:
            self._running = False
            self._host.wake()
        self._flush()
        if not self._stopping:
            self._pace()

    def _carry_out(self, session: Session) -> None:
        requests, host = self._requests, self._host
        began, slice_seconds = time.monotonic(), SLICE_SECONDS
        while not (self.congested or host.saturated):
            if requests:
                greeted = session.greeted
                session.receive(requests.popleft())
                if not greeted:
                    self._buffer.max_frame_size = MAX_FRAME_SIZE
            elif not session.busy:
                return
            if session.busy and not self.congested:
                session.step()
                slice_seconds = STEPS_SECONDS
            if time.monotonic() - began >= slice_seconds:
                return

    def _pace(self) -> None:
        """Go on later with what is left; read from the client only when nothing is."""
        transport, session = self._transport, self._session
        if transport is None or session is None or transport.is_closing():
            return
        if self._requests or session.busy:
            transport.pause_reading()
            if self.congested:
                # Goes on when the client has read or the disk has caught up.
                return
            if self._host.saturated:
                self._host.when_free(self._schedule)
            else:
                self._schedule()
        elif self.congested:
            transport.pause_reading()
        elif not transport.is_reading():
            transport.resume_reading()

    def _schedule(self) -> None:
        """Go on in the next turn of the loop."""
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._run)

    # Replies

    def reply(self, depends: int, payload: bytes) -> None:
        """Send a reply once the batch it depends on is on disk; 0 sends at once."""
        if depends:
            self._held_bytes += len(payload)
            self._host.when_durable(depends, self._release, payload)
        else:
            self._send(payload)

    def _release(self, payload: bytes) -> None:
        """A reply that was held back may leave."""
        self._held_bytes -= len(payload)
        self._send(payload)

    def _send(self, payload: bytes) -> None:
        size = len(payload)
        if size <= COPY_SIZE:
            self._out.append(LENGTH.pack(size) + payload)
        else:
            self._out += (LENGTH.pack(size), payload)
        self._out_bytes += size
        if self._out_bytes >= WRITE_SIZE:
            self._flush()
        if not self._running:
            self._schedule()

    def _flush(self) -> None:
        out = self._out
        if not out:
            return
        self._out = []
        self.sent_bytes += self._out_bytes
        self._out_bytes = 0
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines(out)

    def pause_writing(self) -> None:
        self._full = True
        if self._session is not None:
            self._session.pause()

    def resume_writing(self) -> None:
        self._full = False
        if self._session is not None:
            self._session.resume()
            self._host.wake()
        self._schedule()
