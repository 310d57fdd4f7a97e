"""What a part of a queue manager's process is, and what parts have in common.

A part speaks one protocol, or watches one child process. To add one, write a module with

- a subclass of `CommonConfig` with its settings, which `Config` inherits, and
- a class with the methods of `Part`, which `PARTS` in this package lists.

The process then checks its settings before the start, makes it after the recovery, listens,
reloads and closes with it, and shows what its `status` says.
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
    """What a part finds in the process that it works in.

    Attributes:
        host: the engine and its turn of the event loop.
        service: what requests of local clients ask of the process.
        tokens: what clients over the network prove who they are with.
    """

    host: Host
    service: Service
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class PartStatus:
    """What a part does right now.

    Attributes:
        endpoints: where it listens, by name.
        unread_bytes: what was sent to clients and is not read by them.
        fault: why it does not do its work, and what to do; empty when it does.
    """

    endpoints: Mapping[str, str]
    unread_bytes: int = 0
    fault: str = ""


class Part(Protocol):
    """A part of a queue manager that runs.

    It is made with the configuration and its `Premises`, after the recovery and before anything
    listens; then it registers with the engine what the engine has to call, and with the management
    of the queue manager what sessions, clients and transfers it knows.
    """

    @property
    def name(self) -> str:
        """A word for people: `binary`, `local`."""

    async def listen(self) -> Mapping[str, str]:
        """Open the sockets; returns where, by the names of the endpoints.

        Raises:
            ConfigError: one cannot be opened; the text begins with the key.
        """

    async def close(self) -> None:
        """Take no more from outside, finish what was promised, hang up.

        It is called once, also when `listen` was not, or failed.
        """

    def status(self) -> PartStatus: ...

    @property
    def reloads(self) -> Mapping[str, Callable[[], None]]:
        """What a reload reads again, by the key that names the file.

        An action raises `ConfigError` when the file cannot be used; what was in force stays.
        """


def settings_of(kind: type[S], config: CommonConfig, *, prefix: str = "", **others: Any) -> S:
    """The settings of a protocol: those that the configuration has under the same names.

    Args:
        prefix: what the names in the configuration begin with.
        others: further fields, and fields that have another name in the configuration.
    """
    keys = config.fields
    names = [field.name for field in fields(kind) if prefix + field.name in keys]
    return kind(**{**{name: getattr(config, prefix + name) for name in names}, **others})


def check_port(
    key: str, host: str, port: int | str, kind: socket.SocketKind = socket.SOCK_STREAM
) -> None:
    """Refuse a port that another program has; it is free again afterwards.

    Raises:
        ConfigError: it cannot be bound.
    """
    if not isinstance(port, int):
        return
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


def error_number(error: ConfigError) -> int | None:
    """Why the system did not give a port."""
    cause = error.__cause__
    return cause.errno if isinstance(cause, OSError) else None


def lacks_privilege(error: ConfigError) -> bool:
    """Whether a port needs a privilege that the process does not have."""
    return error_number(error) in (errno.EACCES, errno.EPERM)
