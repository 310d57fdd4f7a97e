"""Queues in the driver of a stream, one class for each way to consume."""

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from openmsmq.client.blocking.queue import Queue
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.client.blocking.ranges import Ranges
from openmsmq.client.logic.ranges import Leased, RangeInfo, RangePlan
from openmsmq.spark.options.reading import EXCLUSIVE, LEASE, ReadOptions
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .matching import matching_ranges
from .offsets import QueueOffset
from .queue_selection import SourceQueue

# How many messages one lease moves at most: other clients wait meanwhile.
LEASE_ROWS: Final = 10_000
_NO_LIMIT: Final = 1 << 62
_RETRY_SECONDS: Final = 0.2


@dataclass(slots=True)
class Horizon:
    """How far a stream that reads only what is there goes in one queue.

    Attributes:
        limit: the last sequence, or for leases how many messages it may still take.
    """

    limit: int


class DriverQueue:
    """A queue that is only looked at (`consume=none`)."""

    def __init__(self, manager: QueueManager, queue: SourceQueue, options: ReadOptions) -> None:
        self.queue = queue
        self.options = options
        self._manager = manager
        self._opened = self._open()

    def _open(self) -> Queue:
        return self._manager.open_queue(self.queue.opened_as, self.queue.peek_access)

    @property
    def ranges(self) -> Ranges:
        """What is planned and read."""
        return self._opened.ranges

    @property
    def peeked_as(self) -> str:
        """The name of the queue that holds the messages."""
        return self.queue.opened_as

    def peeked_incarnation(self, entry: QueueOffset) -> str | None:
        """The incarnation that tasks must find."""
        return entry.inc

    def info(self) -> RangeInfo:
        """What the queue holds."""
        return self._opened.ranges.info()

    def horizon(self) -> Horizon:
        """What is there now and no more."""
        return Horizon(self.info().stable)

    def plan(
        self, after: int, max_rows: int | None, max_bytes: int | None, horizon: Horizon | None
    ) -> RangePlan:
        """The next range after `after`."""
        upto = None if horizon is None else horizon.limit
        return self.ranges.plan(after, upto=upto, max_rows=max_rows, max_bytes=max_bytes)

    def acknowledge(self, entry: QueueOffset) -> None:
        """Spark has everything up to here: nothing to do."""

    def pin(self, entry: QueueOffset) -> None:
        """Keep a planned range from expiring: not for those who only look."""

    def close(self) -> None:
        """Give the queue back to others."""
        self._opened.close()


class ExclusiveQueue(DriverQueue):
    """A queue that no other client may receive from meanwhile (`consume=exclusive`)."""

    _acknowledged = -1
    _way_out = "; consume=lease works beside others"

    def _open(self) -> Queue:
        return self._open_alone(self.queue.opened_as)

    def _open_alone(self, name: str) -> Queue:
        """Open a queue and keep other receivers out; the last run may just be about to leave.

        Raises:
            QueueError: MQ_ERROR_SHARING_VIOLATION, somebody else receives.
        """
        end = time.monotonic() + self.options.connection.timeout
        while True:
            try:
                return self._manager.open_queue(name, "receive", "deny_receive")
            except QueueError as exc:
                if exc.code != Hresult.MQ_ERROR_SHARING_VIOLATION:
                    raise
                if time.monotonic() > end:
                    raise QueueError(
                        exc.code,
                        f"{name}: consume={self.options.consume} needs it alone, and "
                        f"{exc.detail}{self._way_out}",
                    ) from exc
                time.sleep(_RETRY_SECONDS)

    def acknowledge(self, entry: QueueOffset) -> None:
        """Receive for good what Spark has committed; what was skipped at the start stays."""
        if entry.seq > max(entry.base, self._acknowledged):
            if self.options.where:
                self._receive_matching(max(entry.base, self._acknowledged), entry.seq)
            else:
                self.ranges.acknowledge(entry.base, entry.seq)
            self._acknowledged = entry.seq

    def _receive_matching(self, after: int, upto: int) -> None:
        # Nothing that was not there when it was read comes to be there (see `isolation`), and
        # no other client receives: the messages between two that do not match all do.
        with closing(self.ranges.peek(after, upto)) as blocks:
            ranges = list(matching_ranges(blocks, self.options.where, after))
        for start, end in ranges:
            self.ranges.acknowledge(start, end)

    def pin(self, entry: QueueOffset) -> None:
        """Keep a planned range from expiring until it is acknowledged."""
        if entry.seq > entry.base:
            self.ranges.pin(entry.base, entry.seq, self.options.pin)


class LeasedQueue(ExclusiveQueue):
    """A queue that others receive from, too: messages are moved aside first (`consume=lease`).

    Args:
        token: larger than that of any earlier run of this consumer.
    """

    _way_out = ""

    def __init__(
        self, manager: QueueManager, queue: SourceQueue, options: ReadOptions, token: int
    ) -> None:
        self._consumer = options.consumer_name
        self._token = token
        self._parent = manager.open_queue(queue.opened_as, "receive")
        self._subqueue = self._lease(0, 0).subqueue
        super().__init__(manager, queue, options)

    def _open(self) -> Queue:
        return self._open_alone(self._subqueue)

    def _lease(self, rows: int, size: int) -> Leased:
        """Move messages aside; earlier runs of this consumer are shut out from now on.

        Raises:
            QueueError: MQ_ERROR_STALE_HANDLE, a later run has begun.
        """
        return self._parent.ranges.lease(self._consumer, self._token, max_rows=rows, max_bytes=size)

    @property
    def peeked_as(self) -> str:
        """The subqueue."""
        return self._subqueue

    def peeked_incarnation(self, entry: QueueOffset) -> None:
        """A subqueue comes and goes with its messages; their digest says enough."""

    def info(self) -> RangeInfo:
        """What the queue itself holds, others included."""
        return self._parent.ranges.info()

    def horizon(self) -> Horizon:
        """As many messages as are there now."""
        return Horizon(self.info().count)

    def plan(
        self, after: int, max_rows: int | None, max_bytes: int | None, horizon: Horizon | None
    ) -> RangePlan:
        """What lies in the subqueue after `after`, filled up from the queue."""
        plan = self.ranges.plan(after, max_rows=max_rows, max_bytes=max_bytes)
        rows = (_NO_LIMIT if max_rows is None else max_rows) - plan.count
        size = (_NO_LIMIT if max_bytes is None else max_bytes) - plan.bytes
        allowed = self.horizon() if horizon is None else horizon
        moved = 0
        while min(rows, size, allowed.limit) > 0:
            step = self._lease(min(rows, allowed.limit, LEASE_ROWS), size)
            rows, size = rows - step.count, size - step.bytes
            allowed.limit -= step.count
            moved += step.count
            if step.done or not step.count:
                break
        if not moved:
            return plan
        return self.ranges.plan(after, max_rows=max_rows, max_bytes=max_bytes)

    def acknowledge(self, entry: QueueOffset) -> None:
        """Receive for good from the subqueue, if no later run has taken over."""
        if entry.seq > max(entry.base, self._acknowledged):
            self._lease(0, 0)
        super().acknowledge(entry)

    def close(self) -> None:
        """Give the queue back to others; what was moved aside stays there for the next run."""
        super().close()
        self._parent.close()


def open_driver_queue(
    manager: QueueManager, queue: SourceQueue, options: ReadOptions, token: int
) -> DriverQueue:
    """Open a queue in the way that the options want it consumed.

    Raises:
        QueueError: it is not there, or somebody else receives from it.
    """
    if options.consume == LEASE:
        return LeasedQueue(manager, queue, options, token)
    kind = ExclusiveQueue if options.consume == EXCLUSIVE else DriverQueue
    return kind(manager, queue, options)
