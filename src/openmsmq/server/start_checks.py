"""What would refuse a start is looked for before anything is made on disk."""

import os
import socket
from collections.abc import Iterator
from typing import Final

from openmsmq.store.file_store import LOCK_NAME
from openmsmq.store.files import require_unlocked
from openmsmq.store.options import STORE_DIRECTORY
from openmsmq.wire.errors import ConfigError

from .config import Config
from .parts.binary import tls_contexts
from .parts.local import local_context

# What sun_path holds besides the zero at its end.
MAX_SOCKET_PATH: Final = 107


def check_start(config: Config) -> None:
    """Refuse a configuration that cannot be served.

    Raises:
        StoreError: another process uses the data directory.
        ConfigError: a certificate, a port, the socket or the ready file cannot be used.
    """
    require_unlocked(config.data / STORE_DIRECTORY / LOCK_NAME)
    tls_contexts(config)
    if config.local_port != "off":
        local_context(config)
    for key, port, kind in tcp_and_udp_ports(config):
        check_port(key, config.bind, port, kind)
    check_socket_path(config)
    check_ready_file(config)


def tcp_and_udp_ports(config: Config) -> Iterator[tuple[str, int, socket.SocketKind]]:
    """The ports that are going to be opened, with their keys."""
    for key, port, kind in (
        ("binary_port", config.binary_port, socket.SOCK_STREAM),
        ("ping_port", config.ping_port, socket.SOCK_DGRAM),
        ("local_port", config.local_port, socket.SOCK_STREAM),
    ):
        if port != "off":
            yield key, port, kind


def check_port(key: str, host: str, port: int, kind: socket.SocketKind) -> None:
    """Refuse a port that somebody has; it is free again afterwards."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        if kind is socket.SOCK_STREAM:
            # As for the listener: only one that listens is in the way.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as exc:
            raise ConfigError(
                f"{key}: {host}:{port}: {exc.strerror or exc}",
                remedy=f"Stop what uses it, or choose another {key} or bind address.",
            ) from exc


def check_socket_path(config: Config) -> None:
    """Refuse a path that is too long for a Unix socket."""
    size = len(os.fsencode(config.socket_path))
    if size > MAX_SOCKET_PATH:
        raise ConfigError(
            f"socket: {config.socket_path}: {size} bytes; a Unix socket has at most "
            f"{MAX_SOCKET_PATH}",
            remedy="Name a shorter path with --socket.",
        )


def check_ready_file(config: Config) -> None:
    """Refuse a ready file in a directory that cannot take it."""
    if config.ready_file is None:
        return
    folder = config.ready_file.parent
    if folder == config.data and not folder.exists():
        return
    if not folder.is_dir():
        raise ConfigError(f"ready_file: {config.ready_file}: there is no directory {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"ready_file: {config.ready_file}: {folder} may not be written")
