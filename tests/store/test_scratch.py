"""Scratch files: reused, removed when empty, discarded at start."""

import errno
from pathlib import Path

import pytest
from tests.store.model import packet
from tests.store.simulated_disk import SimulatedDisk, SimulatedFile

from openmsmq.store.scratch import FileScratch, remove_scratch
from openmsmq.wire.errors import StoreError

DIRECTORY = Path("/scratch")


def test_a_file_is_removed_when_all_of_it_is_freed() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=1000)
    handles = scratch.put_many([packet(key) for key in range(35)])
    assert len(disk.names(DIRECTORY)) == 4
    assert scratch.disk_bytes == 3500
    for handle in handles[:10]:
        scratch.free(handle)
    assert len(disk.names(DIRECTORY)) == 3
    assert scratch.get_many(handles[10:]) == [packet(key) for key in range(10, 35)]


def test_the_current_file_is_used_again_from_the_start_when_empty() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=1000)
    for key in range(100):
        (handle,) = scratch.put_many([packet(key)])
        assert scratch.get_many([handle]) == [packet(key)]
        scratch.free(handle)
    assert scratch.disk_bytes == 0
    assert len(disk.contents(DIRECTORY / "scratch-1")) == 100


def test_neighbours_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=1000)
    handles = scratch.put_many([packet(key) for key in range(25)])
    reads: list[tuple[int, int]] = []
    read = SimulatedFile.read

    def noted(file: SimulatedFile, offset: int, size: int) -> bytes:
        reads.append((offset, size))
        return read(file, offset, size)

    monkeypatch.setattr(SimulatedFile, "read", noted)
    keys = [7, 6, 5, 9, 12, 11, 24, 0]
    wanted = [packet(key) for key in keys]
    assert scratch.get_many([handles[key] for key in keys]) == wanted
    assert reads == [(0, 100), (500, 300), (900, 100), (100, 200), (400, 100)]
    monkeypatch.setattr("openmsmq.store.scratch._READ_SIZE", 200)
    reads.clear()
    assert scratch.get_many(handles[:5]) == [packet(key) for key in range(5)]
    assert reads == [(0, 200), (200, 200), (400, 100)]
    assert scratch.get_many([]) == []


def test_a_full_file_goes_when_it_is_empty_and_the_next_has_begun() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=100)
    first, second = scratch.put_many([packet(1), packet(2)])
    scratch.free(first)
    assert disk.names(DIRECTORY) == ["scratch-2"]
    assert scratch.get_many([second]) == [packet(2)]


def test_closing_removes_the_files() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY)
    scratch.put_many([b"x"])
    scratch.close()
    assert disk.names(DIRECTORY) == []


def test_what_an_earlier_process_left_is_discarded() -> None:
    disk = SimulatedDisk()
    FileScratch(disk, DIRECTORY).put_many([b"x"])
    disk.create(DIRECTORY / "other")
    remove_scratch(disk, DIRECTORY)
    assert disk.names(DIRECTORY) == ["other"]


def test_nothing_is_flushed() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=10)
    for key in range(5):
        scratch.put_many([packet(key)])
    assert not any(line.startswith(("flush", "sync")) for line in disk.log)


def test_no_space_is_a_store_error_and_keeps_nothing() -> None:
    disk = SimulatedDisk(capacity=250)
    scratch = FileScratch(disk, DIRECTORY)
    handles = scratch.put_many([packet(1), packet(2)])
    with pytest.raises(StoreError, match="scratch file: No space left") as caught:
        scratch.put_many([packet(3)])
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert scratch.get_many(handles) == [packet(1), packet(2)]
    scratch.free(handles[0])
    scratch.free(handles[1])
    assert scratch.get_many(scratch.put_many([packet(3)])) == [packet(3)]


def test_packets_that_do_not_all_fit_on_the_disk_leave_nothing_there() -> None:
    disk = SimulatedDisk(capacity=650)
    scratch = FileScratch(disk, DIRECTORY, chunk_size=200)
    first = scratch.put_many([packet(1)])
    with pytest.raises(StoreError, match="No space left"):
        scratch.put_many([packet(key) for key in range(2, 9)])
    assert scratch.get_many(first) == [packet(1)]
    assert scratch.disk_bytes <= 200
    handles = scratch.put_many([packet(key) for key in range(2, 6)])
    assert scratch.get_many(handles) == [packet(key) for key in range(2, 6)]


def test_packets_that_come_together_are_one_write_for_each_file() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=1000)
    handles = scratch.put_many([packet(key) for key in range(25)])
    assert len([line for line in disk.log if line.startswith("write")]) == 3
    assert scratch.get_many(handles) == [packet(key) for key in range(25)]


def test_a_truncated_scratch_file_is_noticed() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY)
    (handle,) = scratch.put_many([packet(1)])
    disk.cut(DIRECTORY / "scratch-1", 50)
    with pytest.raises(StoreError, match="scratch-1 at offset 0: the file is truncated"):
        scratch.get_many([handle])


def test_a_scratch_file_that_cannot_be_read_is_a_store_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scratch = FileScratch(SimulatedDisk(), DIRECTORY)
    (handle,) = scratch.put_many([packet(1)])

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(SimulatedFile, "read", fail)
    with pytest.raises(StoreError, match="scratch-1: broken"):
        scratch.get_many([handle])
