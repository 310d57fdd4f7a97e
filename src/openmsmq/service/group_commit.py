"""Group commit: what came together during one flush goes into the next one.

The event loop builds the bytes, one other thread writes and flushes them. A lone batch is
written at once; there is no timer. When there is nothing to write, the store's own work is done,
one bounded step at a time.
"""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import NamedTuple

from openmsmq.store.interface import Store, Write
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError


class Job(NamedTuple):
    """What the thread does, what the loop does after it, and the batch that is durable then."""

    run: Callable[[], None]
    finish: Callable[[], None]
    number: int


class GroupCommit:
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
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._thread = threading.Thread(target=self._run, name="openmsmq-store", daemon=True)
        self._thread.start()

    def kick(self) -> None:
        """Start writing what the queue manager has built, unless the thread is busy."""
        if self._busy:
            return
        taken = self._take_batch()
        if taken is not None:
            self._start_write(self._store.begin([taken[1]]), taken[0])
        elif self._store.wants_write:
            self._start_write(self._store.begin([]), 0)
        else:
            step = self._store.maintain()
            if step is not None:
                self._start(Job(step.run, step.finish, 0))
            else:
                self._idle.set()

    def _start_write(self, write: Write, number: int) -> None:
        store = self._store
        self._start(Job(partial(store.write, write), partial(store.finish, write), number))

    def _start(self, job: Job) -> None:
        self._busy = True
        self._idle.clear()
        self._jobs.put(job)

    async def drain(self) -> None:
        """Return when everything built so far is on disk and the store has nothing left to do."""
        self.kick()
        await self._idle.wait()

    def close(self) -> None:
        """End the thread; what it has been given is done first."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            error = None
            try:
                job.run()
            except StoreError as exc:
                error = exc
            try:
                self._loop.call_soon_threadsafe(self._done, job, error)
            except RuntimeError:
                # The loop was closed while this was written: nobody waits for it any more.
                return

    def _done(self, job: Job, error: StoreError | None) -> None:
        self._busy = False
        if error is not None:
            self._failed(error)
            return
        job.finish()
        if job.number:
            self._durable(job.number)
        self.kick()
