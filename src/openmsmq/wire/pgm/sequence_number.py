"""Sequence numbers of 32 bits that wrap (RFC 3208, section 6.2)."""

from typing import Final

_HALF: Final = 1 << 31
_MASK: Final = (1 << 32) - 1


def distance(start: int, end: int) -> int:
    """The count of steps from `start` to `end`, negative if `end` is older."""
    return ((end - start + _HALF) & _MASK) - _HALF


def following(number: int, steps: int = 1) -> int:
    """The number that is `steps` after `number`."""
    return (number + steps) & _MASK
