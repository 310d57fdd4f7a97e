"""Schedule: times of day at which messages need work."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .message import Message

# The heap is rebuilt when it has more stale entries than this.
_STALE: Final = 1_000


class Schedule:
    """One time for each message; one that leaves its place earlier is removed at once."""

    __slots__ = ("_heap", "entries")

    def __init__(self) -> None:
        self.entries: dict[int, tuple[float, Message]] = {}
        # The times with the keys of their messages; an entry whose time has changed is stale.
        self._heap: list[tuple[float, int]] = []

    def start(self, message: Message, time: float) -> None:
        """Set the time of the message, in place of an earlier one."""
        self.entries[message.key] = time, message
        if len(self._heap) > 2 * len(self.entries) + _STALE:
            self._heap = [(time, key) for key, (time, _) in self.entries.items()]
            heapify(self._heap)
        else:
            heappush(self._heap, (time, message.key))

    def stop(self, message: Message) -> None:
        """Remove the message."""
        self.entries.pop(message.key, None)

    def stop_all(self, messages: Iterable[Message]) -> None:
        """Remove messages."""
        for message in messages:
            self.entries.pop(message.key, None)

    def next(self) -> float | None:
        """The earliest time of all messages."""
        heap = self._heap
        while heap:
            time, key = heap[0]
            entry = self.entries.get(key)
            if entry is not None and entry[0] == time:
                return time
            heappop(heap)
        return None

    def due(self, utc: float, limit: int) -> list[Message]:
        """Up to `limit` messages that are due; each is returned once."""
        messages: list[Message] = []
        while len(messages) < limit:
            time = self.next()
            if time is None or time > utc:
                break
            _, key = heappop(self._heap)
            messages.append(self.entries.pop(key)[1])
        return messages
