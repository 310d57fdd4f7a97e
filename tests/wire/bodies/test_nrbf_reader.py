"""[MS-NRBF] 2: BinaryFormatter streams as data."""

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.bodies.nrbf_streams import (
    HEADER,
    LIST_OF_STRINGS,
    NULL,
    class_info,
    library,
    reference,
    stream,
    string,
    typed_class,
)

from openmsmq.wire.bodies.nrbf_reader import (
    MAX_ARRAY_ITEMS,
    MAX_DEPTH,
    MAX_VALUES,
    looks_like_nrbf,
    read_nrbf,
)
from openmsmq.wire.bodies.nrbf_text import nrbf_text
from openmsmq.wire.bodies.nrbf_values import (
    NrbfArray,
    NrbfNulls,
    NrbfObject,
    NrbfReference,
    NrbfString,
)
from openmsmq.wire.errors import MalformedPacket


def test_a_string_is_a_stream_of_its_own() -> None:
    # What BinaryFormatter writes for the text hello.
    found = read_nrbf(bytes.fromhex("0001000000ffffffff0100000000000000060100000005 68656c6c6f 0b"))
    assert found.complete
    assert found.fault is None
    assert found.root == NrbfString(1, "hello")


def test_a_list_of_strings_has_its_items_elsewhere() -> None:
    found = read_nrbf(LIST_OF_STRINGS)
    assert found.complete
    assert found.root == NrbfObject(
        1,
        "System.Collections.Generic.List`1[[System.String, mscorlib]]",
        "",
        [("_items", NrbfReference(2)), ("_size", 2), ("_version", 3)],
    )
    assert found.nodes[2] == NrbfArray(
        2, "String", 4, [NrbfString(3, "first"), NrbfString(4, "second"), NrbfNulls(2)]
    )


def test_a_class_of_an_application_names_its_library() -> None:
    members = {
        "id": b"\x00\x08",
        "name": b"\x01",
        "anything": b"\x02",
        "when": b"\x03" + b"\x0fSystem.DateTime",
        "owner": b"\x04" + b"\x05Owner" + pack("<i", 2),
        "parts": b"\x05",
        "words": b"\x06",
        "raw": b"\x07\x02",
    }
    data = stream(
        library(2, "Shop, Version=1.0.0.0"),
        typed_class(1, "Shop.Order", members, library_id=2),
        pack("<i", 42),
        string(3, "bolt"),
        b"\x08\x01\x01",
        NULL,
        reference(1),
        NULL,
        NULL,
        reference(4),
        b"\x0f" + pack("<ii", 4, 3) + b"\x02abc",
    )
    found = read_nrbf(data)
    assert found.complete
    assert isinstance(found.root, NrbfObject)
    assert (found.root.class_name, found.root.library) == ("Shop.Order", "Shop, Version=1.0.0.0")
    assert found.root.members == [
        ("id", 42),
        ("name", NrbfString(3, "bolt")),
        ("anything", True),
        ("when", None),
        ("owner", NrbfReference(1)),
        ("parts", None),
        ("words", None),
        ("raw", NrbfReference(4)),
    ]
    assert found.nodes[4] == NrbfArray(4, "Byte", 3, [], b"abc")


def test_a_second_object_of_a_class_refers_to_the_first() -> None:
    data = stream(
        typed_class(1, "Point", {"x": b"\x00\x08"}),
        pack("<i", 5),
        b"\x01" + pack("<ii", 2, 1) + pack("<i", 6),
    )
    assert read_nrbf(data).nodes[2] == NrbfObject(2, "Point", "", [("x", 6)])


@pytest.mark.parametrize(("record", "name"), [(b"\x02", ""), (b"\x03", "Shop")])
def test_members_without_types_come_as_records(record: bytes, name: str) -> None:
    tail = pack("<i", 9) if name else b""
    data = stream(
        library(9, "Shop"),
        record + class_info(1, "Old", "a", "b") + tail,
        b"\x08\x08" + pack("<i", 7),
        NULL,
    )
    assert read_nrbf(data).root == NrbfObject(1, "Old", name, [("a", 7), ("b", None)])


def test_an_array_of_any_shape_has_all_its_items() -> None:
    # Two by three numbers with lower bounds.
    shape = pack("<iBiiiii", 1, 5, 2, 2, 3, 1, 1)
    data = stream(b"\x07" + shape + b"\x00\x08" + pack("<6i", *range(6)))
    assert read_nrbf(data).root == NrbfArray(1, "Int32", 6, list(range(6)))


def test_an_array_may_be_empty() -> None:
    data = stream(b"\x0f" + pack("<ii", 1, 0) + b"\x08")
    assert read_nrbf(data).root == NrbfArray(1, "Int32", 0, [])
    assert read_nrbf(data).complete


def test_an_array_of_objects_may_have_many_nulls() -> None:
    data = stream(
        b"\x10" + pack("<ii", 1, 1_000_002),
        NULL,
        b"\x0e" + pack("<i", 1_000_000),
        b"\x08\x08" + pack("<i", 7),
    )
    assert read_nrbf(data).root == NrbfArray(
        1, "Object", 1_000_002, [None, NrbfNulls(1_000_000), 7]
    )


def test_long_arrays_keep_their_first_items() -> None:
    count = MAX_ARRAY_ITEMS + 5
    numbers = read_nrbf(stream(b"\x0f" + pack("<ii", 1, count) + b"\x08" + bytes(4 * count))).root
    objects = read_nrbf(stream(b"\x10" + pack("<ii", 1, count) + NULL * count)).root
    for array in (numbers, objects):
        assert isinstance(array, NrbfArray)
        assert (array.length, len(array.items)) == (count, MAX_ARRAY_ITEMS)


@pytest.mark.parametrize(("number", "complete"), [(MAX_VALUES, True), (MAX_VALUES + 1, False)])
def test_as_many_records_as_the_limit_of_values_are_read(*, number: int, complete: bool) -> None:
    assert read_nrbf(stream(NULL * number)).complete == complete


def test_reading_stops_at_the_limit_of_values() -> None:
    found = read_nrbf(stream(b"\x10" + pack("<ii", 1, MAX_VALUES + 1) + NULL * (MAX_VALUES + 1)))
    assert not found.complete
    assert found.fault is None
    assert isinstance(found.root, NrbfArray)


def test_a_class_of_too_many_members_ends_the_reading() -> None:
    names = ["m"] * (MAX_VALUES + 1)
    found = read_nrbf(stream(b"\x02" + class_info(1, "Wide", *names)))
    assert not found.complete
    assert found.fault is None
    assert found.root is None


def test_a_long_array_of_texts_ends_the_reading() -> None:
    count = MAX_ARRAY_ITEMS + 1
    found = read_nrbf(stream(b"\x0f" + pack("<ii", 1, count) + b"\x03" + b"x" * count))
    assert not found.complete
    assert found.fault is None
    assert found.root == NrbfArray(1, "Char", count, ["x"] * MAX_ARRAY_ITEMS)


def test_what_was_read_before_a_fault_is_kept() -> None:
    data = stream(typed_class(1, "Point", {"x": b"\x00\x08", "y": b"\x00\x08"}), pack("<i", 5))
    found = read_nrbf(data)
    assert isinstance(found.fault, MalformedPacket)
    assert found.root == NrbfObject(1, "Point", "", [("x", 5)])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "needs 1 bytes"),
        (b"\x06", "no SerializationHeaderRecord"),
        (HEADER.replace(b"\x01\0\0\0\0\0\0\0", b"\x02\0\0\0\0\0\0\0"), "version 2.0 is not 1.0"),
        (HEADER, "needs 1 bytes, 0 remain"),
        (stream(b"\x15"), "record type 21 is not known here"),
        (stream(b"\x00"), "record type 0 is not known here"),
        (stream(b"\x01" + pack("<ii", 1, 99)), "no class has the id 99"),
        (stream(typed_class(1, "A", {"x": b"\x00\x11"})), "primitive type 17 is not known"),
        (stream(typed_class(1, "A", {"x": b"\x08"})), "binary type 8 is not known"),
        (stream(b"\x04" + pack("<i", 1) + b"\x01A" + pack("<i", 1 << 30)), "does not fit into"),
        (stream(b"\x10" + pack("<ii", 1, -1)), "negative length"),
        (stream(b"\x0f" + pack("<ii", 1, 1 << 30) + b"\x08"), "remain"),
        (stream(b"\x10" + pack("<ii", 1, 2) + b"\x0d\x03"), "3 nulls do not fit"),
        (stream(b"\x10" + pack("<ii", 1, 2) + b"\x0d\x00"), "0 nulls do not fit"),
        (stream(b"\x07" + pack("<iBi", 1, 6, 1)), "rank 1 of array type 6"),
        (stream(b"\x07" + pack("<iBi", 1, 0, 0)), "rank 0 of array type 0"),
        (stream(b"\x07" + pack("<iBi", 1, 0, 33)), "rank 33 of array type 0"),
        (stream(b"\x07" + pack("<iBiii", 1, 2, 2, -1, -1) + b"\x00\x02"), "negative length"),
        (stream(*[b"\x10" + pack("<ii", 1, 1)] * (MAX_DEPTH + 1)), "nested more than 50 deep"),
    ],
)
def test_a_fault_is_told(data: bytes, reason: str) -> None:
    found = read_nrbf(data)
    assert not found.complete
    assert found.fault is not None
    assert reason in found.fault.reason


def test_many_libraries_are_no_depth() -> None:
    data = stream(*[library(i, "L") for i in range(2 * MAX_DEPTH)], string(1, "x"))
    found = read_nrbf(data)
    assert found.complete
    assert len(found.libraries) == 2 * MAX_DEPTH


@given(st.binary(max_size=200), st.integers(0, 200))
def test_any_bytes_are_read_without_an_exception(tail: bytes, cut: int) -> None:
    for data in (HEADER + tail, LIST_OF_STRINGS[:cut] + tail + LIST_OF_STRINGS[cut:]):
        found = read_nrbf(data)
        assert not (found.complete and found.fault)
        nrbf_text(found)


def test_a_stream_is_known_by_its_header() -> None:
    assert looks_like_nrbf(LIST_OF_STRINGS)
    assert looks_like_nrbf(memoryview(LIST_OF_STRINGS))
    assert not looks_like_nrbf(HEADER)
    assert not looks_like_nrbf(b"\x01" + LIST_OF_STRINGS[1:])
    assert not looks_like_nrbf(bytes(40))
