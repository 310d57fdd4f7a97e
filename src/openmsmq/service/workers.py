"""Threads for slow work that does not access the queue manager."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Workers:
    """Runs jobs outside of the event loop, several at a time; threads start on demand.

    Args:
        name: the name of the threads.
        count: the maximum number of threads.
    """

    def __init__(self, name: str, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    def start(self, run: Callable[[], None], done: Callable[[Exception | None], None]) -> None:
        """Call `run` in a thread, then `done` in the loop with the exception, if any."""

        def finished(future: asyncio.Future[None]) -> None:
            if not future.cancelled():
                error = future.exception()
                done(error if isinstance(error, Exception) else None)

        self._loop.run_in_executor(self._pool, run).add_done_callback(finished)

    async def close(self) -> None:
        """Wait for the running jobs; those not started are dropped."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
