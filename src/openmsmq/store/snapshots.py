"""The schedule of snapshots, their steps, and the ones that are kept."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from .committer import Committer
from .files import Files
from .index import Index
from .interface import Finding
from .options import Options
from .segments import Segments
from .snapshot import NEXT_NAME, Block, Snapshot, SnapshotWriter, snapshot_name
from .steps import Gate, Task, Then, nothing

_KEPT: Final = 2
_ROW_ESTIMATE: Final = 128


class Snapshots:
    """The snapshots of a store; used by the owner, except for the tasks."""

    def __init__(
        self,
        files: Files,
        options: Options,
        *,
        segments: Segments,
        index: Index,
        committer: Committer,
        store_id: bytes,
        snapshots: list[Snapshot],
        generations: list[int],
    ) -> None:
        self._files = files
        self._options = options
        self._segments = segments
        self._index = index
        self._committer = committer
        self._store_id = store_id
        self._kept = snapshots
        known = {snapshot.generation for snapshot in snapshots}
        self._obsolete = [generation for generation in generations if generation not in known]
        self._generation = max(generations, default=0)
        self._logged = (0, 0)
        """Bytes and operations that the log had when the last snapshot began."""
        self._logged_at_start = (0, 0)
        self._writer: SnapshotWriter | None = None
        self._blocks: Iterator[Block] = iter(())
        self._reserved = False
        self._gate = Gate()
        self.completed = 0

    @property
    def newest(self) -> Snapshot | None:
        return self._kept[-1] if self._kept else None

    @property
    def horizon(self) -> int:
        """The first segment that a recovery might read.

        Two snapshots are kept, and the log from the older one: one damaged snapshot loses nothing.
        """
        return self._kept[-_KEPT].start.segment if len(self._kept) >= _KEPT else 0

    def take_obsolete(self, used_generations: Collection[int]) -> list[Path]:
        """The files that are no longer needed."""
        self._obsolete += [snapshot.generation for snapshot in self._kept[:-_KEPT]]
        del self._kept[:-_KEPT]
        paths = [
            self._segments.directory / snapshot_name(generation)
            for generation in self._obsolete
            if generation not in used_generations
        ]
        self._obsolete = [
            generation for generation in self._obsolete if generation in used_generations
        ]
        return paths

    def next(self, free_bytes: int, *, disk_full: bool) -> Task | None:
        """The next piece of a snapshot, if one is in progress or due."""
        if self._writer is None and not self._start_if_due(free_bytes, disk_full=disk_full):
            return None
        writer = self._writer
        assert writer is not None  # noqa: S101 - started above
        block = next(self._blocks, None)
        durable = self._committer.durable.sequence

        def write(block: Block) -> Then:
            writer.write(block)
            return nothing

        def complete() -> Then:
            snapshot = writer.complete(durable)
            return lambda: self._completed(snapshot)

        return Task(
            complete if block is None else lambda: write(block), lambda: self._abandon(free_bytes)
        )

    def reserve(self, free_bytes: int) -> Task | None:
        """Reserve space for the next snapshot, so that a full disk can be drained."""
        size = self._estimate() * 5 // 4 + self._options.segment_size // 16
        if self._reserved or not self._gate.opens(free_bytes, size):
            return None

        def reserved() -> None:
            self._reserved = True
            self._gate.closed = False

        def do() -> Then:
            file = self._files.create(self._segments.directory / NEXT_NAME)
            try:
                file.allocate(size)
            finally:
                file.close()
            return reserved

        return Task(do, lambda: self._gate.close(free_bytes))

    def close(self) -> Finding | None:
        """Write a snapshot at the end, so that the next start reads no log."""
        if self._writer is not None:
            self._abandon(0)
        durable = self._committer.durable
        if self.newest is not None and self.newest.start == durable:
            return None
        self._start()
        writer = self._writer
        assert writer is not None  # noqa: S101 - started above
        try:
            for block in self._blocks:
                writer.write(block)
            writer.complete(durable.sequence)
        except OSError as exc:
            # The log is complete without it; only the next start takes longer.
            writer.abandon()
            return Finding(NEXT_NAME, 0, f"no snapshot at stop: {exc.strerror}")
        return None

    def _estimate(self) -> int:
        """The approximate size of a snapshot now."""
        entries = self._index.entries
        one = len(next(iter(entries.values()), b"")) + 8
        return one * len(entries) + _ROW_ESTIMATE * len(self._index.rows)

    def _waste(self) -> int:
        """The bytes of segments that a newer horizon would free or compact."""
        live = self._index.live
        horizon = self.horizon
        now = self._committer.durable.segment
        return sum(
            size - live.get(number, 0)
            for number, size in self._segments.sizes.items()
            if horizon <= number < now
        )

    def _due(self, *, disk_full: bool) -> bool:
        options = self._options
        estimate = self._estimate()
        logged = self._committer.logged_bytes - self._logged[0]
        operations = self._committer.operations - self._logged[1]
        if logged >= max(options.snapshot_interval, 2 * estimate):
            return True
        if operations >= max(options.snapshot_operations, 2 * len(self._index.entries)):
            return True
        waste = self._waste()
        if disk_full:
            return waste >= options.segment_size
        return waste >= max(
            2 * options.segment_size, 4 * estimate, sum(self._index.live.values()) // 2
        )

    def _start_if_due(self, free_bytes: int, *, disk_full: bool) -> bool:
        fits = self._reserved or self._gate.opens(free_bytes, self._estimate())
        if not fits or not self._due(disk_full=disk_full):
            return False
        self._start()
        return True

    def _start(self) -> None:
        self._generation += 1
        committer = self._committer
        self._writer = SnapshotWriter(
            self._files,
            self._segments.directory,
            generation=self._generation,
            store_id=self._store_id,
            start=committer.durable,
        )
        self._blocks = self._writer.blocks(self._index)
        self._logged_at_start = (committer.logged_bytes, committer.operations)

    def _completed(self, snapshot: Snapshot) -> None:
        self._kept.append(snapshot)
        self._logged = self._logged_at_start
        self._writer = None
        self._reserved = False
        self.completed += 1

    def _abandon(self, free_bytes: int) -> None:
        if self._writer is not None:
            self._writer.abandon()
        self._writer = None
        self._reserved = False
        self._gate.close(free_bytes)
