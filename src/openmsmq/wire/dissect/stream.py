"""Packets of a byte stream, also of one with gaps or damage: after a fault the next is sought."""

from dataclasses import dataclass
from typing import Final

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE, SIGNATURE, BaseHeader
from openmsmq.wire.packets.framer import Framer

_MARK: Final = SIGNATURE.to_bytes(4, "little")
_MARK_OFFSET: Final = 4
# A mark may be cut by the end of what is there, with all before it.
_OVERLAP: Final = _MARK_OFFSET + len(_MARK) - 1
_PIECE: Final = 4096


@dataclass(frozen=True, slots=True)
class StreamPacket:
    """A packet with its SessionHeader, or what there is of it where the stream breaks off.

    With `skipped`, it is that many bytes instead that belong to no packet; `data` is empty then.
    """

    position: int
    data: bytes
    skipped: int = 0


class PendingStream:
    """The bytes of a stream that are not in packets yet.

    Attributes:
        data: the bytes; more are appended in place.
        position: where in the stream they begin.
    """

    __slots__ = ("_skipped", "data", "position")

    def __init__(self) -> None:
        self.data: Final = bytearray()
        self.position = 0
        self._skipped = 0

    def take(self, size: int, packets: list[StreamPacket]) -> None:
        """Make a packet of the first bytes."""
        packets.append(StreamPacket(self.position, bytes(self.data[:size])))
        self.position += size
        del self.data[:size]

    def skip(self, size: int) -> None:
        """Drop the first bytes, which belong to no packet."""
        self._skipped += size
        self.position += size
        del self.data[:size]

    def report_skipped(self, packets: list[StreamPacket]) -> None:
        """Say how many bytes were dropped since the last packet, if any were."""
        if self._skipped:
            packets.append(StreamPacket(self.position - self._skipped, b"", self._skipped))
            self._skipped = 0


class StreamPackets:
    """Cuts a stream into packets. Holds at most one that is not complete."""

    __slots__ = ("_framer", "_pending", "_seeking", "_stream")

    def __init__(self) -> None:
        self._framer = Framer()
        self._stream = PendingStream()
        # What the framer has not given out.
        self._pending = self._stream.data
        self._seeking = False

    @property
    def pending_bytes(self) -> int:
        """Bytes held that are no whole packet yet."""
        return len(self._pending)

    def feed(self, data: bytes) -> list[StreamPacket]:
        """Take the next bytes of the stream; return what is complete now."""
        packets: list[StreamPacket] = []
        # In pieces: each fault costs a copy of what is pending, which must not be everything.
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self._pending += piece
            while piece:
                if self._seeking:
                    piece = self._seek(packets)
                if piece:
                    piece = self._frame(piece, packets)
        return packets

    def gap(self, size: int = 0) -> list[StreamPacket]:
        """Bytes are missing, or none come: what was held is returned, also a part of a packet."""
        packets: list[StreamPacket] = []
        if self._seeking:
            self._stream.skip(len(self._pending))
            self._stream.report_skipped(packets)
        elif self._pending:
            self._stream.take(len(self._pending), packets)
        self._stream.position += size
        self._seeking = True
        return packets

    def _frame(self, data: bytes, packets: list[StreamPacket]) -> bytes:
        """Give new bytes to the framer; after a fault return those that are to be sought in."""
        try:
            frames = self._framer.feed(data)
        except MalformedPacket:
            frames = []
        for packet, session_header in frames:
            self._stream.take(len(packet) + len(session_header or b""), packets)
        if self._framer.fault is None:
            return b""
        self._seeking = True
        # The header at hand is the one at fault: it is shown with what follows up to the next.
        self._stream.take(self._next_header(1), packets)
        return bytes(self._pending)

    def _seek(self, packets: list[StreamPacket]) -> bytes:
        """Skip to the next header; return everything from there on, nothing if there is none."""
        start = self._next_header(0)
        self._stream.skip(start)
        if len(self._pending) < BASE_HEADER_SIZE:
            return b""
        self._stream.report_skipped(packets)
        self._seeking = False
        self._framer = Framer()
        return bytes(self._pending)

    def _next_header(self, start: int) -> int:
        """Where a header begins at `start` or later, or could if more bytes came."""
        pending = self._pending
        mark = pending.find(_MARK, start + _MARK_OFFSET)
        while mark >= 0:
            header = mark - _MARK_OFFSET
            try:
                BaseHeader.parse(bytes(pending[header : header + BASE_HEADER_SIZE]))
            except MalformedPacket:
                if len(pending) - header < BASE_HEADER_SIZE:
                    return header
                mark = pending.find(_MARK, mark + 1)
            else:
                return header
        return max(start, len(pending) - _OVERLAP)
