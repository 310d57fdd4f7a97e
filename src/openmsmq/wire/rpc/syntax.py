"""Names of interfaces and transfer syntaxes: a UUID with a version (C706 12.6.3.1)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.ndr.syntax import TransferSyntax

SYNTAX_ID_SIZE: Final = 20
_VERSION: Final = Struct("<I")


@dataclass(frozen=True, slots=True)
class SyntaxId:
    """p_syntax_id_t: the version holds the major number in its low half, the minor in its high."""

    uuid: UUID
    version: int

    @classmethod
    def of_interface(cls, interface: RpcInterface) -> Self:
        return cls(interface.uuid, interface.major | interface.minor << 16)

    @classmethod
    def of_transfer(cls, syntax: TransferSyntax) -> Self:
        return cls(syntax.uuid, syntax.major_version)

    @property
    def major(self) -> int:
        return self.version & 0xFFFF

    @property
    def minor(self) -> int:
        return self.version >> 16

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SYNTAX_ID_SIZE, "p_syntax_id_t")
        uuid = UUID(bytes_le=bytes(buf[offset : offset + 16]))
        return cls(uuid, _VERSION.unpack_from(buf, offset + 16)[0]), end

    def serialize(self) -> bytes:
        return self.uuid.bytes_le + _VERSION.pack(self.version)

    def __str__(self) -> str:
        return f"{self.uuid} v{self.major}.{self.minor}"


NULL_SYNTAX: Final = SyntaxId(UUID(int=0), 0)

# [MS-RPCE] 3.3.1.5.3: the eight bytes after this prefix are the features that a client offers.
_FEATURES_PREFIX: Final = UUID("6cb71c2c-9812-4540-0000-000000000000").bytes_le[:8]
_FEATURES_VERSION: Final = 1

# [MS-RPCE] 2.2.2.14
SECURITY_CONTEXT_MULTIPLEXING: Final = 0x01
KEEP_CONNECTION_ON_ORPHAN: Final = 0x02


def bind_time_features(syntax: SyntaxId) -> int | None:
    """The features that a client offers by this transfer syntax; None for any other syntax."""
    raw = syntax.uuid.bytes_le
    if raw[:8] != _FEATURES_PREFIX or syntax.version != _FEATURES_VERSION:
        return None
    return raw[8]


def features_syntax(features: int) -> SyntaxId:
    """The transfer syntax by which a client offers features."""
    raw = _FEATURES_PREFIX + bytes((features,)) + bytes(7)
    return SyntaxId(UUID(bytes_le=raw), _FEATURES_VERSION)
