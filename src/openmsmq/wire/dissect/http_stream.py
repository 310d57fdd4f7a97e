"""HTTP messages of a byte stream, even of one with gaps or damage.

SRMP sends POST requests and responses; others may ask at the same port.
"""

import re
from typing import Final

from .stream import PendingStream, StreamPacket

# Beginnings of requests that SRMP does not send.
OTHER_REQUESTS: Final = (b"GET ", b"HEAD ", b"PUT ", b"DELETE ", b"OPTIONS ", b"PATCH ")
_MARKS: Final = (b"POST ", b"HTTP/1.", *OTHER_REQUESTS)
_HEAD_END: Final = b"\r\n\r\n"
_CONTENT_LENGTH: Final = re.compile(
    rb"\r\ncontent-length:[ \t]*([0-9]{1,10})[ \t]*\r\n", re.IGNORECASE
)
_MAX_HEAD: Final = 0x4000
_MAX_CONTENT: Final = 0x400000
# A mark may be cut by the end of what is there.
_OVERLAP: Final = 7


def begins_http(data: bytes) -> bool:
    """Whether a stream that begins with these bytes is one of HTTP messages."""
    return data.startswith(_MARKS)


class HttpMessages:
    """Cuts a stream into HTTP messages. Holds at most one that is not complete."""

    __slots__ = ("_needed", "_pending", "_stream")

    def __init__(self) -> None:
        self._stream = PendingStream()
        self._pending = self._stream.data
        # How many bytes must be there before it is worth looking again.
        self._needed = 0

    @property
    def pending_bytes(self) -> int:
        """Bytes held that are no whole message yet."""
        return len(self._pending)

    def feed(self, data: bytes) -> list[StreamPacket]:
        """Take the next bytes of the stream; return what is complete now."""
        self._pending += data
        packets: list[StreamPacket] = []
        while len(self._pending) > self._needed:
            size = self._message_size()
            if size is None:
                self._stream.skip(self._next_mark())
            elif size > len(self._pending):
                self._needed = size - 1
            else:
                self._take(size, packets)
        return packets

    def gap(self, size: int = 0) -> list[StreamPacket]:
        """Bytes are missing, or none come: what was held is returned, also a part of a message."""
        packets: list[StreamPacket] = []
        if self._pending:
            self._take(len(self._pending), packets)
        self._stream.report_skipped(packets)
        self._stream.position += size
        self._needed = 0
        return packets

    def _message_size(self) -> int | None:
        """The size of the message here, as far as it is known; None if there is no message."""
        pending = self._pending
        if not pending.startswith(_MARKS):
            cut = any(mark.startswith(pending) for mark in _MARKS)
            return len(pending) + 1 if cut else None
        end = pending.find(_HEAD_END, 0, _MAX_HEAD)
        if end < 0:
            return len(pending) + 1 if len(pending) < _MAX_HEAD else None
        content_length = _CONTENT_LENGTH.search(pending, 0, end + 2)
        length = int(content_length[1]) if content_length else 0
        return end + len(_HEAD_END) + length if length <= _MAX_CONTENT else None

    def _next_mark(self) -> int:
        """Where a message begins after here, or could if more bytes came."""
        places = [self._pending.find(mark, 1) for mark in _MARKS]
        marks = [place for place in places if place > 0]
        return min(marks) if marks else max(len(self._pending) - _OVERLAP, 1)

    def _take(self, size: int, packets: list[StreamPacket]) -> None:
        self._stream.report_skipped(packets)
        self._stream.take(size, packets)
        self._needed = 0
