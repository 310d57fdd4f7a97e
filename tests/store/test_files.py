"""The real file system, and what the simulated one must agree with."""

import errno
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.store.model import SMALL
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.file_store import FileStore
from openmsmq.store.files import IOV_MAX, Files, RealFile, RealFiles
from openmsmq.wire.errors import StoreError


@pytest.fixture(params=["real", "simulated"])
def files(request: pytest.FixtureRequest) -> Files:
    return RealFiles() if request.param == "real" else SimulatedDisk()


def test_what_is_written_can_be_read(files: Files, tmp_path: Path) -> None:
    file = files.create(tmp_path / "a")
    file.write(3, [b"abc", b"", b"def"])
    file.write_through(9, [b"ghi"])
    file.flush()
    assert file.read(0, 100) == b"\0\0\0abcdefghi"
    assert file.read(5, 2) == b"cd"
    assert file.read(12, 5) == b""
    assert file.size() == 12
    file.close()
    assert files.open(tmp_path / "a").read(3, 3) == b"abc"


def test_allocated_bytes_are_zero_and_nothing_is_lost(files: Files, tmp_path: Path) -> None:
    file = files.create(tmp_path / "a")
    file.write(0, [b"abc"])
    file.allocate(10)
    assert file.read(0, 20) == b"abc" + bytes(7)
    file.allocate(5)
    assert file.size() == 10
    file.truncate(2)
    assert file.read(0, 20) == b"ab"


def test_create_empties_a_file_that_is_there(files: Files, tmp_path: Path) -> None:
    files.create(tmp_path / "a").write(0, [b"old"])
    assert files.create(tmp_path / "a").size() == 0


def test_names_renames_and_removals(files: Files, tmp_path: Path) -> None:
    files.make_directory(tmp_path)
    files.create(tmp_path / "a").write(0, [b"a"])
    files.create(tmp_path / "b").close()
    files.rename(tmp_path / "a", tmp_path / "b")
    files.sync_directory(tmp_path)
    assert files.names(tmp_path) == ["b"]
    assert files.open(tmp_path / "b").size() == 1
    files.unlink(tmp_path / "b")
    files.unlink(tmp_path / "b")
    assert files.names(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        files.open(tmp_path / "b")
    assert files.free_bytes(tmp_path) > 1 << 20


def test_a_lock_holds_until_it_is_closed(files: Files, tmp_path: Path) -> None:
    lock = files.lock(tmp_path / "lock")
    with pytest.raises(StoreError, match="is in use by process"):
        files.lock(tmp_path / "lock")
    lock.close()
    files.lock(tmp_path / "lock").close()


def test_a_directory_is_made_with_its_parents_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    RealFiles().make_directory(path)
    RealFiles().make_directory(path)
    assert path.stat().st_mode & 0o777 == 0o700
    RealFiles().create(path / "file").close()
    assert (path / "file").stat().st_mode & 0o777 == 0o600


def test_more_buffers_than_one_call_takes(tmp_path: Path) -> None:
    buffers = [b"%05d" % number for number in range(3 * IOV_MAX + 7)]
    file = RealFiles().create(tmp_path / "a")
    file.write(0, buffers)
    assert file.read(0, 1 << 20) == b"".join(buffers)
    file.write_through(10, buffers)
    assert file.read(10, 1 << 20) == b"".join(buffers)


def test_short_writes_and_reads_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwritev, pwrite, pread = os.pwritev, os.pwrite, os.pread
    flushed: list[int] = []
    monkeypatch.setattr(
        os, "pwritev", lambda fd, buffers, offset, *_: pwritev(fd, [buffers[0]], offset)
    )
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: pwrite(fd, data[:2], offset))
    monkeypatch.setattr(os, "pread", lambda fd, size, offset: pread(fd, min(size, 3), offset))
    monkeypatch.setattr(os, "fdatasync", flushed.append)
    file = RealFiles().create(tmp_path / "a")
    file.write(0, [b"abc", b"defgh"])
    assert file.read(0, 8) == b"abcdefgh"
    assert flushed == []
    file.write_through(1, [b"xyz", b"123"])
    assert file.read(0, 100) == b"axyz123h"
    assert flushed == [file.fd]


def test_a_whole_write_through_is_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pwritev = os.pwritev
    tried: list[int] = []
    flushed: list[int] = []

    def write(fd: int, buffers: Sequence[bytes], offset: int, flags: int = 0) -> int:
        tried.append(flags)
        return pwritev(fd, buffers, offset)

    monkeypatch.setattr(os, "pwritev", write)
    monkeypatch.setattr(os, "fdatasync", flushed.append)
    file = RealFiles().create(tmp_path / "a")
    file.write_through(0, [b"abc", b"def"])
    assert (tried, flushed) == ([os.RWF_DSYNC], [])


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS])
def test_a_system_without_write_through_flushes_after_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    pwritev = os.pwritev
    tried: list[int] = []
    flushed: list[int] = []

    def refuse_flags(fd: int, buffers: Sequence[bytes], offset: int, flags: int = 0) -> int:
        tried.append(flags)
        if flags:
            raise OSError(code, os.strerror(code))
        return pwritev(fd, buffers, offset)

    monkeypatch.setattr(os, "pwritev", refuse_flags)
    monkeypatch.setattr(os, "fdatasync", flushed.append)
    file = RealFiles().create(tmp_path / "a")
    file.write_through(0, [b"abc"])
    file.write_through(3, [b"def"])
    assert file.read(0, 10) == b"abcdef"
    assert tried == [os.RWF_DSYNC, 0, 0]
    assert flushed == [file.fd, file.fd]


def test_other_errors_of_write_through_are_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "broken")

    file = RealFiles().create(tmp_path / "a")
    monkeypatch.setattr(os, "pwritev", fail)
    with pytest.raises(OSError, match="broken"):
        file.write_through(0, [b"abc"])


def test_closing_twice_closes_nothing_else(tmp_path: Path) -> None:
    file = RealFiles().create(tmp_path / "a")
    file.close()
    other = RealFiles().open(tmp_path / "a")
    file.close()
    assert isinstance(other, RealFile)
    assert other.size() == 0


HOLDER = """
import sys
from pathlib import Path
from openmsmq.store.file_store import FileStore
store = FileStore(Path(sys.argv[1]), new_store_id=bytes(16))
print(flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_who_holds_the_store(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreError, match=f"is in use by process {holder.pid}: one queue"):
            FileStore(tmp_path, new_store_id=bytes(16))
        holder.kill()
    # The lock of a dead process does not hold.
    FileStore(tmp_path, new_store_id=bytes(16), options=SMALL).recover()


def test_a_directory_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="Not a directory"):
        FileStore(tmp_path / "file" / "store", new_store_id=bytes(16))
