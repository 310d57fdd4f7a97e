"""One batch as a frame of the log, and its changes to the index."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat
from operator import add
from struct import error as StructError  # noqa: N812 - an exception, spelled as one
from struct import iter_unpack, pack
from typing import Final, NamedTuple

from isal.isal_zlib import crc32

from openmsmq.wire.batch import MAX_RECORD_SIZE, Batch
from openmsmq.wire.errors import StoreError

from .log_format import (
    ALIGNMENT,
    ENTRY,
    ENTRY_SIZE,
    FRAME_FIELDS,
    FRAME_HEADER_SIZE,
    FRAME_MAGIC,
    KIND_BATCH,
    SECTOR,
    UPDATE,
    FrameHeader,
    align,
    encode_rows,
    packet_places,
    split_entries,
    split_rows,
)

_LENGTH_OF_DELETE: Final = 8
_PADDING: Final = bytes(ALIGNMENT)
Part = tuple[int, int]
"""Start and end of a part of a frame, counted from the start of the frame."""


class Place(NamedTuple):
    """The position of a frame."""

    segment: int
    offset: int
    sequence: int


class Move(NamedTuple):
    """A live message that compaction rewrites."""

    key: int
    entry: bytes
    packet: bytes


class Changes:
    """The changes of a frame to the index."""

    __slots__ = (
        "deletes",
        "move_entries",
        "move_keys",
        "put_bytes",
        "put_entries",
        "put_keys",
        "rows",
        "segment",
        "updates",
    )

    def __init__(self, segment: int) -> None:
        self.segment = segment
        self.put_keys: Sequence[int] = ()
        self.put_entries: Sequence[bytes] = ()
        self.put_bytes = 0
        self.move_keys: Sequence[int] = ()
        self.move_entries: Sequence[bytes] = ()
        self.updates: Mapping[int, bytes] = {}
        self.deletes: Sequence[int] = ()
        self.rows: Mapping[tuple[int, bytes], bytes | None] = {}


class Encoder:
    """A frame in two steps: its size, which determines the position, and its bytes."""

    __slots__ = ("_batch", "_data_length", "_meta_length", "_moves", "_rows", "length")

    def __init__(self, batch: Batch, moves: Sequence[Move]) -> None:
        self._batch = batch
        self._moves = moves
        self._rows = encode_rows(batch.rows) if batch.rows else b""
        meta = len(self._rows) + _LENGTH_OF_DELETE * len(batch.deletes)
        data = 0
        if batch.put_keys:
            meta += ENTRY_SIZE * len(batch.put_keys) + sum(map(len, batch.records))
            data = sum(map(len, batch.packets))
        if batch.updates:
            meta += UPDATE.size * len(batch.updates) + sum(map(len, batch.updates.values()))
        if moves:
            meta += ENTRY_SIZE * len(moves)
            data += sum(len(move.packet) for move in moves)
        self._meta_length = meta
        self._data_length = data
        self.length = align(FRAME_HEADER_SIZE + meta + data)

    def encode(self, place: Place, store_tag: int) -> tuple[list[bytes], Changes]:
        """The bytes in pieces, packets by reference, and the changes."""
        batch = self._batch
        segment, offset, sequence = place
        changes = Changes(segment)
        changes.put_keys = batch.put_keys
        changes.updates = batch.updates
        changes.deletes = batch.deletes
        changes.rows = batch.rows
        data_start = offset + FRAME_HEADER_SIZE + self._meta_length
        parts: list[bytes] = []
        if batch.put_keys:
            parts += self._encode_puts(changes, data_start)
        if self._moves:
            parts += self._encode_moves(changes, data_start + changes.put_bytes)
        for key, record in batch.updates.items():
            parts += (UPDATE.pack(key, _checked(len(record))), record)
        if batch.deletes:
            parts.append(pack(f"<{len(batch.deletes)}Q", *batch.deletes))
        parts.append(self._rows)
        meta = b"".join(parts)
        # FrameHeader.serialize without the FrameHeader, as batches of one message are common.
        head = FRAME_FIELDS.pack(
            FRAME_MAGIC,
            KIND_BATCH,
            0,
            store_tag,
            segment,
            sequence,
            self.length,
            self._meta_length,
            self._data_length,
            len(batch.put_keys),
            len(self._moves),
            len(batch.updates),
            len(batch.deletes),
            len(batch.rows),
            crc32(meta),
        )
        buffers = [head + crc32(head).to_bytes(4, "little") + meta, *batch.packets]
        if self._moves:
            buffers += [move.packet for move in self._moves]
        padding = self.length - FRAME_HEADER_SIZE - self._meta_length - self._data_length
        if padding:
            buffers.append(_PADDING[:padding])
        return buffers, changes

    def _encode_puts(self, changes: Changes, data_start: int) -> list[bytes]:
        batch = self._batch
        sizes = list(map(len, batch.packets))
        record_sizes = list(map(len, batch.records))
        _checked(max(record_sizes))
        # Built in C, element by element: this is the hottest path of the store.
        heads = map(
            ENTRY.pack,
            batch.put_keys,
            repeat(changes.segment),
            accumulate(sizes, initial=data_start),
            sizes,
            map(crc32, batch.packets),
            record_sizes,
        )
        entries = list(map(add, heads, batch.records))
        changes.put_entries = entries
        changes.put_bytes = sum(sizes)
        return entries

    def _encode_moves(self, changes: Changes, position: int) -> list[bytes]:
        keys: list[int] = []
        entries: list[bytes] = []
        for key, entry, packet in self._moves:
            _, _, _, size, crc, _ = ENTRY.unpack_from(entry)
            keys.append(key)
            entries.append(ENTRY.pack(key, changes.segment, position, size, crc, 0))
            position += len(packet)
        changes.move_keys = keys
        changes.move_entries = entries
        return entries


def _checked(record_size: int) -> int:
    if record_size > MAX_RECORD_SIZE:
        raise StoreError(f"a record of {record_size} bytes; at most {MAX_RECORD_SIZE} are allowed")
    return record_size


def decode(header: FrameHeader, meta: memoryview) -> Changes:
    """The changes of a frame; raises ValueError if the parts do not add up."""
    changes = Changes(header.segment)
    changes.put_keys, changes.put_entries, end = split_entries(meta, header.puts)
    meta = meta[end:]
    changes.move_keys, changes.move_entries, end = split_entries(meta, header.moves)
    moved = sum(ENTRY.unpack_from(entry)[3] for entry in changes.move_entries)
    changes.put_bytes = header.data_length - moved
    meta = meta[end:]
    position = 0
    updates: dict[int, bytes] = {}
    try:
        for _ in range(header.updates):
            key, size = UPDATE.unpack_from(meta, position)
            position += UPDATE.size + size
            updates[key] = bytes(meta[position - size : position])
        end = position + _LENGTH_OF_DELETE * header.deletes
        changes.deletes = [key for (key,) in iter_unpack("<Q", meta[position:end])]
    except StructError as exc:
        raise ValueError("operations reach beyond the end") from exc
    meta = meta[end:]
    changes.updates = updates
    changes.rows, end = split_rows(meta, header.rows)
    if end != len(meta) or len(changes.deletes) != header.deletes:
        raise ValueError("the operations do not fill their part of the frame")
    return changes


def unsound_parts(header: FrameHeader, raw: memoryview, offset: int) -> list[Part]:
    """Check every byte of the frame that starts at `offset` in its segment.

    Returns the damaged parts; the header and the description of operations are one part.
    """
    meta_end = FRAME_HEADER_SIZE + header.meta_length
    meta = raw[FRAME_HEADER_SIZE:meta_end]
    if crc32(meta) != header.meta_crc:
        return [(0, meta_end)]
    try:
        places, moved_from = packet_places(meta, header.puts)
        places += packet_places(meta[moved_from:], header.moves)[0]
    except ValueError:
        return [(0, meta_end)]
    bad: list[Part] = []
    position = meta_end
    number = header.segment
    for segment, start, size, crc in places:
        end = position + size
        if segment != number or start != offset + position:
            return [(0, meta_end)]
        if crc32(raw[position:end]) != crc:
            bad.append((position, end))
        position = end
    whole = meta_end + header.data_length
    if position != whole:
        return [(0, meta_end)]
    if any(raw[whole : header.length]):
        bad.append((whole, header.length))
    return bad


def looks_torn(header: FrameHeader, raw: memoryview, offset: int, bad: Sequence[Part]) -> bool:
    """Whether the damaged parts of a frame may be bytes that were never written.

    New segments are zero, and a disk writes a sector whole or not at all: a torn frame has a
    sector of zeros where a part is damaged. Only zeros after the first damaged part indicate
    a write that was cut short inside a sector.
    """
    for start, end in bad:
        first = start - (offset + start) % SECTOR
        for position in range(first, end, SECTOR):
            piece = bytes(raw[max(position, 0) : min(position + SECTOR, header.length)])
            if not piece.strip(b"\0"):
                return True
    whole = FRAME_HEADER_SIZE + header.meta_length + header.data_length
    first_end = bad[0][1]
    rest = bytes(raw[min(first_end, whole - 8) : whole])
    return first_end <= whole and not rest.strip(b"\0")
