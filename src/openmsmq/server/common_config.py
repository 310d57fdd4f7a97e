"""The settings shared by all parts of a queue manager."""

import socket
from pathlib import Path
from typing import Final, Literal

from openmsmq.net.local.paths import default_data_directory
from openmsmq.store.options import Options

from .settings import Settings, setting

KIBIBYTE: Final = 1024
MEBIBYTE: Final = 1024 * KIBIBYTE
# How many segments of log may follow a snapshot, and the part of one that is kept for deletes.
SNAPSHOT_SEGMENTS: Final = 4
RESERVE_SHARE: Final = 8


def default_name() -> str:
    """The computer name: the host's name without its domain."""
    return socket.gethostname().split(".")[0] or "localhost"


def is_host_name(text: str) -> bool:
    """Whether a text is a valid name of a computer."""
    return bool(text) and text.isprintable() and not any(mark in text for mark in '\\;,"/ ')


def check_name(name: str) -> str:
    """Refuse an invalid name of a computer."""
    if not is_host_name(name):
        raise ValueError('a computer name has no space and none of \\ ; , " /')
    return name


def check_hosts(hosts: dict[str, str]) -> dict[str, str]:
    """Refuse a table with anything but hosts and their addresses; names are in lower case."""
    for name, address in hosts.items():
        if not is_host_name(name) or not is_host_name(address):
            raise ValueError(f"{name} = '{address}' is not a host name and its address")
    return {name.lower(): address for name, address in hosts.items()}


class CommonConfig(Settings):
    """Identity, addresses, store, limits and log.

    A part that has settings of its own declares them in a subclass beside it; `Config` has the
    settings of all parts.
    """

    data: Path = setting(default_factory=default_data_directory)
    # Without one: the host name at the first start, then the stored name.
    name: str | None = setting(default=None, min_length=1, max_length=255, check=check_name)
    bind: str = "127.0.0.1"
    ready_file: Path | None = None
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    hosts: dict[str, str] = setting(default_factory=dict, check=check_hosts)
    directory: Path | None = None
    definitions: Path | None = None
    # Choice: as on Windows it is read at the start only ([MS-MQDMPR] 3.1.1.1).
    hardened_security: bool = False
    max_forwarded_bytes_per_address: int = setting(default=256 * MEBIBYTE, ge=4 * MEBIBYTE)
    send_insecure_nacks: bool = False
    max_streams: int = setting(default=50_000, ge=1, le=10_000_000)
    max_streams_per_address: int = setting(default=5_000, ge=1, le=10_000_000)
    memory_budget_bytes: int = setting(default=48 * MEBIBYTE, ge=MEBIBYTE)
    # The history of messages on disk; 0 keeps none.
    history_bytes: int = setting(default=64 * MEBIBYTE, ge=0, le=64 * 1024 * MEBIBYTE)
    segment_bytes: int = setting(default=64 * MEBIBYTE, ge=MEBIBYTE, le=1024 * MEBIBYTE)
    quota_kilobytes: int = setting(default=0xFFFFFFFF, ge=0, le=0xFFFFFFFF)
    journal_quota_kilobytes: int = setting(default=0xFFFFFFFF, ge=0, le=0xFFFFFFFF)
    # For each protocol.
    max_connections: int = setting(default=1000, ge=1, le=100_000)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    log_file: Path | None = None

    @property
    def store_options(self) -> Options:
        return Options(
            segment_size=self.segment_bytes,
            snapshot_interval=SNAPSHOT_SEGMENTS * self.segment_bytes,
            reserve=self.segment_bytes // RESERVE_SHARE,
        )
