"""Streams into queues: each batch once."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import openmsmq
from openmsmq import QueueManager
from openmsmq.spark.writers.publishing import Written
from openmsmq.spark.writers.streaming_batch import streaming_batch
from openmsmq.spark.writers.writer import StreamWriter

# Machines are busy at times, and Spark is slow to start then.
pytestmark = pytest.mark.timeout(600)

ORDERS = r".\private$\orders"
BILLS = r".\private$\bills"


@pytest.fixture
def qm(tmp_path: Path) -> Iterator[QueueManager]:
    with openmsmq.embedded(tmp_path / "qm") as manager:
        manager.create_queue(ORDERS)
        manager.create_queue(BILLS, transactional=True)
        yield manager


def fill(qm: QueueManager, first: int, last: int) -> None:
    messages = (openmsmq.Message(b"%d" % number) for number in range(first, last))
    qm.open_queue(ORDERS).send_many(messages)


def stream(spark: SparkSession, qm: QueueManager, **options: str) -> DataFrame:
    given = {"endpoint": qm.address, "queue": ORDERS, "minPartitions": "2"} | options
    return spark.readStream.format("msmq").options(**given).load()


def run(frame: DataFrame, qm: QueueManager, checkpoint: Path, **options: str) -> None:
    given = {"endpoint": qm.address, "queue": BILLS, "checkpointLocation": str(checkpoint)}
    query = frame.writeStream.format("msmq").options(**given, **options)
    query.trigger(availableNow=True).start().awaitTermination()


def bodies(qm: QueueManager, queue: str = BILLS) -> list[bytes]:
    return [message.body_bytes for message in qm.open_queue(queue).cursor()]


def numbers(last: int) -> list[bytes]:
    return [b"%d" % number for number in range(last)]


def test_a_batch_that_spark_repeats_is_published_once(
    spark: SparkSession, qm: QueueManager, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    fill(qm, 0, 300)
    frame = stream(spark, qm, maxMessagesPerTrigger="150")
    run(frame, qm, checkpoint)
    assert bodies(qm) == numbers(300)
    # As if the driver had died before it noted the last batch.
    (checkpoint / "commits" / "1").unlink()
    (checkpoint / "commits" / ".1.crc").unlink()
    fill(qm, 300, 310)
    run(frame, qm, checkpoint)
    assert bodies(qm) == numbers(310)
    assert qm.status()["staged_bytes"] == 0


def test_another_checkpoint_is_another_query(
    spark: SparkSession, qm: QueueManager, tmp_path: Path
) -> None:
    fill(qm, 0, 5)
    run(stream(spark, qm), qm, tmp_path / "one")
    run(stream(spark, qm), qm, tmp_path / "two")
    assert len(bodies(qm)) == 10


def test_a_batch_that_fails_leaves_nothing_and_is_repeated_whole(
    spark: SparkSession, qm: QueueManager, tmp_path: Path
) -> None:
    fill(qm, 0, 100)
    wrong = stream(spark, qm).selectExpr("body", "if(body = '90', 'x', 'express') as delivery")
    with pytest.raises(
        StreamingQueryException, match=r"column delivery: 'x' must be one of express"
    ):
        run(wrong, qm, tmp_path / "checkpoint")
    assert bodies(qm) == []
    run(stream(spark, qm).select("body"), qm, tmp_path / "checkpoint")
    assert bodies(qm) == numbers(100)
    # Spark kills the other tasks of a batch that fails; what such a task has staged goes now.
    assert qm.status()["staged_bytes"] == 0


def test_an_abort_after_a_commit_does_no_harm(qm: QueueManager) -> None:
    options = {"endpoint": qm.address, "queue": BILLS}
    writer = StreamWriter(options, StructType().add("body", "binary"), overwrite=False)
    producer = qm.producer("spark-query/q")
    build = qm.open_queue(BILLS, "send").packet_builder(transactional=True).build
    producer.stage_packets(4, 0, 77, BILLS, [build(openmsmq.Message(b"once"))])
    producer.stage_packets(4, 0, 76, BILLS, [build(openmsmq.Message(b"lost attempt"))])
    messages = [Written("spark-query/q", 4, (0, 77), 1, 0, 0), None]
    writer.commit(messages, 4)
    writer.abort(messages, 4)
    writer.commit(messages, 4)
    writer.abort([None], 4)
    assert bodies(qm) == [b"once"]
    assert qm.status()["staged_bytes"] == 0


def test_a_task_of_another_batch_is_noticed(qm: QueueManager) -> None:
    options = {"endpoint": qm.address, "queue": BILLS}
    writer = StreamWriter(options, StructType().add("body", "binary"), overwrite=False)
    with pytest.raises(RuntimeError, match="a task of batch 4 has written batch 3"):
        writer.commit([Written("spark-query/q", 3, (0, 1), 1, 0, 0)], 4)


def test_outside_a_streaming_query_there_is_no_batch() -> None:
    with pytest.raises(RuntimeError, match="does not tell its tasks"):
        streaming_batch()


def test_spark_tells_its_tasks_query_and_batch(
    spark: SparkSession, qm: QueueManager, tmp_path: Path
) -> None:
    """A contract with Spark: names that it may change."""

    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            query_id, batch_id = streaming_batch()
            yield pa.record_batch([[query_id], [batch_id]], names=["query_id", "batch_id"])

    fill(qm, 0, 2)
    told = tmp_path / "told"
    frame = stream(spark, qm, maxMessagesPerTrigger="1", minPartitions="1").select("body")
    found = frame.mapInArrow(tell, "query_id string, batch_id long")
    writing = found.writeStream.format("json").option("checkpointLocation", str(tmp_path / "c"))
    query = writing.option("path", str(told)).trigger(availableNow=True).start()
    query.awaitTermination()
    rows = {(row.query_id, row.batch_id) for row in spark.read.json(str(told)).collect()}
    assert rows == {(query.id, 0), (query.id, 1)}
