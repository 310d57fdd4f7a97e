"""Frames of the local protocol: a little-endian length, then one msgpack value."""

from struct import Struct
from typing import Final

from openmsmq.wire.errors import ProtocolViolation

LENGTH: Final = Struct("<I")
LENGTH_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 32 * 1024 * 1024
# Whoever has not said who it is needs no more.
HELLO_FRAME_SIZE: Final = 4096


def frame(payload: bytes) -> bytes:
    """Put the length before a payload."""
    return LENGTH.pack(len(payload)) + payload


class FrameBuffer:
    """Cuts the payloads out of a stream of bytes; keeps those of a frame that is not complete."""

    __slots__ = ("_held", "_wanted", "max_frame_size")

    def __init__(self, max_frame_size: int = MAX_FRAME_SIZE) -> None:
        self._held = bytearray()
        # Fewer bytes than this cannot complete a frame.
        self._wanted = LENGTH_SIZE
        self.max_frame_size = max_frame_size

    @property
    def held_bytes(self) -> int:
        """How many bytes of an incomplete frame are kept."""
        return len(self._held)

    def feed(self, data: bytes) -> list[memoryview]:
        """Add bytes and return the payloads that are complete.

        Raises:
            ProtocolViolation: a frame is over the limit; it is not waited for.
        """
        source: bytes | bytearray = data
        if self._held:
            self._held += data
            source = self._held
        end = len(source)
        if end < self._wanted:
            if source is data:
                self._held = bytearray(data)
            return []
        payloads, position, self._wanted = self._cut(source)
        if source is data or position:
            # The payloads are views of the source, which may not change any more.
            self._held = bytearray(memoryview(source)[position:])
        return payloads

    def _cut(self, source: bytes | bytearray) -> tuple[list[memoryview], int, int]:
        """Complete payloads, where the next frame starts, and how many bytes it needs."""
        view = memoryview(source)
        payloads: list[memoryview] = []
        position = 0
        while len(source) - position >= LENGTH_SIZE:
            size: int = LENGTH.unpack_from(source, position)[0]
            if size > self.max_frame_size:
                raise ProtocolViolation(
                    f"a frame of {size} bytes is over the limit of {self.max_frame_size} bytes"
                )
            start = position + LENGTH_SIZE
            if start + size > len(source):
                return payloads, position, LENGTH_SIZE + size
            payloads.append(view[start : start + size])
            position = start + size
        return payloads, position, LENGTH_SIZE
