"""The fields of a structure or parameter list, as the steps that read and write them.

Neighbours of fixed size are one step: one call of `struct`, whatever their number.
"""

from abc import abstractmethod
from collections.abc import Sequence
from struct import Struct

from .arrays import Array, MaxCount
from .codec import NO_SLOT, Codec, NdrType, Scope, Values
from .pointers import PointerCodec, Unique
from .primitives import Converter, Count, Primitive, Reserved, layouts, load
from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax


class Step:
    """A part of the work on the values of one structure."""

    @abstractmethod
    def read(self, reader: NdrReader, values: Values) -> None:
        """Read into the slots."""

    @abstractmethod
    def write(self, writer: NdrWriter, values: Values) -> None:
        """Write from the slots."""


class Run(Step):
    """Neighbouring primitives and pointers in place."""

    def __init__(self, start: int, record: str) -> None:
        self.start = start
        self.stop = start
        self._record = record
        self._items: list[tuple[str, int, int]] = []
        self._converters: list[tuple[int, str, Converter]] = []
        self._pointers: list[tuple[int, PointerCodec]] = []

    def add(self, name: str, layout: tuple[str, int, int], converter: Converter | None) -> None:
        if converter is not None:
            self._converters.append((self.stop, name, converter))
        self._items.append(layout)
        self.stop += 1

    def add_pointer(self, name: str, layout: tuple[str, int, int], pointer: PointerCodec) -> None:
        self._pointers.append((self.stop, pointer))
        self.add(name, layout, None)

    def close(self) -> None:
        """Compile, once all are added."""
        self._structs, self._distances = layouts(self._items)

    @property
    def plain(self) -> Struct | None:
        """What reads and writes it at the start of a stub, if values are those of `struct`."""
        return None if self._converters or self._pointers else self._structs[0]

    def read(self, reader: NdrReader, values: Values) -> None:
        phase = reader.at & 7
        struct = self._structs[phase]
        at = reader.take(struct.size, self._record)
        values[self.start : self.stop] = struct.unpack_from(reader.buf, at)
        for slot, name, converter in self._converters:
            place = at + self._distances[phase][slot - self.start]
            values[slot] = load(converter, values[slot], name, place)

    def write(self, writer: NdrWriter, values: Values) -> None:
        struct = self._structs[writer.at & 7]
        items = values[self.start : self.stop]
        for slot, _, converter in self._converters:
            items[slot - self.start] = converter.dump(values[slot])
        for slot, pointer in self._pointers:
            items[slot - self.start] = pointer.referent(writer, values[slot])
        writer.put(struct.pack(*items))


class Member(Step):
    """A field with a codec of its own: the part in place."""

    def __init__(self, slot: int, codec: Codec) -> None:
        self._slot = slot
        self._codec = codec

    def read(self, reader: NdrReader, values: Values) -> None:
        values[self._slot] = self._codec.read(reader, values)

    def write(self, writer: NdrWriter, values: Values) -> None:
        values[self._slot] = self._codec.write(writer, values[self._slot], values)


class Pointees(Step):
    """What the pointers of a field point to."""

    def __init__(self, slot: int, codec: Codec) -> None:
        self._slot = slot
        self._codec = codec

    def read(self, reader: NdrReader, values: Values) -> None:
        values[self._slot] = self._codec.finish(reader, values[self._slot], values)

    def write(self, writer: NdrWriter, values: Values) -> None:
        self._codec.write_pointees(writer, values[self._slot], values)


class Fields:
    """Compiled fields.

    `steps` are done in place, `pointees` afterwards; with `top_level` the pointees of a parameter
    follow it at once and are among the steps.
    """

    def __init__(
        self,
        record: str,
        names: Sequence[str],
        types: Sequence[NdrType],
        syntax: TransferSyntax,
        *,
        top_level: bool,
    ) -> None:
        self.record = record
        self.steps: list[Step] = []
        self.pointees: list[Step] = []
        self.alignment = 1
        self.minimum = 0
        self._top_level = top_level
        self._run: Run | None = None
        self._place(names, types, conformant=not top_level and isinstance(types[-1], Array))
        for slot, item in enumerate(types):
            self._add(slot, item, syntax)
        self._close_run()
        # Without hidden fields the values of the record are the values of the slots.
        self.flat = len(self.visible) == len(types) and self.hoisted == NO_SLOT
        # The short way of most requests and results: one call of `struct` and nothing else.
        self.plain: Struct | None = None
        if top_level and self.flat and len(self.steps) < 2:
            step = self.steps[0] if self.steps else None
            if step is None:
                self.plain = Struct("")
            elif isinstance(step, Run):
                self.plain = step.plain

    def _place(self, names: Sequence[str], types: Sequence[NdrType], *, conformant: bool) -> None:
        """Give the fields their slots."""
        self.visible: list[int] = []
        self.counted: list[tuple[int, int]] = []
        self.reserved: list[int] = []
        self._names = [""] * len(types)
        counts: dict[str, int] = {}
        carried = set()
        for slot, item in enumerate(types):
            if isinstance(item, Count):
                counts[item.of] = slot
            elif isinstance(item, Reserved):
                self.reserved.append(slot)
            else:
                if isinstance(item, MaxCount):
                    carried.add(slot)
                self._names[slot] = names[len(self.visible)]
                self.visible.append(slot)
        slots = {self._names[slot]: slot for slot in self.visible}
        self.counted = [(slot, slots[of]) for of, slot in counts.items()]
        self.slots = len(types) + conformant
        self.hoisted = len(types) if conformant else NO_SLOT
        self._scope = Scope(self.record, slots, counts)
        self._scope.carried = carried
        self._scope.hoisted = self.hoisted
        self._counted_names = dict(zip(counts.values(), counts, strict=True))

    def _add(self, slot: int, item: NdrType, syntax: TransferSyntax) -> None:
        name = self._names[slot]
        if isinstance(item, Primitive):
            code, size, alignment = item.layout(syntax)
            # A Count is named after what it counts.
            field = self._scope.field(name or self._counted_names.get(slot, "reserved"))
            self._open_run(slot).add(field, (code, size, alignment), item.converter)
            self.alignment = max(self.alignment, alignment)
            self.minimum += size
            return
        codec = item.compile(syntax, self._scope, name)
        self.alignment = max(self.alignment, codec.alignment)
        self.minimum += codec.minimum
        if isinstance(item, Unique) and isinstance(codec, PointerCodec):
            size = syntax.count_size
            layout = (syntax.count_code, size, size)
            self._open_run(slot).add_pointer(self._scope.field(name), layout, codec)
        else:
            self._close_run()
            self.steps.append(Member(slot, codec))
        if codec.pointees:
            self._add_pointees(slot, codec)

    def _add_pointees(self, slot: int, codec: Codec) -> None:
        if self._top_level:
            self._close_run()
            self.steps.append(Pointees(slot, codec))
        else:
            self.pointees.append(Pointees(slot, codec))

    def _open_run(self, slot: int) -> Run:
        if self._run is None:
            self._run = Run(slot, self.record)
            self.steps.append(self._run)
        return self._run

    def _close_run(self) -> None:
        if self._run is not None:
            self._run.close()
            self._run = None

    def expand(self, record: Sequence[object]) -> Values:
        """The values of all slots from those that the record holds."""
        if self.flat:
            return list(record)
        values: Values = [0] * self.slots
        for slot, value in zip(self.visible, record, strict=True):
            values[slot] = value
        for slot, of in self.counted:
            counted = values[of]
            values[slot] = 0 if counted is None else len(counted)  # type: ignore[arg-type]
        return values

    def reduce(self, values: Values) -> Sequence[object]:
        """The values that the record holds."""
        return values if self.flat else [values[slot] for slot in self.visible]
