"""What to do about a directory or a file that the system refuses."""

import errno
import os
from pathlib import Path

import pytest

from openmsmq.store.faults import unusable_directory, unusable_target

STORE = Path("/data/x/store")
BACKUP = Path("/backups/today")


def fault(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_directory_that_may_not_be_written_is_named(number: int) -> None:
    error = unusable_directory(STORE, fault(number))
    assert error.detail == f"/data/x/store: {os.strerror(number)}"
    assert error.cause == "The user of the queue manager may not write to /data/x."
    assert "write access to /data/x, or name another directory with --data." in error.remedy


def test_of_other_faults_of_a_directory_nothing_is_guessed() -> None:
    error = unusable_directory(STORE, OSError(errno.EIO, "broken", "/data/x/store/log"))
    assert (error.detail, error.cause, error.remedy) == ("/data/x/store/log: broken", "", "")


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (errno.ENOENT, "The directory /backups does not exist on the machine of the queue"),
        (errno.ENOTDIR, "The directory /backups does not exist on the machine of the queue"),
        (errno.EACCES, "The user of the queue manager may not write to /backups."),
        (errno.ENOSPC, "The disk of /backups is full."),
    ],
)
def test_the_target_of_a_backup_is_explained(number: int, cause: str) -> None:
    error = unusable_target(BACKUP, fault(number))
    assert error.detail == f"/backups/today: {os.strerror(number)}"
    assert error.cause.startswith(cause)
    assert error.remedy


def test_of_other_faults_of_a_target_nothing_is_guessed() -> None:
    error = unusable_target(BACKUP, fault(errno.EIO))
    assert (error.cause, error.remedy) == ("", "")
