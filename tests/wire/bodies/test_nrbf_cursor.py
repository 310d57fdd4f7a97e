"""[MS-NRBF] 2.1.1: primitive values."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.bodies.nrbf_streams import text

from openmsmq.wire.bodies.nrbf_cursor import NrbfCursor
from openmsmq.wire.errors import MalformedPacket

NOON_2024 = (
    (datetime.fromisoformat("2024-05-06T12:00") - datetime.fromisoformat("0001-01-01"))
    // timedelta(microseconds=1)
    * 10
)


@pytest.mark.parametrize(
    ("primitive_type", "raw", "value"),
    [
        (1, b"\x01", True),
        (1, b"\x00", False),
        (2, b"\xff", 255),
        (3, "é".encode(), "é"),
        (3, "€".encode(), "€"),
        (3, b"x", "x"),
        (5, text("-12.50"), Decimal("-12.50")),
        (6, pack("<d", 1.5), 1.5),
        (7, pack("<h", -2), -2),
        (8, pack("<i", -3), -3),
        (9, pack("<q", -4), -4),
        (10, b"\xff", -1),
        (11, pack("<f", 0.5), 0.5),
        (12, pack("<q", 36_000_000_000), timedelta(hours=1)),
        (13, pack("<Q", NOON_2024), datetime.fromisoformat("2024-05-06T12:00")),
        (13, pack("<Q", NOON_2024 | 1 << 62), datetime(2024, 5, 6, 12, tzinfo=UTC)),
        (13, pack("<Q", (1 << 62) - 1), (1 << 62) - 1),
        (14, pack("<H", 65535), 65535),
        (15, pack("<I", 1 << 31), 1 << 31),
        (16, pack("<Q", 1 << 63), 1 << 63),
        (18, text("text"), "text"),
    ],
)
def test_primitive_values(primitive_type: int, raw: bytes, value: object) -> None:
    cursor = NrbfCursor(raw)
    assert cursor.primitive(primitive_type, "Value") == value
    assert cursor.remaining == 0


@given(st.text(max_size=300))
def test_a_string_has_its_length_before_it(value: str) -> None:
    assert NrbfCursor(text(value)).string("Value") == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "needs 1 bytes, 0 remain"),
        (b"\x05abc", "needs 5 bytes, 3 remain"),
        (b"\xff\xff\xff\xff\x7f", "remain"),
        (b"\x80\x80\x80\x80\x80\x01", "more than 5 bytes"),
        (b"\x01\xff", "not UTF-8 text"),
    ],
)
def test_a_string_that_is_none_is_malformed(raw: bytes, reason: str) -> None:
    with pytest.raises(MalformedPacket, match=reason):
        NrbfCursor(raw).string("Value")


@pytest.mark.parametrize(
    ("primitive_type", "raw", "reason"),
    [
        (3, b"\xe2\x82", "needs 2 bytes, 1 remain"),
        (3, b"\x80", "not UTF-8 text"),
        (5, text("1e999999999"), "not a decimal number"),
        (5, text("9" * 100), "not a decimal number"),
        (8, b"\x01\x02\x03", "needs 4 bytes, 3 remain"),
        (4, b"\x00", "primitive type 4 is unknown"),
        (17, b"\x00", "primitive type 17 is unknown"),
    ],
)
def test_a_value_that_is_none_is_malformed(primitive_type: int, raw: bytes, reason: str) -> None:
    with pytest.raises(MalformedPacket, match=reason):
        NrbfCursor(raw).primitive(primitive_type, "Value")


def test_values_of_fixed_size_can_be_passed_over() -> None:
    cursor = NrbfCursor(pack("<iii", 1, 2, 3))
    assert cursor.primitives(8, 2) == [1, 2]
    assert cursor.skip(8, 1)
    assert cursor.remaining == 0


def test_values_of_other_sizes_cannot() -> None:
    cursor = NrbfCursor(b"abc")
    assert cursor.primitives(3, 2) == ["a", "b"]
    assert not cursor.skip(3, 1)
    assert cursor.skip(3, 0)
    assert cursor.remaining == 1


def test_more_values_than_bytes_are_malformed() -> None:
    with pytest.raises(MalformedPacket, match="remain"):
        NrbfCursor(bytes(8)).skip(8, 1 << 40)


@pytest.mark.parametrize("count", [-1, 5])
def test_a_count_beyond_the_data_is_malformed(count: int) -> None:
    with pytest.raises(MalformedPacket, match=f"{count} does not fit into 4 bytes"):
        NrbfCursor(pack("<i", count) + bytes(4)).count("MemberCount")
