"""[MS-MQMQ] 2.2.19.3."""

from struct import pack_into

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame_bytes
from tests.wire.strategies import message_properties_headers

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.message_properties_header import (
    AcknowledgmentFlags,
    MessagePropertiesHeader,
    encode_label,
    properties_layout,
)


@pytest.mark.spec("MQQB-4.1.7-04")
def test_message_properties_header_of_the_example() -> None:
    raw = frame_bytes(7)
    header, end = MessagePropertiesHeader.parse(raw, 136)
    assert end == len(raw)
    assert header == MessagePropertiesHeader(
        flags=0x0F,
        label="mqsender label",
        message_class=0,
        correlation_id=bytes(20),
        body_type=8,
        application_tag=0,
        message_size=2000,
        allocation_body_size=2000,
        privacy_level=0,
        hash_algorithm=0x8004,
        encryption_algorithm=0x6801,
        extension=b"",
        body="a".encode("utf-16-le") * 1000,
    )
    assert raw[137] == len("mqsender label\0")
    assert header.serialize() == raw[136:]


def test_layout() -> None:
    header = MessagePropertiesHeader(
        flags=AcknowledgmentFlags.PR | AcknowledgmentFlags.NA,
        label="ab",
        message_class=0x8002,
        correlation_id=bytes(range(20)),
        body_type=1,
        application_tag=2,
        message_size=3,
        allocation_body_size=3,
        privacy_level=5,
        hash_algorithm=6,
        encryption_algorithm=7,
        extension=b"extra",
        body=b"xyz",
    )
    raw = bytes.fromhex(
        "06 03 0280 000102030405060708090a0b0c0d0e0f10111213"
        "01000000 02000000 03000000 03000000 05000000 06000000 07000000 05000000"
        "610062000000 6578747261 78797a 0000"
    )
    assert header.serialize() == raw
    assert MessagePropertiesHeader.parse(raw) == (header, len(raw))


@given(message_properties_headers(), st.integers(0, 5))
def test_parse_reverses_serialize(header: MessagePropertiesHeader, before: int) -> None:
    raw = header.serialize()
    parsed = MessagePropertiesHeader.parse(memoryview(bytes(before) + raw), before)
    assert parsed == (header, before + len(raw))


@given(message_properties_headers(), st.data())
def test_a_cut_header_is_malformed(header: MessagePropertiesHeader, data: st.DataObject) -> None:
    raw = header.serialize()
    needed = 56 + len(encode_label(header.label)) + len(header.extension) + header.message_size
    cut = data.draw(st.integers(0, needed - 1))
    with pytest.raises(MalformedPacket, match="remain"):
        MessagePropertiesHeader.parse(raw[:cut])


def test_padding_is_not_looked_at_and_may_be_missing_at_the_end() -> None:
    header = MessagePropertiesHeader(body=b"x", message_size=1, allocation_body_size=1)
    assert MessagePropertiesHeader.parse(header.serialize()[:57]) == (header, 57)
    assert MessagePropertiesHeader.parse(header.serialize()[:57] + b"\xab\xcd\xef") == (header, 60)


def test_an_allocation_that_does_not_fit_gives_way_to_the_message_size() -> None:
    header = MessagePropertiesHeader(body=b"four", message_size=4, allocation_body_size=5)
    assert MessagePropertiesHeader.parse(header.serialize()) == (header, 60)


@pytest.mark.parametrize(
    ("offset", "size", "field"),
    [
        (32, 0xFFFFFFFF, "MessagePropertiesHeader.MessageBody"),
        (32, 9, "MessagePropertiesHeader.MessageBody"),
        (52, 0xFFFFFFFF, "MessagePropertiesHeader.ExtensionData"),
        (52, 9, "MessagePropertiesHeader.ExtensionData"),
    ],
)
def test_sizes_are_checked_before_use(offset: int, size: int, field: str) -> None:
    raw = bytearray(56 + 8)
    pack_into("<I", raw, offset, size)
    with pytest.raises(MalformedPacket, match="needs") as caught:
        properties_layout(bytes(raw), 0)
    assert (caught.value.field, caught.value.offset) == (field, 56)


def test_a_label_beyond_the_packet_is_malformed() -> None:
    raw = bytearray(56 + 8)
    raw[1] = 5
    with pytest.raises(MalformedPacket, match=r"Label at offset 56: needs 10 bytes, 8 remain"):
        properties_layout(bytes(raw), 0)


@pytest.mark.parametrize("length", [0xFB, 0xFF])
def test_a_label_has_at_most_250_characters_with_its_nul(length: int) -> None:
    raw = bytearray(56 + 600)
    raw[1] = 0xFA
    assert properties_layout(bytes(raw), 0)[0] == 56 + 500
    raw[1] = length
    with pytest.raises(MalformedPacket, match=f"LabelLength at offset 1: {length} is more"):
        properties_layout(bytes(raw), 0)


def test_no_label_takes_no_bytes() -> None:
    assert encode_label("") == b""
    assert encode_label("a") == b"a\0\0\0"


def test_a_label_of_249_code_units_is_the_longest() -> None:
    assert len(encode_label("x" * 249)) == 500
    for label in ("x" * 250, "\N{GRINNING FACE}" * 125, "a\0b"):
        with pytest.raises(ValueError, match="249"):
            encode_label(label)
