"""The amount that one trigger reads from each queue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from openmsmq.client.logic.ranges import RangePlan
from openmsmq.wire.lookup_id import digest_text

from .offsets import QueueOffset

Plan = Callable[[str, int, int | None, int | None], RangePlan]


@dataclass(slots=True)
class Admitted:
    """The range of one queue so far."""

    end: int
    count: int = 0
    digest: int = 0

    def add(self, part: RangePlan) -> None:
        """The plans of consecutive parts make up the plan of the whole."""
        self.end = part.end
        self.count += part.count
        self.digest += int(part.digest, 16)

    def entry(self, start: QueueOffset) -> QueueOffset:
        """The offset at the end of the range; the one at its start when it is empty."""
        if not self.count:
            return start
        return QueueOffset(start.inc, start.base, self.end, self.count, digest_text(self.digest))


def admit(
    starts: dict[str, QueueOffset],
    plan: Plan,
    turn: Sequence[str],
    max_rows: int | None,
    max_bytes: int | None,
) -> dict[str, Admitted]:
    """Plan a range of each queue, all together within the limits; one message at least.

    Limits are shared out equally, and what a queue leaves goes to the others.

    Args:
        turn: the queues in the order in which they are asked.
    """
    admitted = {key: Admitted(entry.seq) for key, entry in starts.items()}
    if max_rows is None and max_bytes is None:
        for key in turn:
            admitted[key].add(plan(key, admitted[key].end, None, None))
        return admitted
    rows, size, queues = max_rows, max_bytes, list(turn)
    anything = False
    while queues and (rows is None or rows > 0) and (size is None or size > 0):
        rows_each = None if rows is None else ceil(rows / len(queues))
        size_each = None if size is None else ceil(size / len(queues))
        for key in list(queues):
            part = plan(key, admitted[key].end, rows_each, size_each)
            too_large = anything and size is not None and part.bytes > size
            if not part.count or too_large:
                queues.remove(key)
                continue
            anything = True
            admitted[key].add(part)
            rows = None if rows is None else rows - part.count
            size = None if size is None else size - part.bytes
            if (rows is not None and rows <= 0) or (size is not None and size <= 0):
                break
            rows_each = None if rows is None or rows_each is None else min(rows_each, rows)
    return admitted
