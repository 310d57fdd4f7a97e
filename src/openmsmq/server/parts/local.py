"""The part that speaks the local protocol: clients become sessions of the queue manager."""

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from openmsmq.core.management.queue_infos import guid_text
from openmsmq.core.management.records import ClientInfo
from openmsmq.core.management.sources import Traffic
from openmsmq.net.local.connection import LocalConnection, Session, peer_credentials
from openmsmq.net.local.listeners import (
    UnixListener,
    listen_tls,
    listen_unix,
    server_context,
)
from openmsmq.net.local.paths import SOCKET_NAME
from openmsmq.net.tls_listener import TlsListener
from openmsmq.protocol.local.dispatch import HANDLERS, HostedSession, NotLetIn
from openmsmq.protocol.local.session import LocalSession
from openmsmq.security.caller import Caller
from openmsmq.security.principals import describe_principal
from openmsmq.server.common_config import MEBIBYTE, CommonConfig
from openmsmq.server.setting_values import Port
from openmsmq.server.settings import setting
from openmsmq.service.accounts import caller_of
from openmsmq.service.logs import (
    CLIENT_CONNECTED,
    CLIENT_FAULT,
    CLIENT_LEFT,
    CLIENT_REFUSED,
    REQUEST_CRASHED,
    log_event,
)
from openmsmq.wire.errors import ConfigError, ProtocolViolation

from .part import PartStatus, Premises, check_port

# The time that clients have at a stop to read their replies.
LINGER_SECONDS: Final = 1.0
LINGER_POLL_SECONDS: Final = 0.01
# The size of sun_path without the zero at its end.
MAX_SOCKET_PATH: Final = 107


class LocalConfig(CommonConfig):
    """Settings of the local protocol, over a Unix socket and over TCP."""

    socket: Path | None = None
    local_port: Port = "off"
    local_certificate: Path | None = None
    local_key: Path | None = None
    local_tokens: Path | None = None
    max_connection_bytes: int = setting(default=64 * MEBIBYTE, ge=8 * MEBIBYTE)

    @property
    def socket_path(self) -> Path:
        return self.socket or self.data / SOCKET_NAME


class _Client(NamedTuple):
    """One connection: its number, its session, and its account here or its address."""

    number: int
    session: LocalSession
    peer: str


class LocalPart:
    """Accepts the clients of one queue manager."""

    name: Final = "local"

    def __init__(self, config: LocalConfig, premises: Premises) -> None:
        self._config = config
        self._host = premises.host
        self._service = premises.service
        self._tokens = premises.tokens
        self._endpoints: dict[str, str] = {}
        self._listeners: list[TlsListener | UnixListener] = []
        self._tls: TlsListener | None = None
        self._connections: dict[LocalConnection, _Client] = {}
        self._last_number = 0
        self._host.manager.management.add_clients(self)
        self._host.manager.counters.client_requests.know((kind.__name__,) for kind in HANDLERS)

    @staticmethod
    def check(config: LocalConfig) -> None:
        if config.local_port != "off":
            local_context(config)
        check_port("local_port", config.bind, config.local_port)
        check_socket_path(config.socket_path)

    def status(self) -> PartStatus:
        return PartStatus(
            self._endpoints,
            unread_bytes=sum(connection.unread_bytes for connection in self._connections),
        )

    @property
    def client_count(self) -> int:
        """The number of connected clients."""
        return len(self._connections)

    @property
    def protocol(self) -> str:
        return self.name

    def hang_up(self, number: int) -> bool:
        """End a client; messages that it had locked go back in place."""
        for connection, client in self._connections.items():
            if client.number == number:
                asyncio.get_running_loop().call_soon(connection.abort)
                return True
        return False

    def clients(self) -> Iterator[ClientInfo]:
        """Every client, with its open resources."""
        for connection, client in list(self._connections.items()):
            caller, holder = client.session.caller, client.session.holder
            yield ClientInfo(
                id=client.number,
                protocol=self.name,
                principal=""
                if caller is None
                else describe_principal(caller.sid, self._service.accounts),
                sid="" if caller is None else str(caller.sid),
                address=address_of(connection),
                queues=len(holder.open),
                cursors=len(holder.cursors),
                waiting_reads=len(holder.waiting),
                transactions=tuple(
                    guid_text(transaction.identifier)
                    for transaction in holder.transactions.values()
                ),
                unread_bytes=connection.unread_bytes,
            )

    def traffic(self) -> Iterator[Traffic]:
        """The traffic of every client."""
        for connection, client in list(self._connections.items()):
            session = client.session
            yield Traffic(
                client.number,
                session.incoming_messages,
                session.outgoing_messages,
                connection.received_bytes,
                connection.sent_bytes,
            )

    def _count(self, event: str) -> None:
        """A client connected, was refused, broke the protocol, or met a fault of openmsmq."""
        self._host.manager.counters.clients.add((self.name, event))

    # Callbacks of connections

    def open_session(self, connection: LocalConnection) -> Session:
        if len(self._connections) >= self._config.max_connections:
            raise ProtocolViolation(
                f"{len(self._connections)} clients are connected, and max_connections allows no "
                "more"
            )
        caller = kernel_caller(connection)
        session = LocalSession(self._host.manager, self._service, caller, connection.reply)
        if caller is not None:
            peer = describe_principal(caller.sid, self._service.accounts)
        else:
            peer = address_of(connection)
        self._last_number += 1
        self._connections[connection] = _Client(self._last_number, session, peer)
        self._count("connected")
        log_event(CLIENT_CONNECTED, peer=peer)
        return HostedSession(self._host.engine, self._host.tick, session)

    def fault(self, connection: LocalConnection, error: Exception) -> None:
        client = self._connections.get(connection)
        peer = None if client is None else client.peer
        if not isinstance(error, ProtocolViolation):
            self._count("crashed")
            log_event(REQUEST_CRASHED, exception=error, peer=peer, reason=repr(error))
        elif peer is None:
            self._not_let_in(address_of(connection), str(error))
        elif isinstance(error, NotLetIn):
            self._not_let_in(peer, str(error))
        else:
            self._count("faulty")
            log_event(CLIENT_FAULT, peer=peer, reason=error)

    def _not_let_in(self, address: str, reason: str) -> None:
        self._count("refused")
        log_event(CLIENT_REFUSED, peer=address, reason=reason)

    def closed(self, connection: LocalConnection) -> None:
        client = self._connections.pop(connection, None)
        if client is not None:
            log_event(CLIENT_LEFT, peer=client.peer)

    # Listening

    def _connection(self) -> LocalConnection:
        return LocalConnection(self._host, self, self._config.max_connection_bytes)

    async def listen(self) -> dict[str, str]:
        """Open the sockets."""
        config, endpoints = self._config, self._endpoints
        self._listeners.append(await listen_unix(self._connection, config.socket_path))
        endpoints["local"] = str(config.socket_path)
        if config.local_port != "off":
            self._tls = server = listen_tls(
                self._connection,
                config.bind,
                config.local_port,
                context=local_context(config),
                refused=self._not_let_in,
            )
            self._listeners.append(server)
            host, port = server.socket.getsockname()[:2]
            endpoints["local-tcp"] = f"{host}:{port}"
        return endpoints

    @property
    def reloads(self) -> dict[str, Callable[[], None]]:
        actions: dict[str, Callable[[], None]] = {}
        if self._config.local_tokens is not None:
            actions["local_tokens"] = self._tokens.reload
        if self._config.local_port != "off":
            actions["local_certificate"] = self._reload_certificate
        return actions

    def _reload_certificate(self) -> None:
        """Show the current certificate of the file to new clients."""
        if self._tls is not None:
            self._tls.context = local_context(self._config)

    async def close(self) -> None:
        """Accept no more requests, send the replies that wait for the disk, close connections."""
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        for connection in self._connections:
            connection.stop()
        await self._host.drain()
        for connection in list(self._connections):
            connection.close()
        # A client that does not read must not delay the others.
        end = time.monotonic() + LINGER_SECONDS
        while self._connections and time.monotonic() < end:
            await asyncio.sleep(LINGER_POLL_SECONDS)
        for connection in list(self._connections):
            connection.abort()


def check_socket_path(path: Path) -> None:
    """Refuse a path that is too long for a Unix socket."""
    size = len(os.fsencode(path))
    if size > MAX_SOCKET_PATH:
        raise ConfigError(
            f"socket: {path}: {size} bytes; a Unix socket has at most {MAX_SOCKET_PATH}",
            remedy="Name a shorter path with --socket.",
        )


def local_context(config: LocalConfig) -> ssl.SSLContext:
    """The TLS context of the local protocol over TCP.

    Raises:
        ConfigError: the certificate is missing or invalid.
    """
    if not config.local_certificate or not config.local_key or not config.local_tokens:
        raise ConfigError(
            "local_port: needs local_certificate, local_key and local_tokens, because over the "
            "network only TLS and a token say who a client is",
            remedy="Set the three keys, or leave out local_port.",
        )
    return server_context(config.local_certificate, config.local_key)


def address_of(connection: LocalConnection) -> str:
    """The address of a client over TCP; empty for one on this machine."""
    name = connection.transport.get_extra_info("peername") if connection.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""


def kernel_caller(connection: LocalConnection) -> Caller | None:
    """The credentials of the client, if the kernel has them; over TCP a token identifies it."""
    transport = connection.transport
    sock: socket.socket | None = None
    if transport is not None:
        sock = transport.get_extra_info("socket")
    if sock is None or sock.family != socket.AF_UNIX:
        return None
    credentials = peer_credentials(sock)
    return caller_of(credentials.uid, credentials.gid)
