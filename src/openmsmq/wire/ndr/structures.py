"""Structures, and the stubs of calls: parameter lists of requests and of responses."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from openmsmq.wire.errors import MalformedPacket

from .codec import NO_SLOT, Codec, NdrType, Scope, Values
from .fields import Fields
from .stream import FIRST_REFERENT, NdrReader, NdrWriter
from .syntax import TRANSFER_SYNTAXES, TransferSyntax

R = TypeVar("R")
# Any: makes a NamedTuple of any class, without a call of its own constructor.
_new_tuple: Final[Callable[[type[Any], tuple[object, ...]], Any]] = tuple.__new__


class Structure(NdrType):
    """A structure as a NamedTuple.

    Args:
        record: the NamedTuple; Count and Reserved have no field in it.
        types: the types of the members, in order.
        load: makes the value from the record, where the value is something else.
        dump: makes the record from the value.
    """

    def __init__(
        self,
        # Any: a NamedTuple of any fields, and what stands for it.
        record: type[Any],
        *types: NdrType,
        load: Callable[[Any], object] | None = None,
        dump: Callable[[Any], Sequence[object]] | None = None,
    ) -> None:
        self.record = record
        self.types = types
        self.load = load
        self.dump = dump

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> Codec:
        record = self.record
        fields = Fields(record.__name__, record._fields, self.types, syntax, top_level=False)
        return StructureCodec(self, fields, syntax)


class StructureCodec(Codec):
    """The state is the values of the slots."""

    def __init__(self, structure: Structure, fields: Fields, syntax: TransferSyntax) -> None:
        super().__init__(fields.alignment, fields.minimum, pointees=True)
        self._structure = structure
        self._fields = fields
        # [MS-RPCE] 2.2.5.3.4.1: no gap follows a conformant array.
        self._gaps = syntax.gaps and fields.hoisted == NO_SLOT

    def read(self, reader: NdrReader, values: Values) -> object:
        fields = self._fields
        inner: Values = [0] * fields.slots
        if fields.hoisted != NO_SLOT:
            inner[fields.hoisted] = reader.count(fields.record)
        reader.align(self.alignment)
        for step in fields.steps:
            step.read(reader, inner)
        if self._gaps and reader.gaps:
            reader.align(self.alignment)
        return inner

    def finish(self, reader: NdrReader, state: object, values: Values) -> object:
        inner = cast(Values, state)
        for step in self._fields.pointees:
            step.read(reader, inner)
        record: object = self._structure.record(*self._fields.reduce(inner))
        load = self._structure.load
        return record if load is None else load(record)

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        fields = self._fields
        dump = self._structure.dump
        inner = fields.expand(cast("Sequence[object]", value) if dump is None else dump(value))
        if fields.hoisted != NO_SLOT:
            writer.count(len(cast("Sequence[object]", inner[fields.visible[-1]])))
        writer.align(self.alignment)
        for step in fields.steps:
            step.write(writer, inner)
        if self._gaps:
            writer.align(self.alignment)
        return inner

    def write_pointees(self, writer: NdrWriter, state: object, values: Values) -> None:
        inner = cast(Values, state)
        for step in self._fields.pointees:
            step.write(writer, inner)


class Stub(Generic[R]):
    """The parameters of a request or a response, in both syntaxes.

    Args:
        record: the NamedTuple of the parameters; Count and Reserved have no field in it.
        types: the types of the parameters, in order.
        loose_gap: a structure in it may come without its trailing gap in NDR64.
        first_referent: the number of its first pointer.
    """

    def __init__(
        self,
        record: type[R],
        *types: NdrType,
        loose_gap: bool = False,
        first_referent: int = FIRST_REFERENT,
    ) -> None:
        self.record: Final = record
        self.types: Final = types
        # Any: a NamedTuple of any fields.
        self._make: type[Any] = record
        self._loose_gap = loose_gap
        self._first_referent = first_referent
        self._compiled: list[Fields | None] = [None for _ in TRANSFER_SYNTAXES]

    def encode(self, record: R, syntax: TransferSyntax) -> bytes:
        """Return the octets of the stub.

        Raises:
            ValueError: a field is out of its range, or a count does not fit.
        """
        fields = self._fields(syntax)
        plain = fields.plain
        if plain is not None:
            return plain.pack(*cast("Sequence[object]", record))
        writer = NdrWriter(syntax, self._first_referent)
        values = fields.expand(cast("Sequence[object]", record))
        for step in fields.steps:
            step.write(writer, values)
        return writer.joined()

    def decode(self, stub: bytes | memoryview, syntax: TransferSyntax) -> tuple[R, int]:
        """Return the record and where its octets end; more may follow.

        Arrays of octets are slices of `stub`: copies of bytes, views of a memoryview.

        Raises:
            MalformedPacket: the stub is not what the interface asks for.
        """
        fields = self._fields(syntax)
        plain = fields.plain
        if plain is not None and len(stub) >= plain.size:
            plain_record: R = _new_tuple(self._make, plain.unpack_from(stub))
            return plain_record, plain.size
        if syntax.gaps and self._loose_gap:
            return self._decode_loosely(fields, stub, syntax)
        return self._decode(fields, NdrReader(stub, syntax, gaps=True))

    def _decode(self, fields: Fields, reader: NdrReader) -> tuple[R, int]:
        values: Values = [0] * fields.slots
        for step in fields.steps:
            step.read(reader, values)
        record: R = self._make(*fields.reduce(values))
        # The gap after the last structure may be missing.
        return record, min(reader.at, reader.end)

    def _decode_loosely(
        self, fields: Fields, stub: bytes | memoryview, syntax: TransferSyntax
    ) -> tuple[R, int]:
        # [MS-RPCE] 2.2.5.3.4.1 asks for a trailing gap, but not every peer writes it after a union
        # whose arm is shorter than the alignment: the length of the stub tells.
        try:
            record, end = self._decode(fields, NdrReader(stub, syntax, gaps=True))
        except MalformedPacket:
            return self._decode(fields, NdrReader(stub, syntax, gaps=False))
        if end == len(stub) or _has_trailer(stub, end):
            return record, end
        other, other_end = self._decode(fields, NdrReader(stub, syntax, gaps=False))
        return (other, other_end) if _has_trailer(stub, other_end) else (record, end)

    def _fields(self, syntax: TransferSyntax) -> Fields:
        fields = self._compiled[syntax.number]
        if fields is None:
            make = self._make
            fields = Fields(make.__name__, make._fields, self.types, syntax, top_level=True)
            self._compiled[syntax.number] = fields
        return fields


# [MS-RPCE] 2.2.2.13.1: what a verification trailer starts with.
TRAILER_SIGNATURE: Final = bytes.fromhex("8ae3137102f43671")


def _has_trailer(stub: bytes | memoryview, end: int) -> bool:
    return TRAILER_SIGNATURE in bytes(stub[end:])


class Call(NamedTuple):
    """One method of an interface: what its request and its response hold."""

    opnum: int
    name: str
    # Any: a table holds calls of all records.
    request: Stub[Any]
    response: Stub[Any]
