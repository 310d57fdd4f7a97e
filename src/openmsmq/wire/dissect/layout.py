"""The fixed part of a structure as nodes: the codec's own `Struct` gives sizes and offsets.

A `Layout` only adds what a `Struct` does not have: names and meanings.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct
from typing import Final

from openmsmq.wire.checks import require

from .node import Node, Value

_ITEM: Final = re.compile(r"(\d*)([a-zA-Z])")


@dataclass(frozen=True, slots=True)
class Bits:
    """One or more adjacent bits of a number; `meaning` is a text for each value, or a function."""

    mask: int
    name: str
    meaning: tuple[str, ...] | Callable[[int], str]

    def __post_init__(self) -> None:
        # A plain number: an operation on an IntFlag costs as much as reading a whole header.
        object.__setattr__(self, "mask", int(self.mask))

    def node(self, offset: int, size: int, number: int) -> Node:
        value = (number & self.mask) // (self.mask & -self.mask)
        if not isinstance(self.meaning, tuple):
            meaning = self.meaning(value)
        else:
            meaning = self.meaning[value] if value < len(self.meaning) else "not defined"
        return Node(self.name, offset, size, value, meaning, mask=self.mask)


def _no_meaning(value: int) -> str:
    del value
    return ""


def _as_bytes(raw: bytes) -> tuple[Value, str]:
    return raw, ""


@dataclass(frozen=True, slots=True)
class Field:
    """A name for one item of a `Struct`, and how to show it.

    `meaning` is for numbers; `text` is for items of several bytes and gives value and meaning.
    """

    name: str
    meaning: Callable[[int], str] = _no_meaning
    text: Callable[[bytes], tuple[Value, str]] = _as_bytes
    hexadecimal: bool = False
    bits: tuple[Bits, ...] = ()


class Layout:
    """The fields of a structure, one for each item of its `Struct`."""

    __slots__ = ("items", "name")

    def __init__(self, name: str, struct: Struct, *fields: Field) -> None:
        self.name = name
        order = struct.format[:1]
        # Bytes that a codec leaves out are still there to be seen.
        text = struct.format.replace("x", "s")
        formats = [order + count + code for count, code in _ITEM.findall(text)]
        self.items = tuple(zip(fields, map(Struct, formats), strict=True))

    def read(self, node: Node, buf: memoryview, offset: int) -> int:
        """Append a child for each field; return where the last one ends.

        Raises:
            MalformedPacket: a field does not fit; those before it have been appended.
        """
        for field, struct in self.items:
            end = require(buf, offset, struct.size, f"{self.name}.{field.name}")
            (raw,) = struct.unpack_from(buf, offset)
            node.children.append(_field_node(field, offset, struct.size, raw))
            offset = end
        return offset


def _field_node(field: Field, offset: int, size: int, raw: int | bytes) -> Node:
    if isinstance(raw, bytes):
        value, meaning = field.text(raw)
        return Node(field.name, offset, size, value, meaning)
    node = Node(field.name, offset, size, raw, field.meaning(raw))
    node.hexadecimal = field.hexadecimal or bool(field.bits)
    node.children = [bits.node(offset, size, raw) for bits in field.bits]
    rest = raw
    for bits in field.bits:
        rest &= ~bits.mask
    # Bits without a meaning are of interest only when they are set.
    if field.bits and rest:
        other = node.add("Reserved", offset, size, rest, "bits without a meaning, ignored")
        other.hexadecimal = True
        other.mask = rest
    return node
