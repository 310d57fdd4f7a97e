"""What every store does, whatever it keeps its data in."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.model import SMALL, Model, commit, deletes, held, maintain, packet, puts
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Store
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.batch import MAX_RECORD_SIZE, Batch
from openmsmq.wire.errors import StoreError

Reopen = Callable[[], Store]


@pytest.fixture(params=["memory", "file", "simulated"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    """Opens the same store again and again; the caller recovers it."""
    memory = MemoryStore()
    disk = SimulatedDisk()

    def open_again() -> Store:
        if request.param == "memory":
            return memory
        files = disk if request.param == "simulated" else None
        return FileStore(tmp_path, new_store_id=bytes(16), options=SMALL, files=files)

    return open_again


@pytest.fixture
def store(reopen: Reopen) -> Store:
    store = reopen()
    recovery = store.recover()
    assert list(recovery.messages) == []
    assert list(recovery.rows) == []
    assert recovery.repaired == ()
    assert not recovery.restored
    return store


def after_restart(store: Store, reopen: Reopen) -> Model:
    store.close()
    again = reopen()
    model = held(again, again.recover())
    again.close()
    return model


def test_a_put_message_can_be_read_after_finish(store: Store) -> None:
    commit(store, [puts([1, 2, 3])])
    assert store.read_many([2, 3, 1]) == [packet(2), packet(3), packet(1)]
    assert store.read_many([]) == []
    assert store.stats().messages == 3
    assert store.stats().message_bytes == 300


def test_everything_finished_is_there_after_a_restart(store: Store, reopen: Reopen) -> None:
    batch = puts([5, 7])
    batch.set_row(1, b"key", b"value")
    batch.set_row(2, b"key", b"")
    commit(store, [batch])
    assert after_restart(store, reopen) == Model(
        {5: (b"record5", packet(5)), 7: (b"record7", packet(7))},
        {(1, b"key"): b"value", (2, b"key"): b""},
    )


def test_recovery_yields_messages_in_key_order(store: Store, reopen: Reopen) -> None:
    commit(store, [puts([30, 10])])
    commit(store, [puts([20])])
    assert list(after_restart(store, reopen).messages) == [10, 20, 30]


def test_what_is_begun_shows_only_when_it_is_finished(store: Store) -> None:
    write = store.begin([puts([1])])
    store.write(write)
    with pytest.raises(StoreError, match="message 1 is not in the store"):
        store.read_many([1])
    store.finish(write)
    assert store.read_many([1]) == [packet(1)]


def test_several_batches_are_committed_together_in_order(store: Store, reopen: Reopen) -> None:
    first, second, third = puts([1, 2]), Batch(), Batch()
    first.set_row(1, b"counter", b"1")
    second.update(1, b"changed")
    second.set_row(1, b"counter", b"2")
    third.delete(2)
    third.update(1, b"changed again")
    commit(store, [first, second, third])
    expected = Model({1: (b"changed again", packet(1))}, {(1, b"counter"): b"2"})
    assert after_restart(store, reopen) == expected


def test_an_update_changes_the_record_and_keeps_the_packet(store: Store, reopen: Reopen) -> None:
    commit(store, [puts([1, 2])])
    batch = Batch()
    batch.update(1, b"a much longer record than before")
    batch.update(2, b"")
    commit(store, [batch])
    assert after_restart(store, reopen).messages == {
        1: (b"a much longer record than before", packet(1)),
        2: (b"", packet(2)),
    }


def test_deleted_messages_and_rows_are_gone(store: Store, reopen: Reopen) -> None:
    batch = puts([1, 2])
    batch.set_row(1, b"a", b"x")
    batch.set_row(1, b"b", b"y")
    commit(store, [batch])
    batch = deletes([1])
    batch.delete_row(1, b"a")
    commit(store, [batch])
    with pytest.raises(StoreError, match="message 1 is not in the store"):
        store.read_many([1])
    assert store.stats().messages == 1
    assert store.stats().message_bytes == 100
    assert after_restart(store, reopen) == Model({2: (b"record2", packet(2))}, {(1, b"b"): b"y"})


def test_operations_on_what_is_not_live_are_ignored(store: Store, reopen: Reopen) -> None:
    batch = deletes([9])
    batch.update(8, b"nobody")
    batch.delete_row(1, b"nothing")
    commit(store, [batch])
    assert store.stats().message_bytes == 0
    assert after_restart(store, reopen) == Model()


def test_a_message_put_and_deleted_in_one_commit_is_never_seen(
    store: Store, reopen: Reopen
) -> None:
    commit(store, [puts([1]), deletes([1])])
    assert store.stats().messages == 0
    assert after_restart(store, reopen) == Model()


def test_empty_packets_and_records_are_kept(store: Store, reopen: Reopen) -> None:
    batch = Batch()
    batch.put(1, b"", b"")
    batch.put(2, b"r", b"")
    batch.put((1 << 64) - 1, b"", b"p")
    commit(store, [batch])
    assert after_restart(store, reopen).messages == {
        1: (b"", b""),
        2: (b"r", b""),
        (1 << 64) - 1: (b"", b"p"),
    }


def test_records_up_to_the_limit_and_packets_larger_than_a_segment(
    store: Store, reopen: Reopen
) -> None:
    batch = Batch()
    batch.put(1, bytes(MAX_RECORD_SIZE), packet(1, 3 * SMALL.segment_size))
    commit(store, [batch])
    commit(store, [puts([2])])
    maintain(store)
    assert after_restart(store, reopen).messages == {
        1: (bytes(MAX_RECORD_SIZE), packet(1, 3 * SMALL.segment_size)),
        2: (b"record2", packet(2)),
    }


def test_a_commit_of_nothing_is_nothing(store: Store, reopen: Reopen) -> None:
    write = store.begin([Batch()])
    assert write.size == 0
    store.write(write)
    store.finish(write)
    commit(store, [])
    assert after_restart(store, reopen) == Model()


def test_commits_may_be_begun_ahead(store: Store, reopen: Reopen) -> None:
    writes = [store.begin([puts([key])]) for key in range(100)]
    for write in writes:
        store.write(write)
        store.finish(write)
    assert list(after_restart(store, reopen).messages) == list(range(100))


def test_scratch_keeps_packets_until_they_are_freed(store: Store) -> None:
    handles = store.scratch.put_many([packet(key) for key in range(10)])
    assert len(set(handles)) == 10
    assert store.scratch.get_many(handles[::-1]) == [packet(key) for key in range(9, -1, -1)]
    store.scratch.free(handles[0])
    assert store.scratch.get_many(handles[1:]) == [packet(key) for key in range(1, 10)]


def test_recovery_reports_progress_up_to_the_end(store: Store, reopen: Reopen) -> None:
    for key in range(50):
        commit(store, [puts([key], size=500)])
        maintain(store)
    store.close()
    seen: list[tuple[int, int]] = []
    again = reopen()
    again.recover(lambda done, total: seen.append((done, total)))
    done = [one for one, _ in seen]
    assert done == sorted(done)
    assert seen[-1][0] == seen[-1][1] > 0


def test_there_is_room_in_an_empty_store(store: Store) -> None:
    assert store.room()
    assert store.room(1000)
    assert store.room(1000, urgent=True)
    assert store.stats().room
    assert store.take_findings() == []
