"""[MS-MQRR] 2.2.5.2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.remote_read.extension_header import ExtensionHeader, ExtensionHeaderFlags

RAW = bytes.fromhex("0c000000 03000000 13 000000") + b"abc"
HEADER = ExtensionHeader(
    3, ExtensionHeaderFlags.DL | ExtensionHeaderFlags.SQ | ExtensionHeaderFlags.EA
)


@pytest.mark.spec("MQRR-2.2.5.2-01")
def test_layout() -> None:
    assert ExtensionHeader.parse(RAW) == (HEADER, 12)
    assert HEADER.serialize() == RAW[:12]


@given(st.integers(0, 31).map(lambda bits: ExtensionHeaderFlags(bits & 0x1B)))
def test_parse_reverses_serialize(flags: ExtensionHeaderFlags) -> None:
    header = ExtensionHeader(3, flags)
    assert ExtensionHeader.parse(memoryview(b"?" + header.serialize() + b"abc"), 1) == (header, 13)


@pytest.mark.parametrize(
    ("bit", "flag"),
    [
        pytest.param(0x01, ExtensionHeaderFlags.DL, marks=pytest.mark.spec("MQRR-2.2.5.2-03")),
        pytest.param(0x02, ExtensionHeaderFlags.SQ, marks=pytest.mark.spec("MQRR-2.2.5.2-04")),
        pytest.param(0x08, ExtensionHeaderFlags.DI, marks=pytest.mark.spec("MQRR-2.2.5.2-05")),
        pytest.param(0x10, ExtensionHeaderFlags.EA, marks=pytest.mark.spec("MQRR-2.2.5.2-07")),
    ],
)
def test_flag_bits(bit: int, flag: ExtensionHeaderFlags) -> None:
    raw = RAW[:8] + bytes([bit]) + RAW[9:]
    assert ExtensionHeader.parse(raw)[0] == ExtensionHeader(3, flag)


@pytest.mark.spec("MQRR-2.2.5.2-08")
def test_other_bits_and_reserved_bytes_are_ignored() -> None:
    raw = RAW[:8] + b"\xf7\xff\xff\xff" + RAW[12:]
    assert ExtensionHeader.parse(raw) == (HEADER, 12)


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 11, "ExtensionHeader.HeaderSize", 0),
        (0, 13, "ExtensionHeader.HeaderSize", 0),
        (4, 4, "ExtensionHeader.RemainingHeadersSize", 12),
        (4, 0xFFFFFFFF, "ExtensionHeader.RemainingHeadersSize", 12),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(RAW)
    damaged[position : position + 4] = value.to_bytes(4, "little")
    with pytest.raises(MalformedPacket) as caught:
        ExtensionHeader.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", range(15))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        ExtensionHeader.parse(RAW[:size])
