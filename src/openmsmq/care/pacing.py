"""Pace: long work yields to a busy queue manager."""

import math
import time
from collections.abc import Callable
from typing import Final

# The machine counts as busy while the work of about the last MEMORY_SECONDS waited for BUSY_FACTOR
# times as long as it ran. Beside an idle queue manager it waits for 0.1 to 0.4, beside a busy one
# for more than the double of what it runs.
MEMORY_SECONDS: Final = 0.1
BUSY_FACTOR: Final = 0.8
# The rest is REST_FACTOR times as long as the step, at most a tenth of a second, so that the work
# can be stopped soon.
REST_FACTOR: Final = 8.0
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
        # Of the steps so far, older ones count less; a first wait alone is no reason to rest.
        self._waited = 0.0
        self._worked = MEMORY_SECONDS
        self._begin()

    def _begin(self) -> None:
        self._started = self._clock()
        self._spent = self._own()

    def step_done(self) -> None:
        """A step is done: rest if the machine is busy, then begin the next one."""
        worked = self._own() - self._spent
        taken = self._clock() - self._started
        remembered = math.exp(-taken / MEMORY_SECONDS)
        self._worked = self._worked * remembered + worked
        self._waited = self._waited * remembered + taken - worked
        if self._waited > BUSY_FACTOR * self._worked:
            self._sleep(min(REST_FACTOR * taken, MAX_REST_SECONDS))
        self._begin()
