"""A thread that does the store's I/O, one job at a time, and reports to the event loop."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

Job = tuple[Callable[[], None], Callable[[Exception | None], None]]


class StoreThread:
    """Runs jobs beside the event loop, in the order in which they are given."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def start(self, run: Callable[[], None], done: Callable[[Exception | None], None]) -> None:
        """Call `run` in the thread, then `done` in the loop with what went wrong, if anything."""
        self._jobs.put((run, done))

    def close(self) -> None:
        """End the thread; what it has been given is done first."""
        self._jobs.put(None)
        self._thread.join()

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
