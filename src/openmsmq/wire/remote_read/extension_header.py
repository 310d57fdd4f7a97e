"""ExtensionHeader: which headers follow the UserMessage of a remote read ([MS-MQRR] 2.2.5.2)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

EXTENSION_HEADER: Final = Struct("<IIB3s")
EXTENSION_HEADER_SIZE: Final = 12


class ExtensionHeaderFlags(IntFlag):
    """ExtensionHeader.Flags; the other bits are ignored."""

    DL = 0x01
    SQ = 0x02
    DI = 0x08
    EA = 0x10


EXTENSION_FLAGS_MASK: Final = (
    ExtensionHeaderFlags.DL
    | ExtensionHeaderFlags.SQ
    | ExtensionHeaderFlags.DI
    | ExtensionHeaderFlags.EA
)


@dataclass(frozen=True, slots=True)
class ExtensionHeader:
    """Which headers follow, and how many bytes they are."""

    remaining_headers_size: int
    flags: ExtensionHeaderFlags

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, EXTENSION_HEADER_SIZE, "ExtensionHeader")
        header_size, remaining_headers_size, flags, _ = EXTENSION_HEADER.unpack_from(buf, offset)
        if header_size != EXTENSION_HEADER_SIZE:
            raise MalformedPacket("ExtensionHeader.HeaderSize", offset, f"{header_size} is not 12")
        require(buf, end, remaining_headers_size, "ExtensionHeader.RemainingHeadersSize")
        return cls(remaining_headers_size, ExtensionHeaderFlags(flags & EXTENSION_FLAGS_MASK)), end

    def serialize(self) -> bytes:
        return EXTENSION_HEADER.pack(
            EXTENSION_HEADER_SIZE, self.remaining_headers_size, self.flags, bytes(3)
        )
