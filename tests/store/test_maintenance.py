"""Spare segments, snapshots, removal and compaction: disk use follows what is live."""

from random import Random

import pytest
from tests.store.model import (
    DIRECTORY,
    SMALL,
    Model,
    commit,
    deletes,
    held,
    maintain,
    open_store,
    packet,
    puts,
)
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.file_store import FileStore
from openmsmq.store.options import Options
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError


def started(disk: SimulatedDisk, options: Options = SMALL) -> FileStore:
    store = open_store(disk, options)
    store.recover()
    return store


def files(disk: SimulatedDisk, prefix: str) -> list[str]:
    return sorted(name for name in disk.names(DIRECTORY) if name.startswith(prefix))


def test_a_spare_segment_is_prepared_and_used() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    assert files(disk, "segment-") == ["segment-00000001.log"]
    maintain(store)
    assert files(disk, "segment-") == ["segment-00000001.log", "segment-00000002.log"]
    commit(store, [puts([1], size=3000)])
    created = sum(line.startswith("create segment-") for line in disk.log)
    commit(store, [puts([2], size=3000)])
    assert sum(line.startswith("create segment-") for line in disk.log) == created
    maintain(store)
    assert files(disk, "segment-")[-1] == "segment-00000003.log"


def test_a_commit_makes_the_segment_itself_if_no_spare_is_ready() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for key in range(4):
        commit(store, [puts([key], size=3000)])
    assert len(files(disk, "segment-")) == 4
    assert store.read_many([0, 3]) == [packet(0, 3000), packet(3, 3000)]


def test_a_batch_larger_than_the_spare_goes_past_it() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    maintain(store)
    commit(store, [puts([1], size=9000)])
    assert files(disk, "segment-") == [f"segment-0000000{n}.log" for n in (1, 2, 3)]
    commit(store, [puts([2])])
    disk = disk.kill()
    store = open_store(disk)
    model = held(store, store.recover())
    assert list(model.messages) == [1, 2]


@pytest.mark.parametrize("order", ["step first", "write first"])
def test_a_batch_larger_than_the_spare_while_it_is_being_prepared(order: str) -> None:
    """Both threads come to the same segment: it must have the size that both think it has."""
    disk = SimulatedDisk()
    store = started(disk)
    step = store.maintain()
    assert step is not None
    write = store.begin([puts([1], size=9000)])
    if order == "step first":
        step.run()
    store.write(write)
    if order == "write first":
        step.run()
    store.finish(write)
    step.finish()
    store = open_store(disk.kill())
    assert list(held(store, store.recover()).messages) == [1]


def test_a_spare_that_finds_no_space_is_forgotten_unless_the_log_has_come_to_it() -> None:
    for entered in (False, True):
        disk = SimulatedDisk(capacity=8700)
        store = started(disk)
        step = store.maintain()
        assert step is not None
        disk.capacity = 5000
        step.run()
        disk.capacity = 1 << 20
        if entered:
            commit(store, [puts([1], size=3000)])
            commit(store, [puts([2], size=3000)])
        step.finish()
        assert store.stats().segments == (2 if entered else 1)
        commit(store, [puts([3], size=3000)])
        commit(store, [puts([4], size=3000)])
        maintain(store)
        keys = [3, 4]
        assert store.read_many(keys) == [packet(key, 3000) for key in keys]


def test_one_step_at_a_time() -> None:
    store = started(SimulatedDisk())
    step = store.maintain()
    assert step is not None
    assert store.maintain() is None
    step.run()
    assert store.maintain() is None
    step.finish()
    assert store.maintain() is not None


def test_a_snapshot_is_taken_after_the_interval_and_the_log_read_from_there() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for key in range(12):
        commit(store, [puts([key], size=900)])
        maintain(store)
    assert store.stats().snapshots == 1
    assert files(disk, "snapshot-") == ["snapshot-00000001.idx"]
    # Nothing but the log after the snapshot is needed: what is before may be dead or moved.
    store = open_store(disk.kill())
    assert list(held(store, store.recover()).messages) == list(range(12))


def test_many_small_operations_are_a_reason_for_a_snapshot_too() -> None:
    options = Options(segment_size=1 << 20, reserve=1024, snapshot_operations=100)
    store = started(SimulatedDisk(), options)
    commit(store, [deletes(range(99))])
    maintain(store)
    assert store.stats().snapshots == 0
    commit(store, [deletes(range(1))])
    maintain(store)
    assert store.stats().snapshots == 1


def test_two_snapshots_are_kept() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for key in range(60):
        commit(store, [puts([key], size=900)])
        maintain(store)
    assert store.stats().snapshots > 3
    assert len(files(disk, "snapshot-")) == 2


def test_space_for_the_next_snapshot_is_set_aside_after_each() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for turn in range(3):
        maintain(store)
        assert "snapshot.next" in disk.names(DIRECTORY)
        written = store.stats().snapshots
        for key in range(turn * 20, turn * 20 + 20):
            commit(store, [puts([key], size=3000)])
        maintain(store)
        assert store.stats().snapshots > written


def test_commits_go_on_while_a_snapshot_is_written() -> None:
    """The pieces of a snapshot are of different times; the log makes them agree."""
    options = Options(segment_size=1 << 16, snapshot_interval=1 << 14, reserve=1024)
    disk = SimulatedDisk()
    store = started(disk, options)
    model = Model()
    batch = puts(range(5000), size=1)
    for number in range(3000):
        batch.set_row(1, b"%d" % number, b"old")
    commit(store, [batch])
    model.apply(batch)
    random = Random(1)
    steps = 0
    while store.stats().snapshots == 0:
        change = Batch()
        for _ in range(200):
            key = random.randrange(5000)
            change.update(key, b"updated in step %d" % steps)
            change.set_row(1, b"%d" % random.randrange(4000), b"new")
            change.delete_row(1, b"%d" % random.randrange(4000))
        change.delete_many(random.sample(range(5000), 50))
        change.put(10_000 + steps, b"new", b"packet")
        commit(store, [change])
        model.apply(change)
        step = store.maintain()
        if step is not None:
            step.run()
            step.finish()
        steps += 1
    assert steps > 8
    store = open_store(disk.kill(), options)
    assert held(store, store.recover()) == model


def test_filling_and_draining_again_and_again_leaves_few_files() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    most = 0
    for turn in range(30):
        keys = range(turn * 40, turn * 40 + 40)
        for key in keys:
            commit(store, [puts([key], size=300)])
            maintain(store)
        most = max(most, disk.used)
        for key in keys:
            commit(store, [deletes([key])])
            maintain(store)
    assert store.stats().messages == 0
    # 40 live messages take 5 segments; the log after the older of two snapshots stays as well.
    assert most < 24 * SMALL.segment_size
    assert disk.used < 12 * SMALL.segment_size
    assert store.stats().disk_bytes < 10 * SMALL.segment_size


def test_a_step_that_removes_files_makes_that_durable() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for key in range(20):
        commit(store, [puts([key], size=3000)])
        commit(store, [deletes([key])])
    removals = 0
    while (step := store.maintain()) is not None or store.wants_write:
        if step is None:
            commit(store, [])
            continue
        before = len(disk.log)
        step.run()
        step.finish()
        if any(line.startswith("unlink segment-") for line in disk.log[before:]):
            removals += 1
            assert disk.unsynced == []
    assert removals


def test_sparse_segments_are_compacted() -> None:
    """One message in ten stays for ever: without compaction it would hold its segment."""
    disk = SimulatedDisk()
    store = started(disk)
    model = Model()
    for turn in range(100):
        batch = puts(range(turn * 10, turn * 10 + 10), size=300)
        commit(store, [batch])
        gone = deletes(range(turn * 10 + 1, turn * 10 + 10))
        commit(store, [gone])
        model.apply(batch)
        model.apply(gone)
        maintain(store)
    stats = store.stats()
    assert stats.moved_messages > 50
    assert stats.messages == 100
    assert stats.message_bytes == 30_000
    # 100 messages of 300 bytes are 8 segments; at most twice that and a constant.
    assert stats.segments < 28
    assert store.read_many(list(model.messages)) == [p for _, p in model.messages.values()]
    store = open_store(disk.kill())
    assert held(store, store.recover()) == model


def test_messages_deleted_while_they_are_compacted_stay_deleted() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for turn in range(40):
        commit(store, [puts(range(turn * 10, turn * 10 + 10), size=300)])
        commit(store, [deletes(range(turn * 10 + 2, turn * 10 + 10))])
    moved = 0
    for _ in range(2000):
        step = store.maintain()
        if step is not None:
            step.run()
            step.finish()
        elif store.wants_write:
            keys = [key for key, _, _ in held_keys(store)]
            # The delete is begun before the move of the same message, and finished after.
            gone = deletes(keys[:1])
            first = store.begin([gone]) if moved % 2 else None
            second = store.begin([] if first else [gone])
            for write in (first, second):
                if write is not None:
                    store.write(write)
                    store.finish(write)
            moved += 1
            if not keys:
                break
        else:
            break
    expected = [key for key, _, _ in held_keys(store)]
    assert store.stats().moved_messages
    store = open_store(disk.kill())
    assert list(held(store, store.recover()).messages) == expected


def held_keys(store: FileStore) -> list[tuple[int, bytes, int]]:
    return list(store._live_messages())


def test_an_update_begun_before_a_move_is_not_undone_by_it() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for turn in range(40):
        commit(store, [puts(range(turn * 10, turn * 10 + 10), size=300)])
        commit(store, [deletes(range(turn * 10 + 1, turn * 10 + 10))])
    while not store._moves.waiting:
        step = store.maintain()
        if step is not None:
            step.run()
            step.finish()
        else:
            commit(store, [])
    change = Batch()
    for key in range(0, 400, 10):
        change.update(key, b"updated")
    first = store.begin([change])
    second = store.begin([])
    for write in (first, second):
        store.write(write)
        store.finish(write)
    maintain(store)
    store = open_store(disk.kill())
    records = {record for record, _ in held(store, store.recover()).messages.values()}
    assert records == {b"updated"}


@pytest.mark.parametrize(
    ("offset", "piece", "reason"),
    [
        (1000, b"\x01", "batch 1 is damaged"),
        (512, bytes(64), "batch 0 is damaged; sound batches follow"),
        (1024, bytes(2000), "batch 1 is damaged"),
    ],
    ids=["a byte", "the header", "sectors"],
)
def test_a_damaged_segment_is_not_compacted_but_reported(
    offset: int, piece: bytes, reason: str
) -> None:
    disk = SimulatedDisk()
    store = started(disk)
    commit(store, [puts(range(10), size=300)])
    disk.overwrite(DIRECTORY / "segment-00000001.log", offset, piece)
    for turn in range(1, 40):
        commit(store, [puts(range(turn * 10, turn * 10 + 10), size=300)])
        commit(store, [deletes(range(turn * 10 - 10 + 1, turn * 10))])
        maintain(store)
    findings = store.take_findings()
    assert len(findings) == 1
    assert findings[0].file == "segment-00000001.log"
    assert findings[0].reason.startswith(reason)
    assert store.take_findings() == []
    assert "segment-00000001.log" in disk.names(DIRECTORY)


def test_a_store_of_many_segments_keeps_few_files_open() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    for key in range(100):
        commit(store, [puts([key], size=3000)])
    for _ in range(2):
        assert store.read_many(range(100)) == [packet(key, 3000) for key in range(100)]
    assert len(store._segments._readers) == 64


def test_a_stop_while_a_snapshot_is_written_begins_another() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    maintain(store)
    commit(store, [puts(range(30), size=300)])
    while not any(line.startswith("write snapshot.next") for line in disk.log):
        step = store.maintain()
        assert step is not None
        step.run()
        step.finish()
    assert store.stats().snapshots == 0
    commit(store, [deletes([1])])
    store.close()
    assert files(disk, "snapshot") == ["snapshot-00000002.idx"]
    store = open_store(disk)
    assert len(held(store, store.recover()).messages) == 29


def test_a_closed_store_has_no_file_open() -> None:
    disk = SimulatedDisk()
    for turn in range(3):
        store = started(disk)
        for key in range(turn * 20, turn * 20 + 20):
            commit(store, [puts([key], size=900)])
            maintain(store)
        commit(store, [deletes(range(turn * 20 + 1, turn * 20 + 20))])
        maintain(store)
        assert store.read_many([turn * 20]) == [packet(turn * 20, 900)]
        assert disk.opened
        store.close()
        assert disk.opened == set()


def test_a_clean_stop_leaves_nothing_to_read_but_the_snapshot() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    commit(store, [puts([1, 2])])
    store.close()
    assert files(disk, "snapshot-") == ["snapshot-00000001.idx"]
    before = disk.events
    store = open_store(disk)
    store.recover()
    # Nothing to repair and nothing to write again.
    assert not any(line.startswith("write seg") for line in disk.log[before:])
    assert not store.wants_write
    store.close()
    assert files(disk, "snapshot-") == ["snapshot-00000001.idx"]


def test_a_stop_in_the_middle_of_maintenance_is_clean() -> None:
    disk = SimulatedDisk()
    store = started(disk)
    model = Model()
    for turn in range(25):
        batch = puts(range(turn * 4, turn * 4 + 4), size=300)
        batch.delete_many(range(turn * 4 - 4, turn * 4 - 1) if turn else ())
        commit(store, [batch])
        model.apply(batch)
        for _ in range(turn % 5):
            step = store.maintain()
            if step is not None:
                step.run()
                step.finish()
        if turn % 3 == 0:
            store.close()
            store = started(disk)
    store.close()
    store = open_store(disk)
    recovery = store.recover()
    assert recovery.repaired == ()
    assert held(store, recovery) == model


@pytest.mark.parametrize(
    ("segment_size", "reserve", "text"),
    [
        (1000, 0, "a segment size of 1000"),
        (1 << 32, 0, "a segment size of 4294967296"),
        (4096, 4096, "a reserve of 4096"),
        (4096, -1, "a reserve of -1"),
    ],
)
def test_options_are_checked(segment_size: int, reserve: int, text: str) -> None:
    with pytest.raises(StoreError, match=text):
        Options(segment_size=segment_size, reserve=reserve)
