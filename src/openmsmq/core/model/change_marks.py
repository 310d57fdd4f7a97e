"""Which queues changed since somebody last looked."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from .queue import QueueRole

if TYPE_CHECKING:
    from .queue import Queue

# Deleted queues that are remembered; who has an older sample gets everything again.
MAX_REMOVED: Final = 10_000
# Samples whose changes are kept apart; the changes of older ones are one set.
KEPT_SAMPLES: Final = 16
_JOURNAL: Final = QueueRole.JOURNAL


class ChangeMarks:
    """The queues that changed, by the sample after which they did.

    A queue notes the number of its last change, so that only its first one after each sample costs
    more than a comparison. A change of a journal is one of its queue. Outgoing queues are in every
    sample.
    """

    __slots__ = ("_changed", "_newest", "_removed", "_removed_before", "number")

    def __init__(self) -> None:
        self.number = 1
        # Numbers of queues that changed since a sample, and not after the next one.
        self._newest: set[int] = set()
        # The first set has the changes since all earlier samples, too.
        self._changed: deque[tuple[int, set[int]]] = deque([(self.number, self._newest)])
        # (Number of the sample, queue) of deleted queues; complete from _removed_before on.
        self._removed: deque[tuple[int, int]] = deque()
        self._removed_before = 0

    def note(self, queue: Queue) -> None:
        """Properties or counts of a queue changed."""
        if queue.changed != self.number and not queue.deleted:
            queue.changed = self.number
            if queue.role is _JOURNAL:
                assert queue.parent is not None  # noqa: S101 - a journal is that of a queue
                queue = queue.parent
                queue.journaled = True
            if queue.outgoing is None:
                self._newest.add(queue.number)

    def next_sample(self) -> None:
        """A sample is taken: what changes from now on is in the one after it."""
        self.number += 1
        self._newest = set()
        self._changed.append((self.number, self._newest))
        if len(self._changed) > KEPT_SAMPLES:
            _, older = self._changed.popleft()
            number, old = self._changed[0]
            older |= old
            self._changed[0] = (number, older)

    def changed(self, since: int) -> list[int]:
        """At least the queues that changed since a sample, in the order of their numbers."""
        found: set[int] = set()
        for number, queues in self._changed:
            if number >= since:
                found |= queues
        return sorted(found)

    def remove(self, queue: int) -> None:
        """A queue was deleted."""
        for _, queues in self._changed:
            queues.discard(queue)
        if len(self._removed) >= MAX_REMOVED:
            self._removed_before = self._removed.popleft()[0]
        self._removed.append((self.number, queue))

    def knows(self, since: int) -> bool:
        """Whether all that was deleted since a sample is remembered."""
        return self._removed_before < since <= self.number

    def removed(self, since: int) -> list[int]:
        """The queues that were deleted since a sample."""
        return [queue for number, queue in self._removed if number >= since]
