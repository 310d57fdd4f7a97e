"""Depth and latency."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.rows import NOW, ORDERS, Row, found, frame
from tests.spark.pipelines.zones import TOKYO, machine_in

from openmsmq.spark.pipelines.latency import LatencyResult, latency
from openmsmq.spark.pipelines.reporting.summary import Kind, Lines, value_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BILLS = r"DIRECT=OS:gamma\private$\bills"


def arrived(number: int, seconds: float, queue: str = ORDERS) -> Row:
    """A message that was sent at a second of its own and took some time."""
    sent = NOW + timedelta(seconds=10 * number)
    return found(
        number, queue=queue, sent_time=sent, arrived_time=sent + timedelta(seconds=seconds)
    )


# One hundred messages that took 0.00 to 0.99 s, and three whose clock is ahead or behind.
ROWS = [arrived(number, number / 100) for number in range(100)]
SKEWED = [arrived(200, -3.5, BILLS), arrived(201, 2, BILLS), arrived(202, -0.001, BILLS)]


@pytest.fixture(scope="module")
def result(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> LatencyResult:
    # The first forty left their queue 35 s after they were sent; one was never seen to arrive.
    left = [
        row | {"queue_kind": "journal", "arrived_time": row["sent_time"] + timedelta(seconds=35)}
        for row in [*ROWS[:40], arrived(900, 0)]
    ]
    with machine_in(TOKYO):
        return latency(
            [frame(spark, [*ROWS, ROWS[0]]), frame(spark, SKEWED)],
            journals=[frame(spark, left)],
            output=tmp_path_factory.mktemp("latency"),
        )


def test_percentiles_are_per_queue(result: LatencyResult) -> None:
    rows = {row["queue"]: row for row in result.latencies}
    orders = rows[ORDERS]
    assert orders["messages"] == 100
    assert orders["p50"] == pytest.approx(0.49, abs=0.011)
    assert orders["p99"] == pytest.approx(0.98, abs=0.011)
    assert (orders["least"], orders["most"]) == pytest.approx((0, 0.99))


def test_moments_are_in_utc_wherever_the_machine_is(result: LatencyResult) -> None:
    (orders,) = [row for row in result.latencies if row["queue"] == ORDERS]
    assert (orders["first"], orders["last"]) == (NOW, ROWS[-1]["arrived_time"])
    assert orders["first"].utcoffset() == timedelta(0)
    for chart in result.summary.charts:
        assert isinstance(chart, Lines)
        assert chart.series[ORDERS][0][0] == NOW
        assert chart.series[ORDERS][0][0].utcoffset() == timedelta(0)


def test_negative_latency_is_counted_and_told_as_clock_skew(result: LatencyResult) -> None:
    rows = {row["queue"]: row for row in result.latencies}
    assert (rows[ORDERS]["skewed"], rows[BILLS]["skewed"]) == (0, 2)
    assert rows[BILLS]["least"] == pytest.approx(-3.5)
    assert (result.messages, result.skewed) == (103, 2)
    assert any("by up to 3.50 s" in warning for warning in result.summary.warnings)


def test_latencies_are_not_finer_than_the_time_of_sending(result: LatencyResult) -> None:
    assert result.summary.headline == (
        "103 messages in 2 queues; at worst 99 of 100 arrived within 2.00 s (the time of sending "
        "is known to the second)."
    )
    kinds = {column.name: column.kind for column in result.summary.tables[0].columns}
    assert {kinds[name] for name in ("p50", "p90", "p99", "least", "most")} == {Kind.LATENCY}
    assert value_text(0.339, Kind.LATENCY) == "0.34 s"
    assert value_text(-3.5, Kind.LATENCY) == "-3.50 s"
    assert value_text(75.0, Kind.LATENCY) == "1 min 15 s"


def test_messages_that_had_left_before_are_told(result: LatencyResult) -> None:
    (told,) = [warning for warning in result.summary.warnings if "had left before" in warning]
    assert told.startswith("1 message of the journals had left before the queue was read: depth")


def test_depth_goes_up_with_arrivals_and_down_with_the_journal(
    spark: "SparkSession", result: LatencyResult
) -> None:
    path = dict(result.summary.outputs)["Table depth"]
    depth = spark.read.parquet(path).where(f"queue = '{ORDERS}'".replace("\\", "\\\\"))
    points = depth.orderBy("time").collect()
    assert points[-1]["depth"] == 60
    assert sum(point["arrived"] for point in points) == 100
    # A message comes every 10 s and stays 35 s, so four are there while the reader keeps up.
    assert max(point["depth"] for point in points[:30]) == 4
    assert min(point["depth"] for point in points) >= 0


def test_the_report_shows_both_lines(result: LatencyResult) -> None:
    text = Path(dict(result.summary.outputs)["Report"]).read_text(encoding="utf-8")
    assert "Depth over time" in text
    assert "Median latency over time" in text
    assert text.count("<svg") == 2


def test_without_times_there_is_nothing_to_measure(spark: "SparkSession") -> None:
    captured = found(1, arrived_time=None)
    outcome = latency([frame(spark, [captured])])
    assert outcome.messages == 0
    assert outcome.summary.headline.startswith("No message")
    assert not outcome.summary.warnings


def test_without_a_journal_depth_is_said_to_only_grow(spark: "SparkSession") -> None:
    outcome = latency([frame(spark, ROWS[:3])])
    assert any("Without the journal" in warning for warning in outcome.summary.warnings)
