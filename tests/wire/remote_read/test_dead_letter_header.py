"""[MS-MQRR] 2.2.5.4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader

RAW = bytes.fromhex("0c000000 61005c006200 0000")
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


@pytest.mark.spec("MQRR-2.2.5.4-01")
def test_layout() -> None:
    assert DeadLetterHeader.parse(RAW) == (DeadLetterHeader("a\\b"), 12)
    assert DeadLetterHeader("a\\b").serialize() == RAW


@pytest.mark.spec("MQRR-2.2.5.4-02")
def test_the_name_is_padded_with_zeros() -> None:
    assert DeadLetterHeader("ab").serialize().hex() == "0c000000610062000000" + "0000"


@given(names)
def test_parse_reverses_serialize(name: str) -> None:
    raw = DeadLetterHeader(name).serialize()
    assert len(raw) % 4 == 0
    assert DeadLetterHeader.parse(memoryview(b"?" + raw), 1) == (
        DeadLetterHeader(name),
        1 + len(raw),
    )


@pytest.mark.parametrize("size", [10, 11, 12])
def test_the_size_may_leave_out_the_padding(size: int) -> None:
    raw = bytes([size]) + bytes.fromhex("000000 610062000000 ffff")
    assert DeadLetterHeader.parse(raw) == (DeadLetterHeader("ab"), 12)


@pytest.mark.parametrize(
    ("raw", "field", "offset"),
    [
        ("03000000", "DeadLetterHeader.HeaderSize", 0),
        ("0d000000 61005c0062000000", "DeadLetterHeader.HeaderSize", 0),
        ("ffffffff 61005c0062000000", "DeadLetterHeader.HeaderSize", 0),
        ("04000000 61005c0062000000", "DeadLetterHeader.DeadLetterPathName", 4),
        ("0a000000 61005c0062000000", "DeadLetterHeader.DeadLetterPathName", 4),
        ("0c000000 6100000062000000", "DeadLetterHeader.DeadLetterPathName", 4),
        ("0c000000 610000d862000000", "DeadLetterHeader.DeadLetterPathName", 6),
    ],
)
def test_wrong_values_name_field_and_offset(raw: str, field: str, offset: int) -> None:
    with pytest.raises(MalformedPacket) as caught:
        DeadLetterHeader.parse(bytes.fromhex(raw))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("raw", ["04000000", "06000000 6100"])
def test_a_name_too_short_for_a_nul_is_said_to_have_none(raw: str) -> None:
    with pytest.raises(MalformedPacket, match="the NUL is not at the end"):
        DeadLetterHeader.parse(bytes.fromhex(raw))


@pytest.mark.parametrize("size", range(12))
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        DeadLetterHeader.parse(RAW[:size])
