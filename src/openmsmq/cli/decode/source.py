"""What `openmsmq decode` reads: captures, raw bytes and hex text, as packets."""

import gzip
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from itertools import chain
from typing import Final, NamedTuple, cast

from openmsmq.wire.capture import (
    PGM_PORTS,
    CaptureEvent,
    CaptureNotice,
    Datagram,
    Flow,
    PgmDatagram,
    StreamData,
    StreamEnd,
    StreamGap,
    frame_events,
    is_capture,
    read_capture,
)
from openmsmq.wire.dissect import (
    ApduCollector,
    HttpMessages,
    Node,
    PacketSummary,
    StreamPacket,
    StreamPackets,
    begins_http,
    dissect,
    dissect_http,
    dissect_pgm,
    dissect_ping,
    is_ping,
    message_of_request,
    summarize,
    summarize_http,
    summarize_pgm,
    summarize_ping,
)
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.ping import PING_SIZE

from .hex_pieces import HexPiece, frame_link_type, piece_frames, read_pieces
from .input import CHUNK, LiveInput, Source

_SECURED: Final = int(UserHeaderFlags.SH)
_GZIP: Final = b"\x1f\x8b"
_SIGNATURE: Final = b"LIOR"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_TEXT_CONTROLS: Final = b"\t\n\r\f"
# What packets that are not complete yet may take, all streams together.
_MAX_PENDING: Final = 256 << 20
_QUIET_ENDS: Final = ("closed", "the capture ends")


class InputFormat(StrEnum):
    """How the bytes of packets are written down."""

    AUTO = "auto"
    HEX = "hex"
    RAW = "raw"
    PCAP = "pcap"


class Origin(NamedTuple):
    """Where a packet comes from: its place in the file or stream, and what a capture knows."""

    position: int
    flow: Flow | None = None
    stream: int | None = None
    frame: int | None = None
    time: int | None = None


class Form(Enum):
    """What carries a packet, and so how it is read."""

    SESSION = auto()
    PING = auto()
    HTTP = auto()
    PGM = auto()


_TREES: Final = {
    Form.SESSION: dissect,
    Form.PING: dissect_ping,
    Form.HTTP: dissect_http,
    Form.PGM: dissect_pgm,
}
_SUMMARIES: Final = {
    Form.SESSION: summarize,
    Form.PING: summarize_ping,
    Form.HTTP: summarize_http,
    Form.PGM: summarize_pgm,
}


class Packet:
    """A packet as it was read, and what can be made of it."""

    __slots__ = ("_summary", "data", "form", "origin")

    def __init__(self, origin: Origin, data: bytes, form: Form = Form.SESSION) -> None:
        self.origin = origin
        self.data = data
        self.form = form
        self._summary: PacketSummary | None = None

    def tree(self) -> Node:
        """Every field."""
        root = _TREES[self.form](self.data)
        message = self.message()
        if message is not None and message.flags & _SECURED:
            # Loaded only here: most captures have no signatures.
            from .security_notes import explain_security

            explain_security(root, message)
        return root

    def summary(self) -> PacketSummary:
        """One line."""
        if self._summary is None:
            self._summary = _SUMMARIES[self.form](self.data)
        return self._summary

    def message(self) -> UserMessage | None:
        """The message in it; None in other packets and in malformed ones."""
        if self.form in (Form.PING, Form.PGM):
            return None
        if self.form is Form.HTTP:
            return message_of_request(self.data)
        size = int.from_bytes(self.data[8:12], "little")
        try:
            return UserMessage(self.data[:size])
        except MalformedPacket:
            return None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that is not a packet but worth knowing; `missing` bytes are not in the capture."""

    text: str
    stream: int | None = None
    missing: int = 0


Item = Packet | Notice


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports at which the queue managers of a capture listen."""

    binary: tuple[int, ...]
    ping: tuple[int, ...]
    pgm: tuple[int, ...] = PGM_PORTS


def read_items(
    file: Source, input_format: InputFormat, ports: Ports, before_read: Callable[[], None]
) -> Iterator[Item]:
    """The packets of a file, and notices between them, each as soon as its bytes are there.

    Args:
        file: what to read.
        input_format: how it is written.
        ports: of which connections of a capture.
        before_read: called before each read, which may wait.

    Raises:
        MalformedPacket: a capture file is damaged; everything before that was given out.
        HexTextError: the text is not hex.
        OSError, EOFError, zlib.error: the file cannot be read or unpacked.
    """
    source = LiveInput(file, before_read)
    if source.head.startswith(_GZIP):
        # Unbuffered: gzip takes what is there. GzipFile has both methods, only no type says so.
        unpacked = cast(Source, gzip.GzipFile(fileobj=source, mode="rb"))
        source = LiveInput(unpacked, before_read)
    if input_format is InputFormat.AUTO:
        input_format = _sniff(source.head)
    if input_format is InputFormat.PCAP:
        capture = source.buffered()
        return _capture_items(
            read_capture(capture, ports=ports.binary, ping_ports=ports.ping, pgm_ports=ports.pgm)
        )
    if input_format is InputFormat.RAW:
        return _raw_items(source.chunks())
    return _hex_items(read_pieces(source), ports)


def _sniff(head: bytes) -> InputFormat:
    if is_capture(head):
        return InputFormat.PCAP
    if head[4:8] == _SIGNATURE or is_ping(head[:PING_SIZE]) or begins_http(head):
        return InputFormat.RAW
    text = head.isascii() and all(byte >= 0x20 or byte in _TEXT_CONTROLS for byte in head)
    return InputFormat.HEX if text or head.startswith(_UTF16_MARKS) else InputFormat.RAW


def _hex_items(batches: Iterator[list[HexPiece]], ports: Ports) -> Iterator[Item]:
    first = next(batches, [])
    pieces = chain(first, chain.from_iterable(batches))
    # Dumps of whole frames, as Wireshark and tcpdump make them, are a capture without a file.
    link_type = frame_link_type(first)
    if link_type is None:
        return _piece_items(pieces)
    frames = piece_frames(pieces, link_type)
    return _capture_items(
        frame_events(frames, ports=ports.binary, ping_ports=ports.ping, pgm_ports=ports.pgm)
    )


def _piece_items(pieces: Iterable[HexPiece]) -> Iterator[Item]:
    packets = _RawPackets()
    for piece in pieces:
        if not piece.continued:
            yield from packets.finish()
            packets = _RawPackets()
        for at in range(0, len(piece.data), CHUNK):
            yield from packets.feed(piece.data[at : at + CHUNK])
    yield from packets.finish()


def _raw_items(chunks: Iterable[bytes]) -> Iterator[Item]:
    packets = _RawPackets()
    for chunk in chunks:
        yield from packets.feed(chunk)
    yield from packets.finish()


class _RawPackets:
    """Pings, then packets of a session or HTTP messages, without anything between them."""

    __slots__ = ("_position", "_start", "_stream")

    def __init__(self) -> None:
        self._start = b""
        self._position = 0
        self._stream: StreamPackets | HttpMessages | None = None

    def feed(self, data: bytes) -> Iterator[Item]:
        """Take the next bytes; give what is complete now."""
        if self._stream is not None:
            yield from self._packets(self._stream.feed(data))
            return
        self._start += data
        while is_ping(self._start[:PING_SIZE]):
            ping, self._start = self._start[:PING_SIZE], self._start[PING_SIZE:]
            yield Packet(Origin(self._position), ping, Form.PING)
            self._position += PING_SIZE
        # No packet is smaller than a ping.
        if len(self._start) >= PING_SIZE:
            yield from self._begin()

    def finish(self) -> Iterator[Item]:
        """No more bytes come: what is left is a part of a packet."""
        if self._stream is None and self._start:
            yield from self._begin()
        if self._stream is not None:
            yield from self._packets(self._stream.gap())

    def _begin(self) -> Iterator[Item]:
        self._stream = _stream_of(self._start)
        yield from self._packets(self._stream.feed(self._start))

    def _packets(self, packets: Iterable[StreamPacket]) -> Iterator[Item]:
        return _stream_items(packets, Origin(self._position), _form_of(self._stream))


def _stream_of(start: bytes) -> StreamPackets | HttpMessages:
    """What cuts a stream that begins with these bytes."""
    return HttpMessages() if begins_http(start) else StreamPackets()


def _form_of(stream: StreamPackets | HttpMessages | None) -> Form:
    return Form.HTTP if isinstance(stream, HttpMessages) else Form.SESSION


def _stream_items(
    packets: Iterable[StreamPacket], origin: Origin, form: Form = Form.SESSION
) -> Iterator[Item]:
    """The packets that a stream gave; `origin` is that of its first byte."""
    first, flow, stream, frame, time = origin
    for packet in packets:
        if packet.skipped:
            yield _notice(origin, f"{packet.skipped} bytes belong to no packet and are skipped")
        else:
            place = Origin(first + packet.position, flow, stream, frame, time)
            yield Packet(place, packet.data, form)


def _notice(origin: Origin, text: str, missing: int = 0) -> Notice:
    if origin.flow is not None:
        text = f"stream {origin.stream}, {origin.flow}: {text}"
    return Notice(text, origin.stream, missing)


def _capture_items(events: Iterable[CaptureEvent]) -> Iterator[Item]:
    connections = Connections()
    apdus = ApduCollector()
    for event in events:
        if isinstance(event, CaptureNotice):
            yield Notice(f"frame {event.frame}: {event.fault}")
        elif isinstance(event, Datagram):
            origin = Origin(0, event.flow, None, event.frame, event.time)
            yield Packet(origin, event.data, Form.PING)
        elif isinstance(event, PgmDatagram):
            origin = Origin(0, event.flow, None, event.frame, event.time)
            yield Packet(origin, event.data, Form.PGM)
            apdu = apdus.add(event.data)
            if apdu is not None and begins_http(apdu):
                yield Packet(origin, apdu, Form.HTTP)
        else:
            yield from connections.items(event)


class _Connection:
    """Both directions of a TCP connection."""

    __slots__ = ("begun", "ended", "number", "streams")

    def __init__(self, number: int) -> None:
        self.number = number
        self.begun: set[Flow] = set()
        self.streams: dict[Flow, StreamPackets | HttpMessages] = {}
        self.ended: set[Flow] = set()


class Connections:
    """The TCP connections of a capture, numbered in the order in which they appear."""

    __slots__ = ("_connections", "_count", "_max_pending", "_pending")

    def __init__(self, *, max_pending: int = _MAX_PENDING) -> None:
        self._connections: dict[Flow, _Connection] = {}
        self._count = 0
        self._pending = 0
        self._max_pending = max_pending

    def items(self, event: StreamData | StreamGap | StreamEnd) -> Iterator[Item]:
        """The packets that an event completes."""
        connection = self._connection(event.flow)
        stream = connection.streams.get(event.flow)
        data = event.data if isinstance(event, StreamData) else b""
        # A gap may come before the first bytes, which say what is spoken.
        if stream is None or (begins_http(data) and event.flow not in connection.begun):
            stream = _stream_of(data)
            connection.streams[event.flow] = stream
        if data:
            connection.begun.add(event.flow)
        origin = Origin(0, event.flow, connection.number, event.frame, event.time)
        self._pending -= stream.pending_bytes
        if isinstance(event, StreamData):
            packets = stream.feed(event.data)
            if self._pending + stream.pending_bytes > self._max_pending:
                packets += stream.gap()
        elif isinstance(event, StreamGap):
            packets = stream.gap(event.size or 0)
        else:
            packets = stream.gap()
        self._pending += stream.pending_bytes
        yield from _stream_items(packets, origin, _form_of(stream))
        text = _event_text(event)
        if text:
            missing = event.size if isinstance(event, StreamGap) else None
            yield _notice(origin, text, missing or 0)
        if isinstance(event, StreamEnd):
            self._end(connection, event.flow)

    def _connection(self, flow: Flow) -> _Connection:
        """The connection of a flow; a flow that ended and comes again is of another one."""
        known = self._connections.get(flow)
        if known is None or flow in known.ended:
            self._count += 1
            known = _Connection(self._count)
            self._connections[flow] = self._connections[flow.reversed()] = known
        return known

    def _end(self, connection: _Connection, flow: Flow) -> None:
        connection.streams.pop(flow)
        connection.ended.add(flow)
        if flow.reversed() in connection.ended:
            del self._connections[flow], self._connections[flow.reversed()]


def _event_text(event: StreamData | StreamGap | StreamEnd) -> str:
    if isinstance(event, StreamEnd):
        return "" if event.reason in _QUIET_ENDS else f"the stream ends: {event.reason}"
    if isinstance(event, StreamGap):
        if event.size is None:
            return "the connection began before the capture"
        return f"{event.size} bytes are missing from the capture"
    return ""
