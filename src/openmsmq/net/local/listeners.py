"""Listeners for clients: a Unix socket, and TCP with TLS."""

import asyncio
import socket
import ssl
import stat
from pathlib import Path
from typing import Final

from openmsmq.net.tls_listener import BACKLOG, Factory, Refused, TlsListener
from openmsmq.wire.errors import ConfigError

# Everybody may connect: the kernel identifies them, and each queue has its permissions.
SOCKET_MODE: Final = 0o666


class UnixListener:
    """A server on a Unix socket, which it removes when it closes."""

    def __init__(self, server: asyncio.Server, path: Path) -> None:
        self._server = server
        self._path = path
        self._identity = identity(path)

    def close(self) -> None:
        self._server.close()
        # Another process may have a socket of that name by now.
        if identity(self._path) == self._identity:
            self._path.unlink(missing_ok=True)


async def listen_unix(factory: Factory, path: Path) -> UnixListener:
    """Listen on a Unix socket.

    Raises:
        ConfigError: the socket cannot be created there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_stale_socket(path)
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(factory, str(path), backlog=BACKLOG)
        path.chmod(SOCKET_MODE)
    except OSError as exc:
        raise ConfigError(f"socket: {path}: {exc.strerror or exc}") from exc
    return UnixListener(server, path)


def remove_stale_socket(path: Path) -> None:
    """Remove the socket of an earlier process.

    Raises:
        ConfigError: a process listens there, or the file is not a socket.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"socket: {path} exists and is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise ConfigError(f"socket: {path}: another process listens there")


def identity(path: Path) -> tuple[int, int] | None:
    """The identity of the file, to distinguish it from another one of the same name."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def listen_tls(
    factory: Factory, host: str, port: int, *, context: ssl.SSLContext, refused: Refused
) -> TlsListener:
    """Listen on a TCP port that speaks TLS only.

    Args:
        factory: creates the protocol for a client.
        host: the address to listen on.
        port: the port, or 0 for any.
        context: the TLS context with the certificate.
        refused: called with the address of a refused client, and the reason.

    Raises:
        ConfigError: the port is taken.
    """
    try:
        return TlsListener(factory, host, port, context, refused)
    except OSError as exc:
        raise ConfigError(f"local_port: {host}:{port}: {exc.strerror or exc}") from exc


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """The TLS context with the certificate for clients.

    Args:
        certificate: in PEM form.
        key: its private key.

    Raises:
        ConfigError: the certificate or the key cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as exc:
        raise ConfigError(f"local_certificate: {certificate}: {exc}") from exc
    return context
