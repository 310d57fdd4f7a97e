"""Where a node keeps what must survive: a store, and what a power cut leaves of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final, Protocol

from tests.store.simulated_disk import PowerCut, SimulatedDisk

from openmsmq.store.committer import FileWrite
from openmsmq.store.file_store import FileStore
from openmsmq.store.interface import Recovery, Store, Write
from openmsmq.store.memory_store import MemoryStore
from openmsmq.store.options import Options
from openmsmq.wire.batch import Batch

_FOLDER: Final = Path("/store")
_OPTIONS: Final = Options(segment_size=1 << 16, snapshot_interval=1 << 16, reserve=1 << 12)
# A row of our own in every batch tells which was the last on disk.
_TABLE: Final = 200
_KEY: Final = b"batch"


class Disk(Protocol):
    """One node's disk."""

    @property
    def store(self) -> Store:
        """What the node writes to."""

    def start(self) -> Recovery:
        """What the next life of the node finds."""

    def power_cut(self, write: Write | None, random: Random) -> bool:
        """The machine stops, maybe during a write; return whether that is on disk after all."""


class MemoryDisk:
    """A write is there or not."""

    def __init__(self) -> None:
        self.store: Store = MemoryStore()

    def start(self) -> Recovery:
        return self.store.recover(None)

    def power_cut(self, write: Write | None, random: Random) -> bool:
        if write is None or random.random() < 0.5:
            return False
        self.store.write(write)
        self.store.finish(write)
        return True


class MarkedStore(FileStore):
    """The real store; a row in every write says which one it is."""

    mark = 0

    def begin(self, batches: Sequence[Batch]) -> FileWrite:
        if batches:
            self.mark += 1
            batches[-1].set_row(_TABLE, _KEY, b"%d" % self.mark)
        return super().begin(batches)


class FileDisk:
    """The real store on a simulated disk: writes are torn, sectors survive or not."""

    def __init__(self, guid: bytes) -> None:
        self._guid = guid
        self._disk = SimulatedDisk()
        self._found: Recovery | None = None
        self.store = self._open()

    def _open(self) -> MarkedStore:
        return MarkedStore(_FOLDER, new_store_id=self._guid, options=_OPTIONS, files=self._disk)

    def start(self) -> Recovery:
        found, self._found = self._found, None
        return found or self.store.recover(None)

    def power_cut(self, write: Write | None, random: Random) -> bool:
        mark = self.store.mark
        if write is not None:
            self._disk.cut_at = self._disk.events + random.randint(1, 3)
            with suppress(PowerCut):
                self.store.write(write)
        self._disk = self._disk.restart(random, keep=random.choice((0.0, 0.6, 1.0)))
        self.store = self._open()
        self.store.mark = mark
        self._found = found = self.store.recover(None)
        rows = {key: value for table, key, value in found.rows if table == _TABLE}
        return write is not None and rows.get(_KEY) == b"%d" % mark
