"""SubqueueHeader: subqueue, aborts and moves of a message read remotely ([MS-MQRR] 2.2.5.3)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import decode_utf16, require
from openmsmq.wire.errors import MalformedPacket

SUBQUEUE_HEADER: Final = Struct("<IIIII64s64s")
SUBQUEUE_HEADER_SIZE: Final = 148
NAME_SIZE: Final = 64
# 31 characters and a NUL, although a name may have 32: such a name is read whole and written cut.
WRITTEN_NAME_SIZE: Final = NAME_SIZE - 2
# The field starts with a flag of one bit, TM, that is always 0.
ACKNOWLEDGEMENT_CLASS_SHIFT: Final = 1
ACKNOWLEDGEMENT_CLASS_MASK: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class SubqueueHeader:
    """Counters of the message, and the subqueue it is in or on its way to."""

    acknowledgement_class: int = 0
    abort_counter: int = 0
    move_counter: int = 0
    last_move_time: int = 0
    subqueue_name: str = ""
    target_subqueue_name: str = ""

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, SUBQUEUE_HEADER_SIZE, "SubqueueHeader")
        header_size, group, abort_counter, move_counter, last_move_time, name, target_name = (
            SUBQUEUE_HEADER.unpack_from(buf, offset)
        )
        if header_size != SUBQUEUE_HEADER_SIZE:
            raise MalformedPacket("SubqueueHeader.HeaderSize", offset, f"{header_size} is not 148")
        header = cls(
            group >> ACKNOWLEDGEMENT_CLASS_SHIFT & ACKNOWLEDGEMENT_CLASS_MASK,
            abort_counter,
            move_counter,
            last_move_time,
            _parse_name(name, offset + 20, "SubqueueHeader.SubqueueName"),
            _parse_name(target_name, offset + 84, "SubqueueHeader.TargetSubqueueName"),
        )
        return header, end

    def serialize(self) -> bytes:
        """Return the header; names are cut to 31 characters.

        Raises:
            ValueError: a name holds a NUL.
        """
        return SUBQUEUE_HEADER.pack(
            SUBQUEUE_HEADER_SIZE,
            self.acknowledgement_class << ACKNOWLEDGEMENT_CLASS_SHIFT,
            self.abort_counter,
            self.move_counter,
            self.last_move_time,
            _serialize_name(self.subqueue_name),
            _serialize_name(self.target_subqueue_name),
        )


def _parse_name(raw: bytes, offset: int, field: str) -> str:
    return decode_utf16(raw, offset, field).partition("\0")[0]


def _serialize_name(name: str) -> bytes:
    if "\0" in name:
        raise ValueError(f"a subqueue name has no NUL: {name!r}")
    raw = name.encode("utf-16-le")
    if len(raw) <= WRITTEN_NAME_SIZE:
        return raw
    # Half of a surrogate pair at the cut is dropped.
    return raw[:WRITTEN_NAME_SIZE].decode("utf-16-le", "ignore").encode("utf-16-le")
