"""What the store does beside commits: spare segments, snapshots, compaction, backups.

One bounded step at a time, in a thread of its own, so that no commit waits for one.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from openmsmq.store.interface import Finding, Step, Store

from .store_thread import StoreThread

# How often the store is asked what is due while there is nothing.
LOOK_SECONDS: Final = 0.05


class Upkeep:
    """Carries out the store's own steps.

    Args:
        stepped: called after each step.
        found: told of damage that a step came across.
        failed: told what went wrong; no more steps are made.
    """

    def __init__(
        self,
        store: Store,
        *,
        stepped: Callable[[], None],
        found: Callable[[Finding], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._store = store
        self._stepped = stepped
        self._found = found
        self._failed = failed
        self._thread = StoreThread("openmsmq-upkeep")
        self._next_look = 0.0
        self._step: Step | None = None
        self._ended = False
        self._idle = asyncio.Event()
        self._idle.set()

    def look(self) -> None:
        """Begin a step if one is due; cheap when nothing is.

        Call it when no write is under way too, because some steps can only begin then.
        """
        now = time.monotonic()
        if self._step is not None or self._ended or now < self._next_look:
            return
        self._step = self._store.maintain()
        if self._step is None:
            self._next_look = now + LOOK_SECONDS
            return
        self._idle.clear()
        self._thread.start(self._step.run, self._done)

    def _done(self, error: Exception | None) -> None:
        step, self._step = self._step, None
        self._idle.set()
        try:
            if error is not None:
                raise error
            if step is not None:
                step.finish()
        except Exception as exc:  # noqa: BLE001 - the store cannot be trusted any more
            self._ended = True
            self._failed(exc)
            return
        for finding in self._store.take_findings():
            self._found(finding)
        self._stepped()

    def end(self) -> None:
        """Begin no more steps."""
        self._ended = True

    async def close(self) -> None:
        """Begin no more steps and wait for the one that is under way."""
        self._ended = True
        await self._idle.wait()
        self._thread.close()
