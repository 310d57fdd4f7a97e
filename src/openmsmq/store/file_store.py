"""FileStore: a log of atomic batches in preallocated segments (docs/store.md)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from openmsmq.wire.batch import RESTORED_KEY, STORE_TABLE, Batch
from openmsmq.wire.errors import StoreError

from .backup import FileBackup, Member
from .committer import Committer, FileWrite
from .compaction import PendingMoves
from .faults import unusable_directory
from .files import File, Files, RealFiles
from .frame import Place
from .index import Index
from .interface import Finding, Progress, Recovery, Step, StoreStats, Write
from .log_format import ENTRY, ENTRY_SIZE, FIRST_FRAME, FRAME_HEADER_SIZE, align, tag_of
from .maintenance import Maintenance
from .options import Options
from .packet_reader import read_packets
from .recovery import FIRST_SEQUENCE, RESTORED_NAME, Found, Reader
from .scratch import FileScratch, remove_scratch
from .segments import Segments, Tail, segment_name
from .snapshot import snapshot_name
from .snapshots import Snapshots

LOCK_NAME: Final = "lock"
_ZEROS: Final = bytes(1 << 20)


class FileStore:
    """Implements `Store` in one directory.

    Args:
        directory: the directory of the files; created if missing.
        new_store_id: 16 random bytes for a store that does not exist yet.
        options: sizes and intervals.
        files: the file system.

    Raises:
        StoreError: another process uses the directory, or it cannot be used.
    """

    def __init__(
        self,
        directory: Path,
        *,
        new_store_id: bytes,
        options: Options | None = None,
        files: Files | None = None,
    ) -> None:
        self._directory = directory
        self._new_store_id = new_store_id
        self._options = options or Options()
        self._files: Files = files or RealFiles()
        try:
            self._files.make_directory(directory)
            self._lock: File = self._files.lock(directory / LOCK_NAME)
            remove_scratch(self._files, directory)
        except OSError as exc:
            raise unusable_directory(directory, exc) from exc
        self.scratch = FileScratch(self._files, directory)
        self._recovered = False
        self._index = Index()
        self._moves = PendingMoves(self._index)
        self._segments: Segments
        self._committer: Committer
        self._snapshots: Snapshots
        self._maintenance: Maintenance

    # Start

    def recover(self, progress: Progress | None = None) -> Recovery:
        try:
            return self._recover(progress)
        except OSError as exc:
            raise unusable_directory(self._directory, exc) from exc

    def _recover(self, progress: Progress | None) -> Recovery:
        # A name that was not flushed may vanish with all data written under it.
        self._files.sync_directory(self._directory)
        reader = Reader(self._files, self._directory)
        for name in reader.leftovers:
            self._files.unlink(self._directory / name)
        if reader.empty:
            recovered = self._create()
        else:
            recovered = reader.read(progress, verify_limit=self._options.verify_limit)
            self._repair(recovered)
        self._open(recovered, reader.generations)
        self._recovered = True
        if reader.restored:
            self._note_restored()
        rows = self._index.rows
        return Recovery(
            messages=self._live_messages(),
            rows=[(table, key, value) for (table, key), value in rows.items()],
            repaired=tuple(recovered.findings),
            restored=(STORE_TABLE, RESTORED_KEY) in rows,
        )

    def _create(self) -> Found:
        """A new store: one empty segment."""
        start = Place(1, FIRST_FRAME, FIRST_SEQUENCE)
        segments = Segments(self._files, self._directory, self._new_store_id)
        segments.ensure(start.segment, self._options.segment_size)
        return Found(
            store_id=self._new_store_id,
            index=Index(),
            start=start,
            end=start,
            sizes={start.segment: self._options.segment_size},
        )

    def _repair(self, recovered: Found) -> None:
        """Cut off a torn frame, and make sure that all recovered data is on the disk.

        The last frame may be only in the page cache, even after a failed flush: it is
        written again before it is used.
        """
        for number in recovered.spoiled:
            self._files.unlink(self._directory / segment_name(number))
            del recovered.sizes[number]
        if recovered.tear is not None:
            number, tear = recovered.tear
            file = self._files.open(self._directory / segment_name(number))
            try:
                for offset in range(tear.offset, tear.end, len(_ZEROS)):
                    file.write(offset, [_ZEROS[: tear.end - offset]])
                file.flush()
            finally:
                file.close()
        if recovered.last is not None:
            (number, offset, _), length = recovered.last
            file = self._files.open(self._directory / segment_name(number))
            try:
                file.write_through(offset, [file.read(offset, length)])
            finally:
                file.close()

    def _open(self, recovered: Found, generations: list[int]) -> None:
        tag = tag_of(recovered.store_id)
        options = self._options
        self._index = recovered.index
        self._segments = Segments(self._files, self._directory, recovered.store_id)
        for number, size in recovered.sizes.items():
            self._segments.add(number, size)
        tail = Tail(
            recovered.end,
            sizes=self._segments.sizes,
            segment_size=options.segment_size,
            store_tag=tag,
        )
        moves = PendingMoves(self._index)
        self._moves = moves
        self._committer = Committer(
            segments=self._segments,
            tail=tail,
            index=self._index,
            store_tag=tag,
            pending=moves,
        )
        self._committer.unmarked = recovered.last is not None
        self._committer.logged_bytes = recovered.logged_bytes
        self._committer.operations = recovered.operations
        self._snapshots = Snapshots(
            self._files,
            options,
            segments=self._segments,
            index=self._index,
            committer=self._committer,
            store_id=recovered.store_id,
            snapshots=recovered.snapshots,
            generations=generations,
        )
        self._maintenance = Maintenance(
            self._files,
            options,
            segments=self._segments,
            index=self._index,
            committer=self._committer,
            moves=moves,
            snapshots=self._snapshots,
        )

    def _note_restored(self) -> None:
        """Turn the marker file of a restore into a row in the next batch of the owner."""
        batch = Batch()
        batch.rows[STORE_TABLE, RESTORED_KEY] = b""
        write = self.begin([batch])
        self.write(write)
        self.finish(write)
        self._files.unlink(self._directory / RESTORED_NAME)
        self._files.sync_directory(self._directory)

    def _live_messages(self) -> Iterator[tuple[int, bytes, int]]:
        entries = self._index.entries
        for key in sorted(entries):
            entry = entries[key]
            yield key, entry[ENTRY_SIZE:], ENTRY.unpack_from(entry)[3]

    # Commits

    def begin(self, batches: Sequence[Batch]) -> FileWrite:
        return self._committer.begin(batches)

    def write(self, write: Write) -> None:
        self._committer.write(write)

    def finish(self, write: Write) -> None:
        self._committer.finish(write)

    @property
    def wants_write(self) -> bool:
        return bool(self._moves.waiting) or self._committer.unmarked

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        return read_packets(self._segments, self._index, keys)

    def room(self, size: int = 0, *, urgent: bool = False) -> bool:
        length = align(size + 2 * FRAME_HEADER_SIZE)
        reserve = 0 if urgent else self._options.reserve
        tail = self._committer.tail
        if length <= tail.remaining - reserve:
            return True
        spare = tail.place.segment + 1
        if spare in self._segments.ready:
            space = self._segments.sizes.get(spare, 0) - FIRST_FRAME - FRAME_HEADER_SIZE
            if length <= space - reserve:
                return True
        if self._maintenance.gate.closed:
            return False
        return 2 * length + self._options.segment_size <= self._maintenance.free_bytes

    # Other operations

    def maintain(self) -> Step | None:
        self._committer.check()
        return self._maintenance.next()

    def take_findings(self) -> list[Finding]:
        findings = self._maintenance.findings
        self._maintenance.findings = []
        return findings

    def stats(self) -> StoreStats:
        return StoreStats(
            messages=len(self._index.entries),
            message_bytes=self._index.message_bytes,
            rows=len(self._index.rows),
            disk_bytes=sum(self._segments.sizes.values()) + self.scratch.disk_bytes,
            segments=len(self._segments.sizes),
            sequence=self._committer.durable.sequence - 1,
            flushes=self._committer.flushes,
            snapshots=self._snapshots.completed,
            moved_messages=self._committer.moved,
            room=self.room(),
            written_bytes=self._committer.logged_bytes,
        )

    def backup(self, target: Path, progress: Progress | None = None) -> FileBackup:
        maintenance = self._maintenance
        if maintenance.jobs:
            raise StoreError("a backup is under way")
        durable = self._committer.durable
        snapshot = self._snapshots.newest
        first = snapshot.start.segment if snapshot else 0
        sizes = self._segments.sizes
        live = self._index.live
        numbers = [n for n in sorted(sizes) if n <= durable.segment and (n >= first or live.get(n))]
        members = [
            Member(
                segment_name(number),
                sizes[number],
                durable.offset if number == durable.segment else sizes[number],
            )
            for number in numbers
        ]
        generations: frozenset[int] = frozenset()
        if snapshot:
            generations = frozenset({snapshot.generation})
            name = snapshot_name(snapshot.generation)
            members.insert(0, Member(name, snapshot.size, snapshot.size))
        job = FileBackup(
            self._files,
            self._directory,
            target,
            members=members,
            segments=frozenset(numbers),
            generations=generations,
            progress=progress,
        )
        maintenance.jobs.append(job)
        return job

    def close(self) -> None:
        if self._recovered:
            if self._committer.failure is None:
                self._maintenance.close()
            self._segments.close()
        self.scratch.close()
        self._lock.close()
