"""The audit of streams agrees with that of tables."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Row as SparkRow
from tests.spark.pipelines.audit_case import EVIDENCE, EXPECTED, LOST, SENDS
from tests.spark.pipelines.rows import SCHEMA, Row, frame, message
from tests.spark.pipelines.zones import NEW_YORK, TOKYO, machine_in

from openmsmq.spark.pipelines.audit.auditing import audit_messages
from openmsmq.spark.pipelines.audit.evidence import EVENT_SCHEMA
from openmsmq.spark.pipelines.audit.stream import (
    KEEP,
    MessageProcessor,
    audit_stream,
    deadlines,
    latest_verdicts,
)
from openmsmq.spark.pipelines.audit.verdict import State

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SECONDS = 180


class Feed:
    """A folder of rows that a stream reads; each `add` is one batch at least."""

    def __init__(self, spark: "SparkSession", folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        folder.mkdir()

    def add(self, rows: list[Row]) -> None:
        frame(self._spark, rows).coalesce(1).write.mode("append").parquet(str(self._folder))

    def stream(self) -> "DataFrame":
        reader = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self._folder))


@pytest.fixture
def one_part(spark: "SparkSession") -> Iterator[None]:
    """One part of the state: each has files and a process of its own in every batch."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", 1)
    yield
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


@pytest.fixture
def workers_in_tokyo(spark: "SparkSession") -> Iterator[None]:
    """Functions that are made meanwhile run in processes whose machine is elsewhere."""
    environment = spark.sparkContext.environment
    environment["TZ"] = TOKYO
    yield
    del environment["TZ"]


@pytest.mark.usefixtures("one_part", "workers_in_tokyo")
@pytest.mark.timeout(400)  # many small batches, on machines that may be busy
def test_a_stream_agrees_with_the_tables_and_tells_when_time_is_up(
    spark: "SparkSession", tmp_path: Path
) -> None:
    sends, evidence = Feed(spark, tmp_path / "sends"), Feed(spark, tmp_path / "evidence")
    # In the order of the queues, as the data source reads them; some evidence is there first.
    rows = sorted(EVIDENCE, key=lambda row: (row["queue"] or "", row["seq"] or 0))
    for half in range(2):
        sends.add(SENDS[half::2])
        evidence.add(rows[half * len(rows) // 2 : (half + 1) * len(rows) // 2])
    told: list[SparkRow] = []
    query = (
        audit_stream(sends.stream(), [evidence.stream()])
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .foreachBatch(lambda batch, _number: told.extend(batch.collect()))
        .trigger(processingTime="0 seconds")
        .start()
    )
    try:
        wait_until(lambda: {row["message_id"] for row in told} == EXPECTED.keys(), query)
        wait_until(lambda: states(told) == EXPECTED, query)
        assert told_of(spark, told) == expected_of(spark)

        awaited = message(99, acknowledge=1, sent_time=datetime.now(UTC), time_to_reach_queue=3)
        sends.add([awaited])
        wait_until(lambda: awaited["id"] in lost(told), query)
        first = next(row for row in told if row["message_id"] == awaited["id"])
        if first["evaluated_at"] < first["deadline"]:
            assert (first["state"], first["lost"]) == (State.IN_DOUBT, False)
        assert lost(told) == LOST | {awaited["id"]}
    finally:
        query.stop()


def wait_until(condition: Callable[[], bool], query: "StreamingQuery") -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        assert query.exception() is None
        time.sleep(0.1)


def states(told: list[SparkRow]) -> dict[str, str]:
    """The last word on each message."""
    return {row["message_id"]: row["state"] for row in told}


def lost(told: list[SparkRow]) -> set[str]:
    return {row["message_id"] for row in told if row["lost"]}


def told_of(spark: "SparkSession", told: list[SparkRow]) -> list[SparkRow]:
    newest = latest_verdicts(spark.createDataFrame(told)).drop("evaluated_at")
    return sorted(newest.collect())


def expected_of(spark: "SparkSession") -> list[SparkRow]:
    tables = audit_messages(frame(spark, SENDS), [frame(spark, EVIDENCE)], datetime.now(UTC))
    return sorted(tables.collect())


def test_deadlines_are_those_of_the_way_and_of_the_receipt() -> None:
    start = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp()) * 1000
    limits = {"time_to_reach_queue": 60, "time_to_be_received": None, "sent_time": start * 1000}
    event = {"fact": "send", **limits}
    assert deadlines([event]) == [start + 60_000]
    assert deadlines([event | {"time_to_be_received": 30}]) == [start + 30_000, start + 60_000]
    assert deadlines([event | {"fact": "arrived"}]) == []
    assert deadlines([event | {"sent_time": None}]) == []


class Handle:
    """What Spark keeps for a processor."""

    def __init__(self) -> None:
        self.values: list[tuple[Any, ...]] = []
        self.timers: list[int] = []

    def getListState(self, *_: object) -> "Handle":  # noqa: N802 - Spark's name
        return self

    def appendValue(self, value: tuple[Any, ...]) -> None:  # noqa: N802 - Spark's name
        self.values.append(value)

    def get(self) -> list[tuple[Any, ...]]:
        return self.values

    def registerTimer(self, moment: int) -> None:  # noqa: N802 - Spark's name
        self.timers.append(moment)


@pytest.mark.parametrize("zone", ["UTC", TOKYO, NEW_YORK])
def test_what_a_message_is_known_by_does_not_depend_on_the_zone_of_the_machine(zone: str) -> None:
    now = 1_772_366_400_000
    event = dict.fromkeys(name.split(" ")[0] for name in EVENT_SCHEMA.split(", ")) | {
        "message_id": "a",
        "fact": "send",
        "position": 1,
        "late": False,
        "sent_time": now * 1000 - 5_000_000,
        "time_to_reach_queue": 60,
    }
    handle: Any = Handle()
    clock: Any = SimpleNamespace(getCurrentProcessingTimeInMs=lambda: now)
    with machine_in(zone):
        processor = MessageProcessor(KEEP)
        processor.init(handle)
        (told,) = processor.handleInputRows(("a",), iter([SparkRow(**event)]), clock)
        (again,) = processor.handleExpiredTimer(("a",), clock, None)
    assert told == again
    assert (told["sent_time"], told["evaluated_at"]) == (now * 1000 - 5_000_000, now * 1000)
    assert handle.timers == [now + 55_000]
