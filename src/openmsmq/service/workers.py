"""Threads for work that takes long and touches nothing of the queue manager."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Workers:
    """Runs jobs beside the event loop, several at a time; a thread starts when it is needed.

    Args:
        name: of the threads.
        count: how many there are at most.
    """

    def __init__(self, name: str, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    def start(self, run: Callable[[], None], done: Callable[[Exception | None], None]) -> None:
        """Call `run` in a thread, then `done` in the loop with what went wrong, if anything."""

        def finished(future: asyncio.Future[None]) -> None:
            if not future.cancelled():
                error = future.exception()
                done(error if isinstance(error, Exception) else None)

        self._loop.run_in_executor(self._pool, run).add_done_callback(finished)

    async def close(self) -> None:
        """Wait for the jobs that run; those that no thread has begun are dropped."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
