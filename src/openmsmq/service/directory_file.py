"""The file of a local-file directory: read when changed, locked for writing, replaced whole."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EAGAIN, EFBIG
from pathlib import Path
from typing import Final
from uuid import UUID

from openmsmq.directory.document import Document, render_document
from openmsmq.directory.objects import ElementType, Enterprise

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
LOCK_WAIT_SECONDS: Final = 2.0
LOCK_RETRY_SECONDS: Final = 0.01
NEW_FILE_MODE: Final = 0o644


class DirectoryFileOnDisk:
    """One file that several processes may share; each change is a new file in its place."""

    __slots__ = ("_lock_wait_seconds", "_path", "_seen")

    def __init__(self, path: Path, *, lock_wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        self._path = path
        self._lock_wait_seconds = lock_wait_seconds
        self._seen: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        return str(self._path)

    def read(self) -> bytes | None:
        """The content, or None when the file has not changed since the last call.

        Raises:
            OSError: the file is not there, cannot be read or is too large.
        """
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                identity = _identity(state)
                if identity == self._seen:
                    return None
                if state.st_size > MAX_FILE_BYTES:
                    raise OSError(EFBIG, f"larger than {MAX_FILE_BYTES} bytes", self.name)
                content = file.read()
        except OSError:
            self._seen = None
            raise
        self._seen = identity
        return content

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock out other writers, by a file beside the directory.

        Raises:
            OSError: the lock was not acquired in time.
        """
        # The file itself is replaced at each change, so a lock on it would be lost.
        lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, NEW_FILE_MODE)
        try:
            self._wait_for(lock)
            yield
        finally:
            os.close(lock)

    def replace(self, content: bytes) -> None:
        """Write the content beside the file, flush it and rename it.

        Raises:
            OSError: it could not be written; the file is unchanged.
        """
        try:
            mode = self._path.stat().st_mode & 0o777
        except FileNotFoundError:
            mode = NEW_FILE_MODE
        folder = self._path.parent
        handle, name = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(handle, mode)
                os.fsync(handle)
                identity = _identity(os.fstat(handle))
            os.replace(name, self._path)  # noqa: PTH105 - the name of a temporary file is a str
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._seen = identity
        _flush_folder(folder)

    def _wait_for(self, lock: int) -> None:
        end = time.monotonic() + self._lock_wait_seconds
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise OSError(EAGAIN, "locked by another process", self.name) from None
                time.sleep(LOCK_RETRY_SECONDS)
            else:
                return


def create_directory_file(path: Path, *, enterprise: str, identifier: UUID) -> bool:
    """Create a directory file unless there is one; return whether this call created it.

    Raises:
        OSError: the file could not be written.
    """
    file = DirectoryFileOnDisk(path)
    with file.lock():
        if path.exists():
            return False
        document = Document()
        document.objects[ElementType.ENTERPRISE][identifier] = Enterprise(
            identifier, enterprise, non_ldap_capable_queue_manager_notification=False
        )
        file.replace(render_document(document))
    return True


def _identity(state: os.stat_result) -> tuple[int, ...]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
