"""Work of the file store besides commits: spare segments, snapshots, removal, compaction.

Every call of `next` returns at most one bounded step. The owner's thread decides and indexes, the
I/O is in `Step.run`.
"""

from .committer import Committer
from .compaction import PendingMoves, Piece, SegmentDrain
from .files import Files
from .index import Index
from .interface import Finding, Step
from .log_format import MAX_FRAME_SIZE
from .options import Options
from .segments import Segments
from .snapshots import Snapshots
from .steps import Gate, Job, Task, TaskStep, Then, nothing


class Maintenance:
    """Chooses the work that is due. Used by the owner, except for `run` of the steps."""

    def __init__(
        self,
        files: Files,
        options: Options,
        *,
        segments: Segments,
        index: Index,
        committer: Committer,
        moves: PendingMoves,
        snapshots: Snapshots,
    ) -> None:
        self._files = files
        self._options = options
        self._segments = segments
        self._index = index
        self._committer = committer
        self._moves = moves
        self._snapshots = snapshots
        self._drain: SegmentDrain | None = None
        self._unsound: set[int] = set()
        self._under_way = False
        self.gate = Gate()
        self.free_bytes = files.free_bytes(segments.directory)
        self.findings: list[Finding] = []
        self.jobs: list[Job] = []

    def next(self) -> Step | None:
        """The next step, or None; None while one is in progress."""
        if self._under_way:
            return None
        self.free_bytes = self._files.free_bytes(self._segments.directory)
        task = (
            self._remove()
            or self._prepare_segment()
            or self._snapshots.next(self.free_bytes, disk_full=self.gate.closed)
            or self._snapshots.reserve(self.free_bytes)
            or self._job()
            or self._compact()
        )
        if task is None:
            return None
        self._under_way = True
        return TaskStep(task, self._ended)

    def _ended(self) -> None:
        self._under_way = False

    def _remove(self) -> Task | None:
        """Delete files that neither recovery nor a backup needs."""
        pinned = {number for job in self.jobs for number in job.segments}
        if self._drain is not None:
            pinned.add(self._drain.number)
        horizon = self._snapshots.horizon
        live = self._index.live
        dead = [
            number
            for number in self._segments.sizes
            if number < horizon and not live.get(number) and number not in pinned
        ]
        paths = self._snapshots.take_obsolete({g for job in self.jobs for g in job.generations})
        paths += [self._segments.path(number) for number in dead]
        if not paths:
            return None
        for number in dead:
            self._segments.forget(number)
            live.pop(number, None)

        def do() -> Then:
            for path in paths:
                self._files.unlink(path)
            self._files.sync_directory(self._segments.directory)
            return nothing

        return Task(do)

    def _prepare_segment(self) -> Task | None:
        """Create the next segment before it is needed."""
        number = self._committer.tail.place.segment + 1
        segments = self._segments
        free_bytes = self.free_bytes
        if number in segments.ready:
            return None
        if not self.gate.opens(free_bytes, self._options.segment_size):
            self.gate.close(free_bytes)
            return None
        # The size is fixed now: a commit may reach this segment before the step does.
        size = segments.sizes.setdefault(number, self._options.segment_size)

        def made() -> None:
            self.gate.closed = False

        def full() -> None:
            self.gate.close(free_bytes)
            if self._committer.tail.place.segment < number:
                del segments.sizes[number]

        def do() -> Then:
            segments.ensure(number, size)
            return made

        return Task(do, full)

    def _job(self) -> Task | None:
        while self.jobs:
            task = self.jobs[0].next()
            if task is not None:
                return task
            del self.jobs[0]
        return None

    def _compact(self) -> Task | None:
        if self._moves.waiting:
            return None
        drain = self._drain or self._choose()
        if drain is None:
            return None
        self._drain = drain

        def do() -> Then:
            piece = drain.piece(self._options.step_size)
            return lambda: self._drained(drain, piece)

        return Task(do)

    def _choose(self) -> SegmentDrain | None:
        """The emptiest segment whose compaction frees space at once."""
        committer = self._committer
        # Writes in progress may move or delete messages of the segment that looks emptiest.
        if committer.durable != committer.tail.place:
            return None
        horizon = self._snapshots.horizon
        sizes = self._segments.sizes
        space = MAX_FRAME_SIZE
        if self.gate.closed:
            space = committer.tail.remaining - self._options.reserve
        sparse = [
            (weight / sizes[number], number)
            for number, weight in self._index.live.items()
            if number < horizon
            and 0 < weight < min(self._options.compact_below * sizes[number], space)
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
        """Stop cleanly; no step is in progress."""
        for job in self.jobs:
            job.abandon()
            job.next()
        self.jobs.clear()
        if self._drain is not None:
            self._drain.close()
        finding = self._snapshots.close()
        if finding is not None:
            self.findings.append(finding)
