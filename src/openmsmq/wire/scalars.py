"""Small values that many structures share ([MS-MQMQ] 2.2.8, 2.2.18.1; [MS-DTYP] 2.3.4.2)."""

import re
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple, Self
from uuid import UUID

from .checks import require

GUID_SIZE: Final = 16
GUID_NULL: Final = UUID(int=0)
MESSAGE_IDENTIFIER_SIZE: Final = 20
TX_SEQUENCE_ID_SIZE: Final = 8

_MESSAGE_IDENTIFIER: Final = Struct("<16sI")
_TX_SEQUENCE_ID: Final = Struct("<II")
_U32_MAX: Final = 0xFFFFFFFF
_IDENTIFIER_TEXT: Final = re.compile(
    r"\{?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\}?\\([0-9]{1,10})",
    re.ASCII | re.IGNORECASE,
)


# Building a UUID costs more than parsing a whole header, and few queue managers make all traffic.
@lru_cache(maxsize=4096)
def guid(raw: bytes) -> UUID:
    """The GUID in 16 wire bytes."""
    return UUID(bytes_le=raw)


@lru_cache(maxsize=4096)
def guid_bytes(value: UUID) -> bytes:
    """The 16 wire bytes of a GUID."""
    return value.bytes_le


class MessageIdentifier(NamedTuple):
    """GUID of the sending queue manager and ordinal; OBJECTID has the same bytes."""

    source: UUID
    ordinal: int

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, MESSAGE_IDENTIFIER_SIZE, "MessageIdentifier")
        source, ordinal = _MESSAGE_IDENTIFIER.unpack_from(buf, offset)
        return cls(guid(source), ordinal), end

    def serialize(self) -> bytes:
        return _MESSAGE_IDENTIFIER.pack(self.source.bytes_le, self.ordinal)

    @classmethod
    def from_text(cls, text: str) -> Self:
        r"""Read `{guid}\ordinal`; the braces may be missing.

        Raises:
            ValueError: the text has another form.
        """
        match = _IDENTIFIER_TEXT.fullmatch(text)
        if match is None or int(match[2]) > _U32_MAX:
            raise ValueError(f"not a message identifier of the form {{guid}}\\ordinal: {text!r}")
        return cls(UUID(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{_guid_text(self.source)}\\{self.ordinal}"


@lru_cache(maxsize=1024)
def _guid_text(source: UUID) -> str:
    """A GUID in braces: few queue managers send many messages."""
    return f"{{{str(source).upper()}}}"


class TxSequenceID(NamedTuple):
    """Names a sequence of transactional messages; the later one is the greater one.

    [MS-MQMQ] 2.2.18.1.2: compared as one number with TimeStamp in the upper half.
    """

    time_stamp: int
    ordinal: int

    @property
    def value(self) -> int:
        """Both halves as the 64-bit number that is compared."""
        return self.time_stamp << 32 | self.ordinal

    @classmethod
    def from_value(cls, value: int) -> Self:
        return cls(value >> 32, value & _U32_MAX)

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, TX_SEQUENCE_ID_SIZE, "TxSequenceID")
        ordinal, time_stamp = _TX_SEQUENCE_ID.unpack_from(buf, offset)
        return cls(time_stamp, ordinal), end

    def serialize(self) -> bytes:
        return _TX_SEQUENCE_ID.pack(self.ordinal, self.time_stamp)


@dataclass(frozen=True, slots=True)
class XactUow:
    """XACTUOW: sixteen opaque bytes that name a unit of work."""

    rgb: bytes

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, GUID_SIZE, "XACTUOW")
        return cls(bytes(buf[offset:end])), end

    def serialize(self) -> bytes:
        return self.rgb
