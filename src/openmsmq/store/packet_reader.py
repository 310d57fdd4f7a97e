"""Packets back from the segments, by ranges, each checked against its checksum."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from zlib import crc32

from openmsmq.wire.errors import StoreError

from .index import Index
from .log_format import ENTRY, Damage
from .segments import Segments

_GAP: Final = 16 << 10
"""Reading this much too much is cheaper than another system call."""
_RANGE: Final = 4 << 20


class _Wanted(NamedTuple):
    segment: int
    offset: int
    size: int
    crc: int
    position: int


def read_packets(segments: Segments, index: Index, keys: Sequence[int]) -> list[bytes]:
    """The packets of live messages, in the order of the keys."""
    wanted: list[_Wanted] = []
    for position, key in enumerate(keys):
        entry = index.entries.get(key)
        if entry is None:
            raise StoreError(f"message {key} is not in the store")
        _, segment, offset, size, crc, _ = ENTRY.unpack_from(entry)
        wanted.append(_Wanted(segment, offset, size, crc, position))
    wanted.sort()
    packets = [b""] * len(keys)
    first = 0
    while first < len(wanted):
        last = _end_of_range(wanted, first)
        _read_range(segments, wanted[first:last], packets)
        first = last
    return packets


def _end_of_range(wanted: list[_Wanted], first: int) -> int:
    """How far one read can go."""
    segment, start, size, _, _ = wanted[first]
    end = start + size
    for position in range(first + 1, len(wanted)):
        following = wanted[position]
        next_end = following.offset + following.size
        too_far = following.offset > end + _GAP or next_end > start + _RANGE
        if following.segment != segment or too_far:
            return position
        end = max(end, next_end)
    return len(wanted)


def _read_range(segments: Segments, wanted: list[_Wanted], packets: list[bytes]) -> None:
    start = wanted[0].offset
    end = max(one.offset + one.size for one in wanted)
    number = wanted[0].segment
    try:
        data = segments.reader(number).read(start, end - start)
    except OSError as exc:
        name = segments.path(number).name
        raise StoreError(f"{name} at offset {start}: {exc.strerror or exc}") from exc
    for _, offset, size, crc, position in wanted:
        packet = data[offset - start : offset - start + size]
        if len(packet) != size or crc32(packet) != crc:
            raise Damage(segments.path(number).name, offset, "the packet of a message is damaged")
        packets[position] = packet
