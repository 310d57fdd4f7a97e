"""The history of messages while the queue manager runs: written once a second, read in a thread."""

import asyncio
from typing import Any, Final

from openmsmq.protocol.local.deferred import Deferred
from openmsmq.service.history import HistoryFiles
from openmsmq.service.host import Host
from openmsmq.service.logs import HISTORY_FAILED, log_event
from openmsmq.wire.errors import StoreError

WRITE_SECONDS: Final = 1.0


class Histories:
    """Writes the history, and answers queries about a message."""

    def __init__(self, files: HistoryFiles, host: Host) -> None:
        self._files = files
        self._host = host
        self._failed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._start(self._write_on())

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write_on(self) -> None:
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            self.write()

    def write(self) -> None:
        """Write new records; a failure is logged once until a write succeeds."""
        try:
            self._files.write()
            self._failed = False
        except OSError as exc:
            if not self._failed:
                log_event(HISTORY_FAILED, reason=exc)
            self._failed = True

    def trace(self, identifier: bytes, answer: Deferred) -> None:
        """Answer with the records of a message."""
        self.write()
        self._start(self._find(identifier, answer))

    async def _find(self, identifier: bytes, answer: Deferred) -> None:
        try:
            history = await asyncio.to_thread(self._files.find, identifier)
        except OSError as exc:
            answer.fail(StoreError(f"the history cannot be read: {exc}"))
        else:
            answer.done(history)
        self._host.wake()

    def close(self) -> None:
        """End the work, and write the remaining records."""
        for task in self._tasks:
            task.cancel()
        self.write()
        self._files.close()
