"""Files of packets: their formats, the places to split them, and their packets."""

import gzip
import mmap
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from struct import Struct
from typing import IO, Final, NamedTuple

from openmsmq.wire.capture import (
    BINARY_PORT,
    CaptureNotice,
    Flow,
    Readable,
    StreamData,
    StreamEnd,
    StreamGap,
    is_capture,
    read_capture,
)
from openmsmq.wire.dissect import StreamPacket, StreamPackets
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.base_header import (
    BASE_HEADER_SIZE,
    MAX_PACKET_SIZE,
    SIGNATURE,
    VERSION_NUMBER,
    BaseHeaderFlags,
)
from openmsmq.wire.packets.session_header import SESSION_HEADER_SIZE

_HEADER: Final = Struct("<BxHII")
_LENGTHS: Final = {"little": Struct("<I"), "big": Struct(">I")}
_MARK: Final = SIGNATURE.to_bytes(4, "little")
_MARK_OFFSET: Final = 4
_SH: Final = int(BaseHeaderFlags.SH)
_IN: Final = int(BaseHeaderFlags.IN)
_GZIP: Final = b"\x1f\x8b"
_PARQUET: Final = b"PAR1"
_PREFIX: Final = 4
_SNIFFED: Final = 64
_KEPT_BYTES: Final = 64 << 10
_UNREADABLE: Final = (OSError, EOFError, zlib.error)


class FileKind(StrEnum):
    """How packets are kept in a file."""

    PARQUET = "parquet"
    CAPTURE = "capture"
    PACKETS = "packets"
    PREFIXED = "prefixed"
    PREFIXED_BIG = "prefixed-big-endian"


class PacketKind(StrEnum):
    """What a piece of a file is."""

    MESSAGE = "message"
    INTERNAL = "internal"
    MALFORMED = "malformed"
    GAP = "gap"


class Piece(NamedTuple):
    """A packet, or what stands in its place; `problem` says why it is none."""

    kind: PacketKind
    offset: int
    data: bytes
    problem: str | None = None
    time: int | None = None
    flow: Flow | None = None


@dataclass(frozen=True, slots=True)
class FileRange:
    """A part of a file that begins and ends between packets; `end` 0 means the end of the file."""

    path: str
    kind: str
    start: int = 0
    end: int = 0


def file_kind(path: Path) -> FileKind:
    """Tell by its first bytes what a file is; what is nothing else is taken for packets."""
    try:
        with _open(path) as file:
            head = file.read(_SNIFFED)
    except _UNREADABLE:
        return FileKind.PACKETS
    if head.startswith(_PARQUET):
        return FileKind.PARQUET
    if is_capture(head):
        return FileKind.CAPTURE
    for order, kind in (("little", FileKind.PREFIXED), ("big", FileKind.PREFIXED_BIG)):
        if len(head) >= _PREFIX + BASE_HEADER_SIZE:
            (length,) = _LENGTHS[order].unpack_from(head)
            if length == _size_at(head, _PREFIX):
                return kind
    return FileKind.PACKETS


def cut_points(path: Path, kind: FileKind, range_bytes: int) -> list[FileRange]:
    """Ranges of about this size; a capture or a compressed file is one, as it is read in order."""
    size = path.stat().st_size
    if kind is FileKind.CAPTURE or size <= range_bytes or _is_compressed(path):
        return [FileRange(str(path), kind)]
    ends: list[int] = []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = 0
        for span in _spans(data, kind, 0, size):
            if span.start - start >= range_bytes:
                ends.append(span.start)
                start = span.start
    bounds = [0, *ends, size]
    return [FileRange(str(path), kind, start, end) for start, end in pairwise(bounds)]


def pieces(part: FileRange, ports: Sequence[int] = (BINARY_PORT,)) -> Iterator[Piece]:
    """The packets of a range, and the gaps in it; a file that cannot be read is a gap."""
    try:
        yield from _pieces(part, ports)
    except _UNREADABLE as exc:
        yield Piece(PacketKind.GAP, part.start, b"", f"the file cannot be read: {exc}")


def _pieces(part: FileRange, ports: Sequence[int]) -> Iterator[Piece]:
    path = Path(part.path)
    kind = FileKind(part.kind)
    if kind is FileKind.CAPTURE:
        with _open(path) as capture:
            yield from _captured(capture, ports)
    elif _is_compressed(path):
        with _open(path) as unpacked:
            yield from _read_spans(unpacked.read(), kind, 0, 0)
    elif path.stat().st_size:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from _read_spans(data, kind, part.start, part.end)


class _Span(NamedTuple):
    """Where a packet is, with what belongs to it; `problem` when it is none."""

    start: int
    offset: int
    end: int
    problem: str | None


def _read_spans(data: bytes | mmap.mmap, kind: FileKind, start: int, end: int) -> Iterator[Piece]:
    for _, offset, stop, problem in _spans(data, kind, start, end or len(data)):
        packet = bytes(data[offset:stop])
        if problem is None:
            yield Piece(packet_kind(packet), offset, packet)
        else:
            yield Piece(PacketKind.MALFORMED, offset, packet[:_KEPT_BYTES], problem)


def _spans(data: bytes | mmap.mmap, kind: FileKind, start: int, end: int) -> Iterator[_Span]:
    """Walk from packet to packet; where there is none, go on at the next one."""
    prefix = 0 if kind is FileKind.PACKETS else _PREFIX
    position = start
    while position < end:
        first = position + prefix
        size = _size_at(data, first)
        if size is not None and first + size <= len(data):
            yield _Span(position, first, first + size, None)
            position = _behind(data, first, size, prefix)
            continue
        following = _next_packet(data, first + 1, end)
        problem = "the file ends within the packet" if size is not None else "no packet begins here"
        stop = following - prefix if following < end else end
        yield _Span(position, position, stop, problem)
        position = stop


def _size_at(data: bytes | mmap.mmap, position: int) -> int | None:
    """The size of the packet whose header is at a position; None when none can be."""
    if position + BASE_HEADER_SIZE > len(data):
        return None
    version, _, signature, size = _HEADER.unpack_from(data, position)
    fits = BASE_HEADER_SIZE <= size <= MAX_PACKET_SIZE
    return size if version == VERSION_NUMBER and signature == SIGNATURE and fits else None


def _behind(data: bytes | mmap.mmap, position: int, size: int, prefix: int) -> int:
    """Where the next packet begins; a SessionHeader may be between, or may have been left out."""
    end = position + size
    flags = _HEADER.unpack_from(data, position)[1]
    if prefix or flags & (_IN | _SH) != _SH or _size_at(data, end) is not None:
        return end
    return min(end + SESSION_HEADER_SIZE, len(data))


def _next_packet(data: bytes | mmap.mmap, start: int, end: int) -> int:
    mark = data.find(_MARK, start + _MARK_OFFSET, end)
    while mark >= 0:
        if _size_at(data, mark - _MARK_OFFSET) is not None:
            return mark - _MARK_OFFSET
        mark = data.find(_MARK, mark + 1, end)
    return end


def packet_kind(packet: bytes) -> PacketKind:
    """Whether a packet is a message or belongs to the session."""
    if len(packet) < BASE_HEADER_SIZE:
        return PacketKind.MALFORMED
    return PacketKind.INTERNAL if _HEADER.unpack_from(packet)[1] & _IN else PacketKind.MESSAGE


def _captured(file: Readable, ports: Sequence[int]) -> Iterator[Piece]:
    """The packets of all connections of a capture, and what the capture lacks."""
    streams: dict[Flow, StreamPackets] = {}
    frame = 0
    try:
        for event in read_capture(file, ports=ports, ping_ports=(), pgm_ports=()):
            frame = event.frame
            if isinstance(event, CaptureNotice):
                yield Piece(PacketKind.GAP, event.frame, b"", str(event.fault), event.time)
            elif isinstance(event, StreamData | StreamGap | StreamEnd):
                yield from _stream_pieces(streams, event)
    except MalformedPacket as exc:
        yield Piece(PacketKind.GAP, frame, b"", f"the capture is damaged: {exc}")


def _stream_pieces(
    streams: dict[Flow, StreamPackets], event: StreamData | StreamGap | StreamEnd
) -> Iterator[Piece]:
    stream = streams.setdefault(event.flow, StreamPackets())
    place = event.time, event.flow
    if isinstance(event, StreamData):
        packets = stream.feed(event.data)
    elif isinstance(event, StreamGap):
        packets = stream.gap(event.size or 0)
        if event.size:
            problem = f"{event.size} bytes are missing from the capture"
            yield Piece(PacketKind.GAP, event.frame, b"", problem, *place)
    else:
        packets = streams.pop(event.flow).gap()
    for packet in packets:
        yield _stream_piece(packet, event)


def _stream_piece(packet: StreamPacket, event: StreamData | StreamGap | StreamEnd) -> Piece:
    place = event.time, event.flow
    if packet.skipped:
        problem = f"{packet.skipped} bytes belong to no packet"
        return Piece(PacketKind.GAP, event.frame, b"", problem, *place)
    size = _size_at(packet.data, 0)
    if size is None:
        beginning = packet.data[:_KEPT_BYTES]
        problem = "no packet begins here"
        return Piece(PacketKind.MALFORMED, event.frame, beginning, problem, *place)
    if len(packet.data) < size:
        problem = "the stream ends within the packet"
        return Piece(PacketKind.MALFORMED, event.frame, packet.data, problem, *place)
    # A SessionHeader after a message is not part of it.
    data = packet.data[:size]
    return Piece(packet_kind(data), event.frame, data, None, *place)


def _open(path: Path) -> IO[bytes] | gzip.GzipFile:
    if _is_compressed(path):
        return gzip.open(path, "rb")
    return path.open("rb")


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP
