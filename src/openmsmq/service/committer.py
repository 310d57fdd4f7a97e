"""Group commit: what came together during one flush goes into the next one.

The event loop builds the bytes, one other thread writes and flushes them. A lone batch is
written at once; there is no timer.
"""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

from openmsmq.store.interface import Store, Write
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError


class Committer:
    """Writes batches in order, one flush at a time."""

    def __init__(
        self,
        store: Store,
        *,
        take_batch: Callable[[], tuple[int, Batch] | None],
        durable: Callable[[int], None],
        failed: Callable[[StoreError], None],
    ) -> None:
        self._store = store
        self._take_batch = take_batch
        self._durable = durable
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._writes: SimpleQueue[Write | None] = SimpleQueue()
        self._number: int | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._thread = threading.Thread(target=self._run, name="openmsmq-store", daemon=True)
        self._thread.start()

    def kick(self) -> None:
        """Start writing what the queue manager has built, unless a write is under way."""
        if self._number is not None:
            return
        taken = self._take_batch()
        if taken is None:
            self._idle.set()
            return
        self._number, batch = taken
        self._idle.clear()
        self._writes.put(self._store.begin([batch]))

    async def drain(self) -> None:
        """Return when everything built so far is on disk."""
        self.kick()
        await self._idle.wait()

    def close(self) -> None:
        """End the thread; what it has been given is written first."""
        self._writes.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (write := self._writes.get()) is not None:
            error = None
            try:
                self._store.write(write)
            except StoreError as exc:
                error = exc
            self._loop.call_soon_threadsafe(self._written, write, error)

    def _written(self, write: Write, error: StoreError | None) -> None:
        number, self._number = self._number, None
        if error is not None:
            self._failed(error)
            return
        self._store.finish(write)
        if number is not None:
            self._durable(number)
        self.kick()
