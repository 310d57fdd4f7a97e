"""One timer per owner, kept in a heap."""

from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Final

# A heap of this size costs nothing.
_SMALL: Final = 64


class TimerHeap:
    """One deadline per owner. Moving it to a later time, the usual case, costs nothing.

    Entries of stopped timers stay in the heap for a while, but never more than half of it.
    """

    __slots__ = ("_count", "_deadlines", "_heap", "_queued")

    def __init__(self) -> None:
        self._deadlines: dict[Hashable, float] = {}
        # The earliest entry that an owner has in the heap.
        self._queued: dict[Hashable, float] = {}
        self._heap: list[tuple[float, int, Hashable]] = []
        self._count = 0

    def set(self, owner: Hashable, deadline: float | None) -> None:
        """Set the only timer of the owner; None stops it."""
        if deadline is None:
            if self._deadlines.pop(owner, None) is not None:
                self._shrink()
            return
        self._deadlines[owner] = deadline
        queued = self._queued.get(owner)
        if queued is None or deadline < queued:
            self._push(owner, deadline)

    def _push(self, owner: Hashable, deadline: float) -> None:
        self._queued[owner] = deadline
        self._count += 1
        heappush(self._heap, (deadline, self._count, owner))

    def _shrink(self) -> None:
        """Drop the entries of stopped timers once they are the majority."""
        if len(self._heap) > _SMALL and len(self._heap) > 2 * len(self._deadlines):
            self._heap.clear()
            self._queued.clear()
            for owner, deadline in self._deadlines.items():
                self._push(owner, deadline)

    def next(self) -> float | None:
        """The time of the next timer."""
        while self._heap:
            time, _, owner = self._heap[0]
            deadline = self._deadlines.get(owner)
            if deadline == time:
                return time
            heappop(self._heap)
            if self._queued.get(owner) == time:
                del self._queued[owner]
                if deadline is not None:
                    self._push(owner, deadline)
        return None

    def take_due(self, now: float) -> list[Hashable]:
        """Stop and return the owners whose timers are due."""
        due = []
        while (time := self.next()) is not None and time <= now:
            owner = heappop(self._heap)[2]
            del self._queued[owner]
            del self._deadlines[owner]
            due.append(owner)
        return due
