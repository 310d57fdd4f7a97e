"""Pace: long work leaves a busy queue manager the time that it needs for others."""

import time
from collections.abc import Callable
from typing import Final

# A step that waits longer than so many times its own work waits for a machine that others keep
# busy: then it rests for so many times as long as it waited, but not longer than a tenth of a
# second, so that it can be stopped at any time.
BUSY_FACTOR: Final = 2.0
REST_FACTOR: Final = 4.0
MAX_REST_SECONDS: Final = 0.1


class Pace:
    """Rests between the steps of long work while the machine is busy.

    Args:
        clock: seconds that pass.
        own: seconds of processor time of this thread.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        own: Callable[[], float] = time.thread_time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock = clock
        self._own = own
        self._sleep = sleep
        self._begin()

    def _begin(self) -> None:
        self._started = self._clock()
        self._spent = self._own()

    def step_done(self) -> None:
        """A step is done: rest if it had to wait, then begin the next one."""
        spent = self._own() - self._spent
        waited = self._clock() - self._started - spent
        if waited > BUSY_FACTOR * spent:
            self._sleep(min(REST_FACTOR * waited, MAX_REST_SECONDS))
        self._begin()
