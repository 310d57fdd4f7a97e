"""MemoryStore: the store without a disk, for tests and for queue managers that keep nothing."""

from collections.abc import Sequence
from pathlib import Path

from openmsmq.wire.batch import Batch, merge
from openmsmq.wire.errors import StoreError

from .interface import Backup, Finding, Progress, Recovery, Step, StoreStats, Write


class MemoryWrite:
    """The batches of one commit."""

    __slots__ = ("batch", "operations", "size")

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.size = batch.size
        self.operations = len(batch)


class MemoryScratch:
    """Packets by handle."""

    def __init__(self) -> None:
        self._packets: dict[int, bytes] = {}
        self._next = 0

    def put_many(self, packets: Sequence[bytes]) -> list[int]:
        handles = list(range(self._next, self._next + len(packets)))
        self._next += len(packets)
        self._packets.update(zip(handles, packets, strict=True))
        return handles

    def get_many(self, handles: Sequence[int]) -> list[bytes]:
        return [self._packets[handle] for handle in handles]

    def free(self, handle: int) -> None:
        del self._packets[handle]


class MemoryStore:
    """Implements `Store`; `recover` after a `close` returns the data finished before it."""

    def __init__(self) -> None:
        self.scratch = MemoryScratch()
        self._messages: dict[int, tuple[bytes, bytes]] = {}
        self._rows: dict[tuple[int, bytes], bytes] = {}
        self._message_bytes = 0
        self._sequence = 0

    def recover(self, progress: Progress | None = None) -> Recovery:
        self.scratch = MemoryScratch()
        if progress is not None:
            progress(self._message_bytes, self._message_bytes)
        return Recovery(
            messages=[
                (key, record, len(packet))
                for key, (record, packet) in sorted(self._messages.items())
            ],
            rows=[(table, key, value) for (table, key), value in self._rows.items()],
        )

    def begin(self, batches: Sequence[Batch]) -> MemoryWrite:
        return MemoryWrite(merge(batches) if batches else Batch())

    def write(self, write: Write) -> None:
        """Nothing to do: `finish` publishes it."""

    def finish(self, write: Write) -> None:
        assert isinstance(write, MemoryWrite)  # noqa: S101 - narrows our own type
        batch = write.batch
        for key, record, packet in zip(batch.put_keys, batch.records, batch.packets, strict=True):
            self._messages[key] = (record, packet)
            self._message_bytes += len(packet)
        for key, record in batch.updates.items():
            if key in self._messages:
                self._messages[key] = (record, self._messages[key][1])
        for key in batch.deletes:
            _, packet = self._messages.pop(key, (b"", b""))
            self._message_bytes -= len(packet)
        for row, value in batch.rows.items():
            if value is None:
                self._rows.pop(row, None)
            else:
                self._rows[row] = value
        self._sequence += 1

    def read_many(self, keys: Sequence[int]) -> list[bytes]:
        try:
            return [self._messages[key][1] for key in keys]
        except KeyError as exc:
            raise StoreError(f"message {exc.args[0]} is not in the store") from exc

    def room(self, size: int = 0, *, urgent: bool = False) -> bool:  # noqa: ARG002 - Store
        return True

    @property
    def wants_write(self) -> bool:
        return False

    def maintain(self) -> Step | None:
        return None

    def take_findings(self) -> list[Finding]:
        return []

    def stats(self) -> StoreStats:
        return StoreStats(
            messages=len(self._messages),
            message_bytes=self._message_bytes,
            rows=len(self._rows),
            sequence=self._sequence,
        )

    def backup(self, target: Path, progress: Progress | None = None) -> Backup:  # noqa: ARG002
        raise StoreError(f"cannot back up to {target}: this store keeps nothing on disk")

    def close(self) -> None:
        """Nothing to do."""
