"""Named timers of one owner: start, stop, next."""

from enum import Enum


class SessionTimer(Enum):
    """The timers of a session ([MS-MQQB] 3.1.2)."""

    INITIALIZATION = "Session Initialization Timer"
    CLEANUP = "Session Cleanup Timer"
    ACK_WAIT = "Session Ack Wait Timer"
    ACK_SEND = "Session Ack Send Timer"


class SessionTimers:
    """Deadlines on the monotonic clock; a timer that is started again begins anew."""

    __slots__ = ("_deadlines", "_durations")

    def __init__(self) -> None:
        self._deadlines: dict[SessionTimer, float] = {}
        self._durations: dict[SessionTimer, float] = {}

    def start(self, timer: SessionTimer, seconds: float, *, now: float) -> None:
        self._deadlines[timer] = now + seconds
        self._durations[timer] = seconds

    def stop(self, timer: SessionTimer) -> None:
        self._deadlines.pop(timer, None)

    def stop_all(self) -> None:
        self._deadlines.clear()

    def running(self, timer: SessionTimer) -> bool:
        return timer in self._deadlines

    def elapsed(self, timer: SessionTimer, *, now: float) -> float:
        """The elapsed part of a running timer, from 0 to 1; 0 when it is stopped."""
        deadline = self._deadlines.get(timer)
        if deadline is None:
            return 0.0
        return 1.0 - (deadline - now) / self._durations[timer]

    def next(self) -> float | None:
        return min(self._deadlines.values(), default=None)

    def take_due(self, now: float) -> list[SessionTimer]:
        """Stop and return the timers that are due, earliest first."""
        due = sorted(
            (deadline, timer.value, timer)
            for timer, deadline in self._deadlines.items()
            if deadline <= now
        )
        for _, _, timer in due:
            del self._deadlines[timer]
        return [timer for _, _, timer in due]
