"""Which queues changed since somebody last looked."""

from collections import deque
from typing import Final

# Deleted queues that are remembered; who has an older sample gets everything again.
MAX_REMOVED: Final = 10_000


class ChangeMarks:
    """When queues changed, counted in samples; a queue notes the number of its last change."""

    __slots__ = ("_removed", "_removed_before", "number")

    def __init__(self) -> None:
        self.number = 1
        # (Number of the sample, queue) of deleted queues; complete from _removed_before on.
        self._removed: deque[tuple[int, int]] = deque()
        self._removed_before = 0

    def remove(self, queue: int) -> None:
        """A queue was deleted."""
        if len(self._removed) >= MAX_REMOVED:
            self._removed_before = self._removed.popleft()[0]
        self._removed.append((self.number, queue))

    def knows(self, since: int) -> bool:
        """Whether all that was deleted since a sample is remembered."""
        return self._removed_before < since <= self.number

    def removed(self, since: int) -> list[int]:
        """The queues that were deleted since a sample."""
        return [queue for number, queue in self._removed if number >= since]
