"""Conformant and conformant varying arrays, of octets and of any other element."""

from collections.abc import Sequence
from typing import cast

from openmsmq.wire.errors import MalformedPacket

from .codec import NO_SLOT, Codec, NdrType, Scope, Values
from .pieces import Octets, Pieces
from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax


class MaxCount(NdrType):
    """A field that is not on the wire itself: the maximum count of an array carries it."""

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> Codec:
        return MaxCountCodec(scope.names[field])


class MaxCountCodec(Codec):
    """Leaves the slot to the array."""

    def __init__(self, slot: int) -> None:
        super().__init__(1, 0, pointees=False)
        self._slot = slot

    def read(self, reader: NdrReader, values: Values) -> object:
        return values[self._slot]

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        return value


class Array(NdrType):
    """A conformant array, or with `varying` a conformant varying one, as a tuple.

    `size` (size_is) and `length` (length_is) name the field that holds the number, or are the
    number; None stands for the Count of the array.
    """

    def __init__(
        self,
        element: NdrType | None,
        *,
        size: str | int | None = None,
        length: str | int | None = None,
        varying: bool = False,
        unit: int = 1,
    ) -> None:
        self.element = element
        self.size = size
        self.length = length
        self.varying = varying
        self.unit = unit

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> "ArrayCodec":
        counts = ArrayCounts(self, scope, field)
        if self.element is None:
            return OctetsCodec(syntax, counts, self.unit)
        return ElementsCodec(syntax, counts, self.element.compile(syntax, scope, field))


def octet_array(
    *,
    size: str | int | None = None,
    length: str | int | None = None,
    varying: bool = False,
    unit: int = 1,
) -> Array:
    """An array of elements of `unit` bytes each, as the bytes of the stub: no copy of a view.

    Wider units need a field that holds their number; a Count counts bytes.
    """
    return Array(None, size=size, length=length, varying=varying, unit=unit)


class ArrayCounts:
    """The counts in front of the elements, and what they must agree with."""

    def __init__(self, array: Array, scope: Scope, field: str) -> None:
        self.field = scope.field(field)
        self.varying = array.varying
        self.hoisted = scope.hoisted
        self.size_slot, self.size = _resolve(array.size, scope, field)
        self.carried = self.size_slot in scope.carried
        self.length_slot, self.length = NO_SLOT, 0
        if array.varying:
            self.length_slot, self.length = _resolve(array.length, scope, field)

    def read(self, reader: NdrReader, values: Values) -> int:
        """Return the number of elements that follow."""
        at = reader.at
        maximum: int
        if self.hoisted == NO_SLOT:
            maximum = reader.count(self.field)
        else:
            maximum = cast(int, values[self.hoisted])
        if self.carried:
            values[self.size_slot] = maximum
        else:
            self._agree("maximum count", maximum, self.expected_size(values), at)
        if not self.varying:
            return maximum
        offset = reader.count(self.field)
        actual = reader.count(self.field)
        self._agree("offset", offset, 0, at)
        if actual > maximum:
            raise MalformedPacket(self.field, at, f"{actual} elements of at most {maximum}")
        self._agree("actual count", actual, self._expected_length(values), at)
        return actual

    def write(self, writer: NdrWriter, number: int, values: Values) -> None:
        size = self.expected_size(values)
        length = self._expected_length(values) if self.varying else size
        if length != number or number > size:
            raise ValueError(f"{self.field} has {number} elements, its counts say {length}, {size}")
        if self.hoisted == NO_SLOT:
            writer.count(size)
        if self.varying:
            writer.count(0)
            writer.count(number)

    def check_null(self, reader: NdrReader, values: Values) -> None:
        # [MS-RPCE] 3.1.1.5.3.3.1.2: a NULL pointer does not go with a count.
        if self.size_slot != NO_SLOT:
            self._agree("NULL, count", self.expected_size(values), 0, reader.at)

    def expected_size(self, values: Values) -> int:
        return self.size if self.size_slot == NO_SLOT else cast(int, values[self.size_slot])

    def _expected_length(self, values: Values) -> int:
        return self.length if self.length_slot == NO_SLOT else cast(int, values[self.length_slot])

    def _agree(self, what: str, value: int, expected: int, at: int) -> None:
        if value != expected:
            raise MalformedPacket(self.field, at, f"{what} {value} is not {expected}")


def _resolve(number: str | int | None, scope: Scope, field: str) -> tuple[int, int]:
    """Return the slot of a number, or the number."""
    if isinstance(number, int):
        return NO_SLOT, number
    return (scope.counts[field] if number is None else scope.names[number]), 0


class ArrayCodec(Codec):
    """What arrays of all elements share."""

    def __init__(
        self, syntax: TransferSyntax, counts: ArrayCounts, alignment: int, *, pointees: bool
    ) -> None:
        # The maximum count of a conformant structure is not part of the array.
        size = 0 if counts.hoisted != NO_SLOT else syntax.count_size
        super().__init__(max(alignment, size), size, pointees=pointees)
        self.counts = counts


class OctetsCodec(ArrayCodec):
    """Elements that stay as they are."""

    def __init__(self, syntax: TransferSyntax, counts: ArrayCounts, unit: int) -> None:
        super().__init__(syntax, counts, unit, pointees=False)
        self._unit = unit

    def read(self, reader: NdrReader, values: Values) -> object:
        size = self.counts.read(reader, values) * self._unit
        at = reader.take(size, self.counts.field)
        return reader.buf[at : at + size]

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        data = cast(Octets, value)
        self.counts.write(writer, len(data) // self._unit, values)
        if isinstance(data, Pieces):
            for part in data.parts:
                writer.put(part)
        else:
            writer.put(data)
        return value


class ElementsCodec(ArrayCodec):
    """Elements of any type; what they point to follows the last of them."""

    def __init__(self, syntax: TransferSyntax, counts: ArrayCounts, element: Codec) -> None:
        super().__init__(syntax, counts, element.alignment, pointees=element.pointees)
        self._element = element

    def read(self, reader: NdrReader, values: Values) -> object:
        number = self.counts.read(reader, values)
        if number * self._element.minimum > reader.end - reader.at:
            raise MalformedPacket(
                self.counts.field, reader.at, f"{number} elements do not fit into the stub"
            )
        read = self._element.read
        return tuple([read(reader, values) for _ in range(number)])

    def finish(self, reader: NdrReader, state: object, values: Values) -> object:
        finish = self._element.finish
        return tuple([finish(reader, item, values) for item in cast("Sequence[object]", state)])

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        items = cast("Sequence[object]", value)
        self.counts.write(writer, len(items), values)
        write = self._element.write
        return [write(writer, item, values) for item in items]

    def write_pointees(self, writer: NdrWriter, state: object, values: Values) -> None:
        for item in cast("Sequence[object]", state):
            self._element.write_pointees(writer, item, values)
