"""BaseHeader: the first 16 bytes of every packet of a binary session ([MS-MQMQ] 2.2.19.1)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

BASE_HEADER: Final = Struct("<BBHIII")
BASE_HEADER_SIZE: Final = 16
VERSION_NUMBER: Final = 0x10
SIGNATURE: Final = 0x524F494C
MAX_PACKET_SIZE: Final = 0x00400000
INFINITE: Final = 0xFFFFFFFF
PRIORITY_MASK: Final = 0x0007


class BaseHeaderFlags(IntFlag):
    """BaseHeader.Flags without the priority in the lowest three bits."""

    IN = 0x0008
    SH = 0x0010
    DH = 0x0020
    TR = 0x0100


@dataclass(frozen=True, slots=True)
class BaseHeader:
    """Version, flags, size and life time of a packet."""

    flags: int
    packet_size: int
    time_to_reach_queue: int = INFINITE
    reserved: int = 0

    @property
    def priority(self) -> int:
        return self.flags & PRIORITY_MASK

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, BASE_HEADER_SIZE, "BaseHeader")
        version, reserved, flags, signature, packet_size, time_to_reach_queue = (
            BASE_HEADER.unpack_from(buf, offset)
        )
        # [MS-MQQB] 3.1.5.1.2: a wrong version or signature closes the session.
        if version != VERSION_NUMBER:
            raise MalformedPacket(
                "BaseHeader.VersionNumber", offset, f"is 0x{version:02X}, not 0x10"
            )
        if signature != SIGNATURE:
            raise MalformedPacket(
                "BaseHeader.Signature", offset + 4, f"is 0x{signature:08X}, not 0x{SIGNATURE:08X}"
            )
        if not BASE_HEADER_SIZE <= packet_size <= MAX_PACKET_SIZE:
            raise MalformedPacket(
                "BaseHeader.PacketSize",
                offset + 8,
                f"{packet_size} is not in 16..{MAX_PACKET_SIZE}",
            )
        return cls(flags, packet_size, time_to_reach_queue, reserved), end

    def serialize(self) -> bytes:
        return BASE_HEADER.pack(
            VERSION_NUMBER,
            self.reserved,
            self.flags,
            SIGNATURE,
            self.packet_size,
            self.time_to_reach_queue,
        )
