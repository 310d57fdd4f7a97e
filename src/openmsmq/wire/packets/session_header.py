"""SessionHeader ([MS-MQMQ] 2.2.20.4): a session acknowledgment and counters.

It stands in a UserMessage, or in a SessionAck ([MS-MQQB] 2.2.6), a packet of its own.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require

from .base_header import BaseHeaderFlags
from .internal_header import (
    InternalHeader,
    InternalPacketType,
    parse_internal_packet,
    serialize_internal_packet,
)

SESSION_HEADER_SIZE: Final = 16
DEFAULT_WINDOW_SIZE: Final = 0x0040

SESSION_HEADER: Final = Struct("<HHIHHHH")
# Here PacketSize counts the SessionHeader, unlike in a UserMessage ([MS-MQQB] 4.1.8).
SESSION_ACK_SIZE: Final = 36
SESSION_ACK_FLAGS: Final = BaseHeaderFlags.IN | BaseHeaderFlags.SH


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """What was received and what was sent in this session; the counters wrap at 16 bits."""

    ack_sequence_number: int
    recoverable_msg_ack_seq_number: int
    recoverable_msg_ack_flags: int
    user_msg_sequence_number: int
    recoverable_msg_seq_number: int
    window_size: int = DEFAULT_WINDOW_SIZE
    reserved: int = 0

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SESSION_HEADER_SIZE, "SessionHeader")
        return cls(*SESSION_HEADER.unpack_from(buf, offset)), end

    def serialize(self) -> bytes:
        return SESSION_HEADER.pack(
            self.ack_sequence_number,
            self.recoverable_msg_ack_seq_number,
            self.recoverable_msg_ack_flags,
            self.user_msg_sequence_number,
            self.recoverable_msg_seq_number,
            self.window_size,
            self.reserved,
        )


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
