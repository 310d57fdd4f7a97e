"""The limit of failed checks of messages from one address.

A failed decryption tells an attacker something, and a failed signature costs work. So an address
that exceeds the limit loses its connection, and nothing more of it is checked in that minute.
"""

from __future__ import annotations

from collections import deque
from typing import Final

WINDOW_SECONDS: Final = 60.0
# Addresses that are remembered; a new one replaces the one that failed first.
MAX_ADDRESSES: Final = 10_000


class FailedChecks:
    """The times of failed checks, by address.

    Args:
        limit: failures allowed per minute.
    """

    __slots__ = ("_limit", "_times")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # One more than the limit is enough to know.
        self._times: dict[str, deque[float]] = {}

    def add(self, address: str, count: int, now: float) -> None:
        """Count failed checks of messages from an address."""
        times = self._times.get(address)
        if times is None:
            if len(self._times) >= MAX_ADDRESSES:
                del self._times[next(iter(self._times))]
            times = self._times[address] = deque(maxlen=self._limit + 1)
        times.extend([now] * min(count, self._limit + 1))

    def exceeded(self, address: str, now: float) -> bool:
        """Whether more checks than allowed failed in the last minute."""
        times = self._times.get(address)
        if times is None:
            return False
        while times and times[0] <= now - WINDOW_SECONDS:
            times.popleft()
        if not times:
            del self._times[address]
        return len(times) > self._limit
