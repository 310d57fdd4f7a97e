"""Text as it stands in packets: UTF-16LE, ended by a NUL."""

from codecs import utf_16_le_decode, utf_16_le_encode
from struct import Struct
from typing import Final

from .checks import decode_utf16, require
from .errors import MalformedPacket

WCHAR: Final = Struct("<H")
WCHAR_SIZE: Final = 2
NUL: Final = b"\0\0"


def parse_text(buf: bytes | memoryview, offset: int, size: int, field: str) -> str:
    """Return the text in `size` bytes at `offset`, which must end with a NUL; no bytes, no text."""
    if size == 0:
        return ""
    end = require(buf, offset, size, field)
    if size % WCHAR_SIZE or bytes(buf[end - WCHAR_SIZE : end]) != NUL:
        raise MalformedPacket(field, offset, f"{size} bytes of text without a NUL at the end")
    return decode_utf16(buf[offset : end - WCHAR_SIZE], offset, field)


def find_text_end(raw: bytes, start: int) -> int:
    """Return the end of the text at `start`, its NUL included; -1 when it has none."""
    at = raw.find(NUL, start)
    # A match at an odd place is the upper half of one character and the lower half of the next.
    while at >= 0 and (at - start) % WCHAR_SIZE:
        at = raw.find(NUL, at + 1)
    return at + WCHAR_SIZE if at >= 0 else -1


def lenient_text(raw: bytes) -> str:
    """Return the text up to its NUL, if there is one; this cannot fail.

    Halves of surrogate pairs, which cutting a label may leave, become U+FFFD.
    """
    # The codec itself: `bytes.decode` looks it up by name, which takes longer than to decode.
    return utf_16_le_decode(raw, "replace", True)[0].partition("\0")[0]


def serialize_text(text: str) -> bytes:
    """Return UTF-16LE with the NUL at the end."""
    return utf_16_le_encode(text)[0] + NUL
