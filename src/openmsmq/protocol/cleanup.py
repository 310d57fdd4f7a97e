"""Timers that keep tables small: old identifiers of messages, and unused streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager

    from .timer_heap import TimerHeap

HISTORY_TIMER: Final = "MessageIDHistory Cleanup Timer"
STREAM_TIMER: Final = "stream cleanup timer"


class Cleanup:
    """Each timer runs as long as its table has entries to clean.

    Args:
        history_seconds: the time for which the identifiers of received messages are kept.
        stream_seconds: the interval of the search for unused streams.
    """

    __slots__ = ("_history_seconds", "_manager", "_running", "_stream_seconds", "_timers")

    def __init__(
        self,
        manager: QueueManager,
        timers: TimerHeap,
        *,
        history_seconds: float,
        stream_seconds: float,
    ) -> None:
        self._manager = manager
        self._history_seconds = history_seconds
        self._stream_seconds = stream_seconds
        self._timers = timers
        self._running: set[str] = set()

    def start(self, now: float) -> None:
        """Start stopped timers, after messages were received or recovered."""
        incoming = self._manager.incoming
        # [MS-MQQB] 3.1.2.8.
        if incoming.has_history:
            self._start(HISTORY_TIMER, now + self._history_seconds)
        if incoming.has_streams:
            self._start(STREAM_TIMER, now + self._stream_seconds)

    def _start(self, timer: str, deadline: float) -> None:
        if timer not in self._running:
            self._running.add(timer)
            self._timers.set(timer, deadline)

    def timer(self, timer: object, now: float) -> None:
        """A timer is over: clean, and restart it if entries are left."""
        if timer == HISTORY_TIMER:
            self._manager.incoming.forget_old_history(self._history_seconds)
            self._running.discard(HISTORY_TIMER)
        else:
            self._manager.incoming.forget_old_streams()
            self._running.discard(STREAM_TIMER)
        self.start(now)
