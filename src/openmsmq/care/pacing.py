"""Pace: long work yields to a busy queue manager."""

import time
from collections.abc import Callable
from typing import Final

# The machine counts as busy when the last steps waited longer than BUSY_FACTOR times their own
# processor time; the one before the last counts less, and so on. The rest is REST_FACTOR times that
# wait, at most a tenth of a second, so that the work can be stopped soon.
BUSY_FACTOR: Final = 0.65
REST_FACTOR: Final = 20.0
MAX_REST_SECONDS: Final = 0.1
MEMORY: Final = 0.75


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
        # Of the last steps, per step.
        self._usual_wait = 0.0
        self._usual_work = 0.0
        self._begin()

    def _begin(self) -> None:
        self._started = self._clock()
        self._spent = self._own()

    def step_done(self) -> None:
        """A step is done: rest if it had to wait, then begin the next one."""
        spent = self._own() - self._spent
        waited = self._clock() - self._started - spent
        self._usual_wait += (1 - MEMORY) * (waited - self._usual_wait)
        self._usual_work += (1 - MEMORY) * (spent - self._usual_work)
        if self._usual_wait > BUSY_FACTOR * self._usual_work:
            self._sleep(min(REST_FACTOR * self._usual_wait, MAX_REST_SECONDS))
        self._begin()
