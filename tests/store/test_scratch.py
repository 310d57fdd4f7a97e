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
    handles = [scratch.put(packet(key)) for key in range(35)]
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
        handle = scratch.put(packet(key))
        assert scratch.get_many([handle]) == [packet(key)]
        scratch.free(handle)
    assert scratch.disk_bytes == 0
    assert len(disk.contents(DIRECTORY / "scratch-1")) == 100


def test_a_full_file_goes_when_it_is_empty_and_the_next_has_begun() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=100)
    first = scratch.put(packet(1))
    second = scratch.put(packet(2))
    scratch.free(first)
    assert disk.names(DIRECTORY) == ["scratch-2"]
    assert scratch.get_many([second]) == [packet(2)]


def test_closing_removes_the_files() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY)
    scratch.put(b"x")
    scratch.close()
    assert disk.names(DIRECTORY) == []


def test_what_an_earlier_process_left_is_discarded() -> None:
    disk = SimulatedDisk()
    FileScratch(disk, DIRECTORY).put(b"x")
    disk.create(DIRECTORY / "other")
    remove_scratch(disk, DIRECTORY)
    assert disk.names(DIRECTORY) == ["other"]


def test_nothing_is_flushed() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY, chunk_size=10)
    for key in range(5):
        scratch.put(packet(key))
    assert not any(line.startswith(("flush", "sync")) for line in disk.log)


def test_no_space_is_a_store_error_and_keeps_nothing() -> None:
    disk = SimulatedDisk(capacity=250)
    scratch = FileScratch(disk, DIRECTORY)
    handles = [scratch.put(packet(1)), scratch.put(packet(2))]
    with pytest.raises(StoreError, match="scratch file: No space left") as caught:
        scratch.put(packet(3))
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert scratch.get_many(handles) == [packet(1), packet(2)]
    scratch.free(handles[0])
    scratch.free(handles[1])
    assert scratch.get_many([scratch.put(packet(3))]) == [packet(3)]


def test_a_truncated_scratch_file_is_noticed() -> None:
    disk = SimulatedDisk()
    scratch = FileScratch(disk, DIRECTORY)
    handle = scratch.put(packet(1))
    disk.cut(DIRECTORY / "scratch-1", 50)
    with pytest.raises(StoreError, match="scratch-1 at offset 0: the file is truncated"):
        scratch.get_many([handle])


def test_a_scratch_file_that_cannot_be_read_is_a_store_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scratch = FileScratch(SimulatedDisk(), DIRECTORY)
    handle = scratch.put(packet(1))

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(SimulatedFile, "read", fail)
    with pytest.raises(StoreError, match="scratch-1: broken"):
        scratch.get_many([handle])
