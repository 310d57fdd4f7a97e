"""The data source in Spark itself; what does not need Spark is tested with the readers alone."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from tests.spark.reading import ORDERS, left, named, send

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@pytest.fixture(scope="module")
def manager() -> Iterator[QueueManager]:
    with openmsmq.embedded() as qm:
        yield qm


@pytest.fixture
def qm(manager: QueueManager) -> Iterator[QueueManager]:
    manager.create_queue(ORDERS)
    yield manager
    manager.delete_queue(ORDERS)


class Spark:
    """Reads with these options, in batches and as a stream."""

    def __init__(self, spark: "SparkSession", qm: QueueManager, folder: Path) -> None:
        self.spark = spark
        self.qm = qm
        self.folder = folder

    def options(self, options: dict[str, str]) -> dict[str, str]:
        return {"endpoint": self.qm.address, "queue": ORDERS, **named(options)}

    def read(self, **options: str) -> "DataFrame":
        return self.spark.read.format("msmq").options(**self.options(options)).load()

    def stream(self, checkpoint: str, work: Any, **options: str) -> "StreamingQuery":
        """Run a stream over what is there now."""
        query = (
            self.spark.readStream.format("msmq")
            .options(**self.options(options))
            .load()
            .writeStream.foreachBatch(work)
            .option("checkpointLocation", str(self.folder / checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(300)
        return query


@pytest.fixture
def source(spark: "SparkSession", qm: QueueManager, tmp_path: Path) -> Spark:
    return Spark(spark, qm, tmp_path)


def test_the_format_is_there_without_any_call_and_reads(source: Spark) -> None:
    send(source.qm, *(f"ß {number}" for number in range(3000)))
    rows = source.read()
    assert rows.count() == 3000
    assert rows.rdd.getNumPartitions() == 2
    # The same partitions again: a batch read takes nothing.
    first = rows.orderBy("seq").limit(2).select("label", "queue_kind", "priority").collect()
    assert [tuple(row) for row in first] == [("ß 0", "queue", 3), ("ß 1", "queue", 3)]
    assert left(source.qm) == 3000


def test_a_filter_of_one_frame_is_none_of_another(source: Spark) -> None:
    """Spark has wrong rows here for a source that takes filters, which is why ours takes none."""
    send(source.qm, "a", "b", "c")
    conf = source.spark.conf
    conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        rows = source.read()
        few = rows.where("label > 'b'")
        assert (few.count(), rows.count(), rows.union(few).count()) == (1, 3, 4)
    finally:
        conf.unset("spark.sql.python.filterPushdown.enabled")


def test_a_schema_prunes_columns(source: Spark) -> None:
    send(source.qm, "a")
    reader = source.spark.read.format("msmq").options(**source.options({}))
    rows = reader.schema("label string, arrived_time timestamp, seq long NOT NULL").load()
    found = rows.collect()
    assert [(row.label, row.seq > 0) for row in found] == [("a", True)]
    assert abs(found[0].arrived_time.timestamp() - time.time()) < 24 * 3600
    with pytest.raises(PySparkException, match="there is no column 'colour'"):
        reader.schema("colour string").load().collect()


def test_an_empty_queue_is_an_empty_frame(source: Spark) -> None:
    assert source.read().collect() == []


def test_a_name_in_load_is_the_queue(source: Spark) -> None:
    send(source.qm, "a")
    reader = source.spark.read.format("msmq").option("endpoint", source.qm.address)
    assert [row.label for row in reader.load(ORDERS).collect()] == ["a"]


def test_wrong_options_fail_at_load_and_name_the_option(source: Spark) -> None:
    with pytest.raises(PySparkException, match=r"option kind: 'x' must be one of queue, journal"):
        source.read(kind="x")
    with pytest.raises(PySparkException, match="option consumer: unknown; did you mean consume"):
        source.read(consumer="x")
    with pytest.raises(PySparkException) as caught:
        source.read(endpoint="127.0.0.1:1", auth__token="s3cret", connectTimeout="0s").count()
    assert "s3cret" not in str(caught.value)


def test_a_stream_drains_a_queue_batch_by_batch(source: Spark) -> None:
    send(source.qm, *map(str, range(25)))
    seen: dict[int, list[str]] = {}

    def work(batch: "DataFrame", number: int) -> None:
        seen[number] = [row.label for row in batch.orderBy("seq").collect()]

    options = {"consume": "exclusive", "maxMessagesPerTrigger": "10"}
    source.stream("drain", work, **options)
    assert [len(each) for each in seen.values()] == [10, 10, 5]
    assert [label for each in seen.values() for label in each] == list(map(str, range(25)))
    assert left(source.qm) == 0
    send(source.qm, "later", priority=7)
    source.stream("drain", work, **options)
    assert seen[3] == ["later"]
    assert left(source.qm) == 0


def test_a_batch_that_failed_is_repeated_and_then_removed(source: Spark) -> None:
    send(source.qm, "a", "b", "c")
    seen: list[list[str]] = []

    def work(batch: "DataFrame", number: int) -> None:
        seen.append(sorted(row.label for row in batch.collect()))
        if len(seen) == 1:
            raise RuntimeError("the sink failed")

    lease = {"consume": "lease", "consumerName": "test"}
    with pytest.raises(PySparkException, match="the sink failed"):
        source.stream("again", work, **lease)
    send(source.qm, "d")
    source.stream("again", work, **lease)
    assert seen == [["a", "b", "c"], ["a", "b", "c"], ["d"]]
    assert left(source.qm) == 0
    assert source.read(subqueue="spark-test").count() == 0


def test_what_was_purged_in_the_middle_of_a_batch_is_reported_as_lost(source: Spark) -> None:
    send(source.qm, "a", "b")

    def fail(batch: "DataFrame", number: int) -> None:
        raise RuntimeError("the sink failed")

    with pytest.raises(PySparkException, match="the sink failed"):
        source.stream("purged", fail)
    source.qm.open_queue(ORDERS).purge()
    with pytest.raises(PySparkException, match="2 messages were planned"):
        source.stream("purged", fail)
    logged = (source.folder / "purged" / "offsets" / "0").read_text().splitlines()[-1]
    entry = json.loads(logged)["queues"][r"DIRECT=OS:.\private$\orders"]
    assert entry.keys() == {"inc", "base", "seq", "n", "h"}
    assert entry["n"] == 2
