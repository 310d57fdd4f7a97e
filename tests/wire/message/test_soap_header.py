"""[MS-MQMQ] 2.2.20.7."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.soap_header import SoapHeader

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)

# Header "ab" (3 WCHARs with the NUL, so 2 bytes of padding) and Body "c".
PADDED = bytes.fromhex("2003000003000000 610062000000 0000 8403000002000000 63000000")
UNPADDED = bytes.fromhex("2003000003000000 610062000000 8403000002000000 63000000")


def test_layout() -> None:
    assert SoapHeader("ab", "c").serialize() == PADDED


@given(words, words)
def test_parse_reverses_serialize(header: str, body: str) -> None:
    soap = SoapHeader(header, body)
    raw = soap.serialize()
    assert len(raw) % 4 == 0
    assert SoapHeader.parse(memoryview(raw)) == (soap, len(raw))


@pytest.mark.parametrize(
    ("raw", "end"), [(PADDED, 28), (UNPADDED, 26), (UNPADDED + b"??", 28), (UNPADDED + b"more", 28)]
)
def test_sections_are_accepted_with_and_without_padding(raw: bytes, end: int) -> None:
    assert SoapHeader.parse(memoryview(raw)) == (SoapHeader("ab", "c"), end)


def test_padding_and_reserved_fields_are_ignored() -> None:
    raw = bytearray(PADDED)
    raw[2:4] = raw[14:16] = raw[18:20] = b"\xff\xff"
    assert SoapHeader.parse(memoryview(raw)) == (SoapHeader("ab", "c"), 28)


def test_empty_sections_may_have_no_text_at_all() -> None:
    raw = bytes.fromhex("2003000000000000 8403000000000000")
    assert SoapHeader.parse(memoryview(raw)) == (SoapHeader("", ""), 16)


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 0x21, "SoapHeader.HeaderSectionID", 0),
        (16, 0x85, "SoapHeader.BodySectionID", 14),
        (4, 0x02, "SoapHeader.Header", 8),
        (7, 0x80, "SoapHeader.Header", 8),
        (20, 0x03, "SoapHeader.Body", 24),
        (23, 0x80, "SoapHeader.Body", 24),
        (12, 0x01, "SoapHeader.Header", 8),
        (26, 0x01, "SoapHeader.Body", 24),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(PADDED)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        SoapHeader.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(len(PADDED)))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SoapHeader.parse(memoryview(PADDED)[:size])
