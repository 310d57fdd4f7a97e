"""What `openmsmq decode` reads: captures, raw bytes and hex text, as dissected packets."""

import gzip
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO, Final

from openmsmq.wire.capture import (
    CaptureEvent,
    CaptureNotice,
    Datagram,
    Flow,
    Frame,
    StreamData,
    StreamEnd,
    StreamGap,
    frame_events,
    is_capture,
    lone_link_type,
    read_capture,
)
from openmsmq.wire.dissect import (
    Node,
    StreamPacket,
    StreamPackets,
    dissect,
    dissect_ping,
    is_ping,
)
from openmsmq.wire.ping import PING_SIZE

from .hex_text import parse_hex_text

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP: Final = b"\x1f\x8b"
_SIGNATURE: Final = b"LIOR"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_TEXT_CONTROLS: Final = b"\t\n\r\f"
_SNIFFED: Final = 4096
_CHUNK: Final = 0x4000
# What packets that are not complete yet may take, all streams together.
_MAX_PENDING: Final = 256 << 20
_QUIET_ENDS: Final = ("closed", "the capture ends")


class InputFormat(StrEnum):
    """How the bytes of packets are written down."""

    AUTO = "auto"
    HEX = "hex"
    RAW = "raw"
    PCAP = "pcap"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a packet comes from: its place in the file or stream, and what a capture knows."""

    position: int
    flow: Flow | None = None
    stream: int | None = None
    frame: int | None = None
    time: int | None = None


@dataclass(frozen=True, slots=True)
class DecodedPacket:
    """A packet, its bytes and its tree."""

    origin: Origin
    data: bytes
    node: Node


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that is not a packet but worth knowing."""

    text: str
    stream: int | None = None


Item = DecodedPacket | Notice


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports at which the queue managers of a capture listen."""

    binary: tuple[int, ...]
    ping: tuple[int, ...]


def read_items(file: BinaryIO, input_format: InputFormat, ports: Ports) -> Iterator[Item]:
    """The packets of a file, and notices between them.

    Raises:
        MalformedPacket: a capture file is damaged; everything before that was given out.
        HexTextError: the text is not hex.
        OSError, EOFError, zlib.error: the file cannot be read or unpacked.
    """
    head, source = _peek(file)
    if head.startswith(_GZIP):
        head, source = _peek(gzip.GzipFile(fileobj=source, mode="rb"))
    if input_format is InputFormat.AUTO:
        input_format = _sniff(head)
    if input_format is InputFormat.PCAP:
        return _capture_items(read_capture(source, ports=ports.binary, ping_ports=ports.ping))
    chunks = iter(lambda: source.read(_CHUNK), b"")
    if input_format is InputFormat.RAW:
        return _raw_items(chunks)
    return _hex_items(b"".join(chunks), ports)


class _Rejoined(io.RawIOBase):
    """A file of which the first bytes have been read, from its start on."""

    def __init__(self, head: bytes, file: BinaryIO | gzip.GzipFile) -> None:
        self._head = io.BytesIO(head)
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        data = self._head.read(len(view)) or self._file.read(len(view))
        view[: len(data)] = data
        return len(data)


def _peek(file: BinaryIO | gzip.GzipFile) -> tuple[bytes, io.BufferedReader]:
    """The first bytes of a file, and the whole file."""
    head = file.read(_SNIFFED)
    return head, io.BufferedReader(_Rejoined(head, file))


def _sniff(head: bytes) -> InputFormat:
    if is_capture(head):
        return InputFormat.PCAP
    if head[4:8] == _SIGNATURE or is_ping(head[:PING_SIZE]):
        return InputFormat.RAW
    text = head.isascii() and all(byte >= 0x20 or byte in _TEXT_CONTROLS for byte in head)
    return InputFormat.HEX if text or head.startswith(_UTF16_MARKS) else InputFormat.RAW


def _hex_items(raw: bytes, ports: Ports) -> Iterator[Item]:
    # What PowerShell writes to a file is UTF-16.
    encoding = "utf-16" if raw.startswith(_UTF16_MARKS) else "utf-8-sig"
    pieces = parse_hex_text(raw.decode(encoding, "replace"))
    link_types = [lone_link_type(piece) for piece in pieces]
    # Dumps of whole frames, as Wireshark and tcpdump make them, are a capture without a file.
    frames = [
        Frame(number, None, link_type, piece, 0, 0)
        for number, (link_type, piece) in enumerate(zip(link_types, pieces, strict=True), 1)
        if link_type is not None
    ]
    if len(frames) == len(pieces):
        return _capture_items(frame_events(frames, ports=ports.binary, ping_ports=ports.ping))
    return (
        item
        for piece in pieces
        for item in _raw_items(piece[at : at + _CHUNK] for at in range(0, len(piece), _CHUNK))
    )


def _raw_items(chunks: Iterable[bytes]) -> Iterator[Item]:
    """Pings, then packets of a session, without anything between them."""
    start = b""
    position = 0
    stream: StreamPackets | None = None
    for chunk in chunks:
        if stream is not None:
            yield from _stream_items(stream.feed(chunk), Origin(position))
            continue
        start += chunk
        while is_ping(start[:PING_SIZE]):
            data, start = start[:PING_SIZE], start[PING_SIZE:]
            yield DecodedPacket(Origin(position), data, dissect_ping(data))
            position += PING_SIZE
        if start:
            stream = StreamPackets()
            yield from _stream_items(stream.feed(start), Origin(position))
    if stream is not None:
        yield from _stream_items(stream.gap(), Origin(position))


def _stream_items(packets: Iterable[StreamPacket], origin: Origin) -> Iterator[Item]:
    """Dissect what a stream gave; `origin` is that of its first byte."""
    for packet in packets:
        if packet.skipped:
            yield _notice(origin, f"{packet.skipped} bytes belong to no packet and are skipped")
        else:
            place = replace(origin, position=origin.position + packet.position)
            yield DecodedPacket(place, packet.data, dissect(packet.data))


def _notice(origin: Origin, text: str) -> Notice:
    if origin.flow is not None:
        text = f"stream {origin.stream}, {origin.flow}: {text}"
    return Notice(text, origin.stream)


def _capture_items(events: Iterable[CaptureEvent]) -> Iterator[Item]:
    connections = Connections()
    for event in events:
        if isinstance(event, CaptureNotice):
            yield Notice(f"frame {event.frame}: {event.fault}")
        elif isinstance(event, Datagram):
            origin = Origin(0, event.flow, None, event.frame, event.time)
            yield DecodedPacket(origin, event.data, dissect_ping(event.data))
        else:
            yield from connections.items(event)


class _Connection:
    """Both directions of a TCP connection."""

    __slots__ = ("ended", "number", "streams")

    def __init__(self, number: int) -> None:
        self.number = number
        self.streams: dict[Flow, StreamPackets] = {}
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
        stream = connection.streams.setdefault(event.flow, StreamPackets())
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
        yield from _stream_items(packets, origin)
        text = _event_text(event)
        if text:
            yield _notice(origin, text)
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
