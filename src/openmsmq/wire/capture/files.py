"""Capture files: the frames of a pcap or pcapng file, read in one pass.

Layouts: the IETF drafts "PCAP Capture File Format" and "PCAP Next Generation Capture File Format".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final, Literal, Protocol

from openmsmq.wire.errors import MalformedPacket

# No link layer has frames near this size; a larger length is damage, not data.
MAX_BLOCK_SIZE: Final = 0x01000000

_Order = Literal["little", "big"]

# The first four bytes of a pcap file, with the nanoseconds in one unit of its fractions.
_PCAP_MAGIC: Final[dict[bytes, tuple[_Order, int]]] = {
    b"\xd4\xc3\xb2\xa1": ("little", 1000),
    b"\xa1\xb2\xc3\xd4": ("big", 1000),
    b"\x4d\x3c\xb2\xa1": ("little", 1),
    b"\xa1\xb2\x3c\x4d": ("big", 1),
}
_PCAP_HEADER_REST: Final = 20
_RECORD: Final = {"little": Struct("<IIII"), "big": Struct(">IIII")}

_SECTION_MAGIC: Final = b"\x0a\x0d\x0d\x0a"
_BYTE_ORDER_MAGIC: Final[dict[bytes, _Order]] = {
    b"\x4d\x3c\x2b\x1a": "little",
    b"\x1a\x2b\x3c\x4d": "big",
}
_INTERFACE: Final = 1
_OBSOLETE_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
_ENHANCED_PACKET: Final = 6
_OPTION_END: Final = 0
_OPTION_TIME_RESOLUTION: Final = 9
_OPTION_TIME_OFFSET: Final = 14
_SMALLEST_BLOCK: Final = 12
_NANOSECONDS: Final = 1_000_000_000


class Readable(Protocol):
    """What a capture is read from: a file opened in binary mode, or anything alike."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Frame:
    """One captured frame.

    `time` is in nanoseconds since 1970 (None where the file gives none), `missing` the number of
    bytes that the frame had on the wire beyond those in `data`, `offset` its place in the file.
    """

    number: int
    time: int | None
    link_type: int
    data: bytes
    missing: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Interface:
    """What an Interface Description Block says about the frames that name it."""

    link_type: int
    snap_length: int
    units_per_second: int
    offset_seconds: int

    def time(self, high: int, low: int) -> int:
        units = high << 32 | low
        return self.offset_seconds * _NANOSECONDS + units * _NANOSECONDS // self.units_per_second


class _Source:
    """A file with a position, for the offsets in faults; it may return less than was asked for."""

    __slots__ = ("_file", "position")

    def __init__(self, file: Readable) -> None:
        self._file = file
        self.position = 0

    def take(self, size: int, field: str) -> bytes:
        """Exactly `size` bytes."""
        data = self._read(size)
        if len(data) < size:
            raise MalformedPacket(
                field,
                self.position - len(data),
                f"needs {size} bytes, {len(data)} remain: the file is cut off",
            )
        return data

    def take_or_end(self, size: int, field: str) -> bytes:
        """Exactly `size` bytes, or none at the end of the file."""
        data = self._read(size)
        if 0 < len(data) < size:
            raise MalformedPacket(
                field,
                self.position - len(data),
                f"needs {size} bytes, {len(data)} remain: the file is cut off",
            )
        return data

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        while 0 < len(data) < size:
            more = self._file.read(size - len(data))
            if not more:
                break
            data += more
        self.position += len(data)
        return data


def is_capture(start: bytes) -> bool:
    """Whether a file that begins with these bytes (at least four) is a pcap or pcapng file."""
    return start[:4] in _PCAP_MAGIC or start[:4] == _SECTION_MAGIC


def read_frames(file: Readable) -> Iterator[Frame]:
    """The frames of a capture file, in the order of the file."""
    source = _Source(file)
    magic = source.take(4, "Capture.Magic")
    if magic == _SECTION_MAGIC:
        yield from _read_pcapng(source)
        return
    if magic not in _PCAP_MAGIC:
        raise MalformedPacket(
            "Capture.Magic", 0, f"{magic.hex()} begins neither a pcap nor a pcapng file"
        )
    order, unit = _PCAP_MAGIC[magic]
    yield from _read_pcap(source, order, unit)


def _read_pcap(source: _Source, order: _Order, unit: int) -> Iterator[Frame]:
    header = source.take(_PCAP_HEADER_REST, "Pcap.Header")
    # The upper half of the last field is about frame check sequences, which are not checked.
    link_type = int.from_bytes(header[16:20], order) & 0xFFFF
    record = _RECORD[order]
    number = 0
    while True:
        start = source.position
        head = source.take_or_end(record.size, "Pcap.RecordHeader")
        if not head:
            return
        seconds, fraction, captured, original = record.unpack(head)
        if captured > MAX_BLOCK_SIZE:
            raise MalformedPacket(
                "Pcap.CapturedLength", start + 8, f"{captured} is more than {MAX_BLOCK_SIZE}"
            )
        data = source.take(captured, "Pcap.PacketData")
        number += 1
        time = seconds * _NANOSECONDS + fraction * unit
        yield Frame(number, time, link_type, data, max(original - captured, 0), start)


def _read_pcapng(source: _Source) -> Iterator[Frame]:
    order: _Order = "little"
    interfaces: list[_Interface] = []
    number = 0
    kind_bytes = _SECTION_MAGIC
    while kind_bytes:
        start = source.position - 4
        if kind_bytes == _SECTION_MAGIC:
            order, body = _section(source, start)
            interfaces = []
        else:
            body = _body(source, source.take(4, "Block.TotalLength"), order, start)
        block = _Block(body, order, start)
        kind = int.from_bytes(kind_bytes, order)
        if kind == _INTERFACE:
            interfaces.append(_interface(block))
        elif kind in _PACKET_BLOCKS:
            number += 1
            yield _PACKET_BLOCKS[kind](block, interfaces, number)
        kind_bytes = source.take_or_end(4, "Block.Type")


def _section(source: _Source, start: int) -> tuple[_Order, bytes]:
    """The byte order that a Section Header Block sets, and the block's body."""
    head = source.take(8, "SectionHeader")
    magic = head[4:]
    if magic not in _BYTE_ORDER_MAGIC:
        raise MalformedPacket(
            "SectionHeader.ByteOrderMagic", start + 8, f"is {magic.hex()}, not 1a2b3c4d"
        )
    order = _BYTE_ORDER_MAGIC[magic]
    return order, _body(source, head[:4], order, start, beginning=magic)


def _body(
    source: _Source, length_bytes: bytes, order: _Order, start: int, *, beginning: bytes = b""
) -> bytes:
    """The bytes of a block between its two length fields, which must agree."""
    length = int.from_bytes(length_bytes, order)
    if not _SMALLEST_BLOCK + len(beginning) <= length <= MAX_BLOCK_SIZE or length % 4:
        raise MalformedPacket(
            "Block.TotalLength", start + 4, f"{length} cannot be a block's length"
        )
    rest = source.take(length - 8 - len(beginning), "Block.Body")
    if rest[-4:] != length_bytes:
        raise MalformedPacket(
            "Block.TotalLength",
            start + length - 4,
            f"{int.from_bytes(rest[-4:], order)} at the end, {length} at the start",
        )
    return beginning + rest[:-4]


class _Block:
    """The body of one block, read by position."""

    __slots__ = ("body", "order", "start")

    def __init__(self, body: bytes, order: _Order, start: int) -> None:
        self.body = body
        self.order = order
        self.start = start

    def number(self, position: int, size: int, field: str) -> int:
        return int.from_bytes(self.slice(position, size, field), self.order)

    def slice(self, position: int, size: int, field: str) -> bytes:
        if position + size > len(self.body):
            raise MalformedPacket(
                field,
                self.start + 8 + position,
                f"needs {size} bytes, {max(len(self.body) - position, 0)} remain in the block",
            )
        return self.body[position : position + size]


def _interface(block: _Block) -> _Interface:
    link_type = block.number(0, 2, "InterfaceDescription.LinkType")
    snap_length = block.number(4, 4, "InterfaceDescription.SnapLen")
    resolution, offset_seconds = 6, 0
    position = 8
    while position < len(block.body):
        code = block.number(position, 2, "InterfaceDescription.Options")
        size = block.number(position + 2, 2, "InterfaceDescription.Options")
        value = block.slice(position + 4, size, "InterfaceDescription.Options")
        if code == _OPTION_END:
            break
        if code == _OPTION_TIME_RESOLUTION and value:
            resolution = value[0]
        elif code == _OPTION_TIME_OFFSET and size == 8:
            offset_seconds = int.from_bytes(value, block.order, signed=True)
        position += 4 + size + -size % 4
    # The top bit tells a power of two from a power of ten.
    base, exponent = (2, resolution & 0x7F) if resolution & 0x80 else (10, resolution)
    return _Interface(link_type, snap_length, base**exponent, offset_seconds)


def _described(interfaces: list[_Interface], index: int, block: _Block) -> _Interface:
    if index >= len(interfaces):
        raise MalformedPacket(
            "Packet.InterfaceID", block.start + 8, f"{index}, with {len(interfaces)} described"
        )
    return interfaces[index]


def _timed(block: _Block, interface: _Interface, number: int) -> Frame:
    """The part that Enhanced and obsolete Packet Blocks share, from the timestamp on."""
    time = interface.time(
        block.number(4, 4, "Packet.Timestamp"), block.number(8, 4, "Packet.Timestamp")
    )
    captured = block.number(12, 4, "Packet.CapturedLength")
    original = block.number(16, 4, "Packet.OriginalLength")
    data = block.slice(20, captured, "Packet.Data")
    missing = max(original - captured, 0)
    return Frame(number, time, interface.link_type, data, missing, block.start)


def _enhanced(block: _Block, interfaces: list[_Interface], number: int) -> Frame:
    index = block.number(0, 4, "Packet.InterfaceID")
    return _timed(block, _described(interfaces, index, block), number)


def _obsolete(block: _Block, interfaces: list[_Interface], number: int) -> Frame:
    index = block.number(0, 2, "Packet.InterfaceID")
    return _timed(block, _described(interfaces, index, block), number)


def _simple(block: _Block, interfaces: list[_Interface], number: int) -> Frame:
    interface = _described(interfaces, 0, block)
    original = block.number(0, 4, "SimplePacket.OriginalLength")
    captured = original
    # A snap length of 0 means no limit.
    if interface.snap_length:
        captured = min(original, interface.snap_length)
    data = block.slice(4, captured, "SimplePacket.Data")
    return Frame(number, None, interface.link_type, data, original - captured, block.start)


_PACKET_BLOCKS: Final = {
    _ENHANCED_PACKET: _enhanced,
    _OBSOLETE_PACKET: _obsolete,
    _SIMPLE_PACKET: _simple,
}
