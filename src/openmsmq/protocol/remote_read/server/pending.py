"""Receives that clients have not ended yet, and their time limits ([MS-MQRR] 3.1.2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .remote_queue import RemoteQueue


class PendingReceives:
    """The pending request clean-up timer of every receive.

    Args:
        clock: the monotonic time of the turn.
        seconds: the time limit.
    """

    __slots__ = ("_clock", "_deadlines", "_seconds")

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        # All wait equally long, so the first is due first.
        self._deadlines: dict[tuple[RemoteQueue, int], float] = {}

    def __len__(self) -> int:
        return len(self._deadlines)

    def start(self, queue: RemoteQueue, request_id: int) -> None:
        """A message was handed out."""
        self._deadlines[queue, request_id] = self._clock() + self._seconds

    def stop(self, queue: RemoteQueue, request_id: int) -> None:
        """The client ended the receive, or has disconnected."""
        self._deadlines.pop((queue, request_id), None)

    def next_timer(self) -> float | None:
        """The time limit of the next receive that its client has not ended."""
        return next(iter(self._deadlines.values()), None)

    def handle_timer(self, *, now: float) -> None:
        """Put back messages that clients have not ended in time."""
        while self._deadlines:
            (queue, request_id), deadline = next(iter(self._deadlines.items()))
            if deadline > now:
                return
            del self._deadlines[queue, request_id]
            queue.give_back(request_id)
