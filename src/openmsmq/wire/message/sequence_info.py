"""SEQUENCE_INFO: the place of a message in a sequence ([MS-MQMQ] 2.2.5)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require

SEQUENCE_INFO: Final = Struct("<qII")
SEQUENCE_INFO_SIZE: Final = 16


@dataclass(frozen=True, slots=True)
class SequenceInfo:
    """Sequence, number in it, and number of the message before."""

    seq_id: int
    seq_no: int
    prev_no: int

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SEQUENCE_INFO_SIZE, "SEQUENCE_INFO")
        return cls(*SEQUENCE_INFO.unpack_from(buf, offset)), end

    def serialize(self) -> bytes:
        return SEQUENCE_INFO.pack(self.seq_id, self.seq_no, self.prev_no)
