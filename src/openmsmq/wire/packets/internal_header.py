"""InternalHeader: what an internal packet is ([MS-MQQB] 2.2.1)."""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .base_header import BASE_HEADER_SIZE, BaseHeader, BaseHeaderFlags

INTERNAL_HEADER: Final = Struct("<HH")
INTERNAL_HEADER_SIZE: Final = 4
PACKET_TYPE_MASK: Final = 0x000F
CONNECTION_REFUSED: Final = 0x0010
# Windows gives its internal packets the default priority ([MS-MQQB] 4.1.3-4.1.6, 4.1.8).
INTERNAL_PRIORITY: Final = 3


class InternalPacketType(IntEnum):
    """InternalHeader.Flags.PT."""

    SESSION_ACK = 1
    ESTABLISH_CONNECTION = 2
    CONNECTION_PARAMETERS = 3


@dataclass(frozen=True, slots=True)
class InternalHeader:
    """The kind of packet, and whether the connection is refused (CS)."""

    packet_type: InternalPacketType
    connection_refused: bool = False

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, INTERNAL_HEADER_SIZE, "InternalHeader")
        _, flags = INTERNAL_HEADER.unpack_from(buf, offset)
        packet_type = flags & PACKET_TYPE_MASK
        # [MS-MQQB] 2.2.1: any other type closes the session.
        if not InternalPacketType.SESSION_ACK <= packet_type <= 3:
            raise MalformedPacket(
                "InternalHeader.Flags.PT", offset + 2, f"{packet_type} is not 1, 2 or 3"
            )
        return cls(InternalPacketType(packet_type), bool(flags & CONNECTION_REFUSED)), end

    def serialize(self) -> bytes:
        refused = CONNECTION_REFUSED if self.connection_refused else 0
        return INTERNAL_HEADER.pack(0, self.packet_type | refused)


def parse_internal_packet(
    buf: bytes | memoryview,
    offset: int,
    packet_type: InternalPacketType,
    packet_size: int,
    flags: BaseHeaderFlags = BaseHeaderFlags.IN,
) -> tuple[InternalHeader, int]:
    """Check BaseHeader and InternalHeader of a packet that must have this type and this size."""
    base, end = BaseHeader.parse(buf, offset)
    if base.flags & flags != flags:
        raise MalformedPacket(
            "BaseHeader.Flags", offset + 2, f"0x{base.flags:04X} is without 0x{flags:04X}"
        )
    if base.packet_size != packet_size:
        raise MalformedPacket(
            "BaseHeader.PacketSize", offset + 8, f"{base.packet_size} is not {packet_size}"
        )
    require(buf, offset, packet_size, "BaseHeader.PacketSize")
    header, end = InternalHeader.parse(buf, end)
    if header.packet_type is not packet_type:
        raise MalformedPacket(
            "InternalHeader.Flags.PT", end - 2, f"{header.packet_type:d} is not {packet_type:d}"
        )
    return header, end


def serialize_internal_packet(
    header: InternalHeader, content: bytes, flags: BaseHeaderFlags = BaseHeaderFlags.IN
) -> bytes:
    """Put BaseHeader and InternalHeader before the content of an internal packet."""
    size = BASE_HEADER_SIZE + INTERNAL_HEADER_SIZE + len(content)
    base = BaseHeader(INTERNAL_PRIORITY | flags, size)
    return base.serialize() + header.serialize() + content
