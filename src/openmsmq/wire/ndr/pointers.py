"""Unique pointers.

A reference pointer at top level is not on the wire: declare what it points to.
"""

from .arrays import ArrayCodec
from .codec import Codec, NdrType, Scope, Values
from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax


class Unique(NdrType):
    """A pointer that may be NULL ([unique], and [ptr] without aliases).

    `null` is the value that stands for NULL.
    """

    def __init__(self, pointee: NdrType, *, null: object = None) -> None:
        self.pointee = pointee
        self.null = null

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> "PointerCodec":
        pointee = self.pointee.compile(syntax, scope, field)
        return PointerCodec(syntax, pointee, self.null, scope.field(field))


class PointerCodec(Codec):
    """In place a referent; the state of reading is the referent, that of writing the value."""

    def __init__(self, syntax: TransferSyntax, pointee: Codec, null: object, field: str) -> None:
        super().__init__(syntax.count_size, syntax.count_size, pointees=True)
        self._pointee = pointee
        self._null_value = null
        self._field = field
        self._counts = pointee.counts if isinstance(pointee, ArrayCodec) else None

    def read(self, reader: NdrReader, values: Values) -> object:
        return reader.count(self._field)

    def finish(self, reader: NdrReader, state: object, values: Values) -> object:
        if not state:
            if self._counts is not None:
                self._counts.check_null(reader, values)
            return self._null_value
        pointee = self._pointee
        value = pointee.read(reader, values)
        return pointee.finish(reader, value, values) if pointee.pointees else value

    def referent(self, writer: NdrWriter, value: object) -> int:
        return 0 if value == self._null_value else writer.next_referent()

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        writer.count(self.referent(writer, value))
        return value

    def write_pointees(self, writer: NdrWriter, state: object, values: Values) -> None:
        if state != self._null_value:
            pointee = self._pointee
            pointee.write_pointees(writer, pointee.write(writer, state, values), values)
