"""Snapshots: written in pieces, read back whole or not at all."""

from pathlib import Path
from zlib import crc32

import pytest
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.files import RealFiles
from openmsmq.store.frame import Place
from openmsmq.store.index import Index
from openmsmq.store.log_format import ENTRY, Damage
from openmsmq.store.snapshot import (
    Block,
    SnapshotWriter,
    load_snapshot,
    peek_snapshot,
    snapshot_generation,
    snapshot_name,
)

DIRECTORY = Path("/snapshots")
PATH = DIRECTORY / snapshot_name(3)
START = Place(7, 4096, 55)


def an_index(messages: int, rows: int) -> Index:
    index = Index()
    entries = [
        ENTRY.pack(key, key % 5, 1, key, 2, len(b"%d" % key)) + b"%d" % key
        for key in range(messages)
    ]
    index.load(list(range(messages)), entries)
    index.rows = {(1, b"%d" % number): b"row" for number in range(rows)}
    return index


def written(index: Index) -> SimulatedDisk:
    disk = SimulatedDisk()
    writer = SnapshotWriter(disk, DIRECTORY, generation=3, store_id=bytes(16), start=START)
    for block in writer.blocks(index):
        writer.write(block)
    writer.complete(60)
    return disk


@pytest.mark.parametrize(("messages", "rows"), [(0, 0), (1, 0), (0, 1), (3000, 2500)])
def test_a_snapshot_reads_back(messages: int, rows: int) -> None:
    index = an_index(messages, rows)
    disk = written(index)
    loaded = load_snapshot(disk, PATH, 3)
    assert loaded.index.entries == index.entries
    assert loaded.index.rows == index.rows
    assert loaded.index.message_bytes == index.message_bytes == sum(range(messages))
    assert loaded.index.live == index.live
    assert loaded.durable == 60
    assert loaded.store_id == bytes(16)
    assert loaded.snapshot == peek_snapshot(disk, PATH, 3)
    assert loaded.snapshot.start == START


def test_the_bytes_of_each_block_that_was_read_are_told() -> None:
    disk = written(an_index(3000, 2500))
    read: list[int] = []
    load_snapshot(disk, PATH, 3, read.append)
    assert len(read) > 2
    # The rest is the header and the totals.
    assert 512 < len(disk.contents(PATH)) - sum(read) < 1024


def test_a_block_with_a_wrong_count_is_refused() -> None:
    """The checksum is right, the contents are not: a fault of the program that wrote it."""
    for kind, number, payload, reason in (
        (1, 2, ENTRY.pack(1, 1, 1, 1, 1, 0), "entries reach beyond the end"),
        (1, 1, ENTRY.pack(1, 1, 1, 1, 1, 0) + b"x", "a block is longer than its contents"),
        (2, 1, b"", "rows reach beyond the end"),
    ):
        disk = SimulatedDisk()
        writer = SnapshotWriter(disk, DIRECTORY, generation=3, store_id=bytes(16), start=START)
        writer.write(Block(kind, number, payload))
        writer.complete(60)
        with pytest.raises(Damage, match=f"snapshot-00000003.idx at offset 512: {reason}"):
            load_snapshot(disk, PATH, 3)


def test_a_block_that_is_missing_is_noticed() -> None:
    index = an_index(3000, 0)
    disk = SimulatedDisk()
    writer = SnapshotWriter(disk, DIRECTORY, generation=3, store_id=bytes(16), start=START)
    blocks = list(writer.blocks(index))
    writer.write(blocks[0])
    writer.write(blocks[2])
    writer.complete(60)
    with pytest.raises(Damage, match="the snapshot is not whole"):
        load_snapshot(disk, PATH, 3)


def test_a_header_that_is_not_a_snapshot_is_refused() -> None:
    disk = written(an_index(1, 1))
    disk.overwrite(PATH, 0, b"X")
    with pytest.raises(Damage, match="not a snapshot of openmsmq"):
        peek_snapshot(disk, PATH, 3)


def test_an_abandoned_snapshot_leaves_nothing() -> None:
    disk = SimulatedDisk()
    writer = SnapshotWriter(disk, DIRECTORY, generation=3, store_id=bytes(16), start=START)
    writer.abandon()
    writer.write(Block(1, 0, b""))
    writer.abandon()
    assert disk.names(DIRECTORY) == []


def test_an_abandoned_snapshot_takes_no_space(tmp_path: Path) -> None:
    writer = SnapshotWriter(RealFiles(), tmp_path, generation=3, store_id=bytes(16), start=START)
    writer.write(Block(1, 0, b"many rows"))
    (file,) = tmp_path.iterdir()
    writer.abandon()
    # A file without a name keeps its space until nobody has it open.
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert not [link for link in links if str(link.readlink()).startswith(str(file))]


def test_names_of_snapshots() -> None:
    assert snapshot_name(42) == "snapshot-00000042.idx"
    assert snapshot_generation("snapshot-00000042.idx") == 42
    assert snapshot_generation("snapshot-123456789.idx") == 123456789
    for name in ("snapshot-42.idx", "snapshot-.idx", "segment-00000042.log", "snapshot.next"):
        assert snapshot_generation(name) is None


def test_a_block_is_its_head_its_checksum_and_its_contents() -> None:
    head, payload = Block(1, 2, b"abc").serialize()
    assert payload == b"abc"
    assert head == (
        b"\xf5IDX\1\0\0\0\2\0\0\0\3\0\0\0" + crc32(b"abc", crc32(head[:16])).to_bytes(4, "little")
    )
