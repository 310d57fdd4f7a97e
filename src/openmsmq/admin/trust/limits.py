"""Limits of requests per address or token."""

from collections import OrderedDict
from typing import Final

# The number of keys of a limit; the one unused for longest is forgotten first.
MOST_KEYS: Final = 10_000


class RateLimit:
    """A number of events per period for each key; unused ones accumulate up to that number.

    `now` is monotonic time in seconds.
    """

    def __init__(self, count: int, seconds: float) -> None:
        self._count = count
        self._rate = count / seconds
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, now: float) -> float:
        """Count one event; 0 if it is within the limit, else the seconds until the next one is."""
        left, then = self._left.pop(key, (float(self._count), now))
        left = min(self._count, left + (now - then) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._left[key] = (left - 1 if not wait else left, now)
        if len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)
        return wait


class Slots:
    """A number of concurrent uses."""

    def __init__(self, most: int) -> None:
        self.most: Final = most
        self.used = 0

    def take(self) -> bool:
        """Take a slot, if one is free; `give` it back."""
        if self.used >= self.most:
            return False
        self.used += 1
        return True

    def give(self) -> None:
        """Give a slot back."""
        self.used -= 1
