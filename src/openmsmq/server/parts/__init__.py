"""The parts of a queue manager's process: one module for each protocol; see `part`."""

from typing import TYPE_CHECKING, Final, Protocol

from .binary import BinaryPart
from .console import ConsolePart
from .local import LocalPart
from .multicast import MulticastPart
from .off import OffPart
from .part import Part, Premises
from .srmp import SrmpPart

if TYPE_CHECKING:
    from openmsmq.server.config import Config


class PartKind(Protocol):
    """The class of a part."""

    def __call__(self, config: "Config", premises: Premises) -> Part: ...

    def check(self, config: "Config") -> None:
        """Refuse invalid settings before anything is created on disk.

        Raises:
            ConfigError: a file or a port cannot be used; the text begins with the key.
        """


class RpcKind:
    """RPC, whose protocols are loaded only if a port is on: they take memory and time to start."""

    def __call__(self, config: "Config", premises: Premises) -> Part:
        if not config.rpc_is_on:
            return OffPart("rpc")
        from .rpc import RpcPart

        return RpcPart(config, premises)

    def check(self, config: "Config") -> None:
        if config.rpc_is_on:
            from .rpc import RpcPart

            RpcPart.check(config)


PARTS: Final[tuple[PartKind, ...]] = (
    BinaryPart,
    SrmpPart,
    MulticastPart,
    RpcKind(),
    LocalPart,
    ConsolePart,
)
"""Every part, in the order in which they begin to listen; they are closed in reverse order."""
