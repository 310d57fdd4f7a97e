"""Timers: waits on the monotonic clock, expiry of messages by the time of day."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from .message import NEVER

if TYPE_CHECKING:
    from .message import Message
    from .read_request import ReadRequest


class WaitTimers:
    """Deadlines of waiting reads. A read that ended earlier is dropped when its time comes."""

    __slots__ = ("_count", "_heap")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, ReadRequest]] = []
        self._count = 0

    def start(self, read: ReadRequest, deadline: float) -> None:
        self._count += 1
        heappush(self._heap, (deadline, self._count, read))

    def next(self) -> float | None:
        """The next deadline of a waiting read."""
        heap = self._heap
        while heap and not heap[0][2].waiting:
            heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: float) -> list[ReadRequest]:
        """The reads that have timed out; each is returned once."""
        reads = []
        heap = self._heap
        while heap and heap[0][0] <= now:
            read = heappop(heap)[2]
            if read.waiting:
                reads.append(read)
        return reads


class ExpiryTimers:
    """The expiry times of messages; a message that leaves earlier is removed at once."""

    __slots__ = ("_buckets", "_seconds")

    def __init__(self) -> None:
        self._buckets: dict[int, dict[int, Message]] = {}
        self._seconds: list[int] = []

    def start(self, message: Message, second: int) -> None:
        """Let the message expire at this second, which becomes `message.expires`."""
        message.expires = second
        bucket = self._buckets.get(second)
        if bucket is None:
            bucket = self._buckets[second] = {}
            heappush(self._seconds, second)
        bucket[message.key] = message

    def postpone(self, message: Message, second: int) -> None:
        """Return an expired message again at this second; its `expires` stays."""
        expires = message.expires
        self.start(message, second)
        message.expires = expires

    def stop(self, message: Message) -> None:
        """Remove the message; its `expires` stays."""
        if message.expires != NEVER:
            bucket = self._buckets.get(message.expires)
            if bucket is not None:
                bucket.pop(message.key, None)

    def next(self) -> int | None:
        """The next second in which a message expires."""
        while self._seconds:
            second = self._seconds[0]
            if self._buckets[second]:
                return second
            del self._buckets[second]
            heappop(self._seconds)
        return None

    def due(self, utc: float, limit: int) -> list[Message]:
        """Up to `limit` messages whose time is over; each is returned once."""
        messages: list[Message] = []
        while len(messages) < limit:
            second = self.next()
            if second is None or second > utc:
                break
            bucket = self._buckets[second]
            keys = list(bucket)[: limit - len(messages)]
            messages += [bucket.pop(key) for key in keys]
        return messages


def earlier(time: float | None, other: float | None) -> float | None:
    """The earlier of two times; None for never."""
    if time is None or other is None:
        return other if time is None else time
    return min(time, other)
