"""Names and meanings on top of a Struct."""

from struct import Struct

import pytest

from openmsmq.wire.dissect.layout import Bits, Field, Layout
from openmsmq.wire.dissect.node import Node
from openmsmq.wire.errors import MalformedPacket

EXAMPLE = Layout(
    "Example",
    Struct("<BHI4s2x"),
    Field("Version", hexadecimal=True),
    Field(
        "Flags",
        bits=(
            Bits(0x0007, "PR", lambda value: f"priority {value}"),
            Bits(0x0030, "DM", ("express", "recoverable")),
        ),
    ),
    Field("Size", lambda value: f"{value} bytes"),
    Field("Name", text=lambda raw: (raw.decode(), "a name")),
    Field("Reserved"),
)
RAW = bytes.fromhex("10 2583 04000000 61626364 0000")


def read(raw: bytes) -> Node:
    root = Node("Example", 0, len(raw))
    assert EXAMPLE.read(root, memoryview(raw), 0) == len(raw)
    return root


def test_offsets_and_sizes_are_those_of_the_struct() -> None:
    fields = [(field.name, field.offset, field.size) for field in read(RAW).children]
    assert fields == [
        ("Version", 0, 1),
        ("Flags", 1, 2),
        ("Size", 3, 4),
        ("Name", 7, 4),
        ("Reserved", 11, 2),
    ]


def test_values_have_their_meanings() -> None:
    version, flags, size, name, reserved = read(RAW).children
    assert (version.value, version.meaning, version.hexadecimal) == (0x10, "", True)
    assert (flags.value, flags.hexadecimal) == (0x8325, True)
    assert (size.value, size.meaning, size.hexadecimal) == (4, "4 bytes", False)
    assert (name.value, name.meaning) == ("abcd", "a name")
    assert reserved.value == b"\0\0"


def test_bits_are_shown_one_by_one_and_those_without_a_name_only_when_set() -> None:
    flags = read(RAW).children[1]
    assert [(bit.name, bit.value, bit.meaning, bit.mask) for bit in flags.children] == [
        ("PR", 5, "priority 5", 0x0007),
        ("DM", 2, "not defined", 0x0030),
        ("Reserved", 0x8300, "bits without a meaning, ignored", 0x8300),
    ]
    quiet = read(RAW[:1] + b"\x11\x00" + RAW[3:]).children[1]
    assert [(bit.name, bit.meaning) for bit in quiet.children] == [
        ("PR", "priority 1"),
        ("DM", "recoverable"),
    ]


@pytest.mark.parametrize(("size", "names"), [(0, 0), (2, 1), (6, 2), (12, 4)])
def test_what_fits_is_read_before_the_fault(size: int, names: int) -> None:
    root = Node("Example", 0, size)
    with pytest.raises(MalformedPacket) as caught:
        EXAMPLE.read(root, memoryview(RAW)[:size], 0)
    assert len(root.children) == names
    assert caught.value.field == f"Example.{EXAMPLE.items[names][0].name}"


def test_a_table_that_does_not_fit_its_struct_is_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        Layout("Example", Struct("<II"), Field("Only"))
