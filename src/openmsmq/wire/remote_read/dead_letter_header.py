"""DeadLetterHeader: the application's own dead-letter queue ([MS-MQRR] 2.2.5.4)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import pad4, padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import find_text_end, parse_text, serialize_text

DEAD_LETTER_HEADER: Final = Struct("<I")
DEAD_LETTER_HEADER_SIZE: Final = 4


@dataclass(frozen=True, slots=True)
class DeadLetterHeader:
    """The path name of the dead-letter queue that the sender asked for."""

    dead_letter_path_name: str

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        name_offset = require(buf, offset, DEAD_LETTER_HEADER_SIZE, "DeadLetterHeader")
        (header_size,) = DEAD_LETTER_HEADER.unpack_from(buf, offset)
        if header_size < DEAD_LETTER_HEADER_SIZE:
            raise MalformedPacket(
                "DeadLetterHeader.HeaderSize", offset, f"{header_size} is less than 4"
            )
        end = require(buf, offset, header_size, "DeadLetterHeader.HeaderSize")
        raw = bytes(buf[name_offset:end])
        size = find_text_end(raw, 0)
        # Not more than padding may follow the NUL.
        if size < 0 or len(raw) - size >= 4:
            raise MalformedPacket(
                "DeadLetterHeader.DeadLetterPathName", name_offset, "the NUL is not at the end"
            )
        name = parse_text(buf, name_offset, size, "DeadLetterHeader.DeadLetterPathName")
        return cls(name), padded_end(buf, offset, end)

    def serialize(self) -> bytes:
        name = serialize_text(self.dead_letter_path_name)
        size = pad4(DEAD_LETTER_HEADER_SIZE + len(name))
        return (DEAD_LETTER_HEADER.pack(size) + name).ljust(size, b"\0")
