"""Text as it stands in packets: UTF-16LE, ended by a NUL."""

from struct import Struct
from typing import Final

from .checks import decode_utf16, require
from .errors import MalformedPacket

WCHAR: Final = Struct("<H")
WCHAR_SIZE: Final = 2
NUL: Final = b"\0\0"
FIRST_STEP: Final = 64


def parse_text(buf: bytes | memoryview, offset: int, size: int, field: str) -> str:
    """Return the text in `size` bytes at `offset`, which must end with a NUL; no bytes, no text."""
    if size == 0:
        return ""
    end = require(buf, offset, size, field)
    if size % WCHAR_SIZE or bytes(buf[end - WCHAR_SIZE : end]) != NUL:
        raise MalformedPacket(field, offset, f"{size} bytes of text without a NUL at the end")
    return decode_utf16(buf[offset : end - WCHAR_SIZE], offset, field)


def find_text_end(buf: bytes | memoryview, offset: int, limit: int, field: str) -> int:
    """Return the end of the text at `offset`, its NUL included; it must lie before `limit`."""
    start, step = offset, FIRST_STEP
    while start < limit:
        # In growing steps, so that a list of many short texts costs linear time.
        chunk = bytes(buf[start : min(start + step, limit)])
        at = chunk.find(NUL)
        # A match at an odd place is the upper half of one character and the lower half of the next.
        while at % WCHAR_SIZE and at >= 0:
            at = chunk.find(NUL, at + 1)
        if at >= 0:
            return start + at + WCHAR_SIZE
        start, step = start + step, step * 2
    raise MalformedPacket(field, offset, "text without a NUL at the end")


def serialize_text(text: str) -> bytes:
    """Return UTF-16LE with the NUL at the end."""
    return text.encode("utf-16-le") + NUL
