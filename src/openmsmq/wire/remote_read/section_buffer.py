"""SectionBuffer: a message packet in one or two pieces ([MS-MQRR] 2.2.6, 2.2.7, 3.1.4.7)."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from openmsmq.wire.checks import pad4
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.srmp_headers import COMPOUND_MESSAGE_HEADER_SIZE, compound_message_end
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE

from .remote_read_message import RemoteReadMessage


class SectionType(IntEnum):
    """Which piece of a packet a section is."""

    FULL_PACKET = 0
    BINARY_FIRST_SECTION = 1
    BINARY_SECOND_SECTION = 2
    SRMP_FIRST_SECTION = 3
    SRMP_SECOND_SECTION = 4


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
    section_buffer: bytes | memoryview

    @property
    def section_size(self) -> int:
        return len(self.section_buffer)


def split_sections(
    message: RemoteReadMessage, max_body_size: int, max_compound_message_size: int
) -> tuple[SectionBuffer, ...]:
    """Cut a packet so that not more of its body crosses than the reader wants."""
    packet = message.serialize()
    user_message = message.user_message
    trailing = user_message.trailing
    if trailing is not None and trailing.compound_message:
        first, second = SectionType.SRMP_FIRST_SECTION, SectionType.SRMP_SECOND_SECTION
        start = trailing.compound_message
        end = compound_message_end(packet, start)
        # Choice: the sizes in the header always cross, for the reader could not go on without.
        cut = start + max(max_compound_message_size, COMPOUND_MESSAGE_HEADER_SIZE)
    else:
        first, second = SectionType.BINARY_FIRST_SECTION, SectionType.BINARY_SECOND_SECTION
        end = user_message.body_end
        cut = user_message.body_offset + max_body_size
    if cut >= end:
        return (SectionBuffer(SectionType.FULL_PACKET, len(packet), packet),)
    view = memoryview(packet)
    sections = [SectionBuffer(first, end, view[:cut])]
    # The padding of the header that was cut goes with the trailers, if there are any.
    if len(packet) > pad4(end):
        sections.append(SectionBuffer(second, len(packet) - end, view[end:]))
    return tuple(sections)


def join_sections(sections: Sequence[SectionBuffer]) -> bytes:
    """Put a packet together again; body bytes that were left out become zeros.

    Raises:
        MalformedPacket: the sections do not fit together.
    """
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
        pieces.append(section.section_buffer)
        pieces.append(bytes(section.section_size_alloc - section.section_size))
    pieces.append(bytes(-size & 3))
    return b"".join(pieces)
