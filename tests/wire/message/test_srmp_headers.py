"""[MS-MQRR] 2.2.5.1.2."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.srmp_headers import (
    CompoundMessageHeader,
    SRMPEnvelopeHeader,
    compound_message_header_end,
    srmp_envelope_header_end,
)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
u16 = st.integers(0, 0xFFFF)

ENVELOPE = bytes.fromhex("90010000 05000000 3c0061002f003e000000 0000")
REQUEST = b"POST /msmq/private$/q HTTP/1.1\r\n\r\nbody\r\n"
COMPOUND = bytes.fromhex("f4010000") + b"\x28\0\0\0" + b"\4\0\0\0" + b"\x22\0\0\0" + REQUEST


@pytest.mark.spec("MQRR-2.2.5.1.2.1-01", "MQRR-2.2.5.1.2.1-02")
def test_envelope_layout() -> None:
    header, end = SRMPEnvelopeHeader.parse(memoryview(ENVELOPE))
    assert end == 20
    assert header == SRMPEnvelopeHeader("<a/>", header_id=0x0190)
    assert header.serialize() == ENVELOPE


@pytest.mark.spec("MQRR-2.2.5.1.2.1-01")
def test_envelope_reserved_and_padding_are_ignored() -> None:
    raw = bytearray(ENVELOPE)
    raw[2:4] = raw[18:20] = b"\xff\xff"
    assert SRMPEnvelopeHeader.parse(memoryview(raw))[0].data == "<a/>"


@given(words, u16)
def test_envelope_parse_reverses_serialize(data: str, header_id: int) -> None:
    header = SRMPEnvelopeHeader(data, header_id)
    raw = header.serialize()
    assert len(raw) % 4 == 0
    assert SRMPEnvelopeHeader.parse(memoryview(raw)) == (header, len(raw))


@pytest.mark.parametrize("data_length", [6, 0x7FFFFFFF, 0x80000000, 0x80000005, 0xFFFFFFFF])
def test_envelope_data_beyond_the_packet_is_malformed(data_length: int) -> None:
    raw = ENVELOPE[:4] + data_length.to_bytes(4, "little") + ENVELOPE[8:18]
    with pytest.raises(MalformedPacket) as caught:
        SRMPEnvelopeHeader.parse(memoryview(raw))
    assert (caught.value.field, caught.value.offset) == ("SRMPEnvelopeHeader.Data", 8)


@pytest.mark.spec("MQRR-2.2.5.1.2.1-02")
def test_envelope_data_without_a_nul_is_malformed() -> None:
    raw = ENVELOPE[:4] + b"\4\0\0\0" + ENVELOPE[8:]
    with pytest.raises(MalformedPacket, match="without a NUL"):
        SRMPEnvelopeHeader.parse(memoryview(raw))


@pytest.mark.spec("MQRR-2.2.5.1.2.2-01", "MQRR-2.2.5.1.2.2-02", "MQRR-2.2.5.1.2.2-03")
def test_compound_message_layout() -> None:
    header, end = CompoundMessageHeader.parse(memoryview(COMPOUND))
    assert end == len(COMPOUND) == 56
    assert header.header_id == 500
    assert header.data == REQUEST
    assert (header.msg_body_size, header.msg_body_offset) == (4, 34)
    assert header.message_body == b"body"
    assert header.serialize() == COMPOUND


@pytest.mark.spec("MQRR-2.2.5.1.2.2-01")
def test_compound_message_reserved_is_ignored() -> None:
    raw = bytearray(COMPOUND)
    raw[2:4] = b"\xff\xff"
    assert CompoundMessageHeader.parse(memoryview(raw))[0].data == REQUEST


@given(st.binary(max_size=60), st.data(), u16)
def test_compound_message_parse_reverses_serialize(
    data: bytes, draw: st.DataObject, header_id: int
) -> None:
    offset = draw.draw(st.integers(0, len(data)))
    size = draw.draw(st.integers(0, len(data) - offset))
    header = CompoundMessageHeader(data, size, offset, header_id)
    raw = header.serialize()
    assert len(raw) % 4 == 0
    assert CompoundMessageHeader.parse(memoryview(raw)) == (header, len(raw))


def test_compound_message_may_end_the_packet_without_padding() -> None:
    raw = CompoundMessageHeader(b"abcde", 1, 1).serialize()[:-3]
    assert CompoundMessageHeader.parse(memoryview(raw))[1] == len(raw) == 21


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (4, 41, "CompoundMessageHeader.Data", 16),
        (4, 0xFFFFFFFF, "CompoundMessageHeader.Data", 16),
        (8, 7, "CompoundMessageHeader.MsgBodyOffset", 12),
        # 34 + 0xFFFFFFFF is 33 modulo 2**32: inside the data if it wrapped.
        (8, 0xFFFFFFFF, "CompoundMessageHeader.MsgBodyOffset", 12),
        (12, 37, "CompoundMessageHeader.MsgBodyOffset", 12),
        (12, 0xFFFFFFFF, "CompoundMessageHeader.MsgBodyOffset", 12),
    ],
)
def test_compound_message_sizes_beyond_the_packet_are_malformed(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(COMPOUND)
    damaged[position : position + 4] = value.to_bytes(4, "little")
    with pytest.raises(MalformedPacket) as caught:
        CompoundMessageHeader.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(18))
def test_a_short_envelope_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SRMPEnvelopeHeader.parse(memoryview(ENVELOPE)[:size])


@pytest.mark.parametrize("size", range(len(COMPOUND)))
def test_a_short_compound_message_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        CompoundMessageHeader.parse(memoryview(COMPOUND)[:size])


def outcome(function: Callable[[], int]) -> int | str:
    """Where a header ends, or why it does not."""
    try:
        return function()
    except MalformedPacket as exc:
        return str(exc)


UNDECODABLE = bytes.fromhex("00000000 02000000 00d80000")


@given(st.binary(max_size=60), st.integers(0, 8))
@example(UNDECODABLE, 0)
@example(UNDECODABLE[:5], 0)
@example(SRMPEnvelopeHeader("text").serialize(), 0)
@example(CompoundMessageHeader(b"data", 2, 1).serialize(), 0)
@example(CompoundMessageHeader(b"data", 2, 3).serialize(), 0)
def test_ends_are_found_as_parsing_finds_them(packet: bytes, offset: int) -> None:
    assert outcome(lambda: srmp_envelope_header_end(packet, offset)) == outcome(
        lambda: SRMPEnvelopeHeader.parse(packet, offset)[1]
    )
    assert outcome(lambda: compound_message_header_end(packet, offset)) == outcome(
        lambda: CompoundMessageHeader.parse(packet, offset)[1]
    )
