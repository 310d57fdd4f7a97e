"""Where a stub is read from and written to: a position and what alignment and counts need."""

from typing import Final

from openmsmq.wire.errors import MalformedPacket

from .syntax import COUNTERS, TransferSyntax

FIRST_REFERENT: Final = 0x20000
REFERENT_STEP: Final = 4
PADDING: Final = tuple(bytes(size) for size in range(8))


class NdrReader:
    """The octets of a stub and the position of the next one.

    Alignment counts from the start of the buffer. `gaps` is False to read structures without the
    trailing gap that `syntax` asks for.
    """

    __slots__ = ("at", "buf", "counter", "end", "gaps")

    def __init__(self, buf: bytes | memoryview, syntax: TransferSyntax, *, gaps: bool) -> None:
        self.buf = buf
        self.at = 0
        self.end = len(buf)
        self.gaps = gaps
        self.counter = COUNTERS[syntax.number]

    def align(self, alignment: int) -> None:
        self.at = (self.at + alignment - 1) & -alignment

    def take(self, size: int, field: str) -> int:
        """Step over `size` bytes; return where they start."""
        at = self.at
        if at + size > self.end:
            raise MalformedPacket(field, at, f"needs {size} bytes, {max(self.end - at, 0)} remain")
        self.at = at + size
        return at

    def count(self, field: str) -> int:
        """Read a referent or a count."""
        size = self.counter.size
        self.align(size)
        value: int = self.counter.unpack_from(self.buf, self.take(size, field))[0]
        return value


class NdrWriter:
    """The pieces of a stub, joined once at the end."""

    __slots__ = ("at", "counter", "parts", "referent")

    def __init__(self, syntax: TransferSyntax, first_referent: int = FIRST_REFERENT) -> None:
        self.parts: list[bytes | memoryview] = []
        self.at = 0
        self.referent = first_referent
        self.counter = COUNTERS[syntax.number]

    def align(self, alignment: int) -> None:
        gap = -self.at & (alignment - 1)
        if gap:
            self.parts.append(PADDING[gap])
            self.at += gap

    def put(self, data: bytes | memoryview) -> None:
        self.parts.append(data)
        self.at += len(data)

    def count(self, value: int) -> None:
        """Write a referent or a count."""
        self.align(self.counter.size)
        self.put(self.counter.pack(value))

    def next_referent(self) -> int:
        referent = self.referent
        self.referent += REFERENT_STEP
        return referent

    def joined(self) -> bytes:
        return b"".join(self.parts)
