"""Waiting for a queue manager to start or to return."""

from socket import gaierror
from typing import Final

from openmsmq.client.errors import ConnectionLost

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0


class Patience:
    """The pauses between tries, which grow.

    Args:
        seconds: the time limit of all tries; None for ever.
        now: monotonic time.
    """

    def __init__(self, seconds: float | None, now: float) -> None:
        self._deadline = None if seconds is None else now + seconds
        self._pause = FIRST_PAUSE

    def next_pause(self, now: float) -> float | None:
        """Seconds until the next try; None when the time is over."""
        remaining = None if self._deadline is None else self._deadline - now
        if remaining is not None and remaining <= 0:
            return None
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        return pause if remaining is None else min(pause, remaining)


def may_start(error: ConnectionLost) -> bool:
    """Whether waiting may help: no server listens there yet, or the host is unknown."""
    return isinstance(
        error.__cause__, FileNotFoundError | ConnectionError | TimeoutError | gaierror
    )
