"""Backup in one file while the store is in use, and restore.

A backup is the newest snapshot, the segments that it needs and the log up to where it was durable
when the backup began, all as chunks with checksums. Zeros at the end of a chunk are left out.
"""

from collections.abc import Generator
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from isal.isal_zlib import crc32

from openmsmq.wire.errors import StoreError

from .faults import unusable_target
from .files import File, Files
from .interface import Progress
from .log_format import FORMAT_VERSION, SECTOR, Damage, UnknownVersion
from .recovery import RESTORED_NAME, RESTORING_NAME
from .segments import segment_number
from .snapshot import snapshot_generation
from .steps import Task, Then

_MAGIC: Final = b"omsmqbak"
_HEADER: Final = Struct("<8sIQI")
_RECORD: Final = Struct("<4sQII")
"""Magic, a number, the length of what follows and the checksum over both."""
_MEMBER: Final = b"\xf5MEM"
_CHUNK: Final = b"\xf5CHK"
_END: Final = b"\xf5END"
_CHUNK_SIZE: Final = 1 << 20
_PART_SUFFIX: Final = ".part"


class Member(NamedTuple):
    """A file of the store in a backup."""

    name: str
    size: int
    used: int
    """Members after this one are not in the backup."""


def _record(magic: bytes, number: int, data: bytes) -> list[bytes]:
    head = _RECORD.pack(magic, number, len(data), 0)[:-4]
    return [head + crc32(data, crc32(head)).to_bytes(4, "little"), data]


class FileBackup:
    """A backup in progress; see `interface.Backup` and `steps.Job`."""

    def __init__(
        self,
        files: Files,
        directory: Path,
        target: Path,
        *,
        members: list[Member],
        segments: frozenset[int],
        generations: frozenset[int],
        progress: Progress | None,
    ) -> None:
        self._files = files
        self._directory = directory
        self._target = target
        self._part = target.with_name(target.name + _PART_SUFFIX)
        self._members = members
        self.segments = segments
        self.generations = generations
        self._progress = progress
        self._total = sum(member.used for member in members)
        self._copied = 0
        self._position = 0
        self._steps: Generator[None, None, None] | None = self._copy()
        self.done = False
        self.failure: StoreError | None = None

    def next(self) -> Task | None:
        steps = self._steps
        if self.failure is not None and steps is not None:
            steps.close()
            self._files.unlink(self._part)
            self._steps = None
        return Task(self._copy_one) if self._steps is not None else None

    def _copy_one(self) -> Then:
        steps = self._steps
        assert steps is not None  # noqa: S101 - next has looked
        try:
            over = next(steps, self) is self
        except OSError as exc:
            # The target may be on another disk: only the backup fails.
            failure = unusable_target(self._target, exc)
        except StoreError as exc:
            failure = StoreError(f"{self._target}: {exc}")
        else:
            return self._complete if over else self._report
        return lambda: self._fail(failure)

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._copied, self._total)

    def _complete(self) -> None:
        self._steps = None
        self.done = True
        self._report()

    def _fail(self, failure: StoreError) -> None:
        if not self.done and self.failure is None:
            self.failure = failure

    def abandon(self) -> None:
        """Cancel; the next `next` removes the files."""
        self._fail(StoreError(f"{self._target}: the backup was given up"))

    def _copy(self) -> Generator[None, None, None]:
        """Writes the backup, one chunk between two yields."""
        target = self._files.create(self._part)
        try:
            head = _HEADER.pack(_MAGIC, FORMAT_VERSION, self._total, 0)[:-4]
            header = head + crc32(head).to_bytes(4, "little")
            self._append(target, [header.ljust(SECTOR, b"\0")])
            for member in self._members:
                self._append(target, _record(_MEMBER, member.size, member.name.encode("ascii")))
                yield from self._copy_member(target, member)
            self._append(target, _record(_END, self._total, b""))
            target.flush()
        finally:
            target.close()
        self._files.rename(self._part, self._target)
        self._files.sync_directory(self._target.parent)

    def _copy_member(self, target: File, member: Member) -> Generator[None, None, None]:
        source = self._files.open(self._directory / member.name)
        try:
            for offset in range(0, member.used, _CHUNK_SIZE):
                wanted = min(_CHUNK_SIZE, member.used - offset)
                data = source.read(offset, wanted)
                if len(data) != wanted:
                    raise Damage(member.name, offset + len(data), "the file is truncated")
                written = data.rstrip(b"\0")
                if written:
                    self._append(target, _record(_CHUNK, offset, written))
                self._copied += wanted
                yield
        finally:
            source.close()

    def _append(self, target: File, buffers: list[bytes]) -> None:
        target.write(self._position, buffers)
        self._position += sum(map(len, buffers))


def restore_backup(
    files: Files, source: Path, directory: Path, progress: Progress | None = None
) -> None:
    """Make a data directory from a backup.

    The queue manager that starts there first learns that its state is from a backup.

    Raises:
        StoreError: the backup is damaged, or the directory is in use.
    """
    try:
        files.make_directory(directory)
        names = files.names(directory)
        if names and RESTORING_NAME not in names:
            raise StoreError(f"{directory}: not empty; restore into a new directory")
        for name in names:
            files.unlink(directory / name)
        files.create(directory / RESTORING_NAME).close()
        files.sync_directory(directory)
        backup = files.open(source)
        try:
            _Restore(files, backup, source.name, directory).run(progress)
        finally:
            backup.close()
        files.sync_directory(directory)
        files.rename(directory / RESTORING_NAME, directory / RESTORED_NAME)
        files.sync_directory(directory)
    except OSError as exc:
        raise StoreError(f"{exc.filename or directory}: {exc.strerror or exc}") from exc


class _Restore:
    """Reads a backup and writes its members."""

    def __init__(self, files: Files, backup: File, name: str, directory: Path) -> None:
        self._files = files
        self._backup = backup
        self._name = name
        self._directory = directory

    def run(self, progress: Progress | None) -> None:
        total = self._check_header(self._backup.read(0, SECTOR))
        size = self._backup.size()
        position = SECTOR
        member: File | None = None
        try:
            while True:
                magic, number, data = self._record_at(position)
                if magic == _END:
                    break
                position += _RECORD.size + len(data)
                if magic == _MEMBER:
                    self._finish(member)
                    member = self._create(data, number, position)
                elif member is not None:
                    member.write(number, [data])
                if progress is not None:
                    progress(position, size)
            self._finish(member)
        finally:
            if member is not None:
                member.close()
        if number != total or position + _RECORD.size != size:
            raise Damage(self._name, position, "the backup is not whole")

    def _check_header(self, raw: bytes) -> int:
        if len(raw) < SECTOR or not raw.startswith(_MAGIC):
            raise Damage(self._name, 0, "not a backup of openmsmq")
        _, version, total, crc = _HEADER.unpack_from(raw)
        if version != FORMAT_VERSION:
            raise UnknownVersion(self._name, version)
        if crc != crc32(raw[: _HEADER.size - 4]) or raw[_HEADER.size :].strip(b"\0"):
            raise Damage(self._name, 0, "the header of the backup is damaged")
        return int(total)

    def _record_at(self, position: int) -> tuple[bytes, int, bytes]:
        head = self._backup.read(position, _RECORD.size)
        if len(head) == _RECORD.size:
            magic, number, length, crc = _RECORD.unpack(head)
            if magic in (_MEMBER, _CHUNK, _END) and length <= _CHUNK_SIZE:
                data = self._backup.read(position + _RECORD.size, length)
                if len(data) == length and crc == crc32(data, crc32(head[:-4])):
                    return magic, number, data
        raise Damage(self._name, position, "the backup is damaged")

    def _create(self, raw: bytes, size: int, position: int) -> File:
        name = raw.decode("ascii", "replace")
        if segment_number(name) is None and snapshot_generation(name) is None:
            raise Damage(self._name, position, f"{name!r} is not a file of a store")
        member = self._files.create(self._directory / name)
        member.allocate(size)
        return member

    def _finish(self, member: File | None) -> None:
        if member is not None:
            member.flush()
            member.close()
