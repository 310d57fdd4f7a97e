"""HTTP and HTTPS of one queue manager over TCP, around `HttpTransport`."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from openmsmq.net.streams import (
    ANY_ADDRESS,
    CONNECT_SECONDS,
    Host,
    Stream,
    StreamShell,
    resolving,
    status_of,
)
from openmsmq.net.tls_listener import Refused
from openmsmq.protocol.http import Connect, Disconnect, HttpTransport
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .connecting import default_context, explain, open_stream

Disconnected = Callable[[Disconnect, str], None]


class HttpUser(Protocol):
    """The protocol that HTTP carries, as `protocol.srmp` is."""

    def turn(self, *, now: float) -> None:
        """Handle received requests and responses, and post messages that may leave."""


class SrmpShell:
    """Listens, connects and transfers the bytes of HTTP; its timers are in the engine.

    Args:
        http: makes all decisions about connections.
        user: receives requests and posts messages.
        host, bind, hosts, refused: as for `StreamShell`.
        client_tls: the context of TLS for connections to other hosts; None for the default.
        disconnected: called with the reason why a connection ended, and the peer's address.
    """

    def __init__(
        self,
        http: HttpTransport,
        user: HttpUser,
        host: Host,
        *,
        bind: str,
        client_tls: ssl.SSLContext | None,
        hosts: Mapping[str, str] | None = None,
        disconnected: Disconnected | None = None,
        refused: Refused | None = None,
    ) -> None:
        self._http = http
        self._user = user
        self._host = host
        self._bind = bind
        self._client_tls = client_tls
        self._disconnected = disconnected
        # Connections in progress, unless they are no longer wanted.
        self._connecting: set[int] = set()
        self.streams: Final = StreamShell(
            _HttpStreams(http), host, bind=bind, hosts=hosts, refused=refused, keep_alive=True
        )

    async def listen(self, port: int, *, key: str, tls: ssl.SSLContext | None = None) -> str:
        """Accept connections, with TLS if there is a context for it; return the address.

        Raises:
            ConfigError: the port cannot be opened.
        """

        def accept(address: str, _local_address: str, now: float) -> int | None:
            return self._http.server.accept(address, secure=tls is not None, now=now)

        return await self.streams.listen(port, key=key, accept=accept, tls=tls)

    def use_tls(self, server: ssl.SSLContext | None, client: ssl.SSLContext | None) -> None:
        """Use other certificates for new connections."""
        self._client_tls = client
        self.streams.use_tls(server, None)

    async def close(self) -> None:
        """Close all connections and stop; the user has been stopped before."""
        self._http.stop()
        self.turn()
        await self.streams.close()

    def has_output(self) -> bool:
        """Whether `turn` has work."""
        return self._http.has_output or bool(self.streams.paused)

    def turn(self) -> None:
        """Let the user work, and carry out the requests of HTTP; see `has_output`."""
        if self.streams.closed:
            return
        self._user.turn(now=self._host.tick())
        while (event := self._http.next_event()) is not None:
            if isinstance(event, Connect):
                self._connecting.add(event.connection)
                self.streams.start(self._connect(event))
            else:
                self._connecting.discard(event.connection)
                address = self.streams.hang_up(event.connection, event.data)
                if self._disconnected is not None:
                    self._disconnected(event, address)
        self.streams.move_bytes()

    async def _connect(self, event: Connect) -> None:
        number = event.connection
        stream = Stream(self.streams, None, number)
        local = None if self._bind in ANY_ADDRESS else (self._bind, 0)
        address = self.streams.address_of(event.route.host)
        if self._client_tls is None:
            self._client_tls = default_context()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                with resolving(event.route.host):
                    await open_stream(stream, event, address, local=local, tls=self._client_tls)
        except (OSError, TimeoutError) as exc:
            self._host.tick()
            self._http.connect_failed(number, status_of(exc), explain(exc, event))
            self._host.wake()
        if number not in self._connecting:
            self.streams.hang_up(number)
        self._connecting.discard(number)


class _HttpStreams:
    """HTTP as a `StreamProtocol` that is connected by `SrmpShell`."""

    def __init__(self, http: HttpTransport) -> None:
        self._http = http
        self.connected = http.connected
        self.receive_data = http.receive_data
        self.may_read = http.may_read
        self.take_ready = http.take_ready
        self.data_to_send = http.data_to_send

    def accept(self, address: str, *, now: float) -> int | None:  # noqa: ARG002 - not reached
        """Each listener has an `accept` of its own, which knows whether it speaks TLS."""
        return None

    def connect_failed(self, number: int, status: ConnectionStatus, *, now: float) -> None:
        """`SrmpShell` reports failures itself, with their reasons."""

    def connection_lost(self, number: int, *, now: float) -> None:  # noqa: ARG002 - as for every protocol
        self._http.connection_lost(number)
