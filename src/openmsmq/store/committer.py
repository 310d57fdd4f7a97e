"""Group commit: encode in the owner's thread, write in another, index when it is durable."""

from collections.abc import Sequence

from openmsmq.wire.batch import Batch, merge
from openmsmq.wire.errors import StoreError

from .compaction import PendingMoves
from .frame import Changes, Encoder
from .index import Index
from .interface import Write
from .log_format import MAX_FRAME_SIZE
from .segments import Placement, Segments, Tail


class FileWrite:
    """One frame on its way to the disk; without contents if there was nothing to store."""

    __slots__ = ("buffers", "changes", "operations", "placement", "size", "start")

    def __init__(
        self,
        size: int = 0,
        *,
        placement: Placement | None = None,
        buffers: Sequence[bytes] = (),
        changes: Changes | None = None,
        start: int = 0,
        operations: int = 0,
    ) -> None:
        self.size = size
        self.placement = placement
        self.buffers = buffers
        self.changes = changes
        self.start = start
        self.operations = operations


class Committer:
    """The path of batches into the log."""

    def __init__(
        self,
        *,
        segments: Segments,
        tail: Tail,
        index: Index,
        store_tag: int,
        pending: PendingMoves,
    ) -> None:
        self._segments = segments
        self.tail = tail
        self._index = index
        self._store_tag = store_tag
        self._pending = pending
        self._written = tail.place.sequence
        self.durable = tail.place
        """The end of the log on disk."""
        self.unmarked = False
        """Whether no later frame proves that the last one is durable."""
        self.failure: str | None = None
        self.logged_bytes = 0
        self.operations = 0
        self.flushes = 0
        self.moved = 0

    def begin(self, batches: Sequence[Batch]) -> FileWrite:
        self.check()
        batch = merge(batches) if batches else Batch()
        moves = self._pending.take() if self._pending.waiting else []
        operations = len(batch) + len(moves)
        # An empty frame after the last one proves that the last one was durable.
        if not operations and (batches or not self.unmarked):
            return FileWrite()
        encoder = Encoder(batch, moves)
        length = encoder.length
        if length > MAX_FRAME_SIZE:
            raise StoreError(f"a batch of {length} bytes; at most {MAX_FRAME_SIZE} fit")
        tail = self.tail
        start = tail.place.sequence
        placement = tail.plan(length)
        buffers, changes = encoder.encode(placement.place, self._store_tag)
        tail.take(placement)
        self.unmarked = operations > 0
        self.moved += len(moves)
        return FileWrite(
            length,
            placement=placement,
            buffers=buffers,
            changes=changes,
            start=start,
            operations=operations,
        )

    def write(self, write: Write) -> None:
        assert isinstance(write, FileWrite)  # noqa: S101 - narrows our own type
        placement = write.placement
        if placement is None:
            return
        self.check()
        if write.start != self._written:
            raise StoreError(f"batch {write.start} is written before batch {self._written}")
        place = placement.place
        segments = self._segments
        try:
            for number, size in placement.entered:
                segments.ensure(number, size)
            for place, roll in placement.rolls:
                segments.writer(place.segment).write_through(place.offset, [roll])
            place = placement.place
            segments.writer(place.segment).write_through(place.offset, write.buffers)
        except OSError as exc:
            name = segments.path(place.segment).name
            self.failure = f"{name} at offset {place.offset}: {exc.strerror or exc}"
            raise StoreError(self.failure) from exc
        self._written = placement.end.sequence

    def finish(self, write: Write) -> None:
        assert isinstance(write, FileWrite)  # noqa: S101 - narrows our own type
        if write.changes is None or write.placement is None:
            return
        end = write.placement.end
        if write.start != self.durable.sequence or end.sequence > self._written:
            raise StoreError(f"batch {write.start} is finished before it is written")
        self._index.apply(write.changes)
        self.durable = end
        self.logged_bytes += write.size
        self.operations += write.operations
        self.flushes += 1 + len(write.placement.rolls)

    def check(self) -> None:
        """Refuse to continue after a failure: only a restart can read the state of the disk."""
        if self.failure is not None:
            raise StoreError(f"stopped after a failure: {self.failure}")
