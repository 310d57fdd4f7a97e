# Written by `python -m tools.facade` from asynchronous/ranges.py; change that, not this.
"""Ranges and producers of the blocking client, for pipelines."""

from collections.abc import Generator, Iterable, Sequence

from openmsmq.client.backend import Block
from openmsmq.client.browsed_message import BrowsedMessage, Page
from openmsmq.client.logic.queue import HeldMessages, Progress, QueueLogic
from openmsmq.client.logic.ranges import (
    BatchCheck,
    LastBatch,
    Leased,
    ProducerLogic,
    Published,
    RangeInfo,
    RangePlan,
    RangesLogic,
    RangeStream,
)
from openmsmq.client.message import Message, correlation_bytes

from .driver import Driver


class Ranges:
    """Operations on ranges of a queue; returned by `Queue.ranges`.

    A range is `after` < arrival sequence <= `upto`. The arrival sequence is the low 56 bits of the
    lookup id.
    """

    def __init__(self, driver: Driver, queue: QueueLogic, logic: RangesLogic) -> None:
        self._driver = driver
        self._queue = queue
        self._logic = logic

    def info(self) -> RangeInfo:
        """Return first, stable and last sequence of the queue, and the holders of locks."""
        return self._driver.call(self._logic.info)

    def plan(
        self,
        after: int,
        *,
        upto: int | None = None,
        max_rows: int | None = None,
        max_bytes: int | None = None,
    ) -> RangePlan:
        """Return the next range after `after`, below the stable mark and within the limits."""
        return self._driver.call(self._logic.plan, after, upto, max_rows, max_bytes)

    def split(self, after: int, upto: int, parts: int) -> list[int]:
        """Return up to `parts` ends of consecutive ranges of similar size; the last is `upto`."""
        return self._driver.call(self._logic.split, after, upto, parts)

    def peek(
        self,
        after: int,
        upto: int,
        *,
        block_rows: int = 2000,
        block_bytes: int = 4 * 1024 * 1024,
        lookup_ids: Sequence[int] = (),
        head_bytes: int | None = None,
    ) -> Generator[Block, None, None]:
        """Stream the messages of a range in the order of arrival, without removing any.

        Args:
            lookup_ids: of the messages, if known from a `RangePlan`; this saves a request to a
                server of remote read.
            head_bytes: how much of each body is wanted; `Block.body_sizes` then has the sizes of
                the bodies.
        """
        stream = RangeStream(
            self._queue, after, upto, block_rows, block_bytes, lookup_ids, head_bytes
        )
        try:
            while (block := self._driver.call(stream.next_block)) is not None:
                yield block
        finally:
            self._driver.step(stream.close)

    def browse(
        self,
        lookup_id: int | None = None,
        *,
        backwards: bool = False,
        count: int = 200,
        head_bytes: int | None = None,
        hidden: bool = False,
    ) -> Page:
        """Read messages in the order of the queue from any position, including locked ones.

        Args:
            lookup_id: start after it, or before it when `backwards`, even if that message is no
                longer in the queue; without it, at the beginning or the end of the queue.
            count: maximum number of messages.
            head_bytes: how much of each body is wanted; without it, all.
            hidden: only messages that are hidden from readers: locked, held and delayed ones.

        Raises:
            QueueError: the queue cannot be read.
        """
        return self._driver.call(
            self._logic.browse, lookup_id, count, head_bytes, backwards=backwards, hidden=hidden
        )

    def find(self, message_id: str) -> BrowsedMessage | None:
        """Read the message with an id (`{guid}\\ordinal`), even if it is locked or delayed.

        Returns:
            The message; None if the queue does not have it.

        Raises:
            QueueError: the queue cannot be read.
            ValueError: the id is invalid.
        """
        return self._driver.call(self._logic.find, correlation_bytes(message_id))

    def acknowledge(self, base: int, upto: int, progress: Progress | None = None) -> int:
        """Remove the remaining messages of a range; return their count.

        Cumulative and idempotent. Like every receive it leads to journal copies and
        acknowledgments.
        """
        return self._driver.call(self._logic.acknowledge, base, upto, progress)

    def lease(self, consumer: str, token: int, *, max_rows: int, max_bytes: int) -> Leased:
        """Move the next messages into the subqueue of a consumer, in one step.

        Args:
            token: increases with each run of the consumer; older runs are refused.
        """
        return self._driver.call(self._logic.lease, consumer, token, max_rows, max_bytes)

    def release(self, consumer: str, token: int, progress: Progress | None = None) -> int:
        """Move the messages that a consumer has leased back into the queue; return their count."""
        return self._driver.call(self._logic.release, consumer, token, progress)

    def pin(self, base: int, upto: int, seconds: float = 3600.0) -> None:
        """Protect a range from expiry until it is acknowledged or the time has passed."""
        self._driver.call(self._logic.pin, base, upto, seconds)


class Producer:
    """Publishes batches by number; returned by `QueueManager.producer`.

    Pieces of a batch are staged by any number of connections and published together, once: a batch
    number at or below the last published one is dropped.
    """

    def __init__(self, driver: Driver, logic: ProducerLogic) -> None:
        self._driver = driver
        self._logic = logic

    def stage(
        self,
        batch: int,
        partition: int,
        attempt: int,
        destination: str,
        messages: Iterable[Message],
        *,
        transactional: bool | None = None,
    ) -> int:
        """Stage messages for a batch; return their count.

        Args:
            transactional: for a destination on another machine; known for local queues.
        """
        return self._driver.call(
            self._logic.stage,
            batch,
            partition,
            attempt,
            destination,
            messages,
            transactional=transactional,
        )

    def stage_packets(
        self, batch: int, partition: int, attempt: int, destination: str, packets: Iterable[bytes]
    ) -> int:
        """Stage packets that the caller has built for a batch; return their count."""
        return self._driver.call(
            self._logic.stage_packets, batch, partition, attempt, destination, packets
        )

    def commit(self, batch: int, stages: Iterable[tuple[int, int]]) -> bool:
        """Publish the stages (partition, attempt) of a batch in one transaction.

        Returns:
            False when the batch was published before.
        """
        return (self._driver.call(self._logic.commit, batch, stages)).new

    def commit_received(
        self,
        batch: int,
        stages: Iterable[tuple[int, int]],
        held: HeldMessages,
        lookup_ids: Sequence[int],
    ) -> Published:
        """Publish a batch as `commit` does, and remove messages in the same step.

        Args:
            held: from `Queue.hold_many` of the same connection.
            lookup_ids: which of these messages are removed; the others stay locked.
        """
        return self._driver.call(
            self._logic.commit, batch, stages, received=held, lookup_ids=lookup_ids
        )

    def last_batch(self) -> LastBatch:
        """Return the last batch that was published under this name."""
        return self._driver.call(self._logic.last_batch)

    def check(
        self,
        destination: str,
        packets: Sequence[bytes],
        *,
        queue_bytes: int = 0,
        manager_bytes: int = 0,
    ) -> BatchCheck:
        """Return the packets that a destination would refuse, without staging any.

        Args:
            destination: the queue for the packets.
            packets: in the order of staging, 10,000 at most.
            queue_bytes: assumed to be in the queue, in addition to its messages.
            manager_bytes: the same for the whole queue manager.

        Raises:
            QueueError: all of them would be refused.
        """
        return self._driver.call(
            self._logic.check,
            destination,
            packets,
            queue_bytes=queue_bytes,
            manager_bytes=manager_bytes,
        )

    def abort(self, batch: int, stages: Iterable[tuple[int, int]] | None = None) -> None:
        """Discard the stages of a batch; no effect on a published batch.

        Args:
            stages: (partition, attempt) of the stages to discard; all without it.
        """
        self._driver.call(self._logic.abort, batch, stages)
