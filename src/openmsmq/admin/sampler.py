"""One sampler for each queue manager: all viewers share its picture and its history."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from openmsmq.aio import QueueManager
from openmsmq.wire.errors import MsmqError

from .history import History
from .picture import Picture
from .traffic import TrafficRates

if TYPE_CHECKING:
    from .console import Console

# The intervals of samples with and without viewers.
BUSY_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 5.0
# A caller within this time counts as a viewer.
LOOKING_SECONDS: Final = 15.0
# The clock was set if it advanced this much faster or slower than time, between two samples.
JUMP_SECONDS: Final = 60.0
# The interval of writing the history to its file.
KEEP_SECONDS: Final = 300.0


class Sampler:
    """Takes samples while the console runs.

    Attributes:
        picture: the newest picture; empty before the first.
        fault: why the last sample failed; empty if it did not.
        rates: of sessions and clients.
        taken: the monotonic time of the last one; None before the first.
    """

    def __init__(self, console: "Console") -> None:
        self._console = console
        folder = console.settings.folder
        self.picture: Final = Picture()
        self.history: Final = History(None if folder is None else folder / "history")
        self.rates: Final = TrafficRates()
        self.fault = "no sample has been taken yet"
        self.taken: float | None = None
        self._looked = -LOOKING_SECONDS
        self._wake = asyncio.Event()
        self._sampled = asyncio.Condition()
        self._listeners: list[Callable[[Picture], None]] = []
        self._task: asyncio.Task[None] | None = None
        self._manager: QueueManager | None = None
        self._kept = time.monotonic()
        # The lead of the clock over the monotonic one.
        self._ahead: float | None = None

    async def start(self) -> None:
        self.history.load()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self._hang_up()
        self.history.save()

    # For viewers

    def look(self) -> None:
        """There is a viewer: take samples every second for a while."""
        looked = time.monotonic() - self._looked < LOOKING_SECONDS
        self._looked = time.monotonic()
        if not looked:
            self._wake.set()

    def listen(self, listener: Callable[[Picture], None]) -> Callable[[], None]:
        """Call back after each sample; call the result to end it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def fresh(self, seconds: float) -> Picture:
        """A picture that is no older than this, or the newest one if none arrives.

        If needed a sample is taken now, and shared by callers. While the queue manager is silent
        no caller waits for one.
        """
        taken = self.taken
        if self.fault and self.picture.head:
            return self.picture
        if taken is None or time.monotonic() - taken > seconds:
            self._wake.set()
            async with self._sampled:
                await self._sampled.wait()
        return self.picture

    # Taking samples

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            await self._sample()
            async with self._sampled:
                self._sampled.notify_all()
            looked_at = time.monotonic() - self._looked < LOOKING_SECONDS
            pause = BUSY_SECONDS if looked_at or self._listeners else IDLE_SECONDS
            try:
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _sample(self) -> None:
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                number = self.picture.number
                if self._manager is None:
                    # Numbers of samples are valid for one connection.
                    self._manager = await self._console.connect()
                    number = 0
                parts = await self._manager.sample(number)
        except (MsmqError, TimeoutError) as exc:
            self.fault = str(exc) or "the queue manager does not answer"
            await self._hang_up()
            return
        self.picture.take(parts)
        self.fault = ""
        self.taken = time.monotonic()
        complete = self.picture.head["complete"]
        self.rates.add(self.picture.traffic, self.taken, complete=complete)
        utc = time.time()
        before, self._ahead = self._ahead, utc - self.taken
        if before is not None and abs(self._ahead - before) > JUMP_SECONDS:
            self.history.interrupt()
        self.history.add(self.picture, utc)
        for listener in list(self._listeners):
            listener(self.picture)
        if self.taken - self._kept >= KEEP_SECONDS:
            self._kept = self.taken
            self.history.save()

    async def _hang_up(self) -> None:
        manager, self._manager = self._manager, None
        if manager is not None:
            try:
                await manager.close()
            except MsmqError:
                # It is lost already.
                return
