"""The few file operations that the store needs, behind one small protocol.

Every disk access of the store goes through `Files` and `File`, so that a simulated disk can
replace the real one. Both raise OSError; the store translates it.
"""

import errno
import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from openmsmq.wire.errors import StoreError

IOV_MAX: Final = 1024
_NO_SUCH_FLAG: Final = frozenset({errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS})


class File(Protocol):
    """An open file; positions are explicit."""

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file."""

    def write(self, offset: int, buffers: Sequence[bytes]) -> None:
        """Write all buffers, one after the other; not durable."""

    def write_through(self, offset: int, buffers: Sequence[bytes]) -> None:
        """Write all buffers and make them durable, in one system call where the system can."""

    def flush(self) -> None:
        """Make the contents durable."""

    def allocate(self, size: int) -> None:
        """Make the file at least `size` bytes long, backed by real space; new bytes are zero."""

    def truncate(self, size: int) -> None:
        """Cut the file or grow it with a hole."""

    def size(self) -> int:
        """The length in bytes."""

    def close(self) -> None:
        """Close the file."""


class Files(Protocol):
    """A file system."""

    def open(self, path: Path) -> File:
        """Open an existing file for reading and writing."""

    def create(self, path: Path) -> File:
        """Create an empty file, in place of any other of that name."""

    def names(self, directory: Path) -> list[str]:
        """The names in a directory."""

    def make_directory(self, path: Path) -> None:
        """Make a directory and its parents, unless it exists."""

    def rename(self, source: Path, target: Path) -> None:
        """Rename, replacing the target; durable after `sync_directory`."""

    def unlink(self, path: Path) -> None:
        """Remove a file if it is there; durable after `sync_directory`."""

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory durable."""

    def free_bytes(self, directory: Path) -> int:
        """The space that can still be allocated."""

    def lock(self, path: Path) -> File:
        """Lock a file until it is closed or the process ends.

        Raises:
            StoreError: it is locked; the text names the process.
        """


class RealFile:
    """A file descriptor."""

    __slots__ = ("_dsync", "fd")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._dsync = getattr(os, "RWF_DSYNC", 0)

    def read(self, offset: int, size: int) -> bytes:
        data = os.pread(self.fd, size, offset)
        if len(data) == size or not data:
            return data
        parts = [data]
        while size > (size_read := sum(map(len, parts))):
            data = os.pread(self.fd, size - size_read, offset + size_read)
            if not data:
                break
            parts.append(data)
        return b"".join(parts)

    def write(self, offset: int, buffers: Sequence[bytes]) -> None:
        buffers = _few(buffers)
        written = os.pwritev(self.fd, buffers, offset)
        self._write_rest(offset, buffers, written)

    def write_through(self, offset: int, buffers: Sequence[bytes]) -> None:
        # One system call releases the interpreter lock once; a write and a flush would have to
        # regain it twice against a busy event loop.
        if not self._dsync:
            self.write(offset, buffers)
            os.fdatasync(self.fd)
            return
        buffers = _few(buffers)
        try:
            written = os.pwritev(self.fd, buffers, offset, self._dsync)
        except OSError as exc:
            if exc.errno not in _NO_SUCH_FLAG:
                raise
            self._dsync = 0
            self.write_through(offset, buffers)
            return
        if self._write_rest(offset, buffers, written):
            os.fdatasync(self.fd)

    def _write_rest(self, offset: int, buffers: Sequence[bytes], written: int) -> bool:
        """Write the rest after a short write; return whether there was any."""
        total = sum(map(len, buffers))
        if written == total:
            return False
        rest = memoryview(b"".join(buffers))
        while written < total:
            written += os.pwrite(self.fd, rest[written:], offset + written)
        return True

    def flush(self) -> None:
        os.fdatasync(self.fd)

    def allocate(self, size: int) -> None:
        os.posix_fallocate(self.fd, 0, size)

    def truncate(self, size: int) -> None:
        os.ftruncate(self.fd, size)

    def size(self) -> int:
        return os.fstat(self.fd).st_size

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def _few(buffers: Sequence[bytes]) -> Sequence[bytes]:
    """At most IOV_MAX buffers: neighbours are joined."""
    count = len(buffers)
    if count <= IOV_MAX:
        return buffers
    stride = -(-count // IOV_MAX)
    return [b"".join(buffers[i : i + stride]) for i in range(0, count, stride)]


class RealFiles:
    """The file system of this machine."""

    def open(self, path: Path) -> RealFile:
        return RealFile(os.open(path, os.O_RDWR | os.O_CLOEXEC))

    def create(self, path: Path) -> RealFile:
        return RealFile(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))

    def names(self, directory: Path) -> list[str]:
        return os.listdir(directory)  # noqa: PTH208 - names are what is asked for

    def make_directory(self, path: Path) -> None:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def rename(self, source: Path, target: Path) -> None:
        source.replace(target)

    def unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_directory(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def free_bytes(self, directory: Path) -> int:
        status = os.statvfs(directory)
        return status.f_bavail * status.f_frsize

    def lock(self, path: Path) -> RealFile:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            error = _in_use(path, fd)
            os.close(fd)
            raise error from exc
        # The lock holds with or without the number in the file, so a full disk does no harm.
        with suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
        return RealFile(fd)


def require_unlocked(path: Path) -> None:
    """Refuse a directory that another process uses, without creating anything.

    Raises:
        StoreError: the file is locked; the text names the process.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        # The process that creates it reports errors.
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        raise _in_use(path, fd) from exc
    finally:
        os.close(fd)


def _in_use(lock: Path, fd: int) -> StoreError:
    holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
    process = f"process {holder or 'unknown'}"
    return StoreError(
        f"{lock.parent} is in use by {process}: one queue manager per data directory",
        cause="Another queue manager runs on this data directory.",
        remedy=f"Stop {process}, or give another directory with --data.",
    )
