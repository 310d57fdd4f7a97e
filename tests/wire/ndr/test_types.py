"""Each type by hand: its octets in both syntaxes, and the rules of target level 6.0
([MS-RPCE] 3.1.1.5.3)."""

from enum import IntEnum
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import (
    GUID,
    I32,
    NDR,
    NDR64,
    U8,
    U16,
    U32,
    U64,
    WIDE_STRING,
    Array,
    Count,
    Enum,
    MaxCount,
    NdrType,
    Pieces,
    Reserved,
    Structure,
    Stub,
    Text,
    TransferSyntax,
    Union,
    Unique,
    octet_array,
    ranged,
)


class One(NamedTuple):
    a: Any


class Two(NamedTuple):
    a: Any
    b: Any


class Three(NamedTuple):
    a: Any
    b: Any
    c: Any


class Colour(IntEnum):
    RED = 1
    BLUE = 4


def hexed(text: str) -> bytes:
    return bytes.fromhex(text)


# Any: records of the test.
def check(stub: Stub[Any], record: Any, octets: str, syntax: TransferSyntax = NDR) -> None:
    """Both directions, and every truncation."""
    raw = hexed(octets)
    assert stub.encode(record, syntax) == raw
    assert stub.decode(raw, syntax) == (record, len(raw))
    for size in range(len(raw)):
        with pytest.raises(MalformedPacket):
            stub.decode(raw[:size], syntax)


def refuse(stub: Stub[Any], octets: str, match: str, syntax: TransferSyntax = NDR) -> None:
    with pytest.raises(MalformedPacket, match=match):
        stub.decode(hexed(octets), syntax)


@pytest.mark.parametrize("syntax", [NDR, NDR64])
@pytest.mark.parametrize(
    ("item", "value", "octets"),
    [
        (U8, 0xAB, "ab"),
        (U16, 0x1234, "3412"),
        (U32, 0x12345678, "78563412"),
        (I32, -2, "feffffff"),
        (U64, 2**64 - 2, "feffffffffffffff"),
        (GUID, UUID(int=1), "00000000000000000000000000000001"),
        (ranged(3, 5), 5, "05000000"),
    ],
)
def test_integers_have_their_size_in_both_syntaxes(
    item: NdrType, value: object, octets: str, syntax: TransferSyntax
) -> None:
    check(Stub(One, item), One(value), octets, syntax)


@pytest.mark.parametrize("syntax", [NDR, NDR64])
def test_a_value_is_aligned_to_its_size(syntax: TransferSyntax) -> None:
    check(Stub(Three, U8, U16, U64), Three(1, 2, 3), "0100020000000000 0300000000000000", syntax)


def test_padding_may_have_any_value() -> None:
    stub = Stub(Two, U8, U32)
    assert stub.decode(hexed("01ffffff02000000"), NDR) == (Two(1, 2), 8)


def test_an_enumeration_has_16_bits_in_ndr_and_32_in_ndr64() -> None:
    check(Stub(One, Enum()), One(7), "0700")
    check(Stub(One, Enum()), One(7), "07000000", NDR64)
    refuse(Stub(One, Enum()), "0080", "One.a at offset 0: 32768 is more than 32767")


def test_an_enumeration_may_know_its_members() -> None:
    stub = Stub(Two, U8, Enum(Colour))
    check(stub, Two(0, Colour.BLUE), "00000400")
    assert isinstance(stub.decode(hexed("00000400"), NDR)[0].b, Colour)
    refuse(stub, "00000300", r"Two.b at offset 2: 3 is not one of \[1, 4\]")


def test_a_range_is_checked_both_ways() -> None:
    stub = Stub(Two, U8, ranged(3, 5))
    refuse(stub, "0000000002000000", r"Two.b at offset 4: 2 is not in 3..5")
    refuse(stub, "0000000006000000", r"Two.b at offset 4: 6 is not in 3..5")
    with pytest.raises(ValueError, match="6 is not in"):
        stub.encode(Two(0, 6), NDR)


def test_a_reserved_value_is_zero_on_write_and_ignored_on_read() -> None:
    stub = Stub(One, Reserved(U16), U16)
    check(stub, One(7), "00000700")
    assert stub.decode(hexed("ffff0700"), NDR) == (One(7), 4)


def test_a_conformant_array_has_its_maximum_count_in_front() -> None:
    stub = Stub(One, Count("a"), octet_array())
    check(stub, One(b"abc"), "03000000 03000000 616263")
    check(stub, One(b"abc"), "0300000000000000 0300000000000000 616263", NDR64)
    refuse(stub, "03000000 02000000 616263", "One.a at offset 4: maximum count 2 is not 3")
    refuse(stub, "ffffffff ffffffff 616263", "needs 4294967295 bytes")


def test_octets_may_be_given_in_pieces() -> None:
    stub = Stub(Two, Count("a"), octet_array(), U8)
    pieces = Pieces((b"ab", memoryview(b"c")))
    assert stub.encode(Two(pieces, 9), NDR) == hexed("03000000 03000000 616263 09")
    assert (len(pieces), bytes(pieces)) == (3, b"abc")


def test_octets_of_a_view_are_views() -> None:
    stub = Stub(One, Count("a"), octet_array())
    raw = memoryview(hexed("03000000 03000000 616263"))
    found = stub.decode(raw, NDR)[0].a
    assert isinstance(found, memoryview)
    assert found.obj is raw.obj


def test_wide_octets_are_counted_in_units() -> None:
    stub = Stub(Two, U32, octet_array(size="a", unit=2))
    check(stub, Two(2, b"abcd"), "02000000 02000000 61626364")


def test_a_varying_array_has_an_offset_and_an_actual_count() -> None:
    stub = Stub(One, Count("a"), octet_array(varying=True))
    check(stub, One(b"abc"), "03000000 03000000 00000000 03000000 616263")
    refuse(stub, "03000000 03000000 01000000 02000000 6162", "offset 1 is not 0")
    refuse(stub, "03000000 03000000 00000000 02000000 6162", "actual count 2 is not 3")
    refuse(stub, "03000000 03000000 00000000 04000000 61626364", "4 elements of at most 3")
    refuse(stub, "03000000 04000000 00000000 03000000 616263", "maximum count 4 is not 3")


def test_a_count_may_be_a_field_or_a_constant() -> None:
    stub = Stub(Three, U32, U16, octet_array(size="a", length="b", varying=True))
    check(stub, Three(4, 2, b"xy"), "04000000 02000000 04000000 00000000 02000000 7879")
    with pytest.raises(ValueError, match=r"Three.c has 3 elements, its counts say 2, 4"):
        stub.encode(Three(4, 2, b"xyz"), NDR)
    with pytest.raises(ValueError, match=r"Three.c has 5 elements, its counts say 5, 4"):
        stub.encode(Three(4, 5, b"xyzab"), NDR)
    fixed = Stub(One, octet_array(size=2))
    check(fixed, One(b"xy"), "02000000 7879")
    refuse(fixed, "03000000 787978", "maximum count 3 is not 2")


def test_a_maximum_count_may_carry_a_field() -> None:
    stub = Stub(Three, Count("a"), Array(U16, size="b", varying=True), MaxCount(), U8)
    check(
        stub,
        Three((1, 2), 5, 9),
        "02000000 05000000 00000000 02000000 01000200 09",
    )
    refuse(stub, "02000000 01000000 00000000 02000000 01000200 09", "2 elements of at most 1")


def test_a_null_pointer_leaves_0_in_the_field_that_a_maximum_count_carries() -> None:
    structure = Structure(Two, MaxCount(), Unique(octet_array(size="a")))
    check(Stub(One, structure), One(Two(0, None)), "00000000")
    check(Stub(One, structure), One(Two(2, b"xy")), "00000200 02000000 7879")


def test_more_elements_than_fit_are_refused_before_they_are_read() -> None:
    stub = Stub(One, Count("a"), Array(U64))
    refuse(stub, "ffffff7f ffffff7f 0000000000000000", "2147483647 elements do not fit")
    refuse(stub, "02000000 02000000 0000000000000000", "2 elements do not fit")


def test_a_null_pointer_has_no_pointee() -> None:
    stub = Stub(Two, Unique(U16), U8)
    check(stub, Two(None, 7), "00000000 07")
    check(stub, Two(5, 7), "00000200 0500 07")
    check(stub, Two(5, 7), "0000020000000000 0500 07", NDR64)


def test_any_referent_but_0_is_a_pointer() -> None:
    assert Stub(One, Unique(U16)).decode(hexed("01000000 0500"), NDR)[0] == One(5)


def test_a_null_pointer_does_not_go_with_a_count() -> None:
    stub = Stub(One, Count("a"), Unique(octet_array(), null=b""))
    check(stub, One(b""), "00000000 00000000")
    refuse(stub, "01000000 00000000", "NULL, count 1 is not 0")
    constant = Stub(One, Unique(octet_array(size=2)))
    check(constant, One(None), "00000000")


def test_pointees_follow_the_parameter_that_holds_the_pointers() -> None:
    structure = Structure(Two, Unique(U8), Unique(U8))
    stub = Stub(Two, structure, U8)
    check(stub, Two(Two(1, 2), 3), "00000200 04000200 01 02 03")


def test_the_pointees_of_a_pointee_follow_it() -> None:
    inner = Structure(Two, U8, Unique(U8))
    outer = Structure(Two, Unique(inner), Unique(U8))
    octets = "00000200 04000200 01000000 08000200 02 03"
    check(Stub(One, outer), One(Two(Two(1, 2), 3)), octets)


def test_all_elements_come_before_their_pointees() -> None:
    stub = Stub(One, Count("a"), Array(Unique(U8)))
    check(stub, One((1, None, 2)), "03000000 03000000 00000200 00000000 04000200 01 02")


def test_a_structure_is_aligned_as_its_widest_member() -> None:
    stub = Stub(Two, U8, Structure(Two, U8, U32))
    check(stub, Two(1, Two(2, 3)), "01000000 02000000 03000000")


def test_a_structure_has_a_trailing_gap_in_ndr64_alone() -> None:
    stub = Stub(Two, Structure(Two, U32, U8), U8)
    check(stub, Two(Two(1, 2), 3), "01000000 02 03")
    check(stub, Two(Two(1, 2), 3), "01000000 02000000 03", NDR64)


def test_the_last_gap_of_a_stub_may_be_missing() -> None:
    stub = Stub(One, Structure(Two, U32, U8))
    assert stub.decode(hexed("01000000 02"), NDR64) == (One(Two(1, 2)), 5)


def test_a_conformant_structure_starts_with_its_maximum_count() -> None:
    stub = Stub(One, Structure(Two, U16, Count("b"), octet_array()))
    check(stub, One(Two(7, b"ab")), "02000000 07000000 02000000 6162")
    check(stub, One(Two(7, b"ab")), "0200000000000000 07000000 02000000 6162", NDR64)
    refuse(stub, "03000000 07000000 02000000 616263", "maximum count 3 is not 2")


UNION: dict[int, NdrType | None] = {0: None, 1: U32, 2: Structure(Two, U8, Unique(U16))}


def test_a_union_repeats_its_tag() -> None:
    stub = Stub(One, Structure(Two, U8, Union(U8, "a", UNION)))
    check(stub, One(Two(0, None)), "00 00")
    check(stub, One(Two(1, 7)), "01 01 0000 07000000")
    check(stub, One(Two(2, Two(3, 4))), "02 02 0000 03000000 00000200 0400")
    refuse(stub, "01 02 0000 03000000 00000200 0400", "Two.b at offset 1: tag 2 is not 1")
    refuse(stub, "03 03 0000", r"tag 3 is not one of \[0, 1, 2\]")
    with pytest.raises(ValueError, match=r"tag 3 is not one of"):
        stub.encode(One(Two(3, None)), NDR)


def test_tag_and_arm_are_aligned_as_the_widest_arm_in_ndr64() -> None:
    stub = Stub(One, Structure(Two, U8, Union(U8, "a", UNION)))
    gap = "00000000000000"
    tagged = f"01{gap} 01{gap} 07000000"
    assert stub.encode(One(Two(1, 7)), NDR64) == hexed(tagged + "00000000")
    assert stub.decode(hexed(tagged), NDR64)[0] == One(Two(1, 7))
    assert stub.encode(One(Two(0, None)), NDR64) == hexed(f"00{gap} 00{gap}")


def test_a_wide_string_counts_its_nul() -> None:
    stub = Stub(One, WIDE_STRING)
    check(stub, One("aé"), "03000000 00000000 03000000 6100 e900 0000")
    check(stub, One("a"), "0200000000000000 0000000000000000 0200000000000000 6100 0000", NDR64)
    refuse(stub, "02000000 01000000 01000000 6100 0000", "1 characters from 1 of at most 2")
    refuse(stub, "01000000 00000000 02000000 6100 0000", "2 characters from 0 of at most 1")
    refuse(stub, "01000000 00000000 00000000", "0 characters")
    refuse(stub, "02000000 00000000 02000000 6100 0100", "offset 14: the text does not end")
    refuse(stub, "02000000 00000000 02000000 00d8 0000", "not UTF-16LE text")


def test_the_maximum_count_of_a_string_may_be_greater() -> None:
    octets = hexed("09000000 00000000 02000000 6100 0000")
    assert Stub(One, WIDE_STRING).decode(octets, NDR) == (One("a"), 16)


def test_what_follows_a_nul_in_a_string_is_dropped() -> None:
    octets = hexed("03000000 00000000 03000000 61 00 00")
    assert Stub(Two, Text(1, size="b"), MaxCount()).decode(octets, NDR) == (Two("a", 3), 15)


def test_a_string_in_a_fixed_array_has_no_maximum_count() -> None:
    stub = Stub(One, Text(1, capacity=4))
    check(stub, One("abc"), "00000000 04000000 61626300")
    refuse(stub, "00000000 05000000 6162636400", "5 characters from 0 of at most 4")
    with pytest.raises(ValueError, match="has 5 characters of at most 4"):
        stub.encode(One("abcd"), NDR)


def test_the_maximum_count_of_a_string_may_carry_a_field() -> None:
    stub = Stub(Three, Text(1, size="b"), MaxCount(), U8)
    check(stub, Three("ab", 8, 9), "08000000 00000000 03000000 616200 09")
    with pytest.raises(ValueError, match="has 3 characters of at most 2"):
        stub.encode(Three("ab", 2, 9), NDR)
