"""[MS-MQRR] 2.2.5.3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader

RAW = (
    bytes.fromhex("94000000 04800000 03000000 04000000 e6051144")
    + "poison".encode("utf-16-le").ljust(64, b"\0")
    + "späte".encode("utf-16-le").ljust(64, b"\0")
)
HEADER = SubqueueHeader(0x4002, 3, 4, 0x441105E6, "poison", "späte")

u32 = st.integers(0, 0xFFFFFFFF)
names = st.text(
    st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"], exclude_characters="\0"),
    max_size=31,
)


@pytest.mark.spec("MQRR-2.2.5.3-01", "MQRR-2.2.5.3-02", "MQRR-2.2.5.3-07")
def test_layout() -> None:
    assert len(RAW) == 148
    assert SubqueueHeader.parse(RAW) == (HEADER, 148)
    assert HEADER.serialize() == RAW


@pytest.mark.spec("MQRR-2.2.5.3-07", "MQRR-2.2.5.3-08")
def test_names_are_zero_outside_of_subqueues_and_moves() -> None:
    assert SubqueueHeader().serialize() == bytes.fromhex("94000000") + bytes(144)


@pytest.mark.spec("MQRR-2.2.5.3-02")
@given(st.builds(SubqueueHeader, st.integers(0, 0xFFFF), u32, u32, u32, names, names))
def test_parse_reverses_serialize(header: SubqueueHeader) -> None:
    raw = header.serialize()
    assert SubqueueHeader.parse(memoryview(b"?" + raw), 1) == (header, 149)
    assert int.from_bytes(raw[4:8], "little") & 0xFFFE0001 == 0


def test_the_bits_around_the_class_are_ignored() -> None:
    raw = RAW[:4] + bytes.fromhex("0580feff") + RAW[8:]
    assert SubqueueHeader.parse(raw) == (HEADER, 148)


def test_what_follows_the_nul_of_a_name_is_ignored() -> None:
    raw = bytearray(RAW)
    raw[40:42] = b"xy"
    assert SubqueueHeader.parse(memoryview(raw)) == (HEADER, 148)


def test_a_name_of_32_characters_is_read_whole_and_written_cut() -> None:
    name = "n" * 32
    header, _ = SubqueueHeader.parse(RAW[:20] + name.encode("utf-16-le") + RAW[84:])
    assert header.subqueue_name == name
    raw = header.serialize()
    assert len(raw) == 148
    assert raw[20:84] == ("n" * 31 + "\0").encode("utf-16-le")
    assert SubqueueHeader.parse(raw)[0].subqueue_name == "n" * 31


def test_a_cut_name_ends_with_a_whole_character() -> None:
    raw = SubqueueHeader(target_subqueue_name="n" * 30 + "\U0001f600").serialize()
    assert raw[84:] == ("n" * 30 + "\0\0").encode("utf-16-le")


def test_a_name_with_a_nul_is_not_written() -> None:
    with pytest.raises(ValueError, match="has no NUL"):
        SubqueueHeader(target_subqueue_name="a\0b").serialize()


@pytest.mark.parametrize(
    ("position", "raw", "field", "offset"),
    [
        (0, b"\x93", "SubqueueHeader.HeaderSize", 0),
        (22, b"\x00\xd8", "SubqueueHeader.SubqueueName", 22),
        (84, b"\x00\xdc", "SubqueueHeader.TargetSubqueueName", 84),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, raw: bytes, field: str, offset: int
) -> None:
    damaged = bytearray(RAW)
    damaged[position : position + len(raw)] = raw
    with pytest.raises(MalformedPacket) as caught:
        SubqueueHeader.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", [0, 3, 4, 147])
def test_a_short_buffer_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SubqueueHeader.parse(RAW[:size])
