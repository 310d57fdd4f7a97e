"""The checksum of a PGM packet (RFC 3208, section 8)."""

from typing import Final

_MODULUS: Final = 0xFFFF


# The one's complement sum of 16-bit words is the remainder of the packet, taken as one number, by
# 0xFFFF: 2 ** 16 leaves 1. Two operations on a long integer replace a loop over words.
def _remainder(data: bytes | memoryview) -> int:
    number = int.from_bytes(data, "big")
    if len(data) & 1:
        number <<= 8
    return number % _MODULUS


def checksum_of(data: bytes | memoryview) -> int:
    """The checksum of a packet whose checksum field is zero. It is never zero itself."""
    return _MODULUS - _remainder(data)


def has_valid_checksum(data: bytes | memoryview) -> bool:
    """Whether the checksum in the packet fits the packet."""
    return not _remainder(data)
