"""The parts of a queue manager's process: one module for each protocol; see `part`."""

from typing import TYPE_CHECKING, Final, Protocol

from .binary import BinaryPart
from .local import LocalPart
from .part import Part, Premises
from .rpc import RpcPart
from .srmp import SrmpPart

if TYPE_CHECKING:
    from openmsmq.server.config import Config


class PartKind(Protocol):
    """The class of a part."""

    def __call__(self, config: "Config", premises: Premises) -> Part: ...

    def check(self, config: "Config") -> None:
        """Refuse settings that cannot be served, before anything is made on disk.

        Raises:
            ConfigError: a file or a port cannot be used; the text begins with the key.
        """


PARTS: Final[tuple[PartKind, ...]] = (BinaryPart, SrmpPart, RpcPart, LocalPart)
"""Every part, in the order in which they begin to listen; they are closed the other way round."""
