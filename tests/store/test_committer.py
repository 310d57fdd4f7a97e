"""Group commit: order, refusals, and what it leaves behind when it refuses."""

import struct

import pytest
from tests.store.model import commit, deletes, held, open_store, puts
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.log_format import MAX_FRAME_SIZE
from openmsmq.wire.batch import MAX_RECORD_SIZE, Batch
from openmsmq.wire.errors import StoreError


def test_a_group_is_one_write_and_one_flush() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    before = len(disk.log)
    commit(store, [puts([1]), puts([2, 3]), deletes([1])])
    assert [line.split()[0] for line in disk.log[before:]] == ["write", "flush"]


def test_a_group_that_cancels_out_writes_nothing() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    before = disk.events
    write = store.begin([puts([1]), deletes([1])])
    assert write.size == 0
    store.write(write)
    store.finish(write)
    assert disk.events == before


def test_writes_out_of_order_are_refused() -> None:
    store = open_store(SimulatedDisk())
    store.recover()
    first = store.begin([puts([1])])
    second = store.begin([puts([2])])
    with pytest.raises(StoreError, match="batch 2 is written before batch 1"):
        store.write(second)
    store.write(first)
    store.write(second)
    with pytest.raises(StoreError, match="batch 2 is finished before it is written"):
        store.finish(second)
    store.finish(first)
    store.finish(second)


@pytest.mark.parametrize("kind", ["put", "update"])
def test_a_record_over_the_limit_is_refused_and_leaves_no_gap(kind: str) -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    commit(store, [puts([1])])
    batch = Batch()
    if kind == "put":
        batch.put(2, bytes(MAX_RECORD_SIZE + 1), b"")
    else:
        batch.update(1, bytes(MAX_RECORD_SIZE + 1))
    with pytest.raises(StoreError, match="a record of 65537 bytes; at most 65536 are allowed"):
        store.begin([batch])
    commit(store, [puts([3])])
    again = open_store(disk.kill())
    assert list(held(again, again.recover()).messages) == [1, 3]


@pytest.mark.parametrize("key", [-1, 1 << 64])
def test_a_key_that_does_not_fit_leaves_no_gap(key: int) -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    with pytest.raises(struct.error):
        store.begin([deletes([key])])
    commit(store, [puts([1])])
    again = open_store(disk.kill())
    assert list(held(again, again.recover()).messages) == [1]


def test_a_batch_over_the_limit_is_refused() -> None:
    store = open_store(SimulatedDisk())
    store.recover()
    batch = Batch()
    packet = bytes(1 << 20)
    count = (MAX_FRAME_SIZE >> 20) + 1
    batch.put_many(range(count), [b""] * count, [packet] * count)
    with pytest.raises(StoreError, match="at most 4294966720 fit"):
        store.begin([batch])


def test_figures_grow_with_the_work() -> None:
    store = open_store(SimulatedDisk())
    store.recover()
    commit(store, [puts([1, 2])])
    commit(store, [])
    stats = store.stats()
    assert stats.sequence == 2
    assert stats.flushes == 2
    assert stats.segments == 1
    assert stats.disk_bytes == 4096
