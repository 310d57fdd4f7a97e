"""Numbers, dates and other values of fixed size, by VT_* type ([MS-OAUT] 2.2)."""

import struct
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation, localcontext
from struct import Struct
from typing import Any, Final
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import BodyType, body_type_name

from .decoded_body import ScalarValue

_NUMBERS: Final = {
    int(BodyType.VT_I1): Struct("<b"),
    int(BodyType.VT_UI1): Struct("<B"),
    int(BodyType.VT_I2): Struct("<h"),
    int(BodyType.VT_UI2): Struct("<H"),
    int(BodyType.VT_I4): Struct("<i"),
    int(BodyType.VT_UI4): Struct("<I"),
    int(BodyType.VT_I8): Struct("<q"),
    int(BodyType.VT_UI8): Struct("<Q"),
    int(BodyType.VT_R4): Struct("<f"),
    int(BodyType.VT_R8): Struct("<d"),
    int(BodyType.VT_CY): Struct("<q"),
    int(BodyType.VT_DATE): Struct("<d"),
    int(BodyType.VT_BOOL): Struct("<H"),
    int(BodyType.VT_CLSID): Struct("<16s"),
}
SCALAR_SIZES: Final = {body_type: known.size for body_type, known in _NUMBERS.items()}
_CURRENCY_DIGITS: Final = 4
_CURRENCY_UNIT: Final = Decimal("0.0001")
_EXACT: Final = Context(prec=20, traps=[Inexact, InvalidOperation])
# Day 0 of VT_DATE; a date of OLE has no zone.
_DAY_ZERO: Final = datetime(1899, 12, 30)  # noqa: DTZ001
_MILLISECONDS_PER_DAY: Final = 86_400_000
_VARIANT_TRUE: Final = 0xFFFF


def decode_scalar(body_type: int, data: bytes | memoryview) -> ScalarValue:
    """The value in the size of its type."""
    known = _NUMBERS[body_type]
    # Some senders write a VT_BOOL of one byte.
    if body_type == BodyType.VT_BOOL and len(data) == 1:
        return data[0] != 0
    if len(data) != known.size:
        raise MalformedPacket(
            "Body", 0, f"{body_type_name(body_type)} has {known.size} bytes, not {len(data)}"
        )
    return _converted(body_type, known.unpack(data))[0]


def decode_array(body_type: int, data: bytes | memoryview) -> tuple[ScalarValue, ...]:
    """The values that stand in a row in the data."""
    known = _NUMBERS[body_type]
    if len(data) % known.size:
        reason = f"{len(data)} bytes are not whole items of {known.size} bytes"
        raise MalformedPacket("Body", 0, reason)
    return _converted(body_type, tuple(number for (number,) in known.iter_unpack(data)))


def _converted(body_type: int, numbers: tuple[Any, ...]) -> tuple[ScalarValue, ...]:
    """The values that numbers of this type stand for; `Any` is what `struct` gives."""
    match body_type:
        case BodyType.VT_CY:
            return tuple(Decimal(number).scaleb(-_CURRENCY_DIGITS) for number in numbers)
        case BodyType.VT_DATE:
            return tuple(_decode_date(number) for number in numbers)
        case BodyType.VT_BOOL:
            return tuple(map(bool, numbers))
        case BodyType.VT_CLSID:
            return tuple(UUID(bytes_le=raw) for raw in numbers)
        case _:
            return numbers


def _decode_date(days: float) -> datetime:
    try:
        whole = int(days)
        # Before day 0 the time of day still counts forward: -1.25 is six o'clock of day -1.
        milliseconds = round(abs(days - whole) * _MILLISECONDS_PER_DAY)
        return _DAY_ZERO + timedelta(days=whole, milliseconds=milliseconds)
    except (OverflowError, ValueError) as exc:
        raise MalformedPacket("Body", 0, f"VT_DATE {days} is not a date") from exc


def encode_date(value: datetime) -> bytes:
    """Bytes of a VT_DATE, to the millisecond; a time with a zone is sent as UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    since = value - _DAY_ZERO
    fraction = (since - timedelta(days=since.days)) / timedelta(days=1)
    days = since.days + fraction if since.days >= 0 else since.days - fraction
    return _NUMBERS[BodyType.VT_DATE].pack(days)


def encode_currency(value: Decimal) -> bytes:
    """Bytes of a VT_CY.

    Raises:
        ValueError: the number has more than four decimals or is too large.
    """
    try:
        with localcontext(_EXACT):
            scaled = int(value.quantize(_CURRENCY_UNIT).scaleb(_CURRENCY_DIGITS))
        return _NUMBERS[BodyType.VT_CY].pack(scaled)
    except (Inexact, InvalidOperation, ValueError, struct.error) as exc:
        reason = f"{value} does not fit VT_CY, which has four decimals and 64 bits"
        raise ValueError(reason) from exc


def encode_scalar(body_type: BodyType, value: int | float) -> bytes:
    """Bytes of a number of this type."""
    return _NUMBERS[body_type].pack(value)


def encode_bool(value: bool) -> bytes:  # noqa: FBT001 -- the value itself, not an option
    """Bytes of a VT_BOOL."""
    return _NUMBERS[BodyType.VT_BOOL].pack(_VARIANT_TRUE if value else 0)
