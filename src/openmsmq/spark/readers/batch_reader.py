"""Batch reads: a snapshot of queues, which removes no message."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.records import ReadOptions
from openmsmq.wire.codes.queue_error import QueueError

from .partitions import PlannedRange, RangePartition, cut, wanted_parts
from .places import Places
from .queue_selection import not_found, select_queues
from .range_reader import read_partition


class BatchReader(DataSourceReader):
    """Plans the snapshot once; Spark reads the same partitions as often as it likes."""

    def __init__(self, options: ReadOptions, schema: pa.Schema) -> None:
        options.check_batch()
        self._options = options
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Shares of what is in the queues now."""
        with open_connection(self._options.connection) as manager:
            return list(self._plan(manager))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one share."""
        # Spark makes up a partition when there is nothing to read.
        if isinstance(partition, RangePartition):
            yield from read_partition(self._options, self._schema, partition)

    def _plan(self, manager: QueueManager) -> Iterator[RangePartition]:
        options = self._options
        starts = Places(
            manager, "startingOffsets", options.starting_offsets, options.starting_timestamp
        )
        ends = Places(manager, "endingOffsets", options.ending_offsets, options.ending_timestamp)
        queues = select_queues(manager, options)
        starts.check(queues)
        ends.check(queues)
        whole: list[PlannedRange] = []
        for queue in queues:
            try:
                opened = manager.open_queue(queue.opened_as, queue.peek_access)
            except QueueError as exc:
                raise not_found(manager, queue, exc) from exc
            with opened:
                info = opened.ranges.info()
                start = starts.of(queue, opened.ranges, info)
                plan = opened.ranges.plan(start, upto=ends.of(queue, opened.ranges, info))
            if plan.count:
                incarnation, name = info.incarnation, queue.opened_as
                whole.append(PlannedRange(queue, name, incarnation, start, plan.end, plan.count))
        total = sum(planned.count for planned in whole)
        for planned in whole:
            parts = wanted_parts(options, planned.count, total)
            with manager.open_queue(planned.peeked_as, planned.queue.peek_access) as opened:
                yield from cut(opened.ranges, planned, parts, options.max_messages_per_partition)
