"""[MS-MQRR] 2.2.6, 2.2.7, 3.1.4.7."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.remote_read.extended_address_header import ExtendedAddressHeader
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import (
    SectionBuffer,
    SectionType,
    join_sections,
    split_sections,
)
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader

DIRECT = direct_address("OS:host\\private$\\q")
UNLIMITED = 0xFFFFFFFF


def with_trailers(packet: bytes) -> RemoteReadMessage:
    return RemoteReadMessage.build(
        UserMessage(packet),
        subqueue_header=SubqueueHeader(),
        extended_address_header=ExtendedAddressHeader(),
        source=UUID(int=0),
    )


BINARY_PACKET = build_user_message(destination_queue=DIRECT, body=b"0123456789", label="label")
BINARY = with_trailers(BINARY_PACKET)
BODY = BINARY_PACKET.index(b"0123456789")
SRMP_PACKET = build_user_message(
    destination_queue=DIRECT,
    srmp_headers=(SRMPEnvelopeHeader("<a/>"), CompoundMessageHeader(b"POST 12345", 5, 5)),
)
SRMP = with_trailers(SRMP_PACKET)
COMPOUND = SRMP_PACKET.index(b"POST 12345") - 16


@pytest.mark.spec("MQRR-2.2.7-01")
def test_section_types() -> None:
    assert {int(section_type): section_type.name for section_type in SectionType} == {
        0: "FULL_PACKET",
        1: "BINARY_FIRST_SECTION",
        2: "BINARY_SECOND_SECTION",
        3: "SRMP_FIRST_SECTION",
        4: "SRMP_SECOND_SECTION",
    }


@pytest.mark.spec("MQRR-3.1.4.7-33", "MQRR-2.2.6-04")
@pytest.mark.parametrize(
    ("message", "max_body_size", "max_compound_message_size"),
    [(BINARY, 10, 0), (BINARY, UNLIMITED, 0), (SRMP, 0, 26), (SRMP, 0, UNLIMITED)],
)
def test_a_packet_that_the_reader_wants_whole(
    message: RemoteReadMessage, max_body_size: int, max_compound_message_size: int
) -> None:
    raw = message.serialize()
    assert split_sections(message, max_body_size, max_compound_message_size) == (
        SectionBuffer(SectionType.FULL_PACKET, len(raw), raw),
    )


@pytest.mark.spec("MQRR-3.1.4.7-31", "MQRR-3.1.4.7-34", "MQRR-3.1.4.7-35")
@pytest.mark.parametrize("limit", [0, 1, 9])
def test_a_binary_body_that_is_cut(limit: int) -> None:
    raw = BINARY.serialize()
    first, second = split_sections(BINARY, limit, UNLIMITED)
    assert first == SectionBuffer(SectionType.BINARY_FIRST_SECTION, BODY + 10, raw[: BODY + limit])
    assert second == SectionBuffer(
        SectionType.BINARY_SECOND_SECTION, len(raw) - BODY - 10, raw[BODY + 10 :]
    )


@pytest.mark.spec("MQRR-2.2.7-02")
def test_the_second_section_begins_behind_the_header_that_was_cut() -> None:
    # A body without padding behind it; else the padding belongs to no body and goes second.
    packet = build_user_message(destination_queue=DIRECT, body=b"01234567")
    first, second = split_sections(with_trailers(packet), 3, 0)
    assert bytes(first.section_buffer).endswith(b"012")
    assert first.section_size_alloc == len(packet)
    assert bytes(second.section_buffer).startswith(bytes.fromhex("0c000000 b0000000 12"))


@pytest.mark.spec("MQRR-2.2.6-03", "MQRR-2.2.6-04", "MQRR-3.1.4.7-37")
def test_sizes_say_how_much_of_the_body_was_left_out() -> None:
    first, second = split_sections(BINARY, 0, 0)
    assert first.section_size == BODY
    assert first.section_size_alloc - first.section_size == 10
    assert second.section_size_alloc == second.section_size


@pytest.mark.spec("MQRR-2.2.7-03", "MQRR-3.1.4.7-31", "MQRR-3.1.4.7-32")
@pytest.mark.parametrize(("limit", "kept"), [(25, 25), (17, 17), (16, 16), (0, 16)])
def test_a_compound_message_that_is_cut(limit: int, kept: int) -> None:
    raw = SRMP.serialize()
    first, second = split_sections(SRMP, UNLIMITED, limit)
    assert first == SectionBuffer(
        SectionType.SRMP_FIRST_SECTION, COMPOUND + 26, raw[: COMPOUND + kept]
    )
    assert second.section_buffer_type is SectionType.SRMP_SECOND_SECTION
    assert second.section_buffer == raw[COMPOUND + 26 :]


@pytest.mark.spec("MQRR-2.2.6-01", "MQRR-3.1.4.7-36")
def test_without_trailers_there_is_one_section() -> None:
    packet = build_user_message(destination_queue=DIRECT, body=b"0123456789")
    sections = split_sections(RemoteReadMessage(packet), 4, 0)
    assert [section.section_buffer_type for section in sections] == [1]
    joined = join_sections(sections)
    assert UserMessage(joined).body == b"0123" + bytes(6)
    assert len(joined) == len(packet)


@pytest.mark.spec("MQRR-2.2.6-05")
@given(st.sampled_from([BINARY, SRMP]), st.integers(0, 30))
def test_joined_sections_have_their_trailers_in_place(
    message: RemoteReadMessage, limit: int
) -> None:
    joined = join_sections(split_sections(message, limit, limit))
    assert len(joined) == len(message.serialize())
    found = RemoteReadMessage.parse(joined)
    assert found.subqueue_header == message.subqueue_header
    assert found.extended_address_header == message.extended_address_header
    kept = limit if message is BINARY else max(limit - 21, 0)
    body = message.user_message.body
    assert found.user_message.body == body[:kept] + bytes(len(body[kept:]))


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
