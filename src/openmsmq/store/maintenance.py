"""What the file store does beside commits: spare segments, snapshots, removal, compaction.

Every call of `next` returns at most one bounded step. The owner decides and indexes, the I/O is in
`Step.run`.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from openmsmq.wire.errors import StoreError

from .committer import Committer
from .compaction import PendingMoves, Piece, SegmentDrain
from .files import Files
from .index import Index
from .interface import Finding, Step
from .log_format import MAX_FRAME_SIZE
from .segments import NO_SPACE, Segments
from .snapshot import NEXT_NAME, Block, Snapshot, SnapshotWriter, snapshot_name

_KEPT_SNAPSHOTS: Final = 2
_ROW_ESTIMATE: Final = 128

Then = Callable[[], None]
"""What the owner does after the I/O."""


class Job(Protocol):
    """Work that goes on beside maintenance and needs files to stay: a backup."""

    @property
    def segments(self) -> Collection[int]:
        """Segments that must stay."""

    @property
    def generations(self) -> Collection[int]:
        """Snapshots that must stay."""

    def next(self) -> Callable[[], Then] | None:
        """The next piece of I/O, or None when done."""

    def abandon(self) -> None:
        """Give up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the file store uses its disk; sizes in bytes."""

    segment_size: int = 64 << 20
    snapshot_interval: int = 256 << 20
    """How much log may follow a snapshot before the next one, at least."""
    snapshot_operations: int = 2_000_000
    """How many operations may follow a snapshot before the next one, at least."""
    reserve: int = 8 << 20
    """What new messages leave free for deletes and state rows."""
    compact_below: float = 0.5
    """A segment less full than this is compacted."""
    step_size: int = 1 << 20
    """How much one step reads or writes."""
    verify_limit: int = 2 << 30
    """How much of the log before the snapshot is checked at start."""

    def __post_init__(self) -> None:
        if not 4096 <= self.segment_size <= 1 << 31:
            raise StoreError(f"a segment size of {self.segment_size}; allowed are 4096 to 2 GiB")
        if not 0 <= self.reserve <= self.segment_size // 2:
            raise StoreError(f"a reserve of {self.reserve}; at most half a segment is allowed")


class Work:
    """A step: the I/O, which returns what the owner does next."""

    __slots__ = ("_do", "_next")

    def __init__(self, do: Callable[[], Then], full: Then) -> None:
        self._do = do
        self._next = full

    def run(self) -> None:
        try:
            self._next = self._do()
        except OSError as exc:
            if exc.errno not in NO_SPACE:
                raise StoreError(f"{exc.filename or 'the store'}: {exc.strerror or exc}") from exc

    def finish(self) -> None:
        self._next()


class Gate:
    """Keeps an allocation that found no space from being tried until there is more."""

    __slots__ = ("_free_bytes", "closed")

    def __init__(self) -> None:
        self.closed = False
        self._free_bytes = 0

    def opens(self, free_bytes: int, size: int) -> bool:
        return free_bytes >= size and not (self.closed and free_bytes <= self._free_bytes)

    def close(self, free_bytes: int) -> None:
        self.closed = True
        self._free_bytes = free_bytes


class Maintenance:
    """Decides what is due. The owner's, except what the steps do in `run`."""

    def __init__(
        self,
        files: Files,
        options: Options,
        *,
        segments: Segments,
        index: Index,
        committer: Committer,
        moves: PendingMoves,
        store_id: bytes,
        snapshots: list[Snapshot],
        generations: list[int],
    ) -> None:
        self._files = files
        self._options = options
        self._segments = segments
        self._index = index
        self._committer = committer
        self._moves = moves
        self._store_id = store_id
        self.snapshots = snapshots
        kept = {snapshot.generation for snapshot in snapshots}
        self._obsolete = [generation for generation in generations if generation not in kept]
        self._generation = max(generations, default=0)
        self._logged_at_snapshot = (0, 0)
        self._logged_at_start = (0, 0)
        self._writer: SnapshotWriter | None = None
        self._blocks: Iterator[Block] = iter(())
        self._reserved = False
        self._drain: SegmentDrain | None = None
        self._unsound: set[int] = set()
        self._outstanding = False
        self._for_segment = Gate()
        self._for_snapshot = Gate()
        self.free_bytes = files.free_bytes(segments.directory)
        self.findings: list[Finding] = []
        self.jobs: list[Job] = []
        self.completed_snapshots = 0

    @property
    def full(self) -> bool:
        """Whether the disk had no space for the next segment."""
        return self._for_segment.closed

    @property
    def horizon(self) -> int:
        """The first segment that a recovery might read as a log.

        Two snapshots are kept, and the log from the older one: one damaged snapshot loses nothing.
        """
        if len(self.snapshots) < _KEPT_SNAPSHOTS:
            return 0
        return self.snapshots[-_KEPT_SNAPSHOTS].start.segment

    def next(self) -> Step | None:
        """The next step, or None; none while one is under way."""
        if self._outstanding:
            return None
        self.free_bytes = self._files.free_bytes(self._segments.directory)
        step = (
            self._remove()
            or self._prepare_segment()
            or self._snapshot()
            or self._reserve()
            or self._job()
            or self._compact()
        )
        self._outstanding = step is not None
        return step

    def _step(self, do: Callable[[], Then], full: Then) -> Step:
        def ended(then: Then) -> Then:
            def finish() -> None:
                self._outstanding = False
                then()

            return finish

        return Work(lambda: ended(do()), ended(full))

    # Removal

    def _remove(self) -> Step | None:
        pinned = {number for job in self.jobs for number in job.segments}
        if self._drain is not None:
            pinned.add(self._drain.number)
        horizon = self.horizon
        live = self._index.live
        dead = [
            number
            for number in self._segments.sizes
            if number < horizon and not live.get(number) and number not in pinned
        ]
        held = {generation for job in self.jobs for generation in job.generations}
        self._obsolete += [s.generation for s in self.snapshots[:-_KEPT_SNAPSHOTS]]
        del self.snapshots[:-_KEPT_SNAPSHOTS]
        old = [generation for generation in self._obsolete if generation not in held]
        if not dead and not old:
            return None
        for number in dead:
            self._segments.forget(number)
            live.pop(number, None)
        self._obsolete = [generation for generation in self._obsolete if generation in held]
        directory = self._segments.directory
        paths = [directory / snapshot_name(generation) for generation in old]
        paths += [self._segments.path(number) for number in dead]

        def do() -> Then:
            for path in paths:
                self._files.unlink(path)
            self._files.sync_directory(directory)
            return _nothing

        return self._step(do, _nothing)

    # Space ahead of need

    def _prepare_segment(self) -> Step | None:
        number = self._committer.tail.place.segment + 1
        size = self._options.segment_size
        segments = self._segments
        if number in segments.ready:
            return None
        if not self._for_segment.opens(self.free_bytes, size):
            self._for_segment.close(self.free_bytes)
            return None

        # The size is settled now: a commit may come to this segment before the step does.
        segments.sizes.setdefault(number, size)
        size = segments.sizes[number]
        free_bytes = self.free_bytes

        def made() -> None:
            self._for_segment.closed = False

        def full() -> None:
            self._for_segment.close(free_bytes)
            if self._committer.tail.place.segment < number:
                del segments.sizes[number]

        def do() -> Then:
            segments.ensure(number, size)
            return made

        return self._step(do, full)

    def _reserve(self) -> Step | None:
        """Space for the next snapshot, so that a full disk can be drained."""
        size = self._estimate() * 5 // 4 + self._options.segment_size // 16
        if self._reserved or not self._for_snapshot.opens(self.free_bytes, size):
            return None
        path = self._segments.directory / NEXT_NAME

        def reserved() -> None:
            self._reserved = True
            self._for_snapshot.closed = False

        def do() -> Then:
            file = self._files.create(path)
            try:
                file.allocate(size)
            finally:
                file.close()
            return reserved

        free_bytes = self.free_bytes
        return self._step(do, lambda: self._for_snapshot.close(free_bytes))

    # Snapshots

    def _estimate(self) -> int:
        """About how long a snapshot would be now."""
        entries = self._index.entries
        one = len(next(iter(entries.values()), b"")) + 8
        return one * len(entries) + _ROW_ESTIMATE * len(self._index.rows)

    def _waste(self) -> int:
        """What a newer horizon would let go of or compact."""
        live = self._index.live
        horizon = self.horizon
        now = self._committer.durable.segment
        return sum(
            size - live.get(number, 0)
            for number, size in self._segments.sizes.items()
            if horizon <= number < now
        )

    def _snapshot_due(self) -> bool:
        options = self._options
        estimate = self._estimate()
        committer = self._committer
        logged = committer.logged_bytes - self._logged_at_snapshot[0]
        operations = committer.operations - self._logged_at_snapshot[1]
        if logged >= max(options.snapshot_interval, 2 * estimate):
            return True
        if operations >= max(options.snapshot_operations, 2 * len(self._index.entries)):
            return True
        waste = self._waste()
        if self.full:
            return waste >= options.segment_size
        return waste >= max(
            2 * options.segment_size, 4 * estimate, sum(self._index.live.values()) // 2
        )

    def _snapshot(self) -> Step | None:
        if self._writer is None:
            if not self._snapshot_due():
                return None
            fits = self._for_snapshot.opens(self.free_bytes, self._estimate())
            if not self._reserved and not fits:
                return None
            self._start_snapshot()
        writer = self._writer
        assert writer is not None  # noqa: S101 - started above
        block = next(self._blocks, None)
        if block is not None:
            piece = block

            def do() -> Then:
                writer.write(piece)
                return _nothing

            return self._step(do, self._abandon_snapshot)
        durable = self._committer.durable.sequence

        def complete() -> Then:
            snapshot = writer.complete(durable)
            return lambda: self._completed(snapshot)

        return self._step(complete, self._abandon_snapshot)

    def _start_snapshot(self) -> None:
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
        self.snapshots.append(snapshot)
        self._logged_at_snapshot = self._logged_at_start
        self._writer = None
        self._reserved = False
        self.completed_snapshots += 1

    def _abandon_snapshot(self) -> None:
        if self._writer is not None:
            self._writer.abandon()
        self._writer = None
        self._reserved = False
        self._for_snapshot.close(self.free_bytes)

    # Backups

    def _job(self) -> Step | None:
        while self.jobs:
            job = self.jobs[0]
            do = job.next()
            if do is not None:
                return self._step(do, job.abandon)
            self.jobs.remove(job)
        return None

    # Compaction

    def _compact(self) -> Step | None:
        if self._moves:
            return None
        drain = self._drain or self._choose()
        if drain is None:
            return None
        self._drain = drain

        def do() -> Then:
            piece = drain.piece(self._options.step_size)
            return lambda: self._drained(drain, piece)

        return self._step(do, _nothing)

    def _choose(self) -> SegmentDrain | None:
        """The emptiest segment that compaction would free at once."""
        committer = self._committer
        if committer.durable != committer.tail.place:
            return None
        horizon = self.horizon
        sizes = self._segments.sizes
        space = committer.tail.remaining - self._options.reserve if self.full else MAX_FRAME_SIZE
        sparse = [
            (weight / sizes[number], number)
            for number, weight in self._index.live.items()
            if number < horizon
            and weight < min(self._options.compact_below * sizes[number], space)
            and number not in self._unsound
        ]
        if not sparse:
            return None
        return SegmentDrain(self._files, self._segments.directory, min(sparse)[1])

    def _drained(self, drain: SegmentDrain, piece: Piece) -> None:
        self._moves.add(piece.moves)
        if piece.damage is not None:
            damage = piece.damage
            self._unsound.add(drain.number)
            self.findings.append(Finding(damage.file, damage.offset, damage.reason))
        if piece.done:
            drain.close()
            self._drain = None

    def close(self) -> None:
        """Stop cleanly: the next start reads a snapshot and no log."""
        for job in self.jobs:
            job.abandon()
            job.next()
        self.jobs.clear()
        if self._drain is not None:
            self._drain.close()
        if self._writer is not None:
            self._abandon_snapshot()
        durable = self._committer.durable
        if self.snapshots and self.snapshots[-1].start == durable:
            return
        self._start_snapshot()
        writer = self._writer
        assert writer is not None  # noqa: S101 - started above
        try:
            for block in self._blocks:
                writer.write(block)
            writer.complete(durable.sequence)
        except OSError as exc:
            # The log is whole without it; only the next start takes longer.
            self.findings.append(Finding(NEXT_NAME, 0, f"no snapshot at stop: {exc.strerror}"))
            writer.abandon()


def _nothing() -> None:
    """Nothing follows."""
