"""Splitting a TCP stream into packets ([MS-MQMQ] 2.2.19.1)."""

from collections.abc import Callable
from struct import Struct
from typing import Final

from openmsmq.wire.errors import MalformedPacket

from .base_header import (
    BASE_HEADER_SIZE,
    MAX_PACKET_SIZE,
    SIGNATURE,
    VERSION_NUMBER,
    BaseHeader,
    BaseHeaderFlags,
)
from .session_header import SESSION_HEADER_SIZE

# A packet of PacketSize bytes, and the SessionHeader after it if one follows.
Frame = tuple[bytes, bytes | None]

_Header = Callable[[bytes, int], tuple[int, int, int, int]]
_HEADER: Final[_Header] = Struct("<BxHII").unpack_from
_SH: Final = int(BaseHeaderFlags.SH)
_IN_OR_SH: Final = int(BaseHeaderFlags.IN | BaseHeaderFlags.SH)


class Framer:
    """Collects received bytes and gives whole packets.

    Holds at most one packet that is not complete yet. A SessionHeader is inside PacketSize in an
    internal packet and outside in a user packet.

    Args:
        max_packet_size: larger packets are a fault, before they are buffered.
    """

    __slots__ = ("_max_packet_size", "_needed", "_offset", "_packet_size", "_pending", "fault")

    def __init__(self, *, max_packet_size: int = MAX_PACKET_SIZE) -> None:
        self.fault: MalformedPacket | None = None
        self._max_packet_size = min(max_packet_size, MAX_PACKET_SIZE)
        self._pending = bytearray()
        # How long `_pending` must become; PacketSize is 0 while its BaseHeader is not complete.
        self._needed = BASE_HEADER_SIZE
        self._packet_size = 0
        # Bytes of the stream that were framed before `_pending`.
        self._offset = 0

    @property
    def pending_bytes(self) -> int:
        """Bytes held that are no whole packet yet."""
        return len(self._pending)

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes of the stream and return the packets that are complete now.

        A fault after complete packets is kept in `fault` and raised by the next call, so that
        the packets before it are not lost.

        Raises:
            MalformedPacket: the stream has no valid packet next; the offset counts from its start.
        """
        if self.fault is not None:
            raise self.fault
        frames: list[Frame] = []
        position = 0
        if self._pending:
            if len(self._pending) + len(data) < self._needed:
                self._pending += data
                return frames
            if self._packet_size:
                position = self._complete_pending(data, frames)
            else:
                data = bytes(self._pending) + data
                self._pending.clear()
        fault = self._split(data, position, frames)
        if fault is not None:
            self.fault = fault
            if not frames:
                raise fault
        return frames

    def _complete_pending(self, data: bytes, frames: list[Frame]) -> int:
        """Add the rest of the pending packet; return where the next one starts in `data`."""
        position = self._needed - len(self._pending)
        self._pending += data[:position]
        size = self._packet_size
        session_header = bytes(self._pending[size:]) if self._needed > size else None
        frames.append((bytes(self._pending[:size]), session_header))
        # Choice: a new buffer, so that one large packet does not keep its memory for good.
        self._pending = bytearray()
        self._offset += self._needed - position
        return position

    def _split(self, data: bytes, position: int, frames: list[Frame]) -> MalformedPacket | None:
        """Cut whole packets off `data` and keep the rest; return the fault after them."""
        largest = self._max_packet_size
        length = len(data)
        append = frames.append
        self._needed, self._packet_size = BASE_HEADER_SIZE, 0
        while length - position >= BASE_HEADER_SIZE:
            version, flags, signature, size = _HEADER(data, position)
            if (
                version != VERSION_NUMBER
                or signature != SIGNATURE
                or not BASE_HEADER_SIZE <= size <= largest
            ):
                return self._describe_fault(data, position)
            end = position + size
            if flags & _IN_OR_SH == _SH:
                following = end + SESSION_HEADER_SIZE
                if following <= length:
                    append((data[position:end], data[end:following]))
            else:
                following = end
                if following <= length:
                    append((data[position:end], None))
            if following > length:
                self._needed, self._packet_size = following - position, size
                break
            position = following
        self._offset += position
        self._pending += data[position:]
        return None

    def _describe_fault(self, data: bytes, position: int) -> MalformedPacket:
        """Say what is wrong with the BaseHeader at `position`, knowing that something is."""
        header = data[position : position + BASE_HEADER_SIZE]
        start = self._offset + position
        try:
            size = BaseHeader.parse(header)[0].packet_size
        except MalformedPacket as exc:
            return MalformedPacket(exc.field, start + exc.offset, exc.reason)
        return MalformedPacket(
            "BaseHeader.PacketSize", start + 8, f"{size} is more than {self._max_packet_size}"
        )
