"""Text as it stands in packets: UTF-16LE, ended by a NUL."""

from array import array
from codecs import utf_16_le_decode, utf_16_le_encode
from struct import Struct
from typing import Final

from .checks import decode_utf16, require
from .errors import MalformedPacket

WCHAR: Final = Struct("<H")
WCHAR_SIZE: Final = 2
NUL: Final = b"\0\0"
FIRST_STEP: Final = 128


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
    if at < 0:
        return -1
    if (at - start) % WCHAR_SIZE == 0:
        return at + WCHAR_SIZE
    # At an odd place: the upper half of one character and the lower half of the next, which in
    # most texts is the NUL itself.
    if raw[at + WCHAR_SIZE : at + WCHAR_SIZE + 1] == b"\0":
        return at + 1 + WCHAR_SIZE
    return _scan_text_end(raw, at + 1)


def _scan_text_end(raw: bytes, start: int) -> int:
    """Do the same by character, in growing steps: linear for many short texts as for a long one."""
    step = FIRST_STEP
    while start + WCHAR_SIZE <= len(raw):
        window = raw[start : start + step]
        characters = array("H", window[: len(window) & ~1])
        try:
            return start + WCHAR_SIZE * (characters.index(0) + 1)
        except ValueError:
            start += step
            step *= 2
    return -1


def lenient_text(raw: bytes) -> str:
    """Return the text up to its NUL, if there is one; this cannot fail.

    Halves of surrogate pairs, which cutting a label may leave, become U+FFFD.
    """
    # The codec itself: `bytes.decode` looks it up by name, which takes longer than to decode.
    return utf_16_le_decode(raw, "replace", True)[0].partition("\0")[0]


def serialize_text(text: str) -> bytes:
    """Return UTF-16LE with the NUL at the end."""
    return utf_16_le_encode(text)[0] + NUL
