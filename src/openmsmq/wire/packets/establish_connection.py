"""EstablishConnection: the first packet of a session in each direction ([MS-MQQB] 2.2.3)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import guid

from .internal_header import (
    InternalHeader,
    InternalPacketType,
    parse_internal_packet,
    serialize_internal_packet,
)

ESTABLISH_CONNECTION_HEADER: Final = Struct("<16s16sIHH")
ESTABLISH_CONNECTION_SIZE: Final = 572
RESERVED_MASK: Final = 0x00FF
RESERVED_VALUE: Final = 0x10
# [MS-MQQB] 2.2.3.1: a response is filled with 0x5A; a request may hold anything.
PADDING: Final = b"\x5a" * 512


class OperatingSystemFlags(IntFlag):
    """EstablishConnectionHeader.OperatingSystem above its lowest byte, which is 0x10."""

    SE = 0x0100
    OS = 0x0200
    QS = 0x0400


OPERATING_SYSTEM_MASK: Final = (
    OperatingSystemFlags.SE | OperatingSystemFlags.OS | OperatingSystemFlags.QS
)


@dataclass(frozen=True, slots=True)
class EstablishConnection:
    """Who calls whom; `time_stamp` comes back in the response and gives the round trip."""

    client_guid: UUID
    server_guid: UUID
    time_stamp: int
    operating_system: OperatingSystemFlags
    connection_refused: bool = False

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read the whole packet, from its BaseHeader on."""
        header, start = parse_internal_packet(
            buf, offset, InternalPacketType.ESTABLISH_CONNECTION, ESTABLISH_CONNECTION_SIZE
        )
        client, server, time_stamp, operating_system, _ = ESTABLISH_CONNECTION_HEADER.unpack_from(
            buf, start
        )
        if operating_system & RESERVED_MASK != RESERVED_VALUE:
            raise MalformedPacket(
                "EstablishConnectionHeader.OperatingSystem.RE",
                start + 36,
                f"is 0x{operating_system & RESERVED_MASK:02X}, not 0x10",
            )
        packet = cls(
            guid(client),
            guid(server),
            time_stamp,
            OperatingSystemFlags(operating_system & OPERATING_SYSTEM_MASK),
            header.connection_refused,
        )
        return packet, offset + ESTABLISH_CONNECTION_SIZE

    def serialize(self) -> bytes:
        return serialize_internal_packet(
            InternalHeader(InternalPacketType.ESTABLISH_CONNECTION, self.connection_refused),
            ESTABLISH_CONNECTION_HEADER.pack(
                self.client_guid.bytes_le,
                self.server_guid.bytes_le,
                self.time_stamp,
                self.operating_system | RESERVED_VALUE,
                0,
            )
            + PADDING,
        )
