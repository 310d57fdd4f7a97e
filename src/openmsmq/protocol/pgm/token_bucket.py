"""The rate limiter of a source (RFC 3208, 5.1.2)."""


class TokenBucket:
    """Bytes may leave while there are tokens; `rate` tokens are added per second."""

    __slots__ = ("_capacity", "_filled", "_rate", "_tokens")

    def __init__(self, rate: float, capacity: float, *, now: float) -> None:
        self._rate = rate
        self._capacity = capacity
        self._tokens = capacity
        self._filled = now

    def take(self, size: int, *, now: float) -> bool:
        """Take tokens for `size` bytes; False if there are too few."""
        elapsed = max(now - self._filled, 0.0)
        self._tokens = min(self._capacity, self._tokens + elapsed * self._rate)
        self._filled = now
        if self._tokens < size:
            return False
        self._tokens -= size
        return True

    def ready(self, size: int) -> float:
        """The time when there are tokens for `size` bytes, after `take` returned False."""
        # The microsecond compensates rounding: a timer must not find a fraction of a byte missing.
        return self._filled + (size - self._tokens) / self._rate + 1e-6
