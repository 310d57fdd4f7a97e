"""Columns of numbers as packed bytes, the lowest byte first on every machine."""

import sys
from array import array
from collections.abc import Iterable
from typing import Any


def pack_column(code: str, numbers: Iterable[Any], *, byteorder: str = sys.byteorder) -> bytes:
    """Pack numbers of one `array` type; `byteorder` is that of the machine."""
    packed = array(code, numbers)
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_column(packed: bytes, code: Any, *, byteorder: str = sys.byteorder) -> "memoryview[Any]":
    """The numbers of a packed column, without a copy where the machine has the same order."""
    if byteorder == "big":
        swapped = array(code, packed)
        swapped.byteswap()
        return memoryview(swapped)
    return memoryview(packed).cast(code)
