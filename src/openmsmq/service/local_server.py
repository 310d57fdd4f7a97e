"""The local protocol's listeners: a Unix socket, and TCP with TLS and tokens."""

import asyncio
import hashlib
import hmac
import os
import socket
import ssl
import stat
import tomllib
from pathlib import Path
from typing import Final

from openmsmq.net.local.connection import LocalConnection, Session
from openmsmq.net.local.credentials import peer_credentials
from openmsmq.protocol.local import dispatch
from openmsmq.protocol.local.session import LocalSession, Service
from openmsmq.security.caller import Caller
from openmsmq.security.principals import parse_principal
from openmsmq.wire.errors import ConfigError, MsmqError, ProtocolViolation

from .accounts import UnixAccounts, caller_of
from .config import Config
from .host import Host
from .logs import (
    CLIENT_CONNECTED,
    CLIENT_CRASHED,
    CLIENT_FAULT,
    CLIENT_LEFT,
    CLIENT_REFUSED,
    LOGGER,
    log_event,
)

BACKLOG: Final = 512


class _Session:
    """A session with its place in the host's turn."""

    def __init__(self, host: Host, session: LocalSession) -> None:
        self._host = host
        self._session = session

    def receive(self, payload: memoryview) -> None:
        self._host.tick()
        dispatch.receive(self._session, payload)

    def close(self) -> None:
        self._host.tick()
        self._session.close()


class LocalServer:
    """Accepts the clients of one queue manager."""

    def __init__(self, config: Config, host: Host, service: Service) -> None:
        self._config = config
        self._host = host
        self._service = service
        self._servers: list[asyncio.Server] = []
        self._connections: set[LocalConnection] = set()
        self._tokens = load_tokens(config.local_tokens)

    # What connections ask for

    def open_session(self, connection: LocalConnection) -> Session:
        if len(self._connections) >= self._config.max_connections:
            raise ProtocolViolation(f"more than {self._config.max_connections} clients")
        caller = self._kernel_caller(connection)
        session = LocalSession(
            self._host.manager,
            self._service,
            caller,
            connection.reply,
            lambda: connection.congested,
            connection.when_writable,
        )
        self._connections.add(connection)
        log_event(CLIENT_CONNECTED, sid=caller.sid if caller is not None else "token")
        return _Session(self._host, session)

    def _kernel_caller(self, connection: LocalConnection) -> Caller | None:
        """Who connected, if the kernel knows; over TCP a token says."""
        transport = connection.transport
        sock: socket.socket | None = None
        if transport is not None:
            sock = transport.get_extra_info("socket")
        if sock is None or sock.family != socket.AF_UNIX:
            return None
        credentials = peer_credentials(sock)
        return caller_of(credentials.uid, credentials.gid)

    def release(self, depends: int, connection: LocalConnection, data: bytes) -> None:
        self._host.release(depends, connection, data)

    def wake(self) -> None:
        self._host.wake()

    def fault(self, connection: LocalConnection, error: Exception) -> None:
        if not isinstance(error, MsmqError):
            log_event(CLIENT_CRASHED, reason=repr(error))
            LOGGER.debug("details", exc_info=error)
        elif connection in self._connections:
            log_event(CLIENT_FAULT, reason=error)
        else:
            log_event(CLIENT_REFUSED, reason=error)

    def closed(self, connection: LocalConnection) -> None:
        if connection in self._connections:
            self._connections.discard(connection)
            log_event(CLIENT_LEFT)

    def authenticate(self, token: str) -> Caller | None:
        """Whom a token stands for."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        found = None
        for known, caller in self._tokens.items():
            if hmac.compare_digest(known, digest):
                found = caller
        return found

    # Listening

    def _connection(self) -> LocalConnection:
        return LocalConnection(self, self._config.max_connection_bytes)

    async def listen(self) -> dict[str, str]:
        """Open the sockets; returns where."""
        endpoints = {"local": str(await self._listen_unix(self._config.socket_path))}
        if self._config.local_port != "off":
            endpoints["local-tcp"] = await self._listen_tcp(self._config.local_port)
        return endpoints

    async def _listen_unix(self, path: Path) -> Path:
        remove_stale_socket(path)
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_unix_server(self._connection, str(path), backlog=BACKLOG)
        except OSError as exc:
            raise ConfigError(f"socket: {path}: {exc.strerror or exc}") from exc
        # Everybody may connect: the kernel says who it is, and each queue says what they may do.
        path.chmod(0o666)
        self._servers.append(server)
        return path

    async def _listen_tcp(self, port: int) -> str:
        certificate, key = self._config.local_certificate, self._config.local_key
        if certificate is None or key is None or not self._tokens:
            raise ConfigError(
                "local_port: needs local_certificate, local_key and local_tokens, because over "
                "the network only TLS and a token say who a client is"
            )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as exc:
            raise ConfigError(f"local_certificate: {certificate}: {exc}") from exc
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                self._connection, self._config.bind, port, ssl=context, backlog=BACKLOG
            )
        except OSError as exc:
            raise ConfigError(f"local_port: {exc.strerror or exc}") from exc
        self._servers.append(server)
        host, bound = server.sockets[0].getsockname()[:2]
        return f"{host}:{bound}"

    async def close(self) -> None:
        """Stop accepting and hang up."""
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.close()
        self._servers.clear()
        path = self._config.socket_path
        if path.is_socket():
            path.unlink(missing_ok=True)


def remove_stale_socket(path: Path) -> None:
    """Remove the socket that an earlier process left behind; the data directory is locked.

    Raises:
        ConfigError: something else is there.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"socket: {path} exists and is not a socket")
    path.unlink()


def load_tokens(file: Path | None) -> dict[str, Caller]:
    """Tokens by the SHA-256 of their text: `"<hex digest>" = "user:NAME"` in a TOML file.

    Raises:
        ConfigError: the file cannot be used.
    """
    if file is None:
        return {}
    tokens: dict[str, Caller] = {}
    try:
        for digest, principal in tomllib.loads(file.read_text(encoding="utf-8")).items():
            sid = parse_principal(str(principal), UnixAccounts())
            tokens[digest.lower()] = Caller(sid)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, MsmqError) as exc:
        raise ConfigError(f"local_tokens: {file}: {exc}") from exc
    return tokens
