"""The stream reader that Spark calls; Spark does not reliably report the end of a query."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from openmsmq.client.errors import ConnectionLost
from openmsmq.spark.options.records import ReadOptions

from .partitions import RangePartition
from .range_reader import read_partition
from .stream_driver import StreamDriver

Result = TypeVar("Result")


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans in the driver's process, reads in the tasks'; they share offsets and partitions only.

    Names of methods are Spark's.
    """

    def __init__(self, options: ReadOptions, schema: pa.Schema) -> None:
        options.check_stream()
        self._options = options
        self._schema = schema
        # Only the long-lived process of the driver makes one.
        self._driver: StreamDriver | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a new query begins."""
        return self._call(StreamDriver.initial)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The limits of the options; Spark knows one at a time, so `latestOffset` adds the rest."""
        options = self._options
        if options.max_messages_per_trigger is not None:
            return ReadMaxRows(options.max_messages_per_trigger)
        if options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(options.max_bytes_per_trigger)
        if options.min_messages_per_trigger is not None:
            return ReadMinRows(options.min_messages_per_trigger)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The end of the next batch. Everything up to `start` is committed: remove it."""
        rows: int | None = None
        size: int | None = None
        if not isinstance(limit, ReadAllAvailable):
            rows = self._options.max_messages_per_trigger
            size = self._options.max_bytes_per_trigger
        if isinstance(limit, ReadMaxRows):
            rows = limit.max_rows if rows is None else min(rows, limit.max_rows)
        if isinstance(limit, ReadMaxBytes):
            size = limit.max_bytes if size is None else min(size, limit.max_bytes)
        return self._call(lambda driver: driver.latest(start, rows, size))

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Read what is there now and no more."""
        self._call(StreamDriver.freeze)

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        """What the queues held when they were last looked at."""
        return None if self._driver is None else self._driver.latest_known

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Shares of a batch."""
        return list(self._call(lambda driver: driver.partitions(start, end)))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one share."""
        if isinstance(partition, RangePartition):
            yield from read_partition(self._options, self._schema, partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Everything up to `end` is committed, which is mostly known already."""
        self._call(lambda driver: driver.commit(end))

    def stop(self) -> None:
        """Hang up; when Spark does not call this, the end of the process does it."""
        if self._driver is not None:
            self._driver.close()

    def _call(self, work: Callable[[StreamDriver], Result]) -> Result:
        """Do something, once more if the queue manager was started again meanwhile."""
        if self._driver is None:
            self._driver = StreamDriver(self._options)
        try:
            return work(self._driver)
        except ConnectionLost:
            # All that is done here can be repeated.
            self._driver.reconnect()
            return work(self._driver)
