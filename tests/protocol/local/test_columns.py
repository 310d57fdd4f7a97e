"""Columns of numbers: the same bytes on every machine."""

import sys

import pytest

from openmsmq.protocol.local.messages.replies import pack_column, unpack_column

OTHER = {"little": "big", "big": "little"}[sys.byteorder]


@pytest.mark.parametrize(
    ("code", "numbers", "packed"),
    [
        ("I", [1, 0x01020304], "0100000004030201"),
        ("Q", [2], "0200000000000000"),
        ("d", [1.0], "000000000000f03f"),
        ("I", [], ""),
    ],
)
def test_the_lowest_byte_is_first(code: str, numbers: list[int], packed: str) -> None:
    assert pack_column(code, numbers) == bytes.fromhex(packed)
    assert unpack_column(bytes.fromhex(packed), code).tolist() == numbers


def test_a_machine_of_the_other_order_swaps_its_bytes() -> None:
    # Such a machine has these bytes in memory, and packs them the other way round.
    (swapped,) = unpack_column(bytes.fromhex("01020304"), "I")
    assert pack_column("I", [swapped], byteorder=OTHER) == bytes.fromhex("04030201")
    assert unpack_column(bytes.fromhex("04030201"), "I", byteorder=OTHER).tolist() == [swapped]
