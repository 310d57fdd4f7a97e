"""Octets in several pieces, which are joined only when the whole stub is."""

from collections.abc import Sequence


class Pieces:
    """The octets of an array, in order; may stand for bytes wherever a stub is written."""

    __slots__ = ("_size", "parts")

    def __init__(self, parts: Sequence[bytes | memoryview]) -> None:
        self.parts = parts
        self._size = sum(map(len, parts))

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return b"".join(self.parts)


Octets = bytes | memoryview | Pieces
