"""Frames of the local protocol: a little-endian length, then one msgpack value."""

from struct import Struct
from typing import Final

from openmsmq.wire.errors import ProtocolViolation

LENGTH: Final = Struct("<I")
LENGTH_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 32 * 1024 * 1024


def frame(payload: bytes) -> bytes:
    """Put the length before a payload."""
    return LENGTH.pack(len(payload)) + payload


class FrameBuffer:
    """Cuts the payloads out of a stream of bytes.

    Bytes of a frame that is not complete are kept as they came and joined once.
    """

    __slots__ = ("_chunks", "_held", "_max_frame_size", "_wanted")

    def __init__(self, max_frame_size: int = MAX_FRAME_SIZE) -> None:
        self._chunks: list[bytes] = []
        self._held = 0
        self._wanted = LENGTH_SIZE
        self._max_frame_size = max_frame_size

    @property
    def held_bytes(self) -> int:
        """How many bytes of an incomplete frame are kept."""
        return self._held

    def feed(self, data: bytes) -> list[memoryview]:
        """Add bytes and return the payloads that are complete."""
        self._held += len(data)
        self._chunks.append(data)
        if self._held < self._wanted:
            return []
        source = data if len(self._chunks) == 1 else b"".join(self._chunks)
        view = memoryview(source)
        payloads: list[memoryview] = []
        position = 0
        end = len(source)
        wanted = LENGTH_SIZE
        while end - position >= LENGTH_SIZE:
            size: int = LENGTH.unpack_from(source, position)[0]
            if size > self._max_frame_size:
                raise ProtocolViolation(
                    f"a frame of {size} bytes is over the limit of {self._max_frame_size} bytes"
                )
            stop = position + LENGTH_SIZE + size
            if stop > end:
                wanted = LENGTH_SIZE + size
                break
            payloads.append(view[position + LENGTH_SIZE : stop])
            position = stop
        self._chunks = [source[position:]] if position < end else []
        self._held = end - position
        self._wanted = wanted
        return payloads
