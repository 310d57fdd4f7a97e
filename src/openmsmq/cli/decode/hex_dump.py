"""Bytes as lines of hex and text."""

from collections.abc import Iterator
from typing import Final

WIDTH: Final = 16


def hex_dump(data: bytes, start: int, end: int, *, digits: int = 4) -> Iterator[tuple[int, str]]:
    """Lines for the bytes start..end of a packet, each with the offset of its first byte."""
    for offset in range(start, end, WIDTH):
        row = data[offset : min(offset + WIDTH, end)]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield offset, f"{offset:0{digits}x}  {row.hex(' '):<{3 * WIDTH - 1}}  {text}"
