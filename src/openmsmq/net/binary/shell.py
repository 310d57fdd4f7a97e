"""Sessions with other queue managers over TCP, and pings over UDP, around the binary protocol."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from openmsmq.net.streams import Host, StreamShell, endpoint, resolving
from openmsmq.net.tls_listener import Refused
from openmsmq.protocol.binary.events import Connect, Disconnect, SendPing
from openmsmq.protocol.binary.manager import BinaryProtocol
from openmsmq.wire.errors import ConfigError

from .ping import PingAnswerer, PingSender

Told = Callable[[Disconnect, str], None]


class BinaryShell:
    """Streams of the binary protocol, and its pings.

    Args:
        protocol: makes all decisions.
        host, bind, hosts, server_tls, client_tls, refused: as for `StreamShell`.
        disconnected: called with the reason and the address of the peer when a session ends.
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
        self._disconnected = disconnected
        self._loop = asyncio.get_running_loop()
        self.streams = StreamShell(
            protocol,
            host,
            bind=bind,
            hosts=hosts,
            server_tls=server_tls,
            client_tls=client_tls,
            refused=refused,
        )
        # Whether `turn` has work; this is read in every turn.
        self.has_output: Final = partial(any, (*protocol.outputs, self.streams.paused))
        self._pings: list[asyncio.DatagramTransport] = []
        self._ping_sender: PingSender | None = None

    async def close(self) -> None:
        """Close all connections; the protocol has been stopped before."""
        self.turn()
        for transport in self._pings:
            transport.close()
        await self.streams.close()

    def turn(self) -> None:
        """Carry out the requests of the protocol; called in each turn of the host that has some."""
        streams = self.streams
        if streams.closed:
            return
        while (event := self._protocol.next_event()) is not None:
            if isinstance(event, Connect):
                streams.connect(event.connection, event.host, event.port)
            elif isinstance(event, SendPing):
                streams.start(self._send_ping(event))
            else:
                address = streams.hang_up(event.connection, event.data)
                if self._disconnected is not None:
                    self._disconnected(event, address)
        streams.move_bytes()

    # Pings

    async def listen_for_pings(self, port: int) -> str:
        """Answer pings; return the address.

        Raises:
            ConfigError: the port cannot be opened.
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
        return endpoint(transport.get_extra_info("socket"))

    async def _send_ping(self, event: SendPing) -> None:
        try:
            if self._ping_sender is None:
                transport, self._ping_sender = await self._loop.create_datagram_endpoint(
                    lambda: PingSender(self._ping_answered), (self._bind, 0)
                )
                self._pings.append(transport)
            with resolving(event.host):
                addresses = await self._loop.getaddrinfo(
                    self.streams.address_of(event.host),
                    event.port,
                    family=socket.AF_INET,
                    type=socket.SOCK_DGRAM,
                )
            self._ping_sender.send(event.datagram, addresses[0][4])
        except OSError as exc:
            self.streams.connect_failed(event.connection, exc)

    def _ping_answered(self, datagram: bytes) -> None:
        self._protocol.ping_response(datagram, now=self._host.tick())
        self._host.wake()
