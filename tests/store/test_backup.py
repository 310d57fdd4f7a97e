"""Backup of a store in use, and what a restored copy knows about itself."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.store.model import (
    DIRECTORY,
    SMALL,
    STORE_ID,
    Model,
    commit,
    deletes,
    held,
    maintain,
    open_store,
    puts,
)
from tests.store.simulated_disk import PowerCut, SimulatedDisk

from openmsmq.store.backup import restore_backup
from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Backup
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError

TARGET = Path("/backups/store.backup")
RESTORED = Path("/restored")


def open_restored(disk: SimulatedDisk) -> FileStore:
    return FileStore(RESTORED, new_store_id=STORE_ID, options=SMALL, files=disk)


def changes(turns: int) -> Iterator[Batch]:
    for turn in range(turns):
        batch = puts(range(turn * 10, turn * 10 + 10), size=300)
        batch.delete_many(range(turn * 10 - 10, turn * 10 - 1) if turn else ())
        batch.set_row(1, b"turn", b"%d" % turn)
        yield batch


def filled(disk: SimulatedDisk, turns: int) -> tuple[FileStore, Model]:
    store = open_store(disk)
    store.recover()
    model = Model()
    for batch in changes(turns):
        commit(store, [batch])
        model.apply(batch)
        maintain(store)
    return store, model


def finish_backup(store: FileStore, backup: Backup) -> None:
    maintain(store)
    assert backup.done
    assert backup.failure is None


@pytest.mark.parametrize("turns", [0, 1, 3, 30])
def test_a_restored_backup_holds_what_was_durable_when_it_began(turns: int) -> None:
    disk = SimulatedDisk()
    store, model = filled(disk, turns)
    before = model.copy()
    backup = store.backup(TARGET)
    # The store goes on: fills, drains, compacts and removes segments while it is copied.
    for turn in range(40):
        step = store.maintain()
        if step is not None:
            step.run()
            step.finish()
        batch = puts(range(5000 + turn * 5, 5005 + turn * 5), size=300)
        batch.delete_many(list(model.messages)[:7])
        commit(store, [batch])
        model.apply(batch)
    finish_backup(store, backup)
    store.close()
    restore_backup(disk, TARGET, RESTORED)
    restored = open_restored(disk)
    recovery = restored.recover()
    found = held(restored, recovery)
    assert recovery.repaired == ()
    found.rows.pop((255, b"restored"))
    assert found == before


def test_a_restored_store_says_so_until_a_batch_clears_it() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 3)
    finish_backup(store, store.backup(TARGET))
    restore_backup(disk, TARGET, RESTORED)
    for _ in range(3):
        restored = open_restored(disk)
        assert restored.recover().restored
        restored.close()
    restored = open_restored(disk)
    assert restored.recover().restored
    batch = Batch()
    batch.set_row(1, b"sequence", b"new")
    batch.clear_restored()
    commit(restored, [batch])
    restored.close()
    restored = open_restored(disk)
    recovery = restored.recover()
    assert not recovery.restored
    assert (1, b"sequence", b"new") in recovery.rows


def test_a_power_cut_at_every_event_of_a_restore_is_noticed_or_harmless() -> None:
    source = SimulatedDisk()
    store, model = filled(source, 4)
    finish_backup(store, store.backup(TARGET))
    for cut_at in range(1, 200):
        disk = source.restart(Random(0), keep=1.0)
        disk.cut_at = cut_at
        try:
            restore_backup(disk, TARGET, RESTORED)
            open_restored(disk).recover()
        except PowerCut:
            disk = disk.restart(Random(cut_at))
        else:
            break
        if "restoring" in disk.names(RESTORED):
            restored = open_restored(disk)
            with pytest.raises(StoreError, match="a restore was interrupted"):
                restored.recover()
            restored.close()
            restore_backup(disk, TARGET, RESTORED)
        begun = bool(disk.names(RESTORED))
        restored = open_restored(disk)
        recovery = restored.recover()
        found = held(restored, recovery)
        if begun:
            assert recovery.restored
            del found.rows[255, b"restored"]
            assert found == model
    else:
        raise AssertionError("the restore never got through")


def test_progress_of_backup_and_restore_ends_at_the_total() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 10)
    seen: list[tuple[int, int]] = []
    finish_backup(store, store.backup(TARGET, lambda done, total: seen.append((done, total))))
    assert seen[-1][0] == seen[-1][1] > 0
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    seen.clear()
    restore_backup(disk, TARGET, RESTORED, lambda done, total: seen.append((done, total)))
    assert len(seen) > 5


def test_a_damaged_backup_is_refused_with_the_offset() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 3)
    finish_backup(store, store.backup(TARGET))
    size = len(disk.contents(TARGET))
    for byte in [*range(40), *range(40, size, 97), *range(size - 20, size)]:
        damaged = disk.restart(Random(0), keep=1.0)
        damaged.flip(TARGET, byte * 8 + byte % 8)
        with pytest.raises(StoreError, match=r"store\.backup at offset "):
            restore_backup(damaged, TARGET, RESTORED)
        assert damaged.opened == set()
        with pytest.raises(StoreError, match="a restore was interrupted here"):
            open_restored(damaged).recover()


def test_a_truncated_backup_is_refused() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 3)
    finish_backup(store, store.backup(TARGET))
    size = len(disk.contents(TARGET))
    for length in [0, 8, 511, 512, 530, size // 2, size - 1, size + 1]:
        damaged = disk.restart(Random(0), keep=1.0)
        damaged.cut(TARGET, length)
        with pytest.raises(StoreError, match=r"store\.backup at offset "):
            restore_backup(damaged, TARGET, RESTORED)


def test_a_restore_goes_into_an_empty_directory_only() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 1)
    finish_backup(store, store.backup(TARGET))
    with pytest.raises(StoreError, match="not empty"):
        restore_backup(disk, TARGET, DIRECTORY)
    with pytest.raises(StoreError, match="No such file"):
        restore_backup(disk, Path("/backups/other"), RESTORED)


def test_one_backup_at_a_time() -> None:
    store, _ = filled(SimulatedDisk(), 1)
    store.backup(TARGET)
    with pytest.raises(StoreError, match="a backup is under way"):
        store.backup(TARGET)


def test_an_abandoned_backup_leaves_nothing() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 10)
    backup = store.backup(TARGET)
    step = store.maintain()
    assert step is not None
    step.run()
    backup.abandon()
    step.finish()
    maintain(store)
    assert not backup.done
    assert str(backup.failure) == "/backups/store.backup: the backup was given up"
    assert disk.names(TARGET.parent) == []
    finish_backup(store, store.backup(TARGET))


def test_a_stop_abandons_the_backup() -> None:
    disk = SimulatedDisk()
    store, model = filled(disk, 10)
    backup = store.backup(TARGET)
    step = store.maintain()
    assert step is not None
    step.run()
    step.finish()
    store.close()
    assert not backup.done
    assert disk.names(TARGET.parent) == []
    store = open_store(disk)
    assert held(store, store.recover()) == model


def test_a_full_or_failing_target_fails_the_backup_and_not_the_store() -> None:
    for failing in (False, True):
        disk = SimulatedDisk()
        store, _ = filled(disk, 10)
        backup = store.backup(TARGET)
        step = store.maintain()
        assert step is not None
        step.run()
        step.finish()
        if failing:
            disk.fail_at = disk.events + 1
        else:
            disk.capacity = disk.used
        maintain(store)
        assert not backup.done
        assert backup.failure is not None
        assert ("Input/output" if failing else "No space left") in str(backup.failure)
        assert disk.names(TARGET.parent) == []
        commit(store, [deletes([1])])


def test_a_truncated_segment_fails_the_backup() -> None:
    disk = SimulatedDisk()
    store, _ = filled(disk, 1)
    backup = store.backup(TARGET)
    disk.cut(DIRECTORY / "segment-00000001.log", 1000)
    maintain(store)
    assert backup.failure is not None
    assert "segment-00000001.log at offset 1000: the file is truncated" in str(backup.failure)


def test_a_memory_store_has_no_backup() -> None:
    with pytest.raises(StoreError, match="keeps nothing on disk"):
        MemoryStore().backup(TARGET)


def test_a_backup_with_a_strange_member_is_refused() -> None:
    """A name is not a path: nothing is written outside the directory."""
    disk = SimulatedDisk()
    store, _ = filled(disk, 1)
    finish_backup(store, store.backup(TARGET))
    contents = bytes(disk.contents(TARGET))
    assert b"segment-00000001.log" in contents
    from openmsmq.store.backup import _MEMBER, _record

    name = b"../../escape"
    evil = contents[:512] + b"".join(_record(_MEMBER, 10, name))
    disk.cut(TARGET, 0)
    disk.overwrite(TARGET, 0, evil)
    with pytest.raises(StoreError, match=r"'\.\./\.\./escape' is not a file of a store"):
        restore_backup(disk, TARGET, RESTORED)
