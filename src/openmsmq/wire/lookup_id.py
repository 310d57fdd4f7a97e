"""Lookup identifiers, and the digest of a range of messages that is made of them.

A lookup identifier has 7 - priority in its top byte, so that it sorts in the order of the queue,
and below it the sequence number of the arrival. The digest of a range does not depend on the order
of its messages: the digests of its parts add up to it.
"""

from typing import Final

SEQUENCE_BITS: Final = 56
SEQUENCE_MASK: Final = (1 << SEQUENCE_BITS) - 1
DIGEST_FACTOR: Final = 0x9E3779B97F4A7C15
DIGEST_SHIFT: Final = 32
_DIGEST_MASK: Final = (1 << 64) - 1


def digest_of_sequence(sequence: int) -> int:
    """What one message adds to the digest of its range."""
    mixed = sequence * DIGEST_FACTOR & _DIGEST_MASK
    return mixed ^ mixed >> DIGEST_SHIFT


def digest_text(*digests: int) -> str:
    """The digest of ranges together, as plans and offsets have it."""
    return f"{sum(digests) & _DIGEST_MASK:016x}"
