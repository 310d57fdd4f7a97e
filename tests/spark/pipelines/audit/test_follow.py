"""The audit that goes on, with a real queue manager."""

import json
import threading
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.runner import run

import openmsmq
from openmsmq.spark.pipelines.audit import follow as audit_follow
from openmsmq.spark.pipelines.audit.auditing import AuditResult
from openmsmq.spark.pipelines.audit.follow import VerdictWriter, follow_audit
from openmsmq.spark.pipelines.audit.verdict import State
from openmsmq.spark.pipelines.checks import ArgumentChecks
from openmsmq.spark.pipelines.reporting.summary import Column, Kind, Summary, Table
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.spark_paths import literal_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERS, ADMIN = r".\private$\orders", r".\private$\admin"
SCHEMA = (
    "message_id string, state string, reason string, lost boolean, label string, "
    "destination_queue string, sent_time timestamp, transactional boolean, acknowledge int, "
    "arrived_at timestamp, read_at timestamp, read boolean, dead_letters long, copies long, "
    "out_of_order boolean, deadline timestamp, evaluated_at timestamp"
)
SOURCES = ("--sends", ";journal", "--evidence", ADMIN)


class Verdicts:
    """A stream of verdicts, without the streams with state that they come from."""

    def __init__(self, spark: "SparkSession", folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        folder.mkdir()

    def add(self, minute: int, **states: str) -> None:
        moment = datetime(2026, 3, 1, 12, minute)  # noqa: DTZ001 - Spark's, in UTC
        rows = [
            {"message_id": name, "state": state, "lost": False, "evaluated_at": moment}
            for name, state in states.items()
        ]
        made = self._spark.createDataFrame(rows, SCHEMA).coalesce(1)
        made.write.mode("append").parquet(str(self._folder))

    def stream(self) -> "DataFrame":
        return self._spark.readStream.schema(SCHEMA).parquet(str(self._folder))


@pytest.mark.timeout(300)  # several runs of Spark: slow where many tests run side by side
def test_the_newest_verdicts_are_counted_told_and_written(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = Verdicts(spark, tmp_path / "stream")
    verdicts.add(0, a="arrived unread", b="arrived unread")
    monkeypatch.setattr(audit_follow, "COUNT_SECONDS", 0.0)
    monkeypatch.setattr(audit_follow, "TRIGGER", "0 seconds")
    monkeypatch.setattr(audit_follow, "stream_sources", lambda *_, **__: [None])
    monkeypatch.setattr(audit_follow, "audit_stream", lambda *_, **__: verdicts.stream())
    stop = threading.Event()
    told: list[str] = []

    def tell(summary: Summary) -> None:
        told.append(summary.headline)
        if len(told) == 1:
            verdicts.add(1, b="read", c="rejected")
        else:
            stop.set()

    # A name that Spark would take for a pattern.
    output = tmp_path / "audit[1]"
    result = follow_audit(spark, [";journal"], [ADMIN], output, stop=stop, tell=tell)
    assert told == [
        "0 of 2 sent messages were read; none failed.",
        "1 of 3 sent messages were read; 1 needs attention.",
    ]
    assert {state: count for state, count in result.counts.items() if count} == {
        State.ARRIVED_UNREAD: 1,
        State.READ: 1,
        State.REJECTED: 1,
    }
    rows = spark.read.parquet(literal_path(output / "messages")).collect()
    assert {row["message_id"]: row["state"] for row in rows} == {
        "a": "arrived unread",
        "b": "read",
        "c": "rejected",
    }
    assert spark.read.parquet(literal_path(output / "verdicts")).count() == 4
    assert told[-1] in (output / "report.html").read_text()
    # A batch that is repeated stays as it is, and one without news leaves nothing behind.
    write = VerdictWriter(output / "verdicts")
    write(spark.createDataFrame([("a",)], "message_id string"), 1)
    write(spark.createDataFrame([], "message_id string"), 2)
    assert spark.read.parquet(literal_path(output / "verdicts")).count() == 4
    assert sorted(path.name for path in (output / "verdicts").iterdir()) == ["batch=0", "batch=1"]
    with pytest.raises(PipelineError, match=r"audit of other sources: sends ;journal; evidence"):
        follow_audit(spark, [";journal"], [ORDERS], output, stop=stop)


class Batch:
    """A frame that looks at the folder of the verdicts while it is written there."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.write = self
        self._folder = folder
        self._rows = rows
        self.seen: list[str] = []

    def repartition(self, _parts: int) -> "Batch":
        return self

    def mode(self, _mode: str) -> "Batch":
        return self

    def parquet(self, path: str) -> None:
        Path(path).mkdir()
        rows = pa.table({"message_id": pa.array(["a"] * self._rows, pa.string())})
        pq.write_table(rows, Path(path) / "part-0.parquet")
        self.seen = names(self._folder)


def names(folder: Path) -> list[str]:
    """What a reader of the folder sees: Spark passes over names that begin with `_`."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("_"))


def test_who_reads_the_verdicts_meanwhile_sees_whole_batches_with_news_only(tmp_path: Path) -> None:
    write = VerdictWriter(tmp_path)
    for number, (rows, seen) in enumerate([(1, []), (0, ["batch=0"]), (2, ["batch=0"])]):
        batch: Any = Batch(tmp_path, rows)
        write(batch, number)
        assert batch.seen == seen
    assert names(tmp_path) == ["batch=0", "batch=2"]
    # One that is repeated is not taken away from those who read it.
    again: Any = Batch(tmp_path, 2)
    write(again, 2)
    assert again.seen == names(tmp_path) == ["batch=0", "batch=2"]
    assert {path.name for path in tmp_path.iterdir()} == {"batch=0", "batch=2"}


@pytest.mark.soak
@pytest.mark.timeout(400)  # streams with state, on a machine that may be busy
def test_verdicts_change_as_messages_are_read_until_it_is_stopped(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_follow, "COUNT_SECONDS", 0.1)
    monkeypatch.setattr(audit_follow, "COUNT_SHARE", 1.0)
    output = tmp_path / "audit"
    stop = threading.Event()
    seen: list[tuple[Any, ...]] = []
    with openmsmq.embedded(tmp_path / "qm") as manager:
        orders = manager.create_queue(ORDERS)
        manager.create_queue(ADMIN)
        asks: dict[str, Any] = {"journal": True, "acknowledge": "full", "admin_queue": ADMIN}
        orders.send_many(openmsmq.Message(f"{number}", "order", **asks) for number in range(3))

        def tell(summary: Summary) -> None:
            """What the application does meanwhile, when it hears of the state before."""
            facts = {column.name: value for column, value in summary.facts}
            seen.append((facts["sends"], facts["read"], facts["arrived_unread"]))
            if seen[-1] == (3, 0, 3):
                orders.receive(timeout=5)
            elif seen[-1][:2] == (3, 1):
                stop.set()

        result = follow_audit(
            spark, [";journal"], [ADMIN], output, endpoint=manager.address, stop=stop, tell=tell
        )
    assert seen[-1] == (3, 1, 2)
    assert (result.sends, result.lost) == (3, 0)
    assert result.counts[State.READ] == 1
    assert result.counts[State.ARRIVED_UNREAD] == 2
    # One row per message in one table, every verdict in the other.
    states = [row["state"] for row in spark.read.parquet(str(output / "messages")).collect()]
    assert sorted(states) == ["arrived unread", "arrived unread", "read"]
    verdicts = spark.read.parquet(str(output / "verdicts"))
    assert verdicts.count() > 3
    # Batches without news leave nothing behind.
    assert len(list((output / "verdicts").glob("batch=*"))) < 4
    assert "1 of 3 sent messages were read" in (output / "report.html").read_text()
    assert dict(result.summary.outputs).keys() == {
        "Table verdicts",
        "Table messages",
        "Report",
    }


def test_folders_cannot_be_followed(spark: "SparkSession", tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    with pytest.raises(PipelineError, match="is a folder, and only queues can be followed"):
        follow_audit(spark, [str(tmp_path / "archive")], [ADMIN], tmp_path / "out")


def test_what_streams_with_state_need_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    nothing: Any = None
    with pytest.raises(PipelineError, match=r"protobuf, .* pip install 'openmsmq\[connect\]'"):
        follow_audit(nothing, [], [], tmp_path)


def summary_of(count: int) -> Summary:
    columns = (Column("state", "State"), Column("messages", "Messages", Kind.COUNT))
    table = Table("states", "What became of the messages", columns, (("read", count),))
    facts = ((Column("sends", "Sent", Kind.COUNT), count),)
    return Summary("audit", f"{count} of {count} sent messages were read", facts, (table,))


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit that hears of one message, then of two, and is ended."""

    def follow(*_: object, tell: Callable[[Summary], None], **_options: object) -> AuditResult:
        tell(summary_of(1))
        tell(summary_of(2))
        nothing: Any = None
        return AuditResult(nothing, {}, 2, 0, 0, summary_of(2))

    monkeypatch.setattr(audit_follow, "follow_audit", follow)
    monkeypatch.setattr("openmsmq.cli.pipeline.audit.spark_session", nullcontext)
    # There is no queue manager to ask.
    monkeypatch.setattr(ArgumentChecks, "queues", lambda *_, **_options: None)


@pytest.mark.usefixtures("followed")
def test_the_command_tells_each_change_and_the_end(tmp_path: Path) -> None:
    outcome = run("pipeline", "audit", *SOURCES, "--follow", "--output", str(tmp_path))
    assert outcome.code == 0
    first, second, *rest = outcome.out.splitlines()
    assert first.endswith(" UTC  1 of 1 sent messages were read")
    assert second.endswith(" UTC  2 of 2 sent messages were read")
    assert [line.split() for line in rest][-2] == ["read", "2"]


@pytest.mark.usefixtures("followed")
def test_with_json_each_change_is_an_object(tmp_path: Path) -> None:
    outcome = run("pipeline", "audit", *SOURCES, "--follow", "--output", str(tmp_path), "--json")
    assert outcome.code == 0
    first, second, *last = map(json.loads, outcome.out.splitlines())
    assert [(each["pipeline"], each["sends"]) for each in (first, second)] == [
        ("audit", 1),
        ("audit", 2),
    ]
    assert "time" in first
    assert last == [
        {key: value for key, value in second.items() if key != "time"},
        {"table": "states", "state": "read", "messages": 2},
    ]


def test_following_without_a_folder_is_wrong_usage() -> None:
    outcome = run("pipeline", "audit", *SOURCES, "--follow")
    assert outcome.code == 2
    assert "--follow needs --output DIR" in outcome.err
