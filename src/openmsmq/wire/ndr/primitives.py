"""Types of one fixed size: integers, enumerations, GUIDs, context handles, ranges."""

from abc import abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from struct import Struct
from typing import Any, Final

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import guid, guid_bytes

from .codec import Codec, NdrType, Scope, Values
from .stream import NdrReader, NdrWriter
from .syntax import TransferSyntax

CONTEXT_HANDLE_SIZE: Final = 20
CONTEXT_HANDLE_NULL: Final = bytes(CONTEXT_HANDLE_SIZE)
# An enumeration without v1_enum has 15 bits that may be set (C706, 14.2.6).
ENUM_MAX: Final = 0x7FFF


class Converter:
    """Between the value that `struct` knows and the value of the field; ValueError if it is bad."""

    # Any: the value of any primitive type; each converter knows its own.
    @abstractmethod
    def load(self, value: Any) -> object:
        """The value of the field."""

    @abstractmethod
    def dump(self, value: Any) -> object:
        """The value for `struct`."""


class Primitive(NdrType):
    """A value that one code of `struct` describes."""

    def __init__(
        self, code: str, size: int, alignment: int, converter: Converter | None = None
    ) -> None:
        self._code = code
        self._size = size
        self._alignment = alignment
        self.converter = converter

    def layout(self, syntax: TransferSyntax) -> tuple[str, int, int]:
        """The code, the size and the alignment."""
        return self._code, self._size, self._alignment

    def compile(self, syntax: TransferSyntax, scope: Scope, field: str) -> Codec:
        return PrimitiveCodec(self, syntax, scope.field(field))


class PrimitiveCodec(Codec):
    """A primitive that stands alone: an arm of a union or an element of an array."""

    def __init__(self, primitive: Primitive, syntax: TransferSyntax, field: str) -> None:
        code, size, alignment = primitive.layout(syntax)
        super().__init__(alignment, size, pointees=False)
        self._struct = Struct("<" + code)
        self._converter = primitive.converter
        self._field = field

    def read(self, reader: NdrReader, values: Values) -> object:
        reader.align(self.alignment)
        at = reader.take(self._struct.size, self._field)
        value: object = self._struct.unpack_from(reader.buf, at)[0]
        return value if self._converter is None else load(self._converter, value, self._field, at)

    def write(self, writer: NdrWriter, value: object, values: Values) -> object:
        writer.align(self.alignment)
        dumped = value if self._converter is None else self._converter.dump(value)
        writer.put(self._struct.pack(dumped))
        return value


class Enum(Primitive):
    """An enumeration: 16 bits in NDR, 32 in NDR64."""

    def __init__(self, members: type[IntEnum] | None = None) -> None:
        super().__init__("", 0, 0, EnumConverter(members))

    def layout(self, syntax: TransferSyntax) -> tuple[str, int, int]:
        return syntax.enum_code, syntax.enum_size, syntax.enum_size


class EnumConverter(Converter):
    """With members, other values are refused."""

    def __init__(self, members: type[IntEnum] | None) -> None:
        # As IntEnum: mypyc would turn members that are declared as int into plain integers.
        self._members: dict[int, IntEnum] | None = None
        if members is not None:
            self._members = {int(member): member for member in members}

    def load(self, value: Any) -> object:
        if self._members is not None:
            member = self._members.get(value)
            if member is None:
                raise ValueError(f"{value} is not one of {sorted(self._members)}")
            return member
        if value > ENUM_MAX:
            raise ValueError(f"{value} is more than {ENUM_MAX}")
        return value

    def dump(self, value: Any) -> object:
        return value


class GuidConverter(Converter):
    """16 bytes in little-endian order as a UUID."""

    def load(self, value: Any) -> object:
        return guid(value)

    def dump(self, value: Any) -> object:
        return guid_bytes(value)


class RangeConverter(Converter):
    """Integers between two limits, both included ([MS-RPCE] 2.2.4.14)."""

    def __init__(self, minimum: int, maximum: int) -> None:
        self._minimum = minimum
        self._maximum = maximum

    def load(self, value: Any) -> object:
        if not self._minimum <= value <= self._maximum:
            raise ValueError(f"{value} is not in {self._minimum}..{self._maximum}")
        return value

    def dump(self, value: Any) -> object:
        return self.load(value)


def ranged(minimum: int, maximum: int) -> Primitive:
    """A u32 with the attribute range."""
    return Primitive("I", 4, 4, RangeConverter(minimum, maximum))


def octets(size: int) -> Primitive:
    """A fixed array of bytes."""
    return Primitive(f"{size}s", size, 1)


U8: Final = Primitive("B", 1, 1)
U16: Final = Primitive("H", 2, 2)
U32: Final = Primitive("I", 4, 4)
U64: Final = Primitive("Q", 8, 8)
I32: Final = Primitive("i", 4, 4)
GUID: Final = Primitive("16s", 16, 4, GuidConverter())
# Attributes and UUID, which only the runtime that made the handle tells apart.
CONTEXT_HANDLE: Final = Primitive(f"{CONTEXT_HANDLE_SIZE}s", CONTEXT_HANDLE_SIZE, 4)
XACTUOW: Final = octets(16)


class Count(Primitive):
    """An integer that no record holds: how many elements the field `of` has."""

    def __init__(self, of: str, *, maximum: int | None = None) -> None:
        super().__init__("I", 4, 4, None if maximum is None else RangeConverter(0, maximum))
        self.of = of


class Reserved(Primitive):
    """An integer that no record holds: zero on write, ignored on read."""

    def __init__(self, primitive: Primitive) -> None:
        super().__init__(primitive._code, primitive._size, primitive._alignment)


def load(converter: Converter, value: object, field: str, at: int) -> object:
    try:
        return converter.load(value)
    except ValueError as exc:
        raise MalformedPacket(field, at, str(exc)) from exc


def layouts(items: Sequence[tuple[str, int, int]]) -> tuple[list[Struct], list[list[int]]]:
    """One `struct` for each place, modulo 8, where a run of primitives may start.

    The second result says at which distance from the start each of them is then.
    """
    structs: list[Struct] = []
    distances: list[list[int]] = []
    for phase in range(8):
        codes = "<"
        at = phase
        places = []
        for code, size, alignment in items:
            gap = -at & (alignment - 1)
            codes += f"{gap}x{code}" if gap else code
            at += gap
            places.append(at - phase)
            at += size
        structs.append(Struct(codes))
        distances.append(places)
    return structs, distances
