"""The settings of the console, as passed by `serve`."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from openmsmq.wire.errors import ConfigError

MetricsAccess = Literal["loopback", "token", "anyone"]


class ConsoleSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The address of the queue manager, and the keys of the configuration for the console.

    Attributes:
        address: a socket path or `host:port` of the queue manager.
        token: identifies the console over TCP.
        ca_file: certificates to trust over TCP.
        folder: the place of persistent data; None for no persistence.
        definitions: the file applied by the queue manager at its start, if any.
        restarts: the number of restarts since the queue manager started.
        bound: the address that it listens on.
        certificates: files with certificates of the queue manager, by the key that names each.
        configuration: that of the queue manager, for display.
    """

    address: str
    token: str | None = None
    ca_file: str | None = None
    folder: Path | None = None
    restarts: int = 0
    definitions: Path | None = None
    bound: str = "127.0.0.1"
    certificates: dict[str, Path] = {}
    configuration: dict[str, Any] = {}
    console_certificate: Path | None = None
    console_key: Path | None = None
    console_hosts: tuple[str, ...] = ()
    console_tokens: Path | None = None
    console_proxies: tuple[str, ...] = ()
    console_request_rate: int = 100
    console_request_bytes: int = 8 * 1024 * 1024
    console_sign_ins: int = 10
    console_streams: int = 200
    console_searches: int = 4
    console_export_messages: int = 10_000
    console_unread_seconds: float = 60.0
    console_age_seconds: float = 3600.0
    console_growth_messages: int = 1_000
    console_quota_percent: int = 90
    console_journal_messages: int = 100_000
    console_connections: int = 500
    console_request_seconds: float = 30.0
    console_body_bytes: int = 256 * 1024
    console_certificate_days: int = 30
    console_clock_seconds: float = 60.0
    console_lag_seconds: float = 0.25
    console_disk_bytes: int = 1 << 30
    console_refused_seconds: float = 900.0
    console_restart_seconds: float = 3600.0
    audit_reads: bool = False
    metrics_access: MetricsAccess = "loopback"
    metrics_queues: int = 20_000
    metrics_windows_names: bool = False


def _path(kind: type, value: object) -> object:
    """A path from its text; the only type of field that JSON lacks."""
    return kind(value)


def decode_settings(line: bytes) -> ConsoleSettings:
    """The settings in one line of JSON.

    Raises:
        ConfigError: they are invalid.
    """
    try:
        return msgspec.json.decode(line, type=ConsoleSettings, dec_hook=_path)
    except msgspec.MsgspecError as exc:
        raise ConfigError(f"the settings of the console cannot be read: {exc}") from exc
