"""VT_* values of fixed size."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from struct import pack
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.bodies.scalar_values import (
    SCALAR_SIZES,
    decode_array,
    decode_scalar,
    encode_currency,
    encode_date,
)
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import BodyType

GUID = UUID("1a2b3c4d-0000-1111-2222-1234567890ab")


@pytest.mark.parametrize(
    ("body_type", "raw", "value"),
    [
        (BodyType.VT_I1, "ff", -1),
        (BodyType.VT_UI1, "ff", 255),
        (BodyType.VT_I2, "feff", -2),
        (BodyType.VT_UI2, "feff", 0xFFFE),
        (BodyType.VT_I4, "2a000000", 42),
        (BodyType.VT_UI4, "000000ff", 0xFF000000),
        (BodyType.VT_I8, "ffffffffffffffff", -1),
        (BodyType.VT_UI8, "ffffffffffffffff", 0xFFFFFFFFFFFFFFFF),
        (BodyType.VT_R4, "0000c03f", 1.5),
        (BodyType.VT_R8, "000000000000f83f", 1.5),
        (BodyType.VT_CY, "39300000 00000000", Decimal("1.2345")),
        (BodyType.VT_DATE, pack("<d", 45418.5).hex(), datetime.fromisoformat("2024-05-06T12:00")),
        (BodyType.VT_DATE, pack("<d", -1.25).hex(), datetime.fromisoformat("1899-12-29T06:00")),
        (BodyType.VT_DATE, pack("<d", 0.0).hex(), datetime.fromisoformat("1899-12-30")),
        (BodyType.VT_BOOL, "ffff", True),
        (BodyType.VT_BOOL, "0000", False),
        (BodyType.VT_BOOL, "01", True),
        (BodyType.VT_BOOL, "00", False),
        (BodyType.VT_CLSID, GUID.bytes_le.hex(), GUID),
    ],
)
def test_values(body_type: BodyType, raw: str, value: object) -> None:
    found = decode_scalar(body_type, bytes.fromhex(raw))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("body_type", "size"), SCALAR_SIZES.items())
def test_a_value_has_exactly_its_size(body_type: int, size: int) -> None:
    for wrong in (size - 1, size + 1):
        if (body_type, wrong) != (BodyType.VT_BOOL, 1):
            with pytest.raises(MalformedPacket, match=f"has {size} bytes, not {wrong}"):
                decode_scalar(body_type, bytes(wrong))


@pytest.mark.parametrize("body_type", SCALAR_SIZES)
def test_an_array_has_its_values_in_a_row(body_type: int) -> None:
    one, two = bytes(SCALAR_SIZES[body_type]), b"\x01" + bytes(SCALAR_SIZES[body_type] - 1)
    assert decode_array(body_type, one + two) == (
        decode_scalar(body_type, one),
        decode_scalar(body_type, two),
    )
    assert decode_array(body_type, b"") == ()


@pytest.mark.parametrize("days", [1e9, -1e9, float("inf"), float("nan")])
def test_a_date_beyond_the_calendar_is_malformed(days: float) -> None:
    with pytest.raises(MalformedPacket, match="is not a date"):
        decode_scalar(BodyType.VT_DATE, pack("<d", days))


@given(st.datetimes(min_value=datetime.fromisoformat("0100-01-01")))
def test_a_date_survives_to_the_millisecond(value: datetime) -> None:
    found = decode_scalar(BodyType.VT_DATE, encode_date(value))
    assert isinstance(found, datetime)
    assert abs(found - value) <= timedelta(milliseconds=1)


def test_a_date_with_a_zone_is_sent_as_utc() -> None:
    east = datetime(2024, 5, 6, 14, tzinfo=timezone(timedelta(hours=2)))
    assert encode_date(east) == encode_date(datetime(2024, 5, 6, 12, tzinfo=UTC))
    assert encode_date(east) == pack("<d", 45418.5)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_currency_survives(units: int) -> None:
    raw = pack("<q", units)
    value = decode_scalar(BodyType.VT_CY, raw)
    assert isinstance(value, Decimal)
    assert encode_currency(value) == raw


@pytest.mark.parametrize(
    "value", ["1.00001", "1e30", "922337203685477.5808", "NaN", "sNaN", "Infinity", "1e-999999"]
)
def test_a_number_that_is_no_currency_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="does not fit VT_CY"):
        encode_currency(Decimal(value))
