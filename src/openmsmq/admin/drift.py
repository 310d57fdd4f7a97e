"""Drift: differences between the queue manager and its definitions."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.wire.definitions.reading import read_definitions
from openmsmq.wire.errors import MsmqError

if TYPE_CHECKING:
    from .console import Console

# The interval of comparisons with the file of definitions.
COMPARE_SECONDS: Final = 60.0


class Drift:
    """Compares the file of `serve --definitions` with the queue manager, for the metrics."""

    def __init__(self, console: "Console", file: Path) -> None:
        self._console = console
        self._file = file
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._console.meters.drift = await self.differences()
            await asyncio.sleep(COMPARE_SECONDS)

    async def differences(self) -> int | None:
        """The number of definitions that differ; None if unknown now."""
        try:
            text = self._file.read_text("utf-8")
            definitions = read_definitions(text, str(self._file))
            manager = await self._console.manager()
            return len(await manager.compare_definitions(definitions))
        except (OSError, UnicodeDecodeError, MsmqError):
            return None
