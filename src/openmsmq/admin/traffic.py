"""Rates of each session and client, from the counts of samples."""

from typing import Final, NamedTuple

from .picture import TRAFFIC

Connection = tuple[str, int]
"""Protocol and number of a session or client."""
Counts = tuple[int, ...]
"""The counts of one session or client, in the order of `TRAFFIC`."""

# Rates are means over one to two of these.
WINDOW_SECONDS: Final = 5.0
NAMES: Final = tuple(f"{name}_per_second" for name in TRAFFIC)


class _Moment(NamedTuple):
    now: float
    counts: dict[Connection, Counts]


class TrafficRates:
    """Keeps the counts of two moments: at least `WINDOW_SECONDS` apart, and before the newest."""

    def __init__(self) -> None:
        self._first = self._second = self._newest = _Moment(0.0, {})

    def add(self, counts: dict[Connection, Counts], now: float, *, complete: bool) -> None:
        """Add the counts of a sample.

        Args:
            now: the monotonic time of the sample.
            complete: counts may have been reset, so that earlier ones are invalid.
        """
        self._newest = _Moment(now, counts)
        if complete:
            self._first = self._second = self._newest
        elif now - self._second.now >= WINDOW_SECONDS:
            self._first, self._second = self._second, self._newest

    def of(self, connection: Connection) -> dict[str, float | None]:
        """The rates of a session or client by name; None while unknown."""
        counts = self._newest.counts.get(connection)
        before = self._first.counts.get(connection)
        first = self._first
        if before is None:
            before = self._second.counts.get(connection)
            first = self._second
        seconds = self._newest.now - first.now
        if counts is None or before is None or seconds <= 0:
            return dict.fromkeys(NAMES)
        # Counts of remote readers are those of their open queues: they may decrease.
        return {
            name: max(count - then, 0) / seconds
            for name, count, then in zip(NAMES, counts, before, strict=True)
        }
