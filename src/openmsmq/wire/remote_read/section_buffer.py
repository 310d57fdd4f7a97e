"""SectionBuffer: a message packet in one or two pieces ([MS-MQRR] 2.2.6, 2.2.7, 3.1.4.7)."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr.pieces import Octets, Pieces
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE


class SectionType(IntEnum):
    """Which piece of a packet a section is."""

    FULL_PACKET = 0
    BINARY_FIRST_SECTION = 1
    BINARY_SECOND_SECTION = 2
    SRMP_FIRST_SECTION = 3
    SRMP_SECOND_SECTION = 4


_FULL_PACKET: Final = SectionType.FULL_PACKET
FIRST_SECTIONS: Final = (SectionType.BINARY_FIRST_SECTION, SectionType.SRMP_FIRST_SECTION)
# The sequences of types that make a packet.
SECTION_SEQUENCES: Final = frozenset(
    {
        (SectionType.FULL_PACKET,),
        (SectionType.BINARY_FIRST_SECTION,),
        (SectionType.BINARY_FIRST_SECTION, SectionType.BINARY_SECOND_SECTION),
        (SectionType.SRMP_FIRST_SECTION,),
        (SectionType.SRMP_FIRST_SECTION, SectionType.SRMP_SECOND_SECTION),
    }
)


class SectionBuffer(NamedTuple):
    """A piece of a packet; `section_size_alloc` counts the body bytes that were left out."""

    section_buffer_type: SectionType
    section_size_alloc: int
    section_buffer: Octets

    @property
    def section_size(self) -> int:
        return len(self.section_buffer)


def join_sections(sections: Sequence[SectionBuffer]) -> bytes:
    """Put a packet together again; body bytes that were left out become zeros.

    Raises:
        MalformedPacket: the sections do not fit together.
    """
    if len(sections) == 1:
        kind, alloc, whole = sections[0]
        # Nearly always: a packet that is one section, and nothing is left out.
        if (
            kind == _FULL_PACKET
            and type(whole) is bytes
            and len(whole) == alloc <= MAX_PACKET_SIZE
            and not alloc & 3
        ):
            return whole
    if tuple(section.section_buffer_type for section in sections) not in SECTION_SEQUENCES:
        raise MalformedPacket(
            "SectionBuffer.SectionBufferType", 0, "these types in this order are no packet"
        )
    size = 0
    for section in sections:
        cut = section.section_buffer_type in FIRST_SECTIONS
        missing = section.section_size_alloc - section.section_size
        if missing < 0 or (missing and not cut):
            raise MalformedPacket(
                "SectionBuffer.SectionSizeAlloc",
                size,
                f"{section.section_size_alloc} does not fit to SectionSize {section.section_size}",
            )
        size += section.section_size_alloc
        if size > MAX_PACKET_SIZE:
            raise MalformedPacket(
                "SectionBuffer.SectionSizeAlloc", 0, f"{size} is more than {MAX_PACKET_SIZE}"
            )
    pieces: list[bytes | memoryview] = []
    for section in sections:
        data = section.section_buffer
        pieces.extend(data.parts if isinstance(data, Pieces) else (data,))
        pieces.append(bytes(section.section_size_alloc - section.section_size))
    pieces.append(bytes(-size & 3))
    return b"".join(pieces)
