"""Reading the primitive values of a .NET BinaryFormatter stream ([MS-NRBF] 2.1.1)."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from struct import Struct
from typing import Final

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .nrbf_values import NrbfPrimitive

PRIMITIVE_NAMES: Final = {
    1: "Boolean",
    2: "Byte",
    3: "Char",
    5: "Decimal",
    6: "Double",
    7: "Int16",
    8: "Int32",
    9: "Int64",
    10: "SByte",
    11: "Single",
    12: "TimeSpan",
    13: "DateTime",
    14: "UInt16",
    15: "UInt32",
    16: "UInt64",
    18: "String",
}
BOOLEAN: Final = 1
BYTE: Final = 2
CHAR: Final = 3
DECIMAL: Final = 5
TIME_SPAN: Final = 12
DATE_TIME: Final = 13
STRING: Final = 18
_STRUCTS: Final = {
    1: Struct("<B"),
    2: Struct("<B"),
    6: Struct("<d"),
    7: Struct("<h"),
    8: Struct("<i"),
    9: Struct("<q"),
    10: Struct("<b"),
    11: Struct("<f"),
    12: Struct("<q"),
    13: Struct("<Q"),
    14: Struct("<H"),
    15: Struct("<I"),
    16: Struct("<Q"),
}
_DECIMAL_TEXT: Final = re.compile(r"-?[0-9]{1,29}(?:\.[0-9]{1,29})?")
_INT32: Final = Struct("<i")
_EPOCH: Final = datetime(1, 1, 1)  # noqa: DTZ001 -- most values of .NET have no zone
_TICKS_MASK: Final = (1 << 62) - 1
_KIND_UTC: Final = 1
_MAX_LENGTH_BYTES: Final = 5


class NrbfCursor:
    """A position in the stream; every read is checked against what remains."""

    __slots__ = ("_data", "position")

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self.position = 0

    @property
    def remaining(self) -> int:
        return len(self._data) - self.position

    def fault(self, field: str, reason: str) -> MalformedPacket:
        """The error for what was read just now."""
        return MalformedPacket(f"NRBF.{field}", self.position, reason)

    def byte(self, field: str) -> int:
        return self.raw(1, field)[0]

    def int32(self, field: str) -> int:
        number: int = _INT32.unpack(self.raw(4, field))[0]
        return number

    def count(self, field: str) -> int:
        """A number of things of which each takes a byte at least."""
        start = self.position
        count = self.int32(field)
        if not 0 <= count <= self.remaining:
            raise MalformedPacket(
                f"NRBF.{field}", start, f"{count} does not fit into {self.remaining} bytes"
            )
        return count

    def raw(self, size: int, field: str) -> bytes:
        start = self.position
        self.position = require(self._data, start, size, f"NRBF.{field}")
        return bytes(self._data[start : self.position])

    def string(self, field: str) -> str:
        """A LengthPrefixedString: seven bits of the length in each byte, then UTF-8."""
        start, length = self.position, 0
        for index in range(_MAX_LENGTH_BYTES):
            octet = self.byte(field)
            length |= (octet & 0x7F) << 7 * index
            if octet < 0x80:
                break
        else:
            raise MalformedPacket(f"NRBF.{field}", start, "the length has more than 5 bytes")
        return self._utf8(self.raw(length, field), start, field)

    def primitive(self, primitive_type: int, field: str) -> NrbfPrimitive:
        """A value of this PrimitiveTypeEnumeration."""
        known = _STRUCTS.get(primitive_type)
        if known is None:
            return self._variable(primitive_type, field)
        number: int | float = known.unpack(self.raw(known.size, field))[0]
        if primitive_type == BOOLEAN:
            return number != 0
        if primitive_type == DATE_TIME:
            return _date_time(int(number))
        if primitive_type == TIME_SPAN:
            return timedelta(microseconds=int(number) // 10)
        return number

    def primitives(self, primitive_type: int, count: int) -> list[NrbfPrimitive]:
        """`count` values in a row."""
        return [self.primitive(primitive_type, "Values") for _ in range(count)]

    def skip(self, primitive_type: int, count: int) -> bool:
        """Pass over values of fixed size; others have to be read, which is not done here."""
        known = _STRUCTS.get(primitive_type)
        if known is not None:
            self.position = require(self._data, self.position, count * known.size, "NRBF.Values")
        return known is not None or count == 0

    def _variable(self, primitive_type: int, field: str) -> NrbfPrimitive:
        start = self.position
        if primitive_type == STRING:
            return self.string(field)
        if primitive_type == DECIMAL:
            text = self.string(field)
            if _DECIMAL_TEXT.fullmatch(text) is None:
                raise MalformedPacket(f"NRBF.{field}", start, "not a decimal number")
            return Decimal(text)
        if primitive_type == CHAR:
            first = self.byte(field)
            # The length of a UTF-8 sequence is the number of leading ones of its first byte.
            more = (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)
            return self._utf8(bytes([first]) + self.raw(more, field), start, field)
        raise MalformedPacket(f"NRBF.{field}", start, f"primitive type {primitive_type} is unknown")

    def _utf8(self, raw: bytes, start: int, field: str) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as exc:
            raise MalformedPacket(f"NRBF.{field}", start, "not UTF-8 text") from exc


def _date_time(value: int) -> datetime | int:
    """The time, or its number when it is beyond what a date can be."""
    try:
        moment = _EPOCH + timedelta(microseconds=(value & _TICKS_MASK) // 10)
    except OverflowError:
        return value
    return moment.replace(tzinfo=UTC) if value >> 62 == _KIND_UTC else moment
