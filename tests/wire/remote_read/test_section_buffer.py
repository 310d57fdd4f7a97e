"""[MS-MQRR] 2.2.6, 2.2.7."""

import pytest

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType, join_sections


@pytest.mark.spec("MQRR-2.2.7-01")
def test_section_types() -> None:
    assert {int(section_type): section_type.name for section_type in SectionType} == {
        0: "FULL_PACKET",
        1: "BINARY_FIRST_SECTION",
        2: "BINARY_SECOND_SECTION",
        3: "SRMP_FIRST_SECTION",
        4: "SRMP_SECOND_SECTION",
    }


@pytest.mark.parametrize(
    "types", [(), (2,), (4,), (0, 0), (1, 4), (3, 2), (1, 1), (1, 2, 2), (2, 1)]
)
def test_other_sequences_of_sections_are_malformed(types: tuple[int, ...]) -> None:
    sections = [SectionBuffer(SectionType(section_type), 4, b"abcd") for section_type in types]
    with pytest.raises(MalformedPacket, match="SectionBufferType"):
        join_sections(sections)


@pytest.mark.spec("MQRR-2.2.6-04")
@pytest.mark.parametrize(
    ("section_type", "alloc"),
    [
        (SectionType.FULL_PACKET, 5),
        (SectionType.FULL_PACKET, 3),
        (SectionType.BINARY_FIRST_SECTION, 3),
        (SectionType.SRMP_FIRST_SECTION, 3),
    ],
)
def test_sizes_that_do_not_fit_are_malformed(section_type: SectionType, alloc: int) -> None:
    with pytest.raises(MalformedPacket, match="does not fit to SectionSize 4"):
        join_sections([SectionBuffer(section_type, alloc, b"abcd")])


def test_a_second_section_is_never_cut() -> None:
    first = SectionBuffer(SectionType.BINARY_FIRST_SECTION, 8, b"abcd")
    with pytest.raises(MalformedPacket, match="SectionSizeAlloc at offset 8"):
        join_sections([first, SectionBuffer(SectionType.BINARY_SECOND_SECTION, 5, b"abcd")])


@pytest.mark.parametrize("alloc", [0x400001, 0xFFFFFFFF])
def test_a_reserve_larger_than_a_packet_is_malformed(alloc: int) -> None:
    with pytest.raises(MalformedPacket, match="is more than 4194304"):
        join_sections([SectionBuffer(SectionType.BINARY_FIRST_SECTION, alloc, b"abcd")])
