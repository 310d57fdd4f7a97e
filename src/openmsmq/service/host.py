"""The asyncio host of an engine: its turn of the event loop, its threads and its timer."""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

from openmsmq.core.events import FlowControlChanged
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.transfer.checks.checks import CheckJob
from openmsmq.engine.engine import Engine
from openmsmq.store.interface import Store, Write

from .logs import DAMAGE_FOUND, DISK_FULL, DISK_HAS_ROOM, log_event
from .meters import BATCH_BOUNDS, FLUSH_BOUNDS, LoopLag, Meter
from .workers import Workers

Job = tuple[Callable[[], None], Callable[[Exception | None], None]]


class StoreThread:
    """Runs jobs outside of the event loop, in the order of the calls."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._run, name=name, daemon=True)
        self._worker.start()

    def start(self, run: Callable[[], None], done: Callable[[Exception | None], None]) -> None:
        """Call `run` in the thread, then `done` in the loop with the exception, if any."""
        self._jobs.put((run, done))

    def close(self) -> None:
        """End the thread after the jobs that it has been given."""
        self._jobs.put(None)
        self._worker.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            run, done = job
            error = None
            try:
                run()
            except Exception as exc:  # noqa: BLE001 - whatever it is, the loop must hear of it
                error = exc
            try:
                self._loop.call_soon_threadsafe(done, error)
            except RuntimeError:
                # The loop was closed meanwhile: nothing waits for the result any more.
                return


# The timer never sleeps longer, so that a jump of the clock is noticed.
LONGEST_SLEEP: Final = 60.0
# The interval of slow work: checking the free space, summing up log lines.
SLOW_SECONDS: Final = 1.0
# Threads that check messages.
CHECK_THREADS: Final = 4


class Host:
    """Gives an engine its turns of the event loop, and its writes to a thread.

    Call `tick` before any change of the queue manager and `wake` after it. Changes made
    during one write go into the next one; a lone batch is written at once.

    Args:
        failed: called with a fault that needs a restart; nothing is sent any more.
    """

    def __init__(
        self, engine: Engine, store: Store, *, failed: Callable[[Exception], None]
    ) -> None:
        self.engine: Final = engine
        self._store = store
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._commit = StoreThread("openmsmq-commit")
        self._upkeep = StoreThread("openmsmq-upkeep")
        self._checks = Workers("openmsmq-check", CHECK_THREADS)
        # Jobs taken by threads.
        self._jobs = 0
        self._written = asyncio.Event()
        self._stepped = asyncio.Event()
        self._stepped.set()
        self.flush_seconds: Final = Meter(FLUSH_BOUNDS)
        self.batch_messages: Final = Meter(BATCH_BOUNDS)
        self.lag: Final = LoopLag()
        self._slow: list[Callable[[], None]] = [self.engine.watch_room]
        self._woken = False
        self._stopped = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._slow_timer = self._loop.call_later(SLOW_SECONDS, self._on_slow_timer)
        self.engine.listen(FlowControlChanged, log_flow_control)
        self.tick()
        self.engine.watch_room()

    @property
    def manager(self) -> QueueManager:
        return self.engine.manager

    def every_second(self, action: Callable[[], None]) -> None:
        """Call back about once a second."""
        self._slow.append(action)

    def when_durable(self, depends: int, effect: Callable[[Any], None], argument: object) -> None:
        """Call `effect(argument)` once batch `depends` is on disk."""
        self.engine.gate.when_durable(depends, effect, argument)

    # Inputs

    def tick(self) -> float:
        """Set the time of the engine; return the monotonic time."""
        now = time.monotonic()
        self.engine.enter(now=now, utc=time.time())
        return now

    @property
    def saturated(self) -> bool:
        """Whether too many bytes wait for the disk to accept more requests."""
        return self._stopped or self.engine.saturated

    def when_free(self, action: Callable[[], None]) -> None:
        """Call back when it is no longer saturated."""
        self.engine.when_free(action)

    def wake(self) -> None:
        """There may be something to store or to send."""
        if not self._woken and not self._stopped:
            self._woken = True
            self._loop.call_soon(self._turn)

    def send_at_once(self, output: Callable[[], None]) -> None:
        """Let an output of the engine send; a turn follows only if one is needed."""
        if self._stopped:
            return
        try:
            output()
        except Exception as exc:  # noqa: BLE001 - as in a turn
            self._fail(exc)
        else:
            if not self.engine.idle or self._is_timer_late(self.manager.next_timer()):
                self.wake()

    # The turn

    def _turn(self) -> None:
        self._woken = False
        self._guard(self._work)

    def _guard(self, action: Callable[[], None]) -> None:
        """Run a part of the turn; after a fault in it only a restart restores a known state."""
        if self._stopped:
            return
        try:
            self.tick()
            action()
        except Exception as exc:  # noqa: BLE001 - what was not sent is lost: a restart is needed
            self._fail(exc)

    def _work(self) -> None:
        self.engine.work()
        self._start_jobs()
        self._use_disk()
        self._set_timer()

    def _use_disk(self) -> None:
        step = self.engine.take_step()
        if step is not None:
            self._stepped.clear()
            self._upkeep.start(step.run, self._on_step)
        write = self.engine.take_write()
        if write is not None:
            self._written.clear()
            self._commit.start(partial(self._write, write), self._on_written)
        elif self.engine.writing is None:
            self._written.set()

    def _write(self, write: Write) -> None:
        """Runs in the thread of the store."""
        started = time.perf_counter()
        self._store.write(write)
        self.flush_seconds.add(time.perf_counter() - started)
        self.batch_messages.add(write.operations)

    def _on_written(self, error: Exception | None) -> None:
        if error is not None:
            self._fail(error)
        self._guard(self._after_write)

    def _after_write(self) -> None:
        self.engine.written()
        # The disk works while replies are sent; they leave before the next turn.
        self._use_disk()
        if self.engine.has_work:
            self.wake()
        else:
            self._set_timer()

    def _on_step(self, error: Exception | None) -> None:
        self._stepped.set()
        if error is not None:
            self._fail(error)
        self._guard(self._after_step)

    def _after_step(self) -> None:
        self.engine.stepped()
        for finding in self._store.take_findings():
            log_event(DAMAGE_FOUND, file=finding.file, offset=finding.offset, what=finding.reason)
        self._work()

    # Checks of messages

    def _start_jobs(self) -> None:
        # Jobs that no thread can take yet stay in the queue where addresses take turns.
        while self._jobs < CHECK_THREADS and (job := self.engine.take_job()) is not None:
            self._jobs += 1
            self._checks.start(job.run, partial(self._on_job, job))

    def _on_job(self, job: CheckJob, error: Exception | None) -> None:
        self._jobs -= 1
        self._guard(partial(self._after_job, job, error))

    def _after_job(self, job: CheckJob, error: Exception | None) -> None:
        self.engine.job_done(job, error)
        self._work()

    # Timers

    def _set_timer(self) -> None:
        """Set the timer. A timer that fires too early costs less than a new one."""
        due = self.engine.next_timer()
        if due is None or not self._is_timer_late(due):
            return
        if self._timer is not None:
            self._timer.cancel()
        now = time.monotonic()
        self._timer_at = min(max(due, now), now + LONGEST_SLEEP)
        self._timer = self._loop.call_later(self._timer_at - now, self._on_timer)

    def _is_timer_late(self, due: float | None) -> bool:
        """Whether the timer fires too late for the next work."""
        return due is not None and (self._timer is None or self._timer_at > due)

    def _on_timer(self) -> None:
        self._timer = None
        self._guard(self._after_timer)

    def _after_timer(self) -> None:
        self.engine.handle_timer(now=time.monotonic(), utc=time.time())
        self._work()

    def _on_slow_timer(self) -> None:
        self._slow_timer = self._loop.call_later(SLOW_SECONDS, self._on_slow_timer)
        for action in self._slow:
            action()
        self.wake()

    # The end

    def _fail(self, error: Exception) -> None:
        if not self._stopped:
            self._stopped = True
            self._written.set()
            self._failed(error)

    async def drain(self) -> None:
        """Return when all batches of the queue manager are on disk, or can no longer be written."""
        if not self._stopped:
            self._turn()
            await self._written.wait()

    async def close(self) -> None:
        """Make everything durable and stop."""
        await self.drain()
        self._stopped = True
        self.lag.close()
        for timer in (self._timer, self._slow_timer):
            if timer is not None:
                timer.cancel()
        await self._stepped.wait()
        await self._checks.close()
        self._upkeep.close()
        self._commit.close()


def log_flow_control(event: FlowControlChanged) -> None:
    log_event(DISK_FULL if event.throttled else DISK_HAS_ROOM)
