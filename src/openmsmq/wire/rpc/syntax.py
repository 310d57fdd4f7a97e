"""Names of interfaces and transfer syntaxes: a UUID with a version (C706 12.6.3.1)."""

from struct import Struct
from typing import Final, NamedTuple, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.ndr.syntax import TransferSyntax

_SYNTAX: Final = Struct("<16sI")
SYNTAX_ID_SIZE: Final = _SYNTAX.size


class SyntaxId(NamedTuple):
    """p_syntax_id_t: the version holds the major number in its low half, the minor in its high.

    The UUID stays as it is on the wire: a bind may propose thousands of syntaxes.
    """

    uuid_octets: bytes
    version: int

    @classmethod
    def of(cls, uuid: UUID, version: int) -> Self:
        return cls(uuid.bytes_le, version)

    @classmethod
    def of_interface(cls, interface: RpcInterface) -> Self:
        return cls.of(interface.uuid, interface.major | interface.minor << 16)

    @classmethod
    def of_transfer(cls, syntax: TransferSyntax) -> Self:
        return cls.of(syntax.uuid, syntax.major_version)

    @property
    def uuid(self) -> UUID:
        return UUID(bytes_le=self.uuid_octets)

    @property
    def major(self) -> int:
        return self.version & 0xFFFF

    @property
    def minor(self) -> int:
        return self.version >> 16

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SYNTAX_ID_SIZE, "p_syntax_id_t")
        return cls._make(_SYNTAX.unpack_from(buf, offset)), end

    @classmethod
    def parse_many(
        cls, buf: bytes | memoryview, offset: int, count: int
    ) -> tuple[tuple[Self, ...], int]:
        end = require(buf, offset, count * SYNTAX_ID_SIZE, "p_syntax_id_t")
        return tuple(map(cls._make, _SYNTAX.iter_unpack(buf[offset:end]))), end

    def serialize(self) -> bytes:
        return _SYNTAX.pack(*self)

    def __str__(self) -> str:
        return f"{self.uuid} v{self.major}.{self.minor}"


NULL_SYNTAX: Final = SyntaxId(bytes(16), 0)

# [MS-RPCE] 3.3.1.5.3: the eight bytes after this prefix are the features that a client offers.
_FEATURES_PREFIX: Final = UUID("6cb71c2c-9812-4540-0000-000000000000").bytes_le[:8]
_FEATURES_VERSION: Final = 1

# [MS-RPCE] 2.2.2.14
SECURITY_CONTEXT_MULTIPLEXING: Final = 0x01
KEEP_CONNECTION_ON_ORPHAN: Final = 0x02


def bind_time_features(syntax: SyntaxId) -> int | None:
    """The features that a client offers by this transfer syntax; None for any other syntax."""
    raw = syntax.uuid_octets
    if raw[:8] != _FEATURES_PREFIX or syntax.version != _FEATURES_VERSION:
        return None
    return raw[8]


def features_syntax(features: int) -> SyntaxId:
    """The transfer syntax by which a client offers features."""
    raw = _FEATURES_PREFIX + bytes((features,)) + bytes(7)
    return SyntaxId(raw, _FEATURES_VERSION)
