"""Frames of the local protocol: a little-endian length, then one msgpack value."""

from struct import Struct
from typing import Final

from openmsmq.wire.errors import ProtocolViolation

LENGTH: Final = Struct("<I")
LENGTH_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 32 * 1024 * 1024
# The size of reads, for a client that sends little and for one that sends much.
LEAST_ROOM: Final = 4096
MOST_ROOM: Final = 256 * 1024
# Memory above this size is freed once it is not needed.
KEPT_SIZE: Final = 2 * 1024 * 1024
# A client that has not authenticated needs no more.
HELLO_FRAME_SIZE: Final = 4096


def frame(payload: bytes) -> bytes:
    """Put the length before a payload."""
    return LENGTH.pack(len(payload)) + payload


class FrameBuffer:
    """Cuts the payloads out of a stream of bytes that is read into its memory.

    Payloads are views of its memory, valid until the next bytes are read; to keep them longer,
    call `release`. The memory grows with arriving bytes, never with an announced length.
    """

    __slots__ = ("_begin", "_end", "_memory", "_room", "max_frame_size")

    def __init__(self, max_frame_size: int = MAX_FRAME_SIZE) -> None:
        self._memory = memoryview(bytearray(LEAST_ROOM))
        # The start of the first incomplete frame, and the end of the bytes.
        self._begin = 0
        self._end = 0
        # The size of reads: doubled after a full read.
        self._room = LEAST_ROOM
        self.max_frame_size = max_frame_size

    @property
    def held_bytes(self) -> int:
        """The number of bytes kept of an incomplete frame."""
        return self._end - self._begin

    def space(self) -> memoryview:
        """The buffer for the next bytes."""
        self._make_room(self._room)
        return self._memory[self._end : self._end + self._room]

    def filled(self, count: int) -> list[memoryview]:
        """Bytes were read to `space`: return the complete payloads.

        Raises:
            ProtocolViolation: a frame is over the limit; it is not awaited.
        """
        if count == self._room < MOST_ROOM:
            self._room *= 2
        self._end += count
        return self._cut()

    def feed(self, data: bytes) -> list[memoryview]:
        """Add bytes that were read elsewhere; else like `filled`."""
        self._make_room(len(data))
        end = self._end + len(data)
        self._memory[self._end : end] = data
        self._end = end
        return self._cut()

    def release(self) -> None:
        """Leave the memory to the returned payloads, and allocate new memory."""
        self._move(memoryview(bytearray(self.held_bytes + self._room)))

    def _make_room(self, room: int) -> None:
        held_bytes = self.held_bytes
        size = len(self._memory)
        if not held_bytes:
            self._begin = self._end = 0
            if size > KEPT_SIZE:
                size = 0
        if self._end + room <= size:
            return
        if 2 * held_bytes + room <= size:
            self._move(self._memory)
        else:
            self._move(memoryview(bytearray(max(2 * held_bytes, LEAST_ROOM) + room)))

    def _move(self, memory: memoryview) -> None:
        held_bytes = self.held_bytes
        memory[:held_bytes] = self._memory[self._begin : self._end]
        self._memory = memory
        self._begin, self._end = 0, held_bytes

    def _cut(self) -> list[memoryview]:
        payloads: list[memoryview] = []
        memory, begin, end = self._memory, self._begin, self._end
        while end - begin >= LENGTH_SIZE:
            size: int = LENGTH.unpack_from(memory, begin)[0]
            if size > self.max_frame_size:
                raise ProtocolViolation(
                    f"a frame of {size} bytes is over the limit of {self.max_frame_size} bytes"
                )
            following = begin + LENGTH_SIZE + size
            if following > end:
                break
            payloads.append(memory[begin + LENGTH_SIZE : following])
            begin = following
        self._begin = begin
        return payloads
