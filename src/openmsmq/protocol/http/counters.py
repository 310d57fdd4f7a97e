"""Counters of an HTTP server."""

from collections import Counter

from .events import CloseReason


class Counters:
    """Totals since the start.

    Attributes:
        connected: connections that were accepted.
        refused: connections beyond the limits.
        answers: responses, by status.
        closed: connections that ended, by reason.
    """

    __slots__ = ("answers", "closed", "connected", "refused")

    def __init__(self) -> None:
        self.connected = 0
        self.refused = 0
        self.answers: Counter[int] = Counter()
        self.closed: Counter[CloseReason] = Counter()
