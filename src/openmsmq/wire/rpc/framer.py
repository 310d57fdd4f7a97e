"""Splitting a TCP stream into PDUs by frag_length (C706 12.6.3.1)."""

from typing import Final

from openmsmq.wire.errors import MalformedPacket

from .header import HEADER_SIZE

MAX_FRAGMENT: Final = 0xFFFF


class PduFramer:
    """Collects received bytes and gives one whole PDU at a time.

    Bytes that were fed wait until `next` takes them, so that a reader can pause between PDUs.
    """

    __slots__ = ("_buffer", "_offset", "_position")

    def __init__(self) -> None:
        self._buffer = b""
        self._position = 0
        # Bytes of the stream that were dropped from the buffer.
        self._offset = 0

    @property
    def pending_bytes(self) -> int:
        """Bytes that were fed and not taken yet."""
        return len(self._buffer) - self._position

    def feed(self, data: bytes) -> None:
        """Take bytes of the stream."""
        rest = self._buffer[self._position :]
        self._offset += self._position
        self._position = 0
        self._buffer = rest + data if rest else data

    def next(self) -> bytes | None:
        """The next whole PDU; None until more bytes are fed.

        Raises:
            MalformedPacket: frag_length is shorter than the header; the offset counts from the
                start of the stream. The framer stays at this place.
        """
        buffer = self._buffer
        start = self._position
        if len(buffer) - start < HEADER_SIZE:
            return None
        if buffer[start + 4] & 0x10:
            size = buffer[start + 8] | buffer[start + 9] << 8
        else:
            size = buffer[start + 9] | buffer[start + 8] << 8
        if size < HEADER_SIZE:
            raise MalformedPacket(
                "CommonHeader.frag_length",
                self._offset + start + 8,
                f"{size} is less than the {HEADER_SIZE} bytes of the header",
            )
        end = start + size
        if end > len(buffer):
            return None
        if start == 0 and end == len(buffer):
            self._offset += end
            self._buffer = b""
            return buffer
        self._position = end
        return buffer[start:end]
