"""Frames of the local protocol: a little-endian length, then one msgpack value."""

from struct import Struct
from typing import Final

from openmsmq.wire.errors import ProtocolViolation

LENGTH: Final = Struct("<I")
LENGTH_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 32 * 1024 * 1024
ROOM_FACTOR: Final = 4
# Whoever has not said who it is needs no more.
HELLO_FRAME_SIZE: Final = 4096


def frame(payload: bytes) -> bytes:
    """Put the length before a payload."""
    return LENGTH.pack(len(payload)) + payload


class FrameBuffer:
    """Cuts the payloads out of a stream of bytes; keeps the one that is not complete."""

    __slots__ = ("_filled", "_payload", "_size", "_start", "max_frame_size")

    def __init__(self, max_frame_size: int = MAX_FRAME_SIZE) -> None:
        # Bytes of a length that is not complete.
        self._start = b""
        # The beginning of a payload of `_size` bytes, of which `_filled` are here.
        self._payload = bytearray()
        self._filled = 0
        self._size = 0
        self.max_frame_size = max_frame_size

    @property
    def held_bytes(self) -> int:
        """How many bytes of an incomplete frame are kept."""
        return len(self._start) + (LENGTH_SIZE + self._filled if self._size else 0)

    def feed(self, data: bytes) -> list[memoryview]:
        """Add bytes and return the payloads that are complete.

        Raises:
            ProtocolViolation: a frame is over the limit; it is not waited for.
        """
        payloads: list[memoryview] = []
        position = 0
        if self._size:
            position = self._fill(data, payloads)
        elif self._start:
            data = self._start + data
            self._start = b""
        end = len(data)
        view = memoryview(data)
        while end - position >= LENGTH_SIZE:
            size: int = LENGTH.unpack_from(data, position)[0]
            if size > self.max_frame_size:
                raise ProtocolViolation(
                    f"a frame of {size} bytes is over the limit of {self.max_frame_size} bytes"
                )
            position += LENGTH_SIZE
            if position + size > end:
                self._size = size
                self._fill(view[position:], payloads)
                return payloads
            payloads.append(view[position : position + size])
            position += size
        self._start = data[position:]
        return payloads

    def _fill(self, data: bytes | memoryview, payloads: list[memoryview]) -> int:
        """Add to the payload that is not complete; return how many bytes it takes."""
        filled = self._filled
        count = min(self._size - filled, len(data))
        end = filled + count
        if end > len(self._payload):
            # Room for what is to come, so that it is not copied again; not for all that was said.
            room = min(self._size, ROOM_FACTOR * end)
            self._payload += bytes(room - len(self._payload))
        self._payload[filled:end] = data if count == len(data) else memoryview(data)[:count]
        self._filled = end
        if end == self._size:
            payloads.append(memoryview(self._payload))
            # The view keeps the bytes; they may not change any more.
            self._payload = bytearray()
            self._filled = self._size = 0
        return count
