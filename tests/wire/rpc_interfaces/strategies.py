"""Records of any stub, drawn by the types that declare it."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from openmsmq.wire.ndr import Array, Count, MaxCount, NdrType, Structure, Stub, Text, Union, Unique
from openmsmq.wire.ndr.primitives import (
    GUID,
    EnumConverter,
    Primitive,
    RangeConverter,
    Reserved,
)
from openmsmq.wire.ndr.syntax import NDR

Draw = st.DrawFn
INTEGERS = {"B": (0, 0xFF), "H": (0, 0xFFFF), "I": (0, 2**32 - 1), "Q": (0, 2**64 - 1)}
INTEGERS["i"] = (-(2**31), 2**31 - 1)
LATIN = st.characters(min_codepoint=1, max_codepoint=0xFF)
WIDE = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def primitives(item: Primitive) -> st.SearchStrategy[Any]:
    converter = item.converter
    if item is GUID:
        return st.uuids()
    if isinstance(converter, RangeConverter):
        return st.integers(converter._minimum, converter._maximum)
    if isinstance(converter, EnumConverter):
        members = converter._members
        return st.sampled_from(sorted(members)) if members else st.integers(0, 0x7FFF)
    code, size, _ = item.layout(NDR)
    if code.endswith("s"):
        return st.binary(min_size=size, max_size=size)
    return st.integers(*INTEGERS[code])


# Any: records and values of all types.
def draw_value(draw: Draw, item: NdrType) -> Any:
    match item:
        case Primitive():
            return draw(primitives(item))
        case Unique():
            if draw(st.booleans()):
                return item.null
            value = draw_value(draw, item.pointee)
            return item.null if value == item.null else value
        case Text():
            return draw(st.text(LATIN if item.unit == 1 else WIDE, max_size=30))
        case Array():
            # A packet has at most two sections.
            number = item.size if isinstance(item.size, int) else draw(st.integers(0, 2))
            if item.element is None:
                size = number * item.unit
                return draw(st.binary(min_size=size, max_size=size))
            return tuple([draw_value(draw, item.element) for _ in range(number)])
        case Structure():
            values = draw_fields(draw, item.record._fields, item.types)
            record = item.record(*values)
            return record if item.load is None else item.load(record)
        case _:
            raise AssertionError(item)


def pointee(item: NdrType) -> NdrType:
    return pointee(item.pointee) if isinstance(item, Unique) else item


def draw_fields(draw: Draw, names: Sequence[str], types: Sequence[NdrType]) -> list[Any]:
    visible = [item for item in types if not isinstance(item, Count | Reserved)]
    values: dict[str, Any] = {}
    for name, item in zip(names, visible, strict=True):
        if isinstance(item, Union):
            tag = draw(st.sampled_from(sorted(item.arms)))
            values[item.switch] = tag
            arm = item.arms[tag]
            values[name] = None if arm is None else draw_value(draw, arm)
        elif not isinstance(item, MaxCount):
            values.setdefault(name, draw_value(draw, item))
    for name, item in zip(names, visible, strict=True):
        inner = pointee(item)
        if isinstance(inner, Array | Text) and isinstance(inner.size, str):
            size = 0 if values[name] is None else len(values[name]) // inner.unit
            room = size + isinstance(inner, Text)
            values[inner.size] = room
            if inner.size in names and isinstance(visible[names.index(inner.size)], MaxCount):
                values[inner.size] = room + draw(st.integers(0, 3))
            if isinstance(inner, Array) and isinstance(inner.length, str):
                values[inner.length] = size
    return [values[name] for name in names]


@st.composite
def records(draw: Draw, stub: Stub[Any]) -> Any:
    return stub.record(*draw_fields(draw, stub.record._fields, stub.types))
