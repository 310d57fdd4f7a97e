"""The interface of the parts of a queue manager's process, and their common functions.

A part speaks one protocol, or watches one child process. To add one, write a module with

- a subclass of `CommonConfig` with its settings, which `Config` inherits, and
- a class with the methods of `Part`, which `PARTS` in this package lists.

The process then checks its settings before the start, creates it after the recovery, listens,
reloads and closes with it, and shows its `status`.
"""

import errno
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from openmsmq.protocol.local.session import Service
from openmsmq.server.common_config import CommonConfig
from openmsmq.service.host import Host
from openmsmq.service.tokens import Tokens
from openmsmq.wire.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    S = TypeVar("S", bound=DataclassInstance)
else:
    S = TypeVar("S")


class Premises(NamedTuple):
    """The environment of a part in the process.

    Attributes:
        host: the engine and its turn of the event loop.
        service: functions of the process for requests of local clients.
        tokens: the tokens of clients over the network.
    """

    host: Host
    service: Service
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class PartStatus:
    """The current status of a part.

    Attributes:
        endpoints: its addresses, by name.
        unread_bytes: bytes sent to clients that they have not read.
        fault: why it does not work, and the remedy; empty when it works.
    """

    endpoints: Mapping[str, str]
    unread_bytes: int = 0
    fault: str = ""


class Part(Protocol):
    """A running part of a queue manager.

    It is created with the configuration and its `Premises`, after the recovery and before anything
    listens; then it registers its callbacks with the engine, and with the management
    of the queue manager its sessions, clients and transfers.
    """

    @property
    def name(self) -> str:
        """A short name: `binary`, `local`."""

    async def listen(self) -> Mapping[str, str]:
        """Open the sockets; return their addresses, by the names of the endpoints.

        Raises:
            ConfigError: a socket cannot be opened; the text begins with the key.
        """

    async def close(self) -> None:
        """Accept no more input, finish work that was acknowledged, close all connections.

        It is called once, even when `listen` was not called or failed.
        """

    def status(self) -> PartStatus: ...

    @property
    def reloads(self) -> Mapping[str, Callable[[], None]]:
        """The reload actions, by the key that names the file.

        An action raises `ConfigError` when the file cannot be used; the previous state stays.
        """


def settings_of(kind: type[S], config: CommonConfig, *, prefix: str = "", **others: Any) -> S:
    """The settings of a protocol, from fields of the configuration with the same names.

    Args:
        prefix: the prefix of the names in the configuration.
        others: further fields, and fields with other names in the configuration.
    """
    keys = config.fields
    names = [field.name for field in fields(kind) if prefix + field.name in keys]
    return kind(**{**{name: getattr(config, prefix + name) for name in names}, **others})


def check_port(
    key: str, host: str, port: int | str, kind: socket.SocketKind = socket.SOCK_STREAM
) -> None:
    """Refuse a port that another program uses; it is free again afterwards.

    Raises:
        ConfigError: it cannot be bound.
    """
    if not isinstance(port, int):
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        if kind is socket.SOCK_STREAM:
            # As for the listener: only a listening socket is in the way.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as exc:
            raise ConfigError(
                f"{key}: {host}:{port}: {exc.strerror or exc}",
                remedy=f"Stop what uses it, or choose another {key} or bind address.",
            ) from exc


def error_number(error: ConfigError) -> int | None:
    """Why the system refused a port."""
    cause = error.__cause__
    return cause.errno if isinstance(cause, OSError) else None


def lacks_privilege(error: ConfigError) -> bool:
    """Whether a port needs a privilege that the process lacks."""
    return error_number(error) in (errno.EACCES, errno.EPERM)
