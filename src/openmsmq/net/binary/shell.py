"""Listener, connector, pings and timer around the binary protocol."""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Coroutine, Mapping
from typing import Final, Protocol

from openmsmq.net.tls_listener import BACKLOG, Refused, TlsListener
from openmsmq.protocol.binary.events import Connect, Disconnect, SendPing
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.errors import ConfigError

from .link import Link
from .ping import PingAnswerer, PingSender

CONNECT_SECONDS: Final = 30.0
# How long a peer may take to read the last bytes before its connection is cut.
LINGER_SECONDS: Final = 2.0
_ANY: Final = frozenset(("", "0.0.0.0", "::"))  # noqa: S104 - compared with, not bound to


class Host(Protocol):
    """The queue manager's turn of the event loop."""

    def tick(self) -> float:
        """Tell the queue manager what time it is; returns the monotonic time."""

    def wake(self) -> None:
        """There may be something to store or to tell."""


Told = Callable[[Disconnect, str], None]


class BinaryShell:
    """Moves bytes between sockets and the protocol.

    Args:
        protocol: decides everything.
        host: is told whenever something happened.
        bind: the address to listen on and to connect out from.
        hosts: addresses of host names, in small letters, that are not resolved otherwise.
        server_tls, client_tls: contexts of TLS between queue managers that agreed on it.
        disconnected: told why each session ended, with the address of the peer.
        refused: told the address of a peer that TLS was not agreed on with, and why.
    """

    def __init__(
        self,
        protocol: BinaryProtocol,
        host: Host,
        *,
        bind: str,
        hosts: Mapping[str, str] | None = None,
        server_tls: ssl.SSLContext | None = None,
        client_tls: ssl.SSLContext | None = None,
        disconnected: Told | None = None,
        refused: Refused | None = None,
    ) -> None:
        self._protocol = protocol
        self._host = host
        self._bind = bind
        self._hosts = hosts or {}
        self._server_tls = server_tls
        self._client_tls = client_tls
        self._disconnected = disconnected
        self._refused = refused or (lambda _address, _reason: None)
        self._loop = asyncio.get_running_loop()
        self._links: dict[int, Link] = {}
        self._addresses: dict[int, str] = {}
        self._paused: set[int] = set()
        # Links that are hung up but not gone yet.
        self._ending: set[Link] = set()
        self._gone = asyncio.Event()
        self._server: asyncio.Server | TlsListener | None = None
        self._pings: list[asyncio.DatagramTransport] = []
        self._ping_sender: PingSender | None = None
        self._connecting: set[asyncio.Task[None]] = set()
        self._closed = False

    # Listening

    async def listen(self, port: int) -> str:
        """Accept sessions; returns where.

        Raises:
            ConfigError: the port cannot be had.
        """
        try:
            if self._server_tls is not None:
                self._server = secure = TlsListener(
                    lambda: Link(self), self._bind, port, self._server_tls, self._refused
                )
                return _where(secure.socket)
            self._server = plain = await self._loop.create_server(
                lambda: Link(self), self._bind, port, backlog=BACKLOG
            )
        except OSError as exc:
            raise ConfigError(f"binary_port: {self._bind}:{port}: {exc.strerror or exc}") from exc
        return _where(plain.sockets[0])

    def use_tls(self, server: ssl.SSLContext | None, client: ssl.SSLContext | None) -> None:
        """Use other certificates for new connections; whether TLS is spoken stays."""
        self._client_tls = client
        if isinstance(self._server, TlsListener) and server is not None:
            self._server.context = server

    async def listen_for_pings(self, port: int) -> str:
        """Answer pings; returns where.

        Raises:
            ConfigError: the port cannot be had.
        """
        family = socket.AF_INET6 if ":" in self._bind else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM)
        try:
            sock.bind((self._bind, port))
        except OSError as exc:
            sock.close()
            raise ConfigError(f"ping_port: {self._bind}:{port}: {exc.strerror or exc}") from exc
        transport, _ = await self._loop.create_datagram_endpoint(
            lambda: PingAnswerer(self._protocol.ping_request), sock=sock
        )
        self._pings.append(transport)
        return _where(transport.get_extra_info("socket"))

    async def close(self) -> None:
        """Hang up and stop; the protocol has been stopped before."""
        self.turn()
        self._closed = True
        if self._server is not None:
            self._server.close()
        for transport in self._pings:
            transport.close()
        for task in list(self._connecting):
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        for link in self._links.values():
            self._hang_up(link)
        self._links.clear()
        while self._ending:
            # What does not end by itself is cut off by its timer.
            self._gone.clear()
            await self._gone.wait()

    # What links tell

    def made(self, link: Link, address: str) -> None:
        now = self._host.tick()
        if link.number == 0:
            number = None if self._closed else self._protocol.accept(address, now=now)
            if number is None:
                link.abort()
                return
            link.number = number
        else:
            self._protocol.connected(link.number, address, now=now)
        self._links[link.number] = link
        self._addresses[link.number] = address
        self._host.wake()

    def received(self, link: Link, data: bytes) -> None:
        self._protocol.receive_data(link.number, data, now=self._host.tick())
        if not self._protocol.may_read(link.number):
            self._paused.add(link.number)
            link.read_on(wanted=False)
        self._host.wake()

    def writable(self, link: Link) -> None:
        if link.number:
            self._write(link.number, self._host.tick())
            self._host.wake()

    def lost(self, link: Link) -> None:
        self._ending.discard(link)
        self._gone.set()
        if link.number and self._links.pop(link.number, None) is not None:
            self._protocol.connection_lost(link.number, now=self._host.tick())
            self._host.wake()

    # What the protocol wants

    def turn(self) -> None:
        """Do what the protocol asks for; once in each turn of the host."""
        if self._closed:
            return
        while (event := self._protocol.next_event()) is not None:
            if isinstance(event, Connect):
                self._start(self._connect(event))
            elif isinstance(event, SendPing):
                self._start(self._send_ping(event))
            else:
                self._disconnect(event)
        now = self._host.tick()
        for number in self._protocol.take_ready():
            self._write(number, now)
        for paused in [each for each in self._paused if self._protocol.may_read(each)]:
            self._paused.discard(paused)
            link = self._links.get(paused)
            if link is not None:
                link.read_on(wanted=True)

    def _write(self, number: int, now: float) -> None:
        link = self._links.get(number)
        while link is not None and not link.full:
            data = self._protocol.data_to_send(number, now=now)
            if not data:
                return
            link.write(data)

    def _disconnect(self, event: Disconnect) -> None:
        address = self._addresses.pop(event.connection, "")
        link = self._links.pop(event.connection, None)
        self._paused.discard(event.connection)
        if link is not None:
            link.write(event.data)
            self._hang_up(link)
        if self._disconnected is not None:
            self._disconnected(event, address)

    def _hang_up(self, link: Link) -> None:
        """Close a link once what was written has left, or after a while."""
        if link.is_open:
            self._ending.add(link)
            self._loop.call_later(LINGER_SECONDS, link.abort)
        link.close()

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, event: Connect) -> None:
        local = None if self._bind in _ANY else (self._bind, 0)
        link = Link(self, event.connection)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._loop.create_connection(
                    lambda: link,
                    self._address_of(event.host),
                    event.port,
                    local_addr=local,
                    ssl=self._client_tls,
                )
        except (OSError, TimeoutError) as exc:
            if link.number in self._links:
                return
            self._protocol.connect_failed(event.connection, status_of(exc), now=self._host.tick())
            self._host.wake()

    async def _send_ping(self, event: SendPing) -> None:
        try:
            if self._ping_sender is None:
                transport, self._ping_sender = await self._loop.create_datagram_endpoint(
                    lambda: PingSender(self._ping_answered), (self._bind, 0)
                )
                self._pings.append(transport)
            found = await self._loop.getaddrinfo(
                self._address_of(event.host),
                event.port,
                family=socket.AF_INET,
                type=socket.SOCK_DGRAM,
            )
            self._ping_sender.send(event.datagram, found[0][4])
        except OSError as exc:
            self._protocol.connect_failed(event.connection, status_of(exc), now=self._host.tick())
            self._host.wake()

    def _address_of(self, host: str) -> str:
        return self._hosts.get(host.lower(), host)

    def _ping_answered(self, datagram: bytes) -> None:
        self._protocol.ping_response(datagram, now=self._host.tick())
        self._host.wake()


def status_of(error: OSError) -> ConnectionStatus:
    """What a connection history says of a connection that could not be made."""
    if isinstance(error, socket.gaierror):
        return ConnectionStatus.NAME_RESOLUTION_FAILURE
    if isinstance(error, ssl.SSLError):
        return ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
    if error.errno in (errno.EADDRNOTAVAIL, errno.EADDRINUSE):
        return ConnectionStatus.BIND_SOCKET_FAILURE
    return ConnectionStatus.CONNECT_SOCKET_FAILURE


def _where(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"{host}:{port}"
