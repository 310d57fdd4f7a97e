"""Strings with the attribute `string`: varying arrays of characters that end with a NUL."""

from typing import Final, cast

from openmsmq.wire.checks import decode_utf16
from openmsmq.wire.errors import MalformedPacket

from .codec import NO_SLOT, Codec, NdrType, Scope, Values
from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax


class Text(NdrType):
    """A string of characters of `unit` bytes: 1 for Latin-1, 2 for UTF-16LE.

    A conformant string has its maximum count in front: the number of its characters, or the value
    of the field `size`. A string in a fixed array of `capacity` characters has none.
    """

    def __init__(self, unit: int, *, size: str | None = None, capacity: int = 0) -> None:
        self.unit = unit
        self.size = size
        self.capacity = capacity

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> Codec:
        slot = NO_SLOT if self.size is None else scope.names[self.size]
        return TextCodec(self, syntax, slot, scope.field(field))


WIDE_STRING: Final = Text(2)


class TextCodec(Codec):
    """The text without its NUL; what follows a NUL inside the text is dropped, as in C."""

    def __init__(self, text: Text, syntax: TransferSyntax, size_slot: int, field: str) -> None:
        super().__init__(syntax.count_size, syntax.count_size, pointees=False)
        self._unit = text.unit
        self._capacity = text.capacity
        self._size_slot = size_slot
        self._field = field

    def read(self, reader: NdrReader, values: Values) -> object:
        at = reader.at
        maximum = self._capacity or reader.count(self._field)
        offset = reader.count(self._field)
        actual = reader.count(self._field)
        if offset or not 0 < actual <= maximum:
            raise MalformedPacket(
                self._field, at, f"{actual} characters from {offset} of at most {maximum}"
            )
        if self._size_slot != NO_SLOT:
            values[self._size_slot] = maximum
        size = actual * self._unit
        start = reader.take(size, self._field)
        last = start + size - self._unit
        if bytes(reader.buf[last : start + size]).strip(b"\0"):
            raise MalformedPacket(self._field, last, "the text does not end with a NUL")
        raw = reader.buf[start:last]
        if self._unit == 1:
            return bytes(raw).decode("latin-1").partition("\0")[0]
        return decode_utf16(raw, start, self._field).partition("\0")[0]

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        text = cast(str, value) + "\0"
        raw = text.encode("latin-1" if self._unit == 1 else "utf-16-le")
        actual = len(raw) // self._unit
        maximum = self._capacity or actual
        if self._size_slot != NO_SLOT:
            maximum = cast(int, values[self._size_slot])
        if actual > maximum:
            raise ValueError(f"{self._field} has {actual} characters of at most {maximum}")
        if not self._capacity:
            writer.count(maximum)
        writer.count(0)
        writer.count(actual)
        writer.put(raw)
        return value
