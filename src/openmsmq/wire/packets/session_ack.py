"""SessionAck: a session acknowledgment in a packet of its own ([MS-MQQB] 2.2.6)."""

from dataclasses import dataclass
from typing import Final, Self

from .base_header import BaseHeaderFlags
from .internal_header import (
    InternalHeader,
    InternalPacketType,
    parse_internal_packet,
    serialize_internal_packet,
)
from .session_header import SessionHeader

# Here PacketSize counts the SessionHeader, unlike in a UserMessage ([MS-MQQB] 4.1.8).
SESSION_ACK_SIZE: Final = 36
SESSION_ACK_FLAGS: Final = BaseHeaderFlags.IN | BaseHeaderFlags.SH


@dataclass(frozen=True, slots=True)
class SessionAck:
    """Nothing but a SessionHeader."""

    session_header: SessionHeader

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read the whole packet, from its BaseHeader on."""
        _, start = parse_internal_packet(
            buf, offset, InternalPacketType.SESSION_ACK, SESSION_ACK_SIZE, SESSION_ACK_FLAGS
        )
        session_header, end = SessionHeader.parse(buf, start)
        return cls(session_header), end

    def serialize(self) -> bytes:
        return serialize_internal_packet(
            InternalHeader(InternalPacketType.SESSION_ACK),
            self.session_header.serialize(),
            SESSION_ACK_FLAGS,
        )
