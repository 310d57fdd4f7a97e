"""How often the checks of messages from one address may fail.

A failed decryption tells an attacker something, and a failed signature costs work. So an address
that fails too often in a minute loses its connection, and gets nothing checked for the rest of it.
"""

from __future__ import annotations

from collections import deque
from typing import Final

WINDOW_SECONDS: Final = 60.0
# Addresses that are remembered; the one that failed first is forgotten for another.
MAX_ADDRESSES: Final = 10_000


class FailedChecks:
    """When checks failed, by address.

    Args:
        limit: how many may fail in a minute.
    """

    __slots__ = ("_limit", "_times")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # One more than the limit is all there is to know.
        self._times: dict[str, deque[float]] = {}

    def add(self, address: str, count: int, now: float) -> None:
        """Checks of messages from an address failed."""
        times = self._times.get(address)
        if times is None:
            if len(self._times) >= MAX_ADDRESSES:
                del self._times[next(iter(self._times))]
            times = self._times[address] = deque(maxlen=self._limit + 1)
        times.extend([now] * min(count, self._limit + 1))

    def exceeded(self, address: str, now: float) -> bool:
        """Whether more failed in the last minute than may."""
        times = self._times.get(address)
        if times is None:
            return False
        while times and times[0] <= now - WINDOW_SECONDS:
            times.popleft()
        if not times:
            del self._times[address]
        return len(times) > self._limit
