"""Drive the readers of the data source as Spark does, without Spark."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.columns import message_schema
from openmsmq.spark.options.records import ReadOptions
from openmsmq.spark.readers.batch_reader import BatchReader
from openmsmq.spark.readers.stream_reader import StreamReader

ORDERS = r".\private$\orders"
KEY = r"DIRECT=OS:.\private$\orders"


def named(options: dict[str, str]) -> dict[str, str]:
    """Options by their names: `where__label` is `where.label`."""
    return {name.replace("__", "."): value for name, value in options.items()}


def read_options(qm: QueueManager, **options: str) -> ReadOptions:
    given = {"endpoint": qm.address, "connectTimeout": "300ms", **named(options)}
    if not given.keys() & {"queue", "queues", "queuePattern", "kind"}:
        given["queue"] = ORDERS
    return ReadOptions.parse(given)


def batch_reader(qm: QueueManager, schema: pa.Schema | None = None, **options: Any) -> BatchReader:
    parsed = read_options(qm, **options)
    return BatchReader(parsed, schema or full_schema(parsed))


def full_schema(options: ReadOptions) -> pa.Schema:
    return message_schema(options.include, body_format=options.body_format)


def rows_of(
    reader: BatchReader | StreamReader, partitions: Iterable[InputPartition]
) -> list[dict[str, Any]]:
    return [row for part in partitions for batch in reader.read(part) for row in batch.to_pylist()]


def batch_rows(qm: QueueManager, **options: str) -> list[dict[str, Any]]:
    reader = batch_reader(qm, **options)
    return rows_of(reader, reader.partitions())


class Stream:
    """A query: goes on batch by batch from where it is, as Spark would."""

    def __init__(self, qm: QueueManager, at: Any = None, **options: Any) -> None:
        parsed = read_options(qm, **options)
        self.reader = StreamReader(parsed, full_schema(parsed))
        self.at: dict[str, Any] = self.reader.initialOffset() if at is None else at

    def plan(self, limit: ReadLimit | None = None) -> dict[str, Any]:
        """The end of the next batch."""
        default = self.reader.getDefaultReadLimit()
        return self.reader.latestOffset(self.at, default if limit is None else limit)

    def read(self, end: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows up to an end; the query stays where it is."""
        return rows_of(self.reader, self.reader.partitions(self.at, end))

    def batch(self, limit: ReadLimit | None = None) -> list[dict[str, Any]]:
        """One batch, with Spark's commit log written at its end."""
        end = self.plan(limit)
        found = self.read(end)
        self.at = end
        return found

    def all(self) -> list[str]:
        """The labels of everything there is; asks once more, as Spark does."""
        return labels(self.batch(ReadAllAvailable())) + labels(self.batch(ReadAllAvailable()))


def labels(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [row["label"] for row in rows]


def send(qm: QueueManager, *names: str, queue: str = ORDERS, priority: int = 3) -> None:
    """Send messages with these labels."""
    qm.open_queue(queue, "send").send_many(
        openmsmq.Message(f"body of {name}", label=name, priority=priority) for name in names
    )


def left(qm: QueueManager, queue: str = ORDERS) -> int:
    count: int = qm.queue_info(queue)["messages"]
    return count
