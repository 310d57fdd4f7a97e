"""[MS-MQRR] 2.2.5, 2.2.6, 2.2.7, 3.1.4.7."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.ndr import TRANSFER_SYNTAXES, Pieces, TransferSyntax
from openmsmq.wire.remote_read.extended_address_header import ExtendedAddressHeader
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.reply_packet import ReplyPacket, serialize_extension_headers
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType, join_sections
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader
from openmsmq.wire.rpc_interfaces.remote_read import R_START_RECEIVE, StartReceiveResponse

DIRECT = direct_address("OS:host\\private$\\q")
UNLIMITED = 0xFFFFFFFF
HEADERS = serialize_extension_headers(
    subqueue_header=SubqueueHeader(), extended_address_header=ExtendedAddressHeader()
)


def reply(packet: bytes, headers: bytes = HEADERS) -> ReplyPacket:
    return ReplyPacket(
        UserMessage(packet),
        extension_headers=headers,
        address_overlay=bytes(16),
        source=bytes(16),
    )


def cut(
    packet: ReplyPacket, max_body_size: int, max_compound_message_size: int
) -> tuple[SectionBuffer, ...]:
    """The sections, each with its bytes in one piece."""
    return tuple(
        section._replace(section_buffer=bytes(section.section_buffer))
        for section in packet.sections(max_body_size, max_compound_message_size)
    )


BINARY_PACKET = build_user_message(destination_queue=DIRECT, body=b"0123456789", label="label")
BINARY = reply(BINARY_PACKET)
BODY = BINARY_PACKET.index(b"0123456789")
SRMP_PACKET = build_user_message(
    destination_queue=DIRECT,
    srmp_headers=(SRMPEnvelopeHeader("<a/>"), CompoundMessageHeader(b"POST 12345", 5, 5)),
)
SRMP = reply(SRMP_PACKET)
COMPOUND = SRMP_PACKET.index(b"POST 12345") - 16


@pytest.mark.spec("MQRR-3.1.4.7-33", "MQRR-2.2.6-04")
@pytest.mark.parametrize(
    ("message", "max_body_size", "max_compound_message_size"),
    [(BINARY, 10, 0), (BINARY, UNLIMITED, 0), (SRMP, 0, 26), (SRMP, 0, UNLIMITED)],
)
def test_a_packet_that_the_reader_wants_whole(
    message: ReplyPacket, max_body_size: int, max_compound_message_size: int
) -> None:
    raw = bytes(message)
    assert cut(message, max_body_size, max_compound_message_size) == (
        SectionBuffer(SectionType.FULL_PACKET, len(raw), raw),
    )


@pytest.mark.spec("MQRR-3.1.4.7-31", "MQRR-3.1.4.7-34", "MQRR-3.1.4.7-35")
@pytest.mark.parametrize("limit", [0, 1, 9])
def test_a_binary_body_that_is_cut(limit: int) -> None:
    raw = bytes(BINARY)
    first, second = cut(BINARY, limit, UNLIMITED)
    assert first == SectionBuffer(SectionType.BINARY_FIRST_SECTION, BODY + 10, raw[: BODY + limit])
    assert second == SectionBuffer(
        SectionType.BINARY_SECOND_SECTION, len(raw) - BODY - 10, raw[BODY + 10 :]
    )


@pytest.mark.spec("MQRR-2.2.7-02")
def test_the_second_section_begins_behind_the_header_that_was_cut() -> None:
    # A body without padding behind it; else the padding belongs to no body and goes second.
    packet = build_user_message(destination_queue=DIRECT, body=b"01234567")
    first, second = cut(reply(packet), 3, 0)
    assert bytes(first.section_buffer).endswith(b"012")
    assert first.section_size_alloc == len(packet)
    assert bytes(second.section_buffer).startswith(bytes.fromhex("0c000000 b0000000 12"))


@pytest.mark.spec("MQRR-2.2.6-03", "MQRR-2.2.6-04", "MQRR-3.1.4.7-37")
def test_sizes_say_how_much_of_the_body_was_left_out() -> None:
    first, second = cut(BINARY, 0, 0)
    assert first.section_size == BODY
    assert first.section_size_alloc - first.section_size == 10
    assert second.section_size_alloc == second.section_size


@pytest.mark.spec("MQRR-2.2.7-03", "MQRR-3.1.4.7-31", "MQRR-3.1.4.7-32")
@pytest.mark.parametrize(("limit", "kept"), [(25, 25), (17, 17), (16, 16), (0, 16)])
def test_a_compound_message_that_is_cut(limit: int, kept: int) -> None:
    raw = bytes(SRMP)
    first, second = cut(SRMP, UNLIMITED, limit)
    assert first == SectionBuffer(
        SectionType.SRMP_FIRST_SECTION, COMPOUND + 26, raw[: COMPOUND + kept]
    )
    assert second.section_buffer_type is SectionType.SRMP_SECOND_SECTION
    assert second.section_buffer == raw[COMPOUND + 26 :]


@pytest.mark.spec("MQRR-2.2.6-01", "MQRR-3.1.4.7-36")
def test_without_trailers_there_is_one_section() -> None:
    packet = build_user_message(destination_queue=DIRECT, body=b"0123456789")
    sections = cut(reply(packet, b""), 4, 0)
    assert [section.section_buffer_type for section in sections] == [1]
    joined = join_sections(sections)
    assert UserMessage(joined).body == b"0123" + bytes(6)
    assert len(joined) == len(packet)


@pytest.mark.spec("MQRR-2.2.6-05")
@given(st.sampled_from([BINARY, SRMP]), st.integers(0, 30))
def test_joined_sections_have_their_trailers_in_place(message: ReplyPacket, limit: int) -> None:
    joined = join_sections(cut(message, limit, limit))
    assert len(joined) == len(bytes(message))
    found = RemoteReadMessage.parse(joined)
    whole = RemoteReadMessage.parse(bytes(message))
    assert found.subqueue_header == whole.subqueue_header
    assert found.extended_address_header == whole.extended_address_header
    kept = limit if message is BINARY else max(limit - 21, 0)
    body = whole.user_message.body
    assert found.user_message.body == body[:kept] + bytes(len(body[kept:]))


@pytest.mark.parametrize("message", [BINARY, SRMP])
def test_sections_may_be_joined_before_they_are_written(message: ReplyPacket) -> None:
    assert join_sections(message.sections(UNLIMITED, UNLIMITED)) == bytes(message)
    assert len(join_sections(message.sections(0, 0))) == message.size


def test_the_body_of_a_reply_is_not_copied() -> None:
    packet = build_user_message(destination_queue=DIRECT, body=b"x" * 100_000)
    for section in reply(packet).sections(50_000, 0):
        assert isinstance(section.section_buffer, Pieces)
        copied = [part for part in section.section_buffer.parts if isinstance(part, bytes)]
        assert sum(map(len, copied)) < 300


@pytest.mark.spec("MQRR-2.2.6-01", "MQRR-3.1.4.7-30")
@pytest.mark.parametrize(("limit", "number"), [(UNLIMITED, 1), (4, 2)])
@pytest.mark.parametrize("syntax", TRANSFER_SYNTAXES, ids=["NDR", "NDR64"])
def test_a_reply_crosses_in_sections(limit: int, number: int, syntax: TransferSyntax) -> None:
    stub = R_START_RECEIVE.response
    sections = BINARY.sections(limit, limit)
    octets = stub.encode(StartReceiveResponse(1, 2, sections, 0), syntax)
    assert octets[16:20] == number.to_bytes(4, "little")
    response, end = stub.decode(memoryview(octets), syntax)
    assert end == len(octets)
    assert response.pp_packet_sections == cut(BINARY, limit, limit)
    assert all(isinstance(item.section_buffer, memoryview) for item in response.pp_packet_sections)
    assert join_sections(response.pp_packet_sections) == join_sections(sections)
