"""Backups of the store while the queue manager runs."""

import asyncio
from pathlib import Path
from typing import Final

from openmsmq.protocol.local.deferred import Deferred
from openmsmq.service.host import Host
from openmsmq.service.logs import BACKED_UP, BACKUP_FAILED, log_event
from openmsmq.store.interface import Store
from openmsmq.wire.errors import StoreError

POLL_SECONDS: Final = 0.02


class Backups:
    """The backups in progress."""

    def __init__(self, store: Store, host: Host) -> None:
        self._store = store
        self._host = host
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, file: str, answer: Deferred) -> None:
        """Copy the store to a file, and answer with the file and its size."""
        task = asyncio.get_running_loop().create_task(self._copy(Path(file), answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Cancel the backups in progress; their files are removed."""
        for task in self._tasks:
            task.cancel()

    async def _copy(self, file: Path, answer: Deferred) -> None:
        copied = 0

        def progress(now: int, total: int) -> None:  # noqa: ARG001 - the signature of progress
            nonlocal copied
            copied = now

        try:
            _check_target(file)
            backup = self._store.backup(file, progress)
            try:
                while not backup.done:
                    if backup.failure is not None:
                        raise backup.failure
                    self._host.wake()
                    await asyncio.sleep(POLL_SECONDS)
            except asyncio.CancelledError:
                backup.abandon()
                raise
        except StoreError as exc:
            log_event(BACKUP_FAILED, file=file, reason=exc)
            answer.fail(exc)
            return
        log_event(BACKED_UP, file=file, bytes=copied)
        answer.done({"file": str(file), "bytes": copied})


def _check_target(file: Path) -> None:
    """Refuse to replace a directory, a device or a pipe.

    Raises:
        StoreError: the target is one.
    """
    if file.exists() and not file.is_file():
        raise StoreError(
            f"{file}: it is not a regular file",
            cause="A backup replaces the file that it is written to.",
            remedy="Name a new file.",
        )
