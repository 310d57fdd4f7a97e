"""The readable tree."""

from datetime import datetime
from decimal import Decimal

from tests.wire.bodies.nrbf_streams import (
    LIST_OF_STRINGS,
    NULL,
    reference,
    stream,
    typed_class,
)

from openmsmq.wire.bodies.nrbf_reader import read_nrbf
from openmsmq.wire.bodies.nrbf_text import MAX_LINES, nrbf_text
from openmsmq.wire.bodies.nrbf_values import (
    NrbfArray,
    NrbfNulls,
    NrbfObject,
    NrbfReference,
    NrbfStream,
)


def test_a_list_is_shown_with_its_items_in_place() -> None:
    assert nrbf_text(read_nrbf(LIST_OF_STRINGS)).splitlines() == [
        "System.Collections.Generic.List`1[[System.String, mscorlib]] #1",
        "  _items: String[4] #2",
        '    [0]: "first"',
        '    [1]: "second"',
        "    [2..3]: null",
        "  _size: 2",
        "  _version: 3",
    ]


def test_circles_and_loose_ends_are_shown_as_references() -> None:
    data = stream(
        typed_class(1, "Node", {"next": b"\x02", "lost": b"\x02", "none": b"\x02"}),
        reference(1),
        reference(77),
        NULL,
    )
    assert nrbf_text(read_nrbf(data)).splitlines() == [
        "Node #1",
        "  next: -> #1",
        "  lost: -> #77",
        "  none: null",
    ]


def test_values_are_shown_as_people_write_them() -> None:
    node = NrbfObject(1, "Values", "")
    node.members = [
        ("yes", True),
        ("price", Decimal("1.50")),
        ("when", datetime.fromisoformat("2024-05-06T12:30")),
        ("char", "\n"),
        ("raw", NrbfArray(2, "Byte", 3, data=b"\x01\x02\x03")),
        ("long", NrbfArray(3, "Byte", 40, data=bytes(40))),
        ("cut", NrbfArray(4, "Int32", 9, [1, NrbfNulls(2)])),
        ("text", "x" * 300),
    ]
    assert nrbf_text(NrbfStream(1, {1: node})).splitlines() == [
        "Values #1",
        "  yes: true",
        "  price: 1.50",
        "  when: 2024-05-06T12:30:00",
        '  char: "\\u000a"',
        "  raw: Byte[3] #2 01 02 03",
        f"  long: Byte[40] #3 {' '.join(['00'] * 32)} ...",
        "  cut: Int32[9] #4",
        "    [0]: 1",
        "    [1..2]: null",
        "    ...: 6 more",
        f'  text: "{"x" * 200}..."',
    ]


def test_a_stream_without_its_root_says_so() -> None:
    assert nrbf_text(NrbfStream(5)) == "no root object"


def test_a_long_tree_is_cut() -> None:
    lines = nrbf_text(NrbfStream(1, {1: NrbfArray(1, "Int32", 900, [0] * 800)})).splitlines()
    assert len(lines) == MAX_LINES
    assert lines[-1] == "..."


def test_a_long_chain_of_references_is_cut() -> None:
    count = 5000
    nodes = {i: NrbfObject(i, "Node", "", [("next", NrbfReference(i + 1))]) for i in range(count)}
    lines = nrbf_text(NrbfStream(0, dict(nodes))).splitlines()
    assert len(lines) < MAX_LINES
    assert lines[-1].strip().startswith("next: -> #")
