"""Depth and latency: transit times of messages, and waiting messages per queue."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from openmsmq.spark.pipelines.reporting.output import write_outputs
from openmsmq.spark.pipelines.reporting.progress import Step, silent
from openmsmq.spark.pipelines.reporting.summary import (
    Column,
    Inputs,
    Kind,
    Lines,
    Summary,
    Table,
    latency_text,
    span_text,
)
from openmsmq.spark.pipelines.support.moments import collect_utc
from openmsmq.terminal.quantities import count_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STEPS: Final = 4
PERCENTILES: Final = (0.5, 0.9, 0.99)
# Points of a line, and lines of a chart: more is not read.
MOST_POINTS: Final = 240
MOST_LINES: Final = 6


@dataclass(frozen=True, slots=True)
class LatencyResult:
    """Latency and depth per queue.

    Args:
        latencies: one row per queue, as in the table `latencies`; moments are in UTC.
        messages: how many messages were measured.
        skewed: how many of them arrived before they were sent, by the clocks of both machines.
        summary: all of it for people.
    """

    latencies: list[dict[str, Any]]
    messages: int
    skewed: int
    summary: Summary


def latency(
    messages: "Sequence[DataFrame]",
    *,
    journals: "Sequence[DataFrame]" = (),
    output: str | Path | None = None,
    step: Step = silent,
    inputs: Inputs = (),
) -> LatencyResult:
    """Measure how long messages were on their way, and how many waited in their queue.

    Args:
        messages: message rows of target queues, or of archives of them.
        journals: message rows of the journals of these queues, which tell when messages left.
        output: a folder for the tables and the report.
        step: told what is going on.
        inputs: what the report says that was read.
    """
    step("reading messages")
    measured = latencies(messages).cache()
    try:
        step("percentiles")
        rows = collect_utc(percentiles(measured))
        step("depth over time")
        depths = depth_over_time(measured, journals)
        points = collect_utc(depths.orderBy("queue", "time"))
        step("writing")
        earlier = sum(_unseen(journal, measured) for journal in journals)
        summary = _summary(rows, points, None if not journals else earlier)
        summary = replace(summary, inputs=inputs)
        tables = {"latencies": percentiles(measured), "depth": depths}
        summary = write_outputs(summary, tables, output)
    finally:
        measured.unpersist()
    total, skewed = (sum(row[name] for row in rows) for name in ("messages", "skewed"))
    return LatencyResult(rows, total, skewed, summary)


def latencies(messages: "Sequence[DataFrame]") -> "DataFrame":
    """Each message with both times: `queue`, `id`, `arrived_time` and `latency` in seconds."""
    from pyspark.sql import functions as f

    both = [frame.select("queue", "seq", "id", "sent_time", "arrived_time") for frame in messages]
    united = both[0]
    for frame in both[1:]:
        united = united.unionByName(frame)
    seconds = (f.unix_micros("arrived_time") - f.unix_micros("sent_time")) / 1_000_000
    return (
        united.dropDuplicates(["queue", "seq", "id"])
        .withColumn("latency", seconds)
        .where(f.col("latency").isNotNull())
    )


def percentiles(measured: "DataFrame") -> "DataFrame":
    """One row per queue; a message that seems to arrive before it is sent counts as skewed."""
    from pyspark.sql import functions as f

    # Packets carry whole seconds, cut off: the true latency is shorter still, and negative.
    skewed = f.col("latency") < 0
    return (
        measured.groupBy("queue")
        .agg(
            f.count("*").alias("messages"),
            f.sum(f.when(skewed, 1).otherwise(0)).alias("skewed"),
            *(
                f.percentile_approx("latency", share, 10_000).alias(f"p{share * 100:.0f}")
                for share in PERCENTILES
            ),
            f.min("latency").alias("least"),
            f.max("latency").alias("most"),
            f.min("arrived_time").alias("first"),
            f.max("arrived_time").alias("last"),
        )
        .orderBy("queue")
    )


def depth_over_time(measured: "DataFrame", journals: "Sequence[DataFrame]") -> "DataFrame":
    """How many messages were in each queue at the end of each of up to 240 equal spans."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    changes = measured.select(
        "queue", "id", f.col("arrived_time").alias("time"), f.lit(1).alias("change"), "latency"
    )
    arrivals = measured.select("queue", "id").distinct()
    for journal in journals:
        # Only of messages whose arrival was seen: others would make the depth negative.
        departures = journal.select("id", f.col("arrived_time").alias("time")).dropDuplicates(
            ["id"]
        )
        departures = departures.join(arrivals, "id").select(
            "queue", "id", "time", f.lit(-1).alias("change"), f.lit(None).alias("latency")
        )
        changes = changes.unionByName(departures)
    ends = changes.agg(f.min("time").alias("start"), f.max("time").alias("end"))
    width = f.greatest(
        (f.unix_micros("end") - f.unix_micros("start")) / MOST_POINTS, f.lit(1_000_000.0)
    )
    placed = changes.crossJoin(f.broadcast(ends)).withColumn(
        "span", f.floor((f.unix_micros("time") - f.unix_micros("start")) / width)
    )
    moment = f.timestamp_micros((f.unix_micros("start") + f.col("span") * width).cast("long"))
    running = Window.partitionBy("queue").orderBy("time")
    return (
        placed.withColumn("time", moment)
        .groupBy("queue", "time")
        .agg(
            f.sum("change").alias("change"),
            f.sum(f.when(f.col("change") > 0, 1).otherwise(0)).alias("arrived"),
            f.percentile_approx("latency", 0.5, 10_000).alias("p50"),
            f.max("latency").alias("most"),
        )
        .withColumn("depth", f.sum("change").over(running))
        .drop("change")
    )


def _unseen(journal: "DataFrame", measured: "DataFrame") -> int:
    """How many messages left a queue whose arrival is not among those that were measured."""
    return journal.select("id").distinct().join(measured.select("id"), "id", "left_anti").count()


def _summary(
    rows: list[dict[str, Any]], points: list[dict[str, Any]], unseen: int | None
) -> Summary:
    total = sum(row["messages"] for row in rows)
    skewed = sum(row["skewed"] for row in rows)
    deepest: dict[str, int] = {}
    for point in points:
        deepest[point["queue"]] = max(deepest.get(point["queue"], 0), point["depth"])
    return Summary(
        "latency",
        _headline(rows, total),
        facts=(
            (Column("messages", "Messages", Kind.COUNT), total),
            (Column("queues", "Queues", Kind.COUNT), len(rows)),
            (Column("skewed", "Clock skew", Kind.COUNT), skewed),
            (Column("most", "Longest", Kind.LATENCY), _most(rows)),
        ),
        tables=(_table(rows, deepest),),
        charts=_charts(rows, points),
        warnings=_warnings(rows, skewed, unseen),
    )


def _headline(rows: list[dict[str, Any]], total: int) -> str:
    if not rows:
        return "No message with a time of sending and of arrival was found."
    slowest = max(rows, key=lambda row: row["p99"])
    word = "message" if total == 1 else "messages"
    return (
        f"{total:,} {word} in {len(rows):,} {'queue' if len(rows) == 1 else 'queues'}; "
        f"at worst 99 of 100 arrived within {latency_text(slowest['p99'])} (the time of sending is "
        "known to the second)."
    )


def _most(rows: list[dict[str, Any]]) -> float | None:
    return max((row["most"] for row in rows), default=None)


def _table(rows: list[dict[str, Any]], deepest: dict[str, int]) -> Table:
    names = [f"p{share * 100:.0f}" for share in PERCENTILES]
    columns = (
        Column("queue", "Queue"),
        Column("messages", "Messages", Kind.COUNT),
        *(Column(name, name, Kind.LATENCY) for name in names),
        Column("least", "Least", Kind.LATENCY),
        Column("most", "Most", Kind.LATENCY),
        Column("skewed", "Clock skew", Kind.COUNT),
        Column("deepest", "Deepest", Kind.NUMBER),
    )
    return Table(
        "latencies",
        "Latency by queue",
        columns,
        tuple(
            (
                row["queue"],
                row["messages"],
                *(row[name] for name in names),
                row["least"],
                row["most"],
                row["skewed"],
                deepest.get(row["queue"], 0),
            )
            for row in rows
        ),
        adds_up=True,
        note="Latency is arrived_time - sent_time. Packets carry whole seconds of sent_time, cut "
        "off, so a latency may be up to one second shorter than it looks.",
    )


def _charts(rows: list[dict[str, Any]], points: list[dict[str, Any]]) -> tuple[Lines, ...]:
    if not points:
        return ()
    busiest = sorted(rows, key=lambda row: -row["messages"])[:MOST_LINES]
    names = [row["queue"] for row in busiest]

    def series(column: str) -> dict[str, list[tuple[datetime, float]]]:
        by_name: dict[str, list[tuple[datetime, float]]] = {name: [] for name in names}
        for point in points:
            if point["queue"] in by_name and point[column] is not None:
                by_name[point["queue"]].append((point["time"], point[column]))
        return by_name

    return (
        Lines("Depth over time", series("depth"), steps=True),
        Lines("Median latency over time", series("p50"), Kind.LATENCY),
    )


def _warnings(rows: list[dict[str, Any]], skewed: int, unseen: int | None) -> tuple[str, ...]:
    warnings: list[str] = []
    if skewed:
        worst = min(row["least"] for row in rows)
        warnings.append(
            f"{skewed:,} messages arrived before they were sent, by up to {span_text(-worst)}: the "
            "clocks of the machines differ, so every latency is off by as much. Synchronise them."
        )
    if unseen:
        warnings.append(
            f"{count_text(unseen, 'message')} of the journals had left before the queue was read: "
            "depth does not count them. Name an archive of the queue as a source to see them."
        )
    if rows and unseen is None:
        warnings.append(
            "Without the journal of a queue it is unknown when messages left it: depth counts all "
            "that arrived among these messages."
        )
    return tuple(warnings)
