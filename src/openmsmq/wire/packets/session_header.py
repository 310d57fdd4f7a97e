"""SessionHeader: session acknowledgment and counters ([MS-MQMQ] 2.2.20.4)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require

SESSION_HEADER_SIZE: Final = 16
DEFAULT_WINDOW_SIZE: Final = 0x0040

SESSION_HEADER: Final = Struct("<HHIHHHH")


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
