"""Streams: TCP connections of a protocol without sockets, with optional TLS.

A protocol for TCP implements `StreamProtocol` and runs in a `StreamShell`, which listens, connects,
transfers bytes, pauses peers that send too much or read too little, and lets the last bytes leave
before it closes. Timers of the protocol are in the engine (`protocol.carrier`).
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Protocol, cast

from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.errors import ConfigError

from .tls_listener import BACKLOG, Refused, TlsListener

CONNECT_SECONDS: Final = 30.0
# The time that a peer has to read the last bytes before its connection is cut.
LINGER_SECONDS: Final = 2.0
WRITE_HIGH_WATER: Final = 1024 * 1024
# A peer that is silent for this time is probed this often before its connection is cut.
KEEP_ALIVE_SECONDS: Final = 60
KEEP_ALIVE_INTERVAL_SECONDS: Final = 10
KEEP_ALIVE_PROBES: Final = 5
ANY_ADDRESS: Final = frozenset(("", "0.0.0.0", "::"))  # noqa: S104 - compared with, not bound to


class Host(Protocol):
    """The queue manager's turn of the event loop."""

    def tick(self) -> float:
        """Set the time of the queue manager; return the monotonic time."""

    def wake(self) -> None:
        """There may be something to store or to report."""


class StreamProtocol(Protocol):
    """A protocol without sockets; it names its connections by numbers from 1.

    `StreamShell.hang_up` ends a number, even one whose connection is lost.
    """

    def accept(self, address: str, *, now: float) -> int | None:
        """A peer connected; return the number of the connection, or None to refuse it."""

    def connected(self, number: int, address: str, *, now: float) -> None:
        """A requested connection is open."""

    def connect_failed(self, number: int, status: ConnectionStatus, *, now: float) -> None:
        """A requested connection failed."""

    def receive_data(self, number: int, data: bytes, *, now: float) -> None:
        """Bytes arrived."""

    def may_read(self, number: int) -> bool:
        """Whether the protocol accepts more bytes of a connection at the moment."""

    def connection_lost(self, number: int, *, now: float) -> None:
        """The peer closed the connection, or it broke."""

    def take_ready(self) -> Sequence[int]:
        """The connections that may have something to send since the last call."""

    def data_to_send(self, number: int, *, now: float) -> list[bytes]:
        """The next bytes to send; empty while nothing waits."""


Accept = Callable[[str, str, float], int | None]
"""Takes the addresses of the peer and of this machine, and the time; as `StreamProtocol.accept`."""


class Stream(asyncio.Protocol):
    """One TCP connection; `number` identifies it to the protocol, 0 before and after its use."""

    __slots__ = ("_shell", "_transport", "accept", "full", "number")

    def __init__(self, shell: "StreamShell", accept: Accept | None, number: int = 0) -> None:
        self._shell = shell
        self.accept = accept
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
        if self._shell.keep_alive:
            keep_alive(stream.get_extra_info("socket"))
        peer = stream.get_extra_info("peername")
        local = stream.get_extra_info("sockname")
        self._shell.made(self, str(peer[0]) if peer else "", str(local[0]) if local else "")

    def data_received(self, data: bytes) -> None:
        if self.number:
            self._shell.received(self, data)

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self._shell.writable(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._transport = None
        self._shell.lost(self)

    def write(self, parts: Sequence[bytes]) -> None:
        """Send bytes in order."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines(parts)

    def read_on(self, *, wanted: bool) -> None:
        """Resume or pause reading."""
        transport = self._transport
        if transport is None or transport.is_closing() or transport.is_reading() == wanted:
            return
        if wanted:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def close(self) -> None:
        """Close once all written bytes have left."""
        self.number = 0
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self.number = 0
        if self._transport is not None:
            self._transport.abort()


class StreamShell:
    """Transfers bytes between TCP connections and a protocol.

    Args:
        protocol: makes all decisions.
        host: notified after every input.
        bind: the address to listen on and to connect out from.
        hosts: addresses of host names, in lower case, that are not resolved otherwise.
        server_tls, client_tls: contexts of TLS; without one connections are plain.
        refused: called with the address of a peer whose TLS handshake failed, and the reason.
        keep_alive: detect within two minutes that the machine of a peer no longer answers.
        happened: called after every call of the protocol by a connection; None wakes the host.
    """

    def __init__(
        self,
        protocol: StreamProtocol,
        host: Host,
        *,
        bind: str,
        hosts: Mapping[str, str] | None = None,
        server_tls: ssl.SSLContext | None = None,
        client_tls: ssl.SSLContext | None = None,
        refused: Refused | None = None,
        keep_alive: bool = False,
        happened: Callable[[], None] | None = None,
    ) -> None:
        self._protocol = protocol
        self.keep_alive = keep_alive
        self._host = host
        self._happened = happened or host.wake
        self._bind = bind
        self._hosts = hosts or {}
        self._server_tls = server_tls
        self._client_tls = client_tls
        self._refused = refused or (lambda _address, _reason: None)
        self._loop = asyncio.get_running_loop()
        self._streams: dict[int, Stream] = {}
        self._addresses: dict[int, str] = {}
        self.paused: set[int] = set()
        # Streams that are closing.
        self._ending: set[Stream] = set()
        self._gone = asyncio.Event()
        self._listeners: list[asyncio.Server | TlsListener] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.closed = False
        # Bytes since the start.
        self.received_bytes = 0
        self.sent_bytes = 0

    # Listening

    async def listen(
        self,
        port: int,
        *,
        key: str,
        accept: Accept | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> str:
        """Accept connections; return the address. A shell may listen on several ports.

        Args:
            port: the port, or 0 for any.
            key: the setting that errors name.
            accept: numbers the connections of this port; None for the protocol's `accept`.
            tls: the context of TLS of this port; None for that of the shell.

        Raises:
            ConfigError: the port cannot be opened.
        """
        tls = tls or self._server_tls
        try:
            if tls is not None:
                secure = TlsListener(
                    lambda: Stream(self, accept), self._bind, port, tls, self._refused
                )
                self._listeners.append(secure)
                return endpoint(secure.socket)
            plain = await self._loop.create_server(
                lambda: Stream(self, accept), self._bind, port, backlog=BACKLOG
            )
            self._listeners.append(plain)
        except OSError as exc:
            raise ConfigError(f"{key}: {self._bind}:{port}: {exc.strerror or exc}") from exc
        return endpoint(plain.sockets[0])

    def use_tls(self, server: ssl.SSLContext | None, client: ssl.SSLContext | None) -> None:
        """Use other certificates for new connections; the use of TLS does not change."""
        self._client_tls = client
        for listener in self._listeners:
            if isinstance(listener, TlsListener) and server is not None:
                listener.context = server

    async def close(self) -> None:
        """Close all connections and stop; the protocol has been stopped before."""
        self.closed = True
        for listener in self._listeners:
            listener.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream in self._streams.values():
            self._end(stream)
        self._streams.clear()
        while self._ending:
            # Connections that do not end by themselves are cut off by their timers.
            self._gone.clear()
            await self._gone.wait()

    # Callbacks of streams

    def made(self, stream: Stream, address: str, local_address: str) -> None:
        """A connection is open."""
        now = self._host.tick()
        if stream.number == 0:
            if self.closed:
                number = None
            elif stream.accept is not None:
                number = stream.accept(address, local_address, now)
            else:
                number = self._protocol.accept(address, now=now)
            if number is None:
                stream.abort()
                return
            stream.number = number
        else:
            self._protocol.connected(stream.number, address, now=now)
        self._streams[stream.number] = stream
        self._addresses[stream.number] = address
        self._happened()

    def received(self, stream: Stream, data: bytes) -> None:
        """Bytes arrived."""
        self.received_bytes += len(data)
        self._protocol.receive_data(stream.number, data, now=self._host.tick())
        if not self._protocol.may_read(stream.number):
            self.paused.add(stream.number)
            stream.read_on(wanted=False)
        self._happened()

    def writable(self, stream: Stream) -> None:
        """The peer has read enough to be sent more."""
        if stream.number:
            self._write(stream.number, self._host.tick())
            self._happened()

    def lost(self, stream: Stream) -> None:
        """A connection was closed."""
        self._ending.discard(stream)
        self._gone.set()
        if stream.number and self._streams.pop(stream.number, None) is not None:
            self._protocol.connection_lost(stream.number, now=self._host.tick())
            self._happened()

    # Requests of the protocol

    def move_bytes(self) -> None:
        """Send the output of the protocol, and resume reading; once per turn."""
        ready = self._protocol.take_ready()
        if ready:
            now = self._host.tick()
            for number in ready:
                self._write(number, now)
        if self.paused:
            self._read_on()

    def _read_on(self) -> None:
        """Resume reading from streams whose bytes the protocol accepts now."""
        for number in [number for number in self.paused if self._protocol.may_read(number)]:
            self.paused.discard(number)
            stream = self._streams.get(number)
            if stream is not None:
                stream.read_on(wanted=True)

    def _write(self, number: int, now: float) -> None:
        stream = self._streams.get(number)
        while stream is not None and not stream.full:
            data = self._protocol.data_to_send(number, now=now)
            if not data:
                return
            self.sent_bytes += sum(map(len, data))
            stream.write(data)

    def hang_up(self, number: int, last: Sequence[bytes] = ()) -> str:
        """Send the last bytes of a connection, then close it; return the address of the peer."""
        stream = self._streams.pop(number, None)
        self.paused.discard(number)
        if stream is not None:
            self.sent_bytes += sum(map(len, last))
            stream.write(last)
            self._end(stream)
        return self._addresses.pop(number, "")

    def _end(self, stream: Stream) -> None:
        """Close a stream once all written bytes have left, or after a while."""
        if stream.is_open:
            self._ending.add(stream)
            self._loop.call_later(LINGER_SECONDS, stream.abort)
        stream.close()

    # Connecting

    def connect(self, number: int, host: str, port: int) -> None:
        """Connect to a host; the protocol gets `connected` or `connect_failed`."""
        self.start(self._connect(number, host, port))

    async def _connect(self, number: int, host: str, port: int) -> None:
        local = None if self._bind in ANY_ADDRESS else (self._bind, 0)
        stream = Stream(self, None, number)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                with resolving(host):
                    await self._loop.create_connection(
                        lambda: stream,
                        self.address_of(host),
                        port,
                        local_addr=local,
                        ssl=self._client_tls,
                    )
        except (OSError, TimeoutError) as exc:
            if number not in self._streams:
                self.connect_failed(number, exc)

    def connect_failed(self, number: int, error: OSError) -> None:
        """Tell the protocol why a host cannot be reached."""
        self._protocol.connect_failed(number, status_of(error), now=self._host.tick())
        self._happened()

    def address_of(self, host: str) -> str:
        """The name to resolve for a host: its address in the configuration, or the host itself."""
        return self._hosts.get(host.lower(), host)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run slow work in a task; it is cancelled at the end."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@contextmanager
def resolving(host: str) -> Iterator[None]:
    """Report a host name that cannot be encoded for DNS as an unknown one.

    Raises:
        socket.gaierror: a part of the name is empty or longer than 63 bytes, or has a character
            that no host name can have.
    """
    try:
        yield
    except UnicodeError as exc:
        raise socket.gaierror(socket.EAI_NONAME, f"{host!r} is no host name") from exc


def status_of(error: OSError) -> ConnectionStatus:
    """The text of a failed connection for a connection history."""
    if isinstance(error, socket.gaierror):
        return ConnectionStatus.NAME_RESOLUTION_FAILURE
    if isinstance(error, ssl.SSLError):
        return ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
    if error.errno in (errno.EADDRNOTAVAIL, errno.EADDRINUSE):
        return ConnectionStatus.BIND_SOCKET_FAILURE
    return ConnectionStatus.CONNECT_SOCKET_FAILURE


def endpoint(sock: socket.socket) -> str:
    """Address and port of a listening socket."""
    host, port = sock.getsockname()[:2]
    return f"{host}:{port}"


def keep_alive(sock: socket.socket) -> None:
    """Close the connection if the peer's machine is silent for 60 seconds and five probes of 10."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEP_ALIVE_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEP_ALIVE_INTERVAL_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, KEEP_ALIVE_PROBES)
