"""The queues with series of their own, and their lines, which are written again only on changes."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import compress
from operator import add
from typing import Any, Final

from openmsmq.admin.picture import Picture, QueuePicture

from .text import encoded, escaped

# The number of lines that are kept, or written again, together.
BLOCK: Final = 500
# Columns that only grow.
COUNTERS: Final = (
    "arrived_messages",
    "arrived_bytes",
    "received_messages",
    "aborted_messages",
    "poisoned_messages",
)
# Counts of queues by reason.
BY_REASON: Final = ("deleted", "refused")


class ShownQueues:
    """The oldest queues up to a limit, of those whose names match.

    A scrape of ten thousand queues has more than a hundred thousand lines, of which few differ
    from the scrape before. So the lines are kept in blocks, each with its values.

    Args:
        before: the last shown queues. The counts of its other queues stay in the sums when they are
            deleted or get series of their own, as counters must not decrease.

    Attributes:
        queues: those with series of their own.
        others: those that are summed.
        generation: that of the picture; in another one the queues are different.
    """

    def __init__(
        self,
        picture: Picture,
        limit: int,
        pattern: str = "",
        before: "ShownQueues | None" = None,
    ) -> None:
        queues = sorted(picture.queues.values(), key=lambda queue: queue.number)
        if pattern:
            wanted = pattern.lower()
            queues = [queue for queue in queues if fnmatchcase(queue.path.lower(), wanted)]
        self.generation: Final = picture.generation
        self.queues: Final = queues[:limit]
        self.others: Final = queues[limit:]
        self._picture = picture
        self._rows, self._other_rows = _rows(self.queues), _rows(self.others)
        self._labels = [f'{{queue="{escaped(queue.path)}"}} ' for queue in self.queues]
        # The counters of the others at the last request.
        self._seen = {column: self.other_values(column) for column in COUNTERS}
        self._left = dict.fromkeys(COUNTERS, 0)
        self._left_by_reason: dict[str, dict[str, int]] = {what: {} for what in BY_REASON}
        self._started = picture.head.get("process", {}).get("start_time")
        if before is not None and before._started == self._started:
            self._carry_on(before)
        # By name and first line: the values, and the lines.
        self._blocks: dict[tuple[str, int], tuple[bytes, bytes]] = {}

    def _carry_on(self, before: "ShownQueues") -> None:
        numbers = {queue.number for queue in self.others}
        left = [queue.number not in numbers for queue in before.others]
        for column, values in before._seen.items():
            self._left[column] = before._left[column] + sum(compress(values, left))
        for what, sums in before._left_by_reason.items():
            self._left_by_reason[what] = _sums(sums, compress(before.others, left), what)

    def values(self, column: str) -> "array[Any]":
        """A column of the queues with series of their own."""
        return self._of(self._rows, column)

    def other_values(self, column: str) -> "array[Any]":
        """A column of the others."""
        return self._of(self._other_rows, column)

    def other_count(self, column: str) -> int:
        """The counts of the others, and of those that were among them."""
        values = self._seen[column] = self.other_values(column)
        count: int = self._left[column] + sum(values)
        return count

    def other_by_reason(self, what: str) -> dict[str, int]:
        """The same for counts by reason, `deleted` or `refused`."""
        return _sums(self._left_by_reason[what], self.others, what)

    def _of(self, rows: Sequence[int], column: str) -> "array[Any]":
        # Before the first queue there are no columns.
        values = self._picture.columns.get(column) or array("Q")
        if isinstance(rows, range):
            return values[rows.start : rows.stop]
        return array(values.typecode, [values[row] for row in rows])

    def lines(
        self, name: str, values: "array[Any]", text: Callable[[Any], str] = str
    ) -> Iterator[bytes]:
        """A line for each queue with series of its own, in blocks.

        Args:
            values: one for each queue.
            text: formats a value.
        """
        for start in range(0, len(values), BLOCK):
            part = values[start : start + BLOCK]
            packed = part.tobytes()
            block = self._blocks.get((name, start))
            if block is None or block[0] != packed:
                series = map(add, self._labels[start : start + BLOCK], map(text, part))
                lines = encoded(f"{name}" + f"\n{name}".join(series) + "\n")
                block = self._blocks[name, start] = packed, lines
            yield block[1]


def _sums(start: dict[str, int], queues: Iterable[QueuePicture], what: str) -> dict[str, int]:
    """Add the counts of queues by reason to others."""
    sums = dict(start)
    for queue in queues:
        for reason, count in getattr(queue, what).items():
            sums[reason] = sums.get(reason, 0) + count
    return sums


def _rows(queues: list[QueuePicture]) -> Sequence[int]:
    """The rows of queues: a range where they are consecutive, as usual."""
    rows = [queue.row for queue in queues]
    following = range(rows[0], rows[0] + len(rows)) if rows else range(0)
    return following if rows == list(following) else rows
