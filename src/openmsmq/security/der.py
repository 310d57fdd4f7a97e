"""DER (X.690): as much of it as GSS tokens need, bounded, with definite lengths only."""

from typing import Final

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

BIT_STRING: Final = 0x03
OCTET_STRING: Final = 0x04
OBJECT_IDENTIFIER: Final = 0x06
ENUMERATED: Final = 0x0A
SEQUENCE: Final = 0x30
APPLICATION_0: Final = 0x60
CONTEXT_0: Final = 0xA0

MAX_LENGTH_BYTES: Final = 4
_LONG: Final = 0x80
_HIGH_TAG: Final = 0x1F


def element(tag: int, *parts: bytes) -> bytes:
    """An element of this tag whose contents are the parts."""
    value = b"".join(parts)
    size = len(value)
    if size < _LONG:
        return bytes((tag, size)) + value
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, _LONG | len(length))) + length + value


def read_element(buf: bytes, offset: int, end: int, field: str) -> tuple[int, int, int]:
    """The tag of the element at `offset`, and where its contents start and stop.

    Raises:
        MalformedPacket: it does not end before `end`, or has no definite length.
    """
    if end > len(buf) or offset + 2 > end:
        raise MalformedPacket(field, offset, "ends before it is whole")
    tag, size, start = buf[offset], buf[offset + 1], offset + 2
    if tag & _HIGH_TAG == _HIGH_TAG:
        raise MalformedPacket(field, offset, "has a tag of several bytes")
    if size & _LONG:
        count = size & ~_LONG
        if not 0 < count <= MAX_LENGTH_BYTES:
            raise MalformedPacket(field, offset + 1, f"has a length of {count} bytes")
        # Lengths with leading zeros are read, too: nothing that is signed is ever rebuilt.
        length_end = require(buf, start, count, field)
        size, start = int.from_bytes(buf[start:length_end], "big"), length_end
    if start + size > end:
        raise MalformedPacket(field, offset, f"needs {size} bytes, {max(end - start, 0)} remain")
    return tag, start, start + size


def expect(buf: bytes, offset: int, end: int, tag: int, field: str) -> tuple[int, int]:
    """Where the contents of the element at `offset`, which must have this tag, start and stop.

    Raises:
        MalformedPacket: it is another element or none.
    """
    actual, start, stop = read_element(buf, offset, end, field)
    if actual != tag:
        raise MalformedPacket(field, offset, f"has the tag 0x{actual:02X}, not 0x{tag:02X}")
    return start, stop


def only(buf: bytes, offset: int, end: int, tag: int, field: str) -> tuple[int, int]:
    """As `expect`, of an element that must fill everything up to `end`."""
    start, stop = expect(buf, offset, end, tag, field)
    if stop != end:
        raise MalformedPacket(field, stop, f"{end - stop} bytes follow it")
    return start, stop


def contexts(buf: bytes, offset: int, end: int, field: str) -> dict[int, tuple[int, int]]:
    """The optional members of a SEQUENCE, by their context-specific number, in ascending order."""
    members: dict[int, tuple[int, int]] = {}
    last = CONTEXT_0 - 1
    while offset < end:
        tag, start, stop = read_element(buf, offset, end, field)
        if tag & ~_HIGH_TAG != CONTEXT_0 or tag <= last:
            raise MalformedPacket(field, offset, f"the tag 0x{tag:02X} does not belong here")
        members[tag - CONTEXT_0] = start, stop
        last, offset = tag, stop
    return members
