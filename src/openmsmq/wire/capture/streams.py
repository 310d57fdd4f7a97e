"""TCP byte streams out of captured segments, one per direction of a connection.

Segments may come out of order, twice, overlapping, or not at all; a stream may begin before the
capture does. What was lost is reported as a gap and never hidden.
"""

from bisect import insort
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .files import Frame
from .flow import Flow
from .layers import Transport

_FIN: Final = 0x01
_SYN: Final = 0x02
_RST: Final = 0x04
_ACK: Final = 0x10
_SMALLEST_HEADER: Final = 20

# A receive window cannot be larger ([RFC 7323] 2.3): a number further away is another connection.
_MAX_WINDOW: Final = 1 << 30
# A capture may show an acknowledgment before what it acknowledges, but not by much.
_MAX_REORDERED_FRAMES: Final = 100
_SEGMENT_OVERHEAD: Final = 128


@dataclass(frozen=True, slots=True)
class StreamData:
    """The next bytes of a stream; `position` counts from its first byte that could be seen."""

    flow: Flow
    frame: int
    time: int | None
    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class StreamGap:
    """Bytes of a stream that the capture does not have.

    A stream that begins before the capture has a gap at its start, of unknown size: None.
    """

    flow: Flow
    frame: int
    time: int | None
    position: int
    size: int | None


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The last event of a stream; `reason` says what ended it."""

    flow: Flow
    frame: int
    time: int | None
    position: int
    reason: str


StreamEvent = StreamData | StreamGap | StreamEnd


@dataclass(frozen=True, slots=True)
class _Segment:
    """The parts of a TCP segment that reassembly needs."""

    sequence: int
    acknowledgment: int | None
    syn: bool
    fin: bool
    rst: bool
    data: bytes
    missing: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """The data of a segment, in its place."""

    position: int
    frame: int
    time: int | None
    data: bytes


def _by_position(piece: _Piece) -> int:
    return piece.position


class _Stream:
    """One direction: what comes next, and what came too early."""

    __slots__ = (
        "acknowledged",
        "early",
        "end",
        "ended",
        "flow",
        "gap_frame",
        "headless",
        "origin",
        "position",
    )

    def __init__(self, flow: Flow, origin: int, *, headless: bool) -> None:
        self.flow = flow
        self.origin = origin
        self.position = 0
        self.early: list[_Piece] = []
        self.gap_frame = 0
        self.acknowledged = 0
        self.end: int | None = None
        self.ended = False
        self.headless = headless

    def place(self, sequence: int) -> int:
        """Where a 32-bit sequence number stands in the stream, nearest to the present position."""
        distance = (sequence - self.origin - self.position) & 0xFFFFFFFF
        if distance >= 1 << 31:
            distance -= 1 << 32
        return self.position + distance


def parse_segment(transport: Transport) -> tuple[int, int, _Segment]:
    """Source port, destination port and the rest of a TCP header."""
    buf = transport.data
    require(buf, 0, _SMALLEST_HEADER, "TCP")
    header = (buf[12] >> 4) * 4
    if header < _SMALLEST_HEADER:
        raise MalformedPacket("TCP.DataOffset", 12, f"{header} bytes are less than 20")
    require(buf, 0, header, "TCP.Options")
    flags = buf[13]
    segment = _Segment(
        int.from_bytes(buf[4:8], "big"),
        int.from_bytes(buf[8:12], "big") if flags & _ACK else None,
        bool(flags & _SYN),
        bool(flags & _FIN),
        bool(flags & _RST),
        bytes(buf[header:]),
        transport.missing,
    )
    return int.from_bytes(buf[0:2], "big"), int.from_bytes(buf[2:4], "big"), segment


class Reassembly:
    """All TCP streams of a capture, within a budget of memory.

    Args:
        max_streams: how many are followed at a time; beyond that the one silent for longest ends.
        max_early_bytes: what segments that came too early may take, all streams together; beyond
            that the stream at hand gives up its gaps.
    """

    __slots__ = ("_cost", "_max_cost", "_max_streams", "_streams")

    def __init__(self, *, max_streams: int = 4096, max_early_bytes: int = 64 << 20) -> None:
        self._streams: OrderedDict[Flow, _Stream] = OrderedDict()
        self._max_streams = max_streams
        self._max_cost = max_early_bytes
        self._cost = 0

    def add(self, frame: Frame, flow: Flow, segment: _Segment) -> list[StreamEvent]:
        """Take a segment; return what it makes known."""
        events: list[StreamEvent] = []
        stream = self._stream(frame, flow, segment, events)
        if segment.acknowledgment is not None:
            self._acknowledge(frame, flow.reversed(), segment.acknowledgment, events)
        if stream.ended:
            return events
        position = stream.place(segment.sequence) + segment.syn
        if segment.data:
            self._data(frame, stream, position, segment, events)
        if segment.fin and stream.end is None:
            stream.end = position + len(segment.data) + segment.missing
        if segment.rst:
            self._finish(frame, stream, "reset", events)
        elif stream.end is not None and stream.position >= stream.end:
            self._finish(frame, stream, "closed", events)
        return events

    def finish(self, frame: Frame) -> list[StreamEvent]:
        """The end of the capture, after `frame`: everything that was held back."""
        events: list[StreamEvent] = []
        for stream in self._streams.values():
            if not stream.ended:
                self._finish(frame, stream, "the capture ends", events)
        return events

    def _stream(
        self, frame: Frame, flow: Flow, segment: _Segment, events: list[StreamEvent]
    ) -> _Stream:
        """The stream of a segment: a known one, or a new one if this begins another connection."""
        first = segment.sequence + 1 if segment.syn else segment.sequence
        stream = self._streams.get(flow)
        if stream is not None:
            self._streams.move_to_end(flow)
            if segment.syn:
                same = (first - stream.origin) & 0xFFFFFFFF == 0
            else:
                same = abs(stream.place(first) - stream.position) <= _MAX_WINDOW
            if same:
                return stream
            if not stream.ended:
                self._finish(frame, stream, "another connection takes its place", events)
        elif len(self._streams) >= self._max_streams:
            silent = self._streams.popitem(last=False)[1]
            if not silent.ended:
                self._finish(frame, silent, "too many connections to follow", events)
        stream = self._streams[flow] = _Stream(flow, first & 0xFFFFFFFF, headless=not segment.syn)
        return stream

    def _acknowledge(
        self, frame: Frame, flow: Flow, number: int, events: list[StreamEvent]
    ) -> None:
        """What the peer has received cannot come again: a gap below it is final."""
        stream = self._streams.get(flow)
        if stream is None or stream.ended:
            return
        stream.acknowledged = max(stream.acknowledged, stream.place(number))
        waited = frame.number - stream.gap_frame
        if (
            stream.early
            and waited > _MAX_REORDERED_FRAMES
            and stream.acknowledged >= stream.early[0].position
        ):
            self._skip_gap(frame, stream, events)

    def _data(
        self,
        frame: Frame,
        stream: _Stream,
        position: int,
        segment: _Segment,
        events: list[StreamEvent],
    ) -> None:
        piece = _Piece(position, frame.number, frame.time, segment.data)
        if position <= stream.position:
            self._deliver(stream, piece, events)
            end = position + len(segment.data) + segment.missing
            # A frame that was captured in part is not worth waiting for: it comes no better.
            if segment.missing and end > stream.position:
                self._report_gap(frame, stream, end, events)
            self._deliver_early(frame, stream, events)
            return
        if not stream.early:
            stream.gap_frame = frame.number
        insort(stream.early, piece, key=_by_position)
        self._cost += len(piece.data) + _SEGMENT_OVERHEAD
        while self._cost > self._max_cost and stream.early:
            self._skip_gap(frame, stream, events)

    def _deliver(self, stream: _Stream, piece: _Piece, events: list[StreamEvent]) -> None:
        """Give out the part of a segment that is new; the rest was sent before."""
        fresh = piece.data[stream.position - piece.position :]
        if fresh:
            at = (stream.flow, piece.frame, piece.time, stream.position)
            if stream.headless:
                stream.headless = False
                events.append(StreamGap(*at, None))
            events.append(StreamData(*at, fresh))
            stream.position += len(fresh)

    def _deliver_early(self, frame: Frame, stream: _Stream, events: list[StreamEvent]) -> None:
        count = 0
        for piece in stream.early:
            if piece.position > stream.position:
                break
            self._deliver(stream, piece, events)
            self._cost -= len(piece.data) + _SEGMENT_OVERHEAD
            count += 1
        if count:
            del stream.early[:count]
            stream.gap_frame = frame.number

    def _skip_gap(self, frame: Frame, stream: _Stream, events: list[StreamEvent]) -> None:
        self._report_gap(frame, stream, stream.early[0].position, events)
        self._deliver_early(frame, stream, events)

    def _report_gap(
        self, frame: Frame, stream: _Stream, target: int, events: list[StreamEvent]
    ) -> None:
        size = target - stream.position
        events.append(StreamGap(stream.flow, frame.number, frame.time, stream.position, size))
        stream.position = target

    def _finish(
        self, frame: Frame, stream: _Stream, reason: str, events: list[StreamEvent]
    ) -> None:
        while stream.early:
            self._skip_gap(frame, stream, events)
        if stream.end is not None and stream.end > stream.position:
            self._report_gap(frame, stream, stream.end, events)
        stream.ended = True
        events.append(StreamEnd(stream.flow, frame.number, frame.time, stream.position, reason))
