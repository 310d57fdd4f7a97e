"""Partitions: shares of planned ranges, each with the data of the queue manager about it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final

from pyspark.sql.datasource import InputPartition

from openmsmq.client.blocking.ranges import Ranges
from openmsmq.protocol.local.messages.replies import pack_column, unpack_column
from openmsmq.spark.options.records import ReadOptions
from openmsmq.wire.lookup_id import digest_text

from .queue_selection import SourceQueue

# A task costs more than reading so few messages.
_WORTH_A_TASK: Final = 1000


@dataclass(frozen=True, slots=True)
class PlannedRange:
    """What is to be read of one queue: `after` < sequence <= `upto`, so many messages.

    Attributes:
        peeked_as: the name of the queue that holds the messages; of a subqueue for leases.
        incarnation: of the queue that is opened by this name, None when it may change.
    """

    queue: SourceQueue
    peeked_as: str
    incarnation: str | None
    after: int
    upto: int
    count: int


class RangePartition(InputPartition):
    """What one task reads, and how many messages with which digest it must find."""

    def __init__(self, planned: PlannedRange, digest: str, lookup_ids: bytes = b"") -> None:
        super().__init__(None)
        self.planned = planned
        self.digest = digest
        # Packed, of all messages, for servers that read by lookup id only.
        self._lookup_ids = lookup_ids

    @property
    def lookup_ids(self) -> "memoryview[int]":
        """The messages, where a server reads by lookup id only; else none."""
        return unpack_column(self._lookup_ids, "Q")

    def __repr__(self) -> str:
        planned = self.planned
        return f"RangePartition({planned.queue.name}, {planned.after}..{planned.upto})"


def wanted_parts(options: ReadOptions, count: int, total: int) -> int:
    """How many partitions a range of `count` messages gets when all queues have `total`."""
    if options.min_partitions is not None:
        return max(1, min(count, ceil(options.min_partitions * count / max(total, 1))))
    return max(1, min(os.cpu_count() or 1, count // _WORTH_A_TASK))


def cut(
    ranges: Ranges, planned: PlannedRange, parts: int, max_messages: int | None
) -> list[RangePartition]:
    """Cut a range into parts of about equal bytes and at most so many messages."""
    after = planned.after
    partitions: list[RangePartition] = []
    for end in ranges.split(after, planned.upto, parts) if parts > 1 else [planned.upto]:
        while after < end:
            plan = ranges.plan(after, upto=end, max_rows=max_messages)
            full = max_messages is not None and plan.count >= max_messages
            last = plan.end if full else end
            share = PlannedRange(
                planned.queue, planned.peeked_as, planned.incarnation, after, last, plan.count
            )
            partitions.append(RangePartition(share, plan.digest, pack_column("Q", plan.lookup_ids)))
            after = last
    return partitions


def count_and_digest(partitions: Iterable[RangePartition]) -> tuple[int, str]:
    """What all shares of a range have together."""
    shares = list(partitions)
    return (
        sum(share.planned.count for share in shares),
        digest_text(*(int(share.digest, 16) for share in shares)),
    )
