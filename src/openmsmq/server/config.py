"""Configuration of a queue manager: checked values, errors that name the key."""

import socket
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from openmsmq.net.local.paths import SOCKET_NAME, default_data_directory
from openmsmq.store.options import Options
from openmsmq.wire.errors import ConfigError

from .config_texts import describe

MEBIBYTE: Final = 1024 * 1024
# How many segments of log may follow a snapshot, and what part of one is kept for deletes.
SNAPSHOT_SEGMENTS: Final = 4
RESERVE_SHARE: Final = 8
PATHS: Final = (
    "data",
    "socket",
    "ready_file",
    "directory",
    "binary_certificate",
    "binary_key",
    "binary_ca",
    "local_certificate",
    "local_key",
    "local_tokens",
    "log_file",
)
Port = Annotated[int, Field(ge=0, le=65535)] | Literal["off"]


def default_name() -> str:
    """The computer name: the host's name without its domain."""
    return socket.gethostname().split(".")[0] or "localhost"


def is_host_name(text: str) -> bool:
    """Whether a text can be the name of a computer."""
    return bool(text) and text.isprintable() and not any(mark in text for mark in '\\;,"/ ')


class Config(BaseModel):
    """Every setting of `openmsmq serve`; a key of the file and an option have the same name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: Path = Field(default_factory=default_data_directory, validate_default=True)
    # Without one: the host name at the first start, then the name that is kept.
    name: str | None = Field(default=None, min_length=1, max_length=255)
    bind: str = "127.0.0.1"
    binary_port: Port = 1801
    ping_port: Port = 3527
    rpc_port: Port = 2103
    qm2qm_port: Port = 2105
    epm_port: Port = 135
    http_port: Port = 80
    https_port: Port = "off"
    console_port: Port = 8780
    socket: Path | None = None
    local_port: Port = "off"
    ready_file: Path | None = None
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    hosts: dict[str, str] = {}
    directory: Path | None = None
    send_ping: bool = False
    send_insecure_nacks: bool = False
    # Choice: more than the 64 of Windows ([MS-MQQB] notes 36, 50), so that two of ours work at the
    # same time instead of waiting for each other; with Windows its own 64 count.
    max_unacked_packet: int = Field(default=1024, ge=1, le=16384)
    resend_timeouts_short: float = Field(default=30.0, ge=1.0, le=86400.0)
    resend_timeouts_medium: float = Field(default=300.0, ge=1.0, le=86400.0)
    resend_timeouts_long: float = Field(default=1800.0, ge=1.0, le=86400.0)
    resend_timeouts_final: float = Field(default=21600.0, ge=1.0, le=86400.0)
    max_streams: int = Field(default=50_000, ge=1, le=10_000_000)
    max_streams_per_address: int = Field(default=5_000, ge=1, le=10_000_000)
    binary_certificate: Path | None = None
    binary_key: Path | None = None
    binary_ca: Path | None = None
    local_certificate: Path | None = None
    local_key: Path | None = None
    local_tokens: Path | None = None
    memory_budget_bytes: int = Field(default=48 * MEBIBYTE, ge=MEBIBYTE)
    segment_bytes: int = Field(default=64 * MEBIBYTE, ge=MEBIBYTE, le=1024 * MEBIBYTE)
    quota_kilobytes: int = Field(default=0xFFFFFFFF, ge=0, le=0xFFFFFFFF)
    journal_quota_kilobytes: int = Field(default=0xFFFFFFFF, ge=0, le=0xFFFFFFFF)
    max_connections: int = Field(default=1000, ge=1, le=100_000)
    max_connection_bytes: int = Field(default=64 * MEBIBYTE, ge=8 * MEBIBYTE)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    log_file: Path | None = None

    @field_validator("name")
    @classmethod
    def _name_is_a_computer_name(cls, value: str | None) -> str | None:
        if value is not None and not is_host_name(value):
            raise ValueError('a computer name has no space and none of \\ ; , " /')
        return value

    @field_validator("hosts")
    @classmethod
    def _hosts_have_addresses(cls, value: dict[str, str]) -> dict[str, str]:
        for name, address in value.items():
            if not is_host_name(name) or not is_host_name(address):
                raise ValueError(f"{name} = '{address}' is not a host name and its address")
        return {name.lower(): address for name, address in value.items()}

    @field_validator(*PATHS)
    @classmethod
    def _path_is_absolute(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()

    @property
    def socket_path(self) -> Path:
        return self.socket or self.data / SOCKET_NAME

    @property
    def store_options(self) -> Options:
        return Options(
            segment_size=self.segment_bytes,
            snapshot_interval=SNAPSHOT_SEGMENTS * self.segment_bytes,
            reserve=self.segment_bytes // RESERVE_SHARE,
        )

    @classmethod
    def load(cls, file: Path | None, options: dict[str, Any]) -> Self:
        """Read the file, if any, and let options given on the command line win.

        Raises:
            ConfigError: a key is unknown or its value cannot be used; the text names it.
        """
        values: dict[str, Any] = {}
        if file is not None:
            try:
                values = tomllib.loads(file.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
                raise ConfigError(f"{file}: {exc}") from exc
        values.update({key: value for key, value in options.items() if value is not None})
        try:
            return cls(**values)
        except ValidationError as exc:
            raise ConfigError(describe(exc, cls.model_fields)) from exc
