"""Figures that pages show: the last ones known of the queue manager, with when they were."""

import asyncio
import time
from collections import deque
from typing import Any, Final

import msgspec

from openmsmq.wire.errors import MsmqError

from .console import Console

STEP_SECONDS: Final = 1.0
# How many samples the totals keep.
KEPT: Final = 3600


class Totals(msgspec.Struct, frozen=True):
    """The totals of the queue manager at one moment."""

    time: float
    messages: int
    arrived: int
    bytes: int
    dead_letters: int
    outgoing: int


class QueueFigures(msgspec.Struct):
    """What is known of one queue beside its properties."""

    arrived: int = 0
    waiting: int = 0
    time: float = 0.0
    arriving: float | None = None
    leaving: float | None = None
    series: deque[float] = msgspec.field(default_factory=lambda: deque(maxlen=60))


class Figures:
    """Asks the queue manager at most once a second, however many look.

    When it does not answer, the last figures stay, with the time since when they are old.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = asyncio.Lock()
        self.status: dict[str, Any] = {}
        self.queues: list[dict[str, Any]] = []
        self.outgoing: list[dict[str, Any]] = []
        self.time = 0.0
        self.stale_since: float | None = None
        self.history: deque[Totals] = deque(maxlen=KEPT)
        self._by_queue: dict[str, QueueFigures] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Sample from now on."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop sampling."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            await self.refresh()
            await asyncio.sleep(5 * STEP_SECONDS)

    async def refresh(self) -> None:
        """Ask again, unless the last answer is younger than a second."""
        async with self._lock:
            if time.time() - self.time < STEP_SECONDS:
                return
            try:
                async with asyncio.timeout(2 * STEP_SECONDS):
                    manager = await self._console.manager()
                    self.status = await manager.status()
                    self.queues = await manager.queues(include_system=True)
                    self.outgoing = await manager.outgoing()
            except (MsmqError, TimeoutError):
                if self.stale_since is None:
                    self.stale_since = self.time or time.time()
                return
            self.time, self.stale_since = time.time(), None
            self._note()

    def of(self, queue: str) -> QueueFigures:
        """The figures of a queue by its path name without the computer."""
        return self._by_queue.get(queue) or QueueFigures()

    def rate(self) -> float | None:
        """Messages that arrive in a second."""
        if len(self.history) < 2:
            return None
        last, before = self.history[-1], self.history[-2]
        return max(0.0, (last.arrived - before.arrived) / (last.time - before.time))

    def _note(self) -> None:
        arrived = 0
        for info in self.queues:
            arrived += info["arrived_messages"]
            name = info["path"].partition("\\")[2]
            known = self._by_queue.setdefault(name, QueueFigures())
            passed = self.time - known.time
            if known.time and passed:
                came = info["arrived_messages"] - known.arrived
                gone = came - (info["messages"] - known.waiting)
                known.arriving = max(0.0, came / passed)
                known.leaving = max(0.0, gone / passed)
            known.arrived, known.waiting = info["arrived_messages"], info["messages"]
            known.time = self.time
            known.series.append(float(info["messages"]))
        status = self.status
        self.history.append(
            Totals(
                self.time,
                status["messages"],
                arrived,
                status["bytes"],
                status["dead_letters"],
                status["outgoing_messages"],
            )
        )
