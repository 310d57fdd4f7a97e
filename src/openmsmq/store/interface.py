"""The interface of every store: atomic batches, packets, recovery, maintenance in small steps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError

Progress = Callable[[int, int], None]
"""Called with the bytes done and the total."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Damage in the files."""

    file: str
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file} at offset {self.offset}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """The live data after a start; read both iterables once, before the first batch.

    `repaired` lists torn frames that were cut off, and damage without loss. `restored` stays
    true at every start until a batch with `Batch.clear_restored` is durable.
    """

    messages: Iterable[tuple[int, bytes, int]]
    """Key, record and packet size of every live message, in key order."""
    rows: Iterable[tuple[int, bytes, bytes]]
    """Table, key and value of every state row."""
    repaired: Sequence[Finding] = field(default=())
    restored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Figures of the store."""

    messages: int
    message_bytes: int
    rows: int
    disk_bytes: int = 0
    segments: int = 0
    sequence: int = 0
    flushes: int = 0
    snapshots: int = 0
    moved_messages: int = 0
    room: bool = True
    written_bytes: int = 0


class Write(Protocol):
    """Batches on their way to the disk, between `Store.begin` and `Store.finish`."""

    @property
    def size(self) -> int:
        """The bytes to be written to disk."""

    @property
    def operations(self) -> int:
        """The number of messages and rows that are put, changed or deleted."""


class Step(Protocol):
    """One bounded piece of maintenance."""

    def run(self) -> None:
        """The I/O: in any thread, even concurrent with `Store.write`.

        Raises:
            StoreError: the store is in an unknown state: stop.
        """

    def finish(self) -> None:
        """The completion: in the owner's thread, after `run`."""


class Scratch(Protocol):
    """Express messages above the memory budget: on disk, never flushed, lost at the next start."""

    def put_many(self, packets: Sequence[bytes]) -> list[int]:
        """Keep packets and return their handles.

        Raises:
            StoreError: no space; nothing was kept.
        """

    def get_many(self, handles: Sequence[int]) -> list[bytes]:
        """The packets of handles that are not freed."""

    def free(self, handle: int) -> None:
        """Delete a packet."""


class Store(Protocol):
    """Owned by one thread; only `write` and `Step.run` may run in another."""

    @property
    def scratch(self) -> Scratch:
        """Storage for express messages when memory is short."""

    def recover(self, progress: Progress | None = None) -> Recovery:
        """The live data; call it once, before anything else.

        Raises:
            StoreError: damage, with file and offset; the files stay as they are.
        """

    def begin(self, batches: Sequence[Batch]) -> Write:
        """Encode the batches and choose their position; no I/O.

        Batches become durable in the order of `begin`. With no batches, the store's own pending
        work is written (see `wants_write`).
        """

    def write(self, write: Write) -> None:
        """Make it durable; in any thread, one at a time, in the order of `begin`.

        Raises:
            StoreError: the store is in an unknown state: stop and start again.
        """

    def finish(self, write: Write) -> None:
        """Index new data, remove deleted data; after `write`, in the same order."""

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        """The packets of live messages whose put is finished.

        Raises:
            StoreError: a missing message, or damage, with file and offset.
        """

    def room(self, size: int = 0, *, urgent: bool = False) -> bool:
        """Whether `size` bytes more can be stored, beyond everything begun.

        Changes that free space or must be stored (deletes, updates, state rows) are urgent and may
        use the reserved space.
        """

    @property
    def wants_write(self) -> bool:
        """Whether a `begin` would write work of the store's own; good to do when idle."""

    def maintain(self) -> Step | None:
        """The next piece of maintenance, or None; one at a time."""

    def take_findings(self) -> list[Finding]:
        """Damage that maintenance found since the last call."""

    def stats(self) -> StoreStats:
        """Figures for status and metrics."""

    def backup(self, target: Path, progress: Progress | None = None) -> "Backup":
        """Begin a consistent copy in one file while the store is in use.

        Raises:
            StoreError: this store cannot be copied, or a backup is in progress.
        """

    def close(self) -> None:
        """Stop cleanly; everything begun must be finished."""


class Backup(Protocol):
    """A backup in progress; its steps come from `Store.maintain`."""

    @property
    def done(self) -> bool:
        """Whether the target is complete and durable."""

    @property
    def failure(self) -> StoreError | None:
        """The error that ended it, or None."""

    def abandon(self) -> None:
        """Cancel and remove the target."""
