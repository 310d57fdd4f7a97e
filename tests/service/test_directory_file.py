"""The file of a local-file directory on disk."""

import fcntl
import os
import threading
from pathlib import Path
from uuid import UUID

import pytest

from openmsmq.directory.interface import DirectoryOperationResult
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import ElementType, Enterprise, Site
from openmsmq.service.directory_file import DirectoryFileOnDisk, create_directory_file

RESULT = DirectoryOperationResult
ENTERPRISE = UUID(int=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "directory.json"
    assert create_directory_file(path, enterprise="corp", identifier=ENTERPRISE)
    return path


def open_directory(path: Path) -> LocalDirectory:
    return LocalDirectory(DirectoryFileOnDisk(path))


def test_a_new_file_holds_the_enterprise(path: Path) -> None:
    found = open_directory(path).read(ElementType.ENTERPRISE).directory_object
    assert isinstance(found, Enterprise)
    assert (found.identifier, found.name) == (ENTERPRISE, "corp")
    assert found.non_ldap_capable_queue_manager_notification is False


def test_a_file_that_exists_is_left_alone(path: Path) -> None:
    before = path.read_bytes()
    assert not create_directory_file(path, enterprise="other", identifier=UUID(int=2))
    assert path.read_bytes() == before


@pytest.mark.spec("MQDMPR-3.1.1-02")
def test_a_change_is_there_for_the_next_process(path: Path) -> None:
    assert open_directory(path).create(Site(UUID(int=3), "north"), utc=0).status is RESULT.SUCCESS
    found = open_directory(path).read(ElementType.SITE).directory_object
    assert isinstance(found, Site)
    assert found.name == "north"


def test_a_running_process_sees_changes_of_others(path: Path) -> None:
    first, second = open_directory(path), open_directory(path)
    assert first.read(ElementType.SITE).status is RESULT.OBJECT_NOT_FOUND
    second.create(Site(UUID(int=3), "north"), utc=0)
    assert first.read(ElementType.SITE).status is RESULT.SUCCESS


def test_unchanged_content_is_given_once(path: Path) -> None:
    file = DirectoryFileOnDisk(path)
    content = file.read()
    assert content is not None
    assert file.read() is None
    with file.lock():
        file.replace(content + b" ")
    assert file.read() is None
    path.write_bytes(content)
    assert file.read() == content


def test_a_missing_file_is_an_offline_directory_and_comes_back(path: Path) -> None:
    directory = open_directory(path)
    assert directory.read(ElementType.ENTERPRISE).status is RESULT.SUCCESS
    aside = path.rename(path.with_suffix(".aside"))
    assert directory.read(ElementType.ENTERPRISE).status is RESULT.DIRECTORY_NOT_CONNECTED
    aside.rename(path)
    assert directory.read(ElementType.ENTERPRISE).status is RESULT.SUCCESS


def test_a_folder_that_is_not_there_refuses_changes(tmp_path: Path) -> None:
    directory = open_directory(tmp_path / "none" / "directory.json")
    status = directory.create(Site(UUID(int=3), "north"), utc=0).status
    assert status is RESULT.DIRECTORY_NOT_CONNECTED


def test_a_file_that_is_too_large_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openmsmq.service.directory_file.MAX_FILE_BYTES", 10)
    with pytest.raises(OSError, match="larger than 10 bytes"):
        DirectoryFileOnDisk(path).read()


def test_a_lock_that_another_process_holds_is_waited_for_only_so_long(path: Path) -> None:
    directory = LocalDirectory(DirectoryFileOnDisk(path, lock_wait_seconds=0.05))
    other = os.open(f"{path}.lock", os.O_RDWR)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        created = directory.create(Site(UUID(int=3), "north"), utc=0)
        assert created.status is RESULT.DIRECTORY_NOT_CONNECTED
        assert "locked by another process" in created.reason
    finally:
        os.close(other)
    assert directory.create(Site(UUID(int=3), "north"), utc=0).status is RESULT.SUCCESS


def test_no_change_is_lost_when_many_write_at_once(path: Path) -> None:
    def create(number: int) -> None:
        directory = LocalDirectory(DirectoryFileOnDisk(path, lock_wait_seconds=30))
        for index in range(10):
            site = Site(UUID(int=100 * number + index), f"{number}.{index}")
            assert directory.create(site, utc=0).status is RESULT.SUCCESS

    threads = [threading.Thread(target=create, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    directory = open_directory(path)
    handle = directory.read_begin(ElementType.SITE).query_handle
    found = 0
    while directory.read_next(handle).status is RESULT.SUCCESS:
        found += 1
    assert found == 30


def test_a_change_that_cannot_be_flushed_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()

    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    status = open_directory(path).create(Site(UUID(int=3), "north"), utc=0).status
    assert status is RESULT.DIRECTORY_NOT_CONNECTED
    assert path.read_bytes() == before
    assert sorted(item.name for item in path.parent.iterdir()) == [
        "directory.json",
        "directory.json.lock",
    ]


def test_the_mode_of_the_file_stays(path: Path) -> None:
    path.chmod(0o660)
    open_directory(path).create(Site(UUID(int=3), "north"), utc=0)
    assert path.stat().st_mode & 0o777 == 0o660
