"""Reading packets from the segments, by ranges, each verified by its checksum."""

from collections.abc import Sequence
from typing import Final

from isal.isal_zlib import crc32

from openmsmq.wire.errors import StoreError

from .index import Index
from .log_format import PACKET, Damage
from .segments import Segments

_GAP: Final = 16 << 10
"""Reading this many unneeded bytes is cheaper than another system call."""
_RANGE: Final = 4 << 20

Place = tuple[int, int, int, int]
"""Segment, offset, size and checksum of a packet."""


def read_packets(segments: Segments, index: Index, keys: Sequence[int]) -> list[bytes]:
    """The packets of live messages, in the order of the keys."""
    try:
        places: list[Place] = [PACKET.unpack_from(index.entries[key]) for key in keys]
    except KeyError as exc:
        raise StoreError(f"message {exc.args[0]} is not in the store") from exc
    order = sorted(range(len(places)), key=places.__getitem__)
    packets = [b""] * len(places)
    first = 0
    while first < len(order):
        last, end = _end_of_range(places, order, first)
        _read_range(segments, places, order[first:last], end, packets)
        first = last
    return packets


def _end_of_range(places: list[Place], order: list[int], first: int) -> tuple[int, int]:
    """The end of a single read: consecutive in the order and in the segment."""
    segment, start, size, _ = places[order[first]]
    end = start + size
    for position in range(first + 1, len(order)):
        next_segment, offset, size, _ = places[order[position]]
        if next_segment != segment or offset > end + _GAP or offset + size > start + _RANGE:
            return position, end
        end = max(end, offset + size)
    return len(order), end


def _read_range(
    segments: Segments, places: list[Place], order: list[int], end: int, packets: list[bytes]
) -> None:
    number, start, _, _ = places[order[0]]
    try:
        data = segments.reader(number).read(start, end - start)
    except OSError as exc:
        name = segments.path(number).name
        raise StoreError(f"{name} at offset {start}: {exc.strerror or exc}") from exc
    for position in order:
        _, offset, size, crc = places[position]
        packet = data[offset - start : offset - start + size]
        if len(packet) != size or crc32(packet) != crc:
            raise Damage(segments.path(number).name, offset, "the packet of a message is damaged")
        packets[position] = packet
