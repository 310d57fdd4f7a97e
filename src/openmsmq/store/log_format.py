"""The bytes of a log segment: its header, and frames of one batch each (docs/store.md)."""

from dataclasses import dataclass
from struct import Struct, iter_unpack, unpack_from
from struct import error as StructError  # noqa: N812 - an exception, spelled as one
from typing import Final, NamedTuple, Self

from isal.isal_zlib import crc32

from openmsmq.wire.errors import StoreError

FORMAT_VERSION: Final = 1
SECTOR: Final = 512
"""The unit that a disk writes whole or not at all."""
ALIGNMENT: Final = 64
MAX_FRAME_SIZE: Final = 0xFFFF_FFC0 - SECTOR

SEGMENT_MAGIC: Final = b"openmsmq"
SEGMENT_HEADER: Final = Struct("<8sII16sQI")
FIRST_FRAME: Final = SECTOR
"""The offset of the first frame of a segment: the header has a sector of its own."""

FRAME_MAGIC: Final = b"\xf5MSQ"
FRAME_HEADER: Final = Struct("<4sHHIIQ10I")
FRAME_FIELDS: Final = Struct("<4sHHIIQ9I")
"""A frame header without its checksum."""
FRAME_HEADER_SIZE: Final = 64
_CRC: Final = Struct("<I")

KIND_BATCH: Final = 1
KIND_ROLL: Final = 2
"""The last frame of a segment: the log continues in the next one."""

ENTRY: Final = Struct("<QIIIII")
"""Key, then the position of the packet (segment, offset, size, checksum), then the record size."""
ENTRY_SIZE: Final = 28
PLACE: Final = slice(8, 24)
"""The part of an entry with the position of the packet."""
_KEY: Final = Struct("<Q")
PACKET: Final = Struct("<8x4I")
"""The position of the packet in an entry: segment, offset, size and checksum."""
UPDATE: Final = Struct("<QI")
ROW: Final = Struct("<BII")
NO_VALUE: Final = 0xFFFFFFFF


class Damage(StoreError):
    """Damaged or missing bytes."""

    def __init__(self, file: str, offset: int, reason: str) -> None:
        super().__init__(f"{file} at offset {offset}: {reason}")
        self.file = file
        self.offset = offset
        self.reason = reason


class UnknownVersion(StoreError):
    """Files of a later version of the program, which this one cannot read."""

    def __init__(self, name: str, version: int) -> None:
        super().__init__(
            f"{name} at offset 8: format version {version}, this program knows "
            f"{FORMAT_VERSION} only"
        )


def tag_of(store_id: bytes) -> int:
    """The identification of the store in every frame."""
    return int.from_bytes(store_id[:4], "little")


def align(size: int) -> int:
    """Round up to the next possible start of a frame."""
    return (size + ALIGNMENT - 1) & -ALIGNMENT


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    """The identity and the length of a segment."""

    number: int
    store_id: bytes
    size: int

    def serialize(self) -> bytes:
        raw = SEGMENT_HEADER.pack(
            SEGMENT_MAGIC, FORMAT_VERSION, self.number, self.store_id, self.size, 0
        )[:-4]
        return (raw + _CRC.pack(crc32(raw))).ljust(SECTOR, b"\0")

    @classmethod
    def parse(cls, raw: bytes, name: str) -> Self:
        """The header in the first sector of the file `name`."""
        if len(raw) < SECTOR:
            raise Damage(name, 0, f"truncated, only {len(raw)} bytes long")
        magic, version, number, store_id, size, crc = SEGMENT_HEADER.unpack_from(raw)
        if magic != SEGMENT_MAGIC:
            raise Damage(name, 0, "not a log segment of openmsmq")
        if version != FORMAT_VERSION:
            raise UnknownVersion(name, version)
        if crc != crc32(raw[: SEGMENT_HEADER.size - 4]) or raw[SEGMENT_HEADER.size :].strip(b"\0"):
            raise Damage(name, 0, "the header of the segment is damaged")
        return cls(number, store_id, size)


class FrameHeader(NamedTuple):
    """The contents of a frame; all sizes in bytes."""

    kind: int
    store_tag: int
    segment: int
    sequence: int
    length: int
    meta_length: int
    data_length: int
    puts: int = 0
    moves: int = 0
    updates: int = 0
    deletes: int = 0
    rows: int = 0
    meta_crc: int = 0

    def serialize(self) -> bytes:
        raw = FRAME_FIELDS.pack(FRAME_MAGIC, self.kind, 0, *self[1:])
        return raw + crc32(raw).to_bytes(4, "little")

    @classmethod
    def parse(cls, raw: bytes | memoryview) -> Self | None:
        """The header in 64 bytes, or None if they are not a valid header."""
        magic, kind, reserved, *fields, crc = FRAME_HEADER.unpack(raw)
        if magic != FRAME_MAGIC or crc != crc32(raw[:-4]) or reserved:
            return None
        header = cls(kind, *fields)
        whole = FRAME_HEADER_SIZE + header.meta_length + header.data_length
        return header if header.length == align(whole) else None


def roll_frame(store_tag: int, segment: int, sequence: int) -> bytes:
    """The frame that ends a segment."""
    return FrameHeader(
        KIND_ROLL, store_tag, segment, sequence, FRAME_HEADER_SIZE, 0, 0, meta_crc=crc32(b"")
    ).serialize()


def split_entries(raw: memoryview, count: int) -> tuple[list[int], list[bytes], int]:
    """Keys and entries (each with its record) of `count` entries, and where they end.

    Raises ValueError if they do not fit.
    """
    stride = _stride(raw, count)
    if stride is None:
        entries, end = _uneven_entries(raw, count)
        return [_KEY.unpack_from(entry)[0] for entry in entries], entries, end
    end = stride * count
    keys = [key for (key,) in iter_unpack(f"<Q{stride - 8}x", raw[:end])]
    return keys, [entry for (entry,) in iter_unpack(f"{stride}s", raw[:end])], end


def packet_places(raw: memoryview, count: int) -> tuple[list[tuple[int, int, int, int]], int]:
    """Segment, offset, size and checksum of the packets of `count` entries, and where they end.

    Raises ValueError if the entries do not fit.
    """
    stride = _stride(raw, count)
    if stride is None:
        entries, end = _uneven_entries(raw, count)
        return [PACKET.unpack_from(entry) for entry in entries], end
    end = stride * count
    return list(iter_unpack(f"<8x4I{stride - 24}x", raw[:end])), end


def _stride(raw: memoryview, count: int) -> int | None:
    """The common size of the entries, if they have one; then C does the rest."""
    if not count or len(raw) < ENTRY_SIZE:
        return None
    record_size = _record_size(raw, 0)
    stride = ENTRY_SIZE + record_size
    if stride * count > len(raw):
        return None
    sizes = set(iter_unpack(f"<24xI{record_size}x", raw[: stride * count]))
    return stride if sizes == {(record_size,)} else None


def _uneven_entries(raw: memoryview, count: int) -> tuple[list[bytes], int]:
    entries: list[bytes] = []
    position = 0
    for _ in range(count):
        if position + ENTRY_SIZE > len(raw):
            raise ValueError("entries reach beyond the end")
        end = position + ENTRY_SIZE + _record_size(raw, position)
        if end > len(raw):
            raise ValueError("entries reach beyond the end")
        entries.append(bytes(raw[position:end]))
        position = end
    return entries, position


def _record_size(raw: memoryview, position: int) -> int:
    size: int = unpack_from("<I", raw, position + 24)[0]
    return size


def encode_rows(rows: dict[tuple[int, bytes], bytes | None]) -> bytes:
    """State rows, one after the other; None is a deleted row."""
    parts: list[bytes] = []
    for (table, key), value in rows.items():
        if value is None:
            parts += (ROW.pack(table, len(key), NO_VALUE), key)
        else:
            parts += (ROW.pack(table, len(key), len(value)), key, value)
    return b"".join(parts)


def split_rows(raw: memoryview, count: int) -> tuple[dict[tuple[int, bytes], bytes | None], int]:
    """`count` state rows and where they end. Raises ValueError if they do not fit."""
    rows: dict[tuple[int, bytes], bytes | None] = {}
    position = 0
    try:
        for _ in range(count):
            table, key_size, value_size = ROW.unpack_from(raw, position)
            start = position + ROW.size
            middle = start + key_size
            position = middle + (0 if value_size == NO_VALUE else value_size)
            if position > len(raw):
                raise ValueError("rows reach beyond the end")
            key = bytes(raw[start:middle])
            rows[table, key] = None if value_size == NO_VALUE else bytes(raw[middle:position])
    except StructError as exc:
        raise ValueError("rows reach beyond the end") from exc
    return rows, position
