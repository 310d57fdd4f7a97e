"""A snapshot of the index: written in pieces while commits continue, read at start.

The pieces are written in turn and the index changes in between. That is safe:
recovery reads the log from where the snapshot began, and every operation is idempotent.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from isal.isal_zlib import crc32

from .files import File, Files
from .frame import Place
from .index import Index
from .log_format import (
    FORMAT_VERSION,
    SECTOR,
    Damage,
    UnknownVersion,
    encode_rows,
    split_entries,
    split_rows,
)

_MAGIC: Final = b"omsmqidx"
_HEADER: Final = Struct("<8sI16sIQQI")
_BLOCK: Final = Struct("<4sIIII")
_BLOCK_MAGIC: Final = b"\xf5IDX"
_MESSAGES: Final = 1
_ROWS: Final = 2
_END: Final = 3
_TOTALS: Final = Struct("<QQQ")
_CRC: Final = Struct("<I")
_PER_BLOCK: Final = 1024
NEXT_NAME: Final = "snapshot.next"


def snapshot_name(generation: int) -> str:
    """The file name of a snapshot."""
    return f"snapshot-{generation:08d}.idx"


def snapshot_generation(name: str) -> int | None:
    """The number in the file name of a snapshot, or None for other files."""
    digits = name.removeprefix("snapshot-").removesuffix(".idx")
    if digits.isascii() and digits.isdigit() and snapshot_name(int(digits)) == name:
        return int(digits)
    return None


class Snapshot(NamedTuple):
    """A complete snapshot on disk."""

    generation: int
    start: Place
    """The position where reading of the log must begin."""
    size: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """A snapshot that was read."""

    snapshot: Snapshot
    store_id: bytes
    index: Index
    durable: int
    """The sequence number that the log had reached when the snapshot was complete."""


class Block(NamedTuple):
    """A piece of a snapshot."""

    kind: int
    number: int
    payload: bytes

    def serialize(self) -> list[bytes]:
        head = _BLOCK.pack(_BLOCK_MAGIC, self.kind, self.number, len(self.payload), 0)[:-4]
        return [head + _CRC.pack(crc32(self.payload, crc32(head))), self.payload]


class SnapshotWriter:
    """Writes one snapshot.

    `blocks` yields the pieces and is the owner's; the rest may run in another thread, one call at
    a time.
    """

    def __init__(
        self, files: Files, directory: Path, *, generation: int, store_id: bytes, start: Place
    ) -> None:
        self._files = files
        self._directory = directory
        self.generation = generation
        self._store_id = store_id
        self.start = start
        self._file: File | None = None
        self._position = SECTOR
        self._messages = 0
        self._rows = 0

    def blocks(self, index: Index) -> Iterator[Block]:
        """The index in pieces; `index` is at `start` now and changes between them."""
        return self._blocks(index, list(index.entries), list(index.rows))

    def _blocks(
        self, index: Index, keys: list[int], row_keys: list[tuple[int, bytes]]
    ) -> Iterator[Block]:
        for i in range(0, len(keys), _PER_BLOCK):
            places = map(index.entries.get, keys[i : i + _PER_BLOCK])
            entries = [entry for entry in places if entry is not None]
            self._messages += len(entries)
            yield Block(_MESSAGES, len(entries), b"".join(entries))
        for i in range(0, len(row_keys), _PER_BLOCK):
            rows = {key: index.rows.get(key) for key in row_keys[i : i + _PER_BLOCK]}
            self._rows += len(rows)
            yield Block(_ROWS, len(rows), encode_rows(rows))

    def write(self, block: Block) -> None:
        """Add a piece, not yet durable."""
        if self._file is None:
            self._file = self._open()
        buffers = block.serialize()
        self._file.write(self._position, buffers)
        self._position += sum(map(len, buffers))

    def _open(self) -> File:
        """The file that was reserved, or a new one."""
        path = self._directory / NEXT_NAME
        try:
            return self._files.open(path)
        except FileNotFoundError:
            return self._files.create(path)

    def complete(self, durable: int) -> Snapshot:
        """Make the snapshot durable and give it its name."""
        totals = _TOTALS.pack(self._messages, self._rows, durable)
        self.write(Block(_END, 0, totals))
        file = self._file
        assert file is not None  # noqa: S101 - write opened it
        head = _HEADER.pack(_MAGIC, FORMAT_VERSION, self._store_id, *self.start, 0)[:-4]
        file.write(0, [(head + _CRC.pack(crc32(head))).ljust(SECTOR, b"\0")])
        file.truncate(self._position)
        file.flush()
        file.close()
        name = snapshot_name(self.generation)
        self._files.rename(self._directory / NEXT_NAME, self._directory / name)
        self._files.sync_directory(self._directory)
        return Snapshot(self.generation, self.start, self._position)

    def abandon(self) -> None:
        """Cancel; the space is freed."""
        if self._file is not None:
            self._file.close()
        self._files.unlink(self._directory / NEXT_NAME)


def load_snapshot(
    files: Files, path: Path, generation: int, progress: Callable[[int], None] | None = None
) -> Loaded:
    """Read a snapshot back.

    Raises:
        Damage: it is damaged.
        UnknownVersion: a later version of the program wrote it.
    """
    file = files.open(path)
    try:
        return _load(file, path.name, generation, progress)
    finally:
        file.close()


def peek_snapshot(files: Files, path: Path, generation: int) -> Snapshot:
    """The header of a snapshot; its contents are not read.

    Raises:
        Damage: the header is damaged.
        UnknownVersion: a later version of the program wrote it.
    """
    file = files.open(path)
    try:
        _, start = _parse_header(file.read(0, SECTOR), path.name)
        return Snapshot(generation, start, file.size())
    finally:
        file.close()


def _load(file: File, name: str, generation: int, progress: Callable[[int], None] | None) -> Loaded:
    store_id, start = _parse_header(file.read(0, SECTOR), name)
    index = Index()
    position = SECTOR
    row_count = 0
    while True:
        block = _read_block(file, position, name)
        end = position + _BLOCK.size + len(block.payload)
        try:
            if block.kind == _MESSAGES:
                keys, entries, used = split_entries(memoryview(block.payload), block.number)
                index.load(keys, entries)
            elif block.kind == _ROWS:
                rows, used = split_rows(memoryview(block.payload), block.number)
                index.rows.update({key: row for key, row in rows.items() if row is not None})
                row_count += block.number
            else:
                break
        except ValueError as exc:
            raise Damage(name, position, str(exc)) from exc
        if used != len(block.payload):
            raise Damage(name, position, "a block is longer than its contents")
        if progress is not None:
            progress(end - position)
        position = end
    messages, all_rows, durable = _TOTALS.unpack(block.payload)
    if (messages, all_rows) != (len(index.entries), row_count) or file.size() != end:
        raise Damage(name, position, "the snapshot is not whole")
    return Loaded(Snapshot(generation, start, end), store_id, index, durable)


def _parse_header(raw: bytes, name: str) -> tuple[bytes, Place]:
    if len(raw) < SECTOR:
        raise Damage(name, 0, f"truncated, only {len(raw)} bytes long")
    magic, version, store_id, segment, offset, sequence, crc = _HEADER.unpack_from(raw)
    if magic != _MAGIC:
        raise Damage(name, 0, "not a snapshot of openmsmq")
    if version != FORMAT_VERSION:
        raise UnknownVersion(name, version)
    if crc != crc32(raw[: _HEADER.size - 4]) or raw[_HEADER.size :].strip(b"\0"):
        raise Damage(name, 0, "the header of the snapshot is damaged")
    return store_id, Place(segment, offset, sequence)


def _read_block(file: File, position: int, name: str) -> Block:
    head = file.read(position, _BLOCK.size)
    if len(head) == _BLOCK.size:
        magic, kind, count, length, crc = _BLOCK.unpack(head)
        if magic == _BLOCK_MAGIC and position + length <= file.size():
            payload = file.read(position + _BLOCK.size, length)
            sound = crc32(payload, crc32(head[:-4])) == crc and kind in (_MESSAGES, _ROWS, _END)
            if sound and (kind != _END or length == _TOTALS.size):
                return Block(kind, count, payload)
    raise Damage(name, position, "a block of the snapshot is damaged")
