"""The triage of dead letters."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.rows import NOW, ORDERS, SENDER, Row, acknowledgment, found, frame
from tests.spark.pipelines.zones import TOKYO, machine_in

from openmsmq.care.reasons import remedy
from openmsmq.spark.pipelines import triage as module
from openmsmq.spark.pipelines.triage import TriageResult, triage
from openmsmq.wire.codes.message_class import MessageClass

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIMEOUT = MessageClass.NACK_REACH_QUEUE_TIMEOUT
DENIED = MessageClass.NACK_ACCESS_DENIED
ELSEWHERE = r"DIRECT=OS:gamma\private$\bills"


def dead(ordinal: int, code: int, age: timedelta, **changes: object) -> Row:
    row = found(ordinal, "xact_deadletter", **{"class": code, "arrived_time": NOW - age})
    return row | changes


DEAD = [
    *(dead(number, TIMEOUT, timedelta(minutes=number), label="same") for number in range(1, 6)),
    dead(6, DENIED, timedelta(days=3), destination_queue=ELSEWHERE),
    dead(7, 0, timedelta(days=90), label=None),
]
ACKNOWLEDGED = [
    acknowledgment(6, DENIED),
    acknowledgment(8, MessageClass.NACK_MESSAGE_TOO_LARGE),
    acknowledgment(1, MessageClass.ACK_REACH_QUEUE),
]


@pytest.fixture(scope="module")
def result(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> TriageResult:
    sources = [frame(spark, DEAD), frame(spark, ACKNOWLEDGED)]
    with machine_in(TOKYO):
        output = tmp_path_factory.mktemp("triage")
        return triage(sources, now=NOW, output=output, inputs=(("Read", ";deadletter"),))


def test_each_failed_message_counts_once(result: TriageResult) -> None:
    assert result.total == 8
    assert result.by_class == {
        int(TIMEOUT): 5,
        int(DENIED): 1,
        0: 1,
        int(MessageClass.NACK_MESSAGE_TOO_LARGE): 1,
    }
    for table in result.summary.tables:
        names = [column.name for column in table.columns]
        if table.name == "attention":
            assert len(table.rows) == result.total
            continue
        assert table.sums()[names.index("messages")] == result.total, table.name


def test_groups_are_reasons_destinations_labels_and_ages(result: TriageResult) -> None:
    first, *rows = result.summary.objects()
    assert (first["dead_letters"], first["acknowledgments"], first["replay"]) == (7, 1, 7)
    by_table: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        by_table.setdefault(str(row["table"]), []).append(row)
    most = by_table["reasons"][0]
    assert most["reason"] == remedy(TIMEOUT).reason
    assert most["action"] == remedy(TIMEOUT).action
    # An acknowledgment names the destination, too, as its response queue.
    destinations = {row["destination"]: row["messages"] for row in by_table["destinations"]}
    assert destinations == {ORDERS: 7, ELSEWHERE: 1}
    assert by_table["labels"][0]["label"] == "same"
    ages = {row["age"]: row["messages"] for row in by_table["ages"]}
    assert ages == {
        "less than 1 hour": 5,
        "1 hour to 1 day": 1,
        "1 day to 7 days": 1,
        "7 days to 30 days": 0,
        "more than 30 days": 1,
    }


def test_the_oldest_failures_are_named_one_by_one(
    spark: "SparkSession", result: TriageResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row for row in result.summary.objects() if row.get("table") == "attention"]
    assert len(rows) == result.total
    assert rows[0]["message_id"] == rf"{SENDER}\7"
    assert rows[1] == {
        "table": "attention",
        "message_id": rf"{SENDER}\6",
        "destination": ELSEWHERE,
        "label": rows[1]["label"],
        "reason": remedy(DENIED).reason,
        "age_seconds": 3 * 86_400,
    }
    monkeypatch.setattr(module, "SHOWN_MESSAGES", 3)
    (table,) = [
        table
        for table in triage([frame(spark, DEAD)], now=NOW).summary.tables
        if table.name == "attention"
    ]
    assert len(table.rows) == 3
    assert table.note == "The oldest 3 of 7; the table failures has all."


def test_the_export_has_whole_messages_with_what_to_do(
    spark: "SparkSession", result: TriageResult
) -> None:
    path = dict(result.summary.outputs)["Table failures"]
    rows = {row["message_id"]: row for row in spark.read.parquet(path).collect()}
    assert len(rows) == 8
    denied = rows[rf"{SENDER}\6"]
    assert (denied["evidence"], denied["queue_kind"]) == ("dead letter", "xact_deadletter")
    assert bytes(denied["body"]) == b"12 apples"
    assert denied["action"] == remedy(DENIED).action
    assert rows[rf"{SENDER}\8"]["replay"] is False
    assert rows[rf"{SENDER}\1"]["age_seconds"] == 60


def test_the_report_names_the_reasons(result: TriageResult) -> None:
    text = Path(dict(result.summary.outputs)["Report"]).read_text(encoding="utf-8")
    assert remedy(TIMEOUT).cause in text.replace("&#x27;", "'")
    assert "Look at <code>openmsmq outgoing</code> for" in text
    assert "<dt>Read</dt><dd>;deadletter</dd>" in text


def test_labels_beyond_the_most_frequent_are_one_row(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_LABELS", 1)
    (labels,) = [
        table
        for table in triage([frame(spark, DEAD)], now=NOW).summary.tables
        if table.name == "labels"
    ]
    assert [row[:2] for row in labels.rows] == [("same", 5), ("2 others", 2)]


def test_no_dead_letters_is_good_news(spark: "SparkSession") -> None:
    outcome = triage([frame(spark, [])], now=NOW)
    assert outcome.total == 0
    assert outcome.summary.headline.startswith("Nothing has failed")
