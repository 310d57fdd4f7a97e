"""Group commit: what came together during one flush goes into the next one.

The event loop builds the bytes, another thread writes and flushes them. A lone batch is written at
once; there is no timer.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from openmsmq.store.interface import Store, Write
from openmsmq.wire.batch import Batch

from .store_thread import StoreThread


class GroupCommit:
    """Writes batches in order, one flush at a time.

    Args:
        take_batch: what is to be written next, with its number; None when there is nothing.
        durable: told the number of the last batch that is on disk.
        between: called when nothing is being written, before the next batch is begun.
        failed: told what went wrong; nothing is written any more.
    """

    def __init__(
        self,
        store: Store,
        *,
        take_batch: Callable[[], tuple[int, Batch] | None],
        durable: Callable[[int], None],
        between: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._store = store
        self._take_batch = take_batch
        self._durable = durable
        self._between = between
        self._failed = failed
        self._thread = StoreThread("openmsmq-commit")
        self._writing = False
        self._ended = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def writing(self) -> bool:
        return self._writing

    def kick(self) -> None:
        """Start writing what the queue manager has built, unless a write is under way."""
        if self._writing or self._ended:
            return
        try:
            self._between()
            taken = self._take_batch()
            if taken is None:
                self._idle.set()
            else:
                number, batch = taken
                self._start(self._store.begin([batch]), number)
        except Exception as exc:  # noqa: BLE001 - the batch is lost: only a restart knows the state
            self._fail(exc)

    def write_own(self) -> None:
        """Write what the store itself wants to, if it does and nothing else is being written."""
        if self._writing or self._ended or not self._store.wants_write:
            return
        try:
            self._start(self._store.begin([]), 0)
        except Exception as exc:  # noqa: BLE001 - as in `kick`
            self._fail(exc)

    def _start(self, write: Write, number: int) -> None:
        self._writing = True
        self._idle.clear()
        self._thread.start(partial(self._store.write, write), partial(self._done, write, number))

    def _done(self, write: Write, number: int, error: Exception | None) -> None:
        self._writing = False
        if self._ended:
            return
        try:
            if error is not None:
                raise error
            self._store.finish(write)
            if number:
                self._durable(number)
        except Exception as exc:  # noqa: BLE001 - as in `kick`
            self._fail(exc)
            return
        self.kick()

    def _fail(self, error: Exception) -> None:
        self._ended = True
        self._idle.set()
        self._failed(error)

    async def drain(self) -> None:
        """Return when everything that the queue manager has built is on disk, or never will be."""
        self.kick()
        await self._idle.wait()

    def close(self) -> None:
        """Write nothing more; ends the thread after the write that is under way."""
        self._ended = True
        self._thread.close()
