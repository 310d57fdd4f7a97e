"""From a Python value to body type and bytes."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from openmsmq.wire.message.body_type import BodyType

from .scalar_values import encode_bool, encode_currency, encode_date, encode_scalar

EncodableValue = (
    str | bytes | bytearray | memoryview | bool | int | float | Decimal | datetime | UUID | None
)


def encode_body(value: EncodableValue) -> tuple[bytes, int]:
    """The bytes and the body type of a value.

    Text becomes a VT_BSTR, bytes have type 0, and other values the COM type that fits.

    Raises:
        ValueError: the value does not fit any type.
        TypeError: there is no type for such values.
    """
    match value:
        case str():
            return value.encode("utf-16-le"), BodyType.VT_BSTR
        case bytes() | bytearray() | memoryview():
            return bytes(value), BodyType.VT_EMPTY
        case None:
            return b"", BodyType.VT_NULL
        case bool():
            return encode_bool(value), BodyType.VT_BOOL
        case int():
            return _encode_integer(value)
        case float():
            return encode_scalar(BodyType.VT_R8, value), BodyType.VT_R8
        case Decimal():
            return encode_currency(value), BodyType.VT_CY
        case datetime():
            return encode_date(value), BodyType.VT_DATE
        case UUID():
            return value.bytes_le, BodyType.VT_CLSID
        case _:
            raise TypeError(f"a body cannot be made of {type(value).__name__}")


def _encode_integer(value: int) -> tuple[bytes, int]:
    if -(1 << 31) <= value < 1 << 31:
        body_type = BodyType.VT_I4
    elif -(1 << 63) <= value < 1 << 63:
        body_type = BodyType.VT_I8
    elif 0 <= value < 1 << 64:
        body_type = BodyType.VT_UI8
    else:
        raise ValueError(f"{value} has more than 64 bits")
    return encode_scalar(body_type, value), body_type
