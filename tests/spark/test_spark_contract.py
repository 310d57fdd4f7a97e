"""What the connector relies on in Spark; a Spark that changes it must fail here, loudly.

A data source that does nothing but write down who called it runs under real queries.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import TaskContext
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.errors import PySparkException
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

Call = list[Any]


def note(folder: str, *call: Any) -> None:
    line = json.dumps([os.getpid(), *call]) + "\n"
    descriptor = os.open(f"{folder}/calls", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def properties() -> list[str | None]:
    context = TaskContext.get()
    assert context is not None
    return [
        context.getLocalProperty("streaming.sql.batchId"),
        context.getLocalProperty("sql.streaming.queryId"),
    ]


class Partition(InputPartition):
    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.available = -1

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        note(self.folder, "initialOffset")
        return {"z": 0, "at": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        note(self.folder, "prepare")

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(2)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        committed = sorted(
            int(name)
            for name in os.listdir(f"{self.folder}/checkpoint/commits")  # noqa: PTH208
            if name.isdigit()
        )
        with open(f"{self.folder}/available") as file:  # noqa: PTH123
            available = int(file.read())
        note(self.folder, "latestOffset", start["at"], repr(limit), committed, list(start))
        end = min(start["at"] + 2, available)
        return start if end == start["at"] else {"z": 0, "at": end}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        note(self.folder, "partitions", start["at"], end["at"])
        return [Partition(start["at"], end["at"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        assert isinstance(partition, Partition)
        note(self.folder, "read", partition.start, partition.end, *properties())
        return ((number,) for number in range(partition.start, partition.end))

    def commit(self, end: dict[str, Any]) -> None:
        note(self.folder, "commit", end["at"])
        if os.path.exists(f"{self.folder}/fail-commit"):  # noqa: PTH110
            raise RuntimeError("commit failed")

    def stop(self) -> None:
        note(self.folder, "stop")


class Reader(DataSourceReader):
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def partitions(self) -> list[InputPartition]:
        note(self.folder, "batch partitions")
        return [Partition(0, 3)]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        assert isinstance(partition, Partition)
        return ((number,) for number in range(partition.start, partition.end))


class Written(WriterCommitMessage):
    pass


class StreamWriter(DataSourceStreamWriter):
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        note(self.folder, "write", len(list(iterator)), *properties())
        return Written()

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        note(self.folder, "sink commit", len(messages), batchId)
        if os.path.exists(f"{self.folder}/fail-sink"):  # noqa: PTH110
            raise RuntimeError("sink failed")

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        note(self.folder, "sink abort", len(messages), batchId)


class Recording(DataSource):
    @classmethod
    def name(cls) -> str:
        return "recording"

    def schema(self) -> str:
        return "number int"

    def reader(self, schema: "StructType") -> DataSourceReader:  # noqa: ARG002 - named as Spark calls it
        return Reader(self.options["folder"])

    def streamReader(self, schema: "StructType") -> DataSourceStreamReader:  # noqa: ARG002, N802 - as above
        return StreamReader(self.options["folder"])

    # A name that differs from Spark's, `schema` or `overwrite`, fails.
    def streamWriter(  # noqa: N802 - as above
        self,
        schema: "StructType",  # noqa: ARG002 - as above
        overwrite: bool,  # noqa: FBT001 - as above
    ) -> DataSourceStreamWriter:
        note(self.options["folder"], "streamWriter", overwrite)
        return StreamWriter(self.options["folder"])


class Recorded:
    """A folder with a checkpoint, and the calls that were made."""

    def __init__(self, spark: "SparkSession", folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        (folder / "checkpoint" / "commits").mkdir(parents=True)
        self.available(0)

    def available(self, count: int) -> None:
        (self.folder / "available").write_text(str(count))

    def start(self) -> "StreamingQuery":
        return (
            self.spark.readStream.format("recording")
            .option("folder", str(self.folder))
            .load()
            .writeStream.format("recording")
            .option("folder", str(self.folder))
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )

    def run(self) -> list[Call]:
        """Read what is available; the calls of this run only, without process ids."""
        before = len(self.calls())
        self.start().awaitTermination(300)
        return [call[1:] for call in self.calls()[before:]]

    def calls(self) -> list[Call]:
        file = self.folder / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def recorded(spark: "SparkSession", tmp_path: Path) -> Recorded:
    # Workers cannot import tests, so they get the classes themselves.
    register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # has no types
    spark.dataSource.register(Recording)
    return Recorded(spark, tmp_path)


def of(calls: list[Call], *names: str) -> list[Call]:
    return [call for call in calls if call[0] in names]


SOURCE_CALLS = ("initialOffset", "prepare", "latestOffset", "partitions", "commit", "stop")


def test_the_order_of_calls_is_the_one_that_acknowledgment_relies_on(recorded: Recorded) -> None:
    recorded.available(3)
    calls = recorded.run()
    limit = repr(ReadMaxRows(2))
    assert of(calls, *SOURCE_CALLS) == [
        ["prepare"],
        ["initialOffset"],
        # `start` is always what the commit log has: that is where messages may be removed.
        ["latestOffset", 0, limit, [], ["z", "at"]],
        # Asked again: it must be the same.
        ["initialOffset"],
        ["partitions", 0, 2],
        ["latestOffset", 2, limit, [0], ["z", "at"]],
        # One batch late.
        ["commit", 2],
        ["partitions", 2, 3],
        # Asked once more, so that the last batch can be acknowledged, which `commit` never does.
        ["latestOffset", 3, limit, [0, 1], ["z", "at"]],
    ]
    # The driver's process holds one reader all the time; nobody tells it of the end.
    driver = {call[0] for call in recorded.calls() if call[1] in SOURCE_CALLS}
    assert len(driver) == 1
    assert not of(calls, "stop")
    # A restart without news neither commits the last batch nor begins anew.
    assert of(recorded.run(), *SOURCE_CALLS) == [
        ["prepare"],
        ["latestOffset", 3, limit, [0, 1], ["z", "at"]],
    ]
    # The batch and the query are known inside the tasks of source and sink.
    query = of(calls, "read")[0][4]
    assert [call[3:] for call in of(calls, "read")] == [["0", query], ["1", query]]
    assert [call[2:] for call in of(calls, "write")] == [["0", query], ["1", query]]
    assert of(calls, "sink commit") == [["sink commit", 1, 0], ["sink commit", 1, 1]]


def test_a_commit_that_failed_ends_the_query_and_is_not_repeated(recorded: Recorded) -> None:
    recorded.available(3)
    (recorded.folder / "fail-commit").touch()
    with pytest.raises(PySparkException, match="commit failed"):
        recorded.run()
    (recorded.folder / "fail-commit").unlink()
    recorded.available(5)
    calls = of(recorded.run(), *SOURCE_CALLS)
    # The batch that was planned is read as planned; what commit(2) should have done is up to
    # later calls with larger offsets.
    assert of(calls, "partitions") == [["partitions", 2, 3], ["partitions", 3, 5]]
    assert ["commit", 3] in calls
    assert ["latestOffset", 3, repr(ReadMaxRows(2)), [0, 1], ["z", "at"]] in calls


def test_a_sink_that_failed_gets_the_same_batch_again(recorded: Recorded) -> None:
    recorded.available(2)
    (recorded.folder / "fail-sink").touch()
    with pytest.raises(PySparkException, match="sink failed"):
        recorded.run()
    assert of([call[1:] for call in recorded.calls()], "sink abort") == [["sink abort", 1, 0]]
    (recorded.folder / "fail-sink").unlink()
    recorded.available(4)
    calls = recorded.run()
    assert of(calls, "partitions") == [["partitions", 0, 2], ["partitions", 2, 4]]
    assert of(calls, "read")[0][3] == "0"
    # Nothing is asked for the end of the batch that is repeated.
    assert calls[0] == ["prepare"] or calls[0][0] == "streamWriter"
    first = of(calls, "latestOffset", "partitions")[0]
    assert first == ["partitions", 0, 2]


def test_a_batch_read_plans_once_and_reads_the_same_partitions_again(recorded: Recorded) -> None:
    options = {"folder": str(recorded.folder)}
    rows = recorded.spark.read.format("recording").options(**options).load()
    assert rows.count() == rows.count() == 3
    assert len(of([call[1:] for call in recorded.calls()], "batch partitions")) == 1


def test_a_limit_of_everything_comes_with_trigger_once_only(recorded: Recorded) -> None:
    assert repr(ReadAllAvailable()) == "ReadAllAvailable()"
    calls: Callable[[], list[Call]] = recorded.calls
    recorded.available(5)
    query = (
        recorded.spark.readStream.format("recording")
        .option("folder", str(recorded.folder))
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", str(recorded.folder / "checkpoint"))
        .trigger(once=True)
        .start()
    )
    query.awaitTermination(300)
    limits = {call[3] for call in calls() if call[1] == "latestOffset"}
    assert limits == {"ReadAllAvailable()"}
