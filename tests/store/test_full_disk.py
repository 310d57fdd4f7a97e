"""A full disk refuses new messages, serves what is there, and recovers when space returns."""

import errno

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
    puts,
)
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.file_store import FileStore
from openmsmq.store.options import Options
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError

CAPACITY = 40_000


def fill(store: FileStore, model: Model) -> int:
    """Put messages while there is room; the next key."""
    key = len(model.messages)
    while store.room(puts([key], size=300).size):
        batch = puts([key], size=300)
        commit(store, [batch])
        model.apply(batch)
        maintain(store)
        key += 1
        assert key < 10_000
    return key


def test_new_messages_are_refused_before_a_write_would_fail() -> None:
    disk = SimulatedDisk(capacity=CAPACITY)
    store = open_store(disk)
    store.recover()
    model = Model()
    count = fill(store, model)
    assert count > 50
    assert not store.room(400)
    assert store.room(400, urgent=True)
    assert store.read_many([0, count - 1])


def test_deletes_and_rows_are_taken_on_a_full_disk_and_make_room() -> None:
    disk = SimulatedDisk(capacity=CAPACITY)
    store = open_store(disk)
    store.recover()
    model = Model()
    count = fill(store, model)
    for key in range(count):
        batch = deletes([key])
        batch.set_row(1, b"counter", b"%d" % key)
        assert store.room(batch.size, urgent=True)
        commit(store, [batch])
        model.apply(batch)
        maintain(store)
    assert store.room(1000)
    assert disk.used < CAPACITY // 2
    again = fill(store, model)
    assert again > count // 2
    disk = disk.kill()
    store = open_store(disk)
    assert held(store, store.recover()) == model


def test_room_returns_when_somebody_else_frees_space() -> None:
    disk = SimulatedDisk(capacity=CAPACITY)
    store = open_store(disk)
    store.recover()
    model = Model()
    fill(store, model)
    disk.capacity *= 2
    maintain(store)
    assert store.room(300)
    assert fill(store, model) > 100


def test_urgent_work_is_refused_too_when_the_reserve_is_used_up() -> None:
    disk = SimulatedDisk(capacity=CAPACITY)
    store = open_store(disk)
    store.recover()
    fill(store, Model())
    row = Batch()
    row.set_row(1, b"key", bytes(100))
    for _ in range(1000):
        if not store.room(row.size, urgent=True):
            break
        commit(store, [row])
    assert not store.room(row.size, urgent=True)
    assert not store.stats().room
    with pytest.raises(StoreError, match="No space left"):
        commit(store, [row, puts([9999], size=2000)])


def test_a_batch_larger_than_everything_prepared_needs_free_space() -> None:
    disk = SimulatedDisk(capacity=CAPACITY)
    store = open_store(disk)
    store.recover()
    maintain(store)
    assert store.room(10_000)
    assert not store.room(30_000)
    commit(store, [puts([1], size=10_000)])


def test_a_full_disk_at_the_stop_does_no_harm() -> None:
    disk = SimulatedDisk(capacity=CAPACITY)
    store = open_store(disk)
    store.recover()
    model = Model()
    batch = puts(range(10), size=100)
    for number in range(20):
        batch.set_row(1, b"%d" % number, bytes(100))
    commit(store, [batch])
    model.apply(batch)
    disk.capacity = disk.used
    store.close()
    assert [f.reason for f in store.take_findings()] == [
        "no snapshot at stop: No space left on device"
    ]
    assert not [name for name in disk.names(DIRECTORY) if name.startswith("snapshot")]
    disk.capacity = CAPACITY
    store = open_store(disk)
    recovery = store.recover()
    assert held(store, recovery) == model
    assert recovery.repaired == ()


def test_a_snapshot_that_finds_no_space_is_given_up_and_tried_again() -> None:
    options = Options(segment_size=1 << 16, snapshot_interval=1 << 14, reserve=1024)
    disk = SimulatedDisk()
    store = open_store(disk, options)
    store.recover()
    maintain(store)
    # Rows are larger than the estimate that space was reserved for.
    batch = Batch()
    for number in range(20):
        batch.set_row(1, b"%d" % number, bytes(2000))
    commit(store, [batch])
    disk.capacity = disk.used + 100
    maintain(store)
    assert store.stats().snapshots == 0
    assert "snapshot.next" not in {path.name for path in disk.names_seen}
    disk.capacity = 1 << 30
    maintain(store)
    assert store.stats().snapshots == 1


def test_a_failing_disk_stops_the_store() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    commit(store, [puts([1])])
    for failing in (1, 2):
        disk = SimulatedDisk()
        store = open_store(disk)
        store.recover()
        commit(store, [puts([1])])
        disk.fail_at = disk.events + failing
        write = store.begin([puts([2])])
        after = store.begin([puts([3])])
        with pytest.raises(StoreError, match=r"segment-00000001\.log at offset .*: Input/output"):
            store.write(write)
        with pytest.raises(StoreError, match=r"stopped after a failure: segment-00000001\.log"):
            store.write(after)
        with pytest.raises(StoreError, match="stopped after a failure"):
            store.begin([puts([4])])
        with pytest.raises(StoreError, match="stopped after a failure"):
            store.maintain()
        with pytest.raises(StoreError, match="finished before it is written"):
            store.finish(write)
        store.close()
        again = open_store(disk)
        keys = list(held(again, again.recover()).messages)
        assert keys in ([1], [1, 2])


def test_a_failing_disk_in_maintenance_stops_the_store() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    step = store.maintain()
    assert step is not None
    disk.fail_at = disk.events + 2
    with pytest.raises(StoreError, match="Input/output error"):
        step.run()


def test_a_failing_disk_at_start_is_a_store_error() -> None:
    disk = SimulatedDisk()
    disk.fail_at = 4
    store = open_store(disk, SMALL)
    with pytest.raises(StoreError, match=r"Input/output error"):
        store.recover()


@pytest.mark.interpreted
def test_a_segment_that_cannot_be_made_leaves_no_file() -> None:
    disk = SimulatedDisk(capacity=4096 + 2000)
    store = open_store(disk)
    store.recover()
    maintain(store)
    commit(store, [puts([1], size=3000)])
    with pytest.raises(StoreError) as caught:
        commit(store, [puts([2], size=3000)])
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert not any(path.name.endswith(".new") for path in disk.names_seen)
