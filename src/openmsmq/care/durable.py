"""Files that are on disk when a function returns, and a lock against a second writer."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

READ_BYTES: Final = 1 << 20
LOCK: Final = "_lock"


def sync_file(path: Path) -> None:
    """Flush the content of a file to disk."""
    _sync(path, os.O_RDONLY)


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def sync_tree(path: Path) -> None:
    """Flush everything below a directory to disk."""
    for each in path.rglob("*"):
        if each.is_dir():
            sync_directory(each)
        else:
            sync_file(each)
    sync_directory(path)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(data)
    sync_file(new)
    new.replace(path)
    sync_directory(path.parent)


def make_directory(path: Path) -> None:
    """Create a directory and its parents durably."""
    if path.is_dir():
        return
    make_directory(path.parent)
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, as `sha256sum` prints it."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


@contextmanager
def locked_directory(directory: Path) -> Iterator[None]:
    """Lock a directory against other writers; it is created if missing.

    Raises:
        BlockingIOError: another writer has the lock.
    """
    make_directory(directory)
    with (directory / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
