"""The triage: dead letters by reason, destination, label and age, with remedies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from openmsmq.care.reasons import remedy
from openmsmq.spark.pipelines.reporting.output import write_outputs
from openmsmq.spark.pipelines.reporting.progress import Step, silent
from openmsmq.spark.pipelines.reporting.summary import (
    NAMED_MESSAGES,
    SHOWN_MESSAGES,
    Bars,
    Column,
    Inputs,
    Kind,
    Summary,
    Table,
    Tone,
    Value,
)
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.codes.message_class import NEGATIVE_BIT

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

STEPS: Final = 3
# Longer lists of labels are cut; the table on disk has them all.
MOST_LABELS: Final = 200
DEAD_LETTER: Final = "dead letter"
NACK: Final = "negative acknowledgment"
AGES: Final = (
    ("less than 1 hour", 3600),
    ("1 hour to 1 day", 86_400),
    ("1 day to 7 days", 7 * 86_400),
    ("7 days to 30 days", 30 * 86_400),
    ("more than 30 days", None),
)
_KINDS: Final = ("deadletter", "xact_deadletter")


@dataclass(frozen=True, slots=True)
class TriageResult:
    """What failed.

    Args:
        messages: one row per message that failed, with `reason` and `action`.
        total: how many there are.
        by_class: how many by message class.
        summary: all of it for people.
    """

    messages: "DataFrame"
    total: int
    by_class: dict[int, int]
    summary: Summary


def triage(
    sources: "Sequence[DataFrame]",
    *,
    now: datetime | None = None,
    output: str | Path | None = None,
    step: Step = silent,
    inputs: Inputs = (),
) -> TriageResult:
    """Sort out what failed.

    Args:
        sources: message rows of dead-letter queues and of administration queues.
        now: the moment that ages are counted to; else now.
        output: a folder for the table and the report.
        step: told what is going on.
        inputs: what the report says that was read.
    """
    step("reading dead letters")
    failed = failures(sources, now or datetime.now(UTC)).cache()
    try:
        step("counting")
        summary, by_class = _summarize(failed, inputs)
        step("writing")
        summary = write_outputs(summary, {"failures": failed}, output)
    finally:
        failed.unpersist()
    return TriageResult(failed, sum(by_class.values()), by_class, summary)


def failures(sources: "Sequence[DataFrame]", now: datetime) -> "DataFrame":
    """One row per message that failed: its dead letter, or else what an acknowledgment tells."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    united = _failures_of(sources[0], now)
    for source in sources[1:]:
        united = united.unionByName(_failures_of(source, now), allowMissingColumns=True)
    # Both may report the same message; the dead letter has all of it.
    best = Window.partitionBy("message_id").orderBy("evidence", "queue", "seq")
    codes = [row[0] for row in united.select("class").distinct().collect()]
    return (
        united.withColumn("best", f.row_number().over(best))
        .where("best = 1")
        .drop("best")
        .withColumn("reason", _texts(codes, "reason"))
        .withColumn("action", _texts(codes, "action"))
        .withColumn("replay", _replay(codes))
    )


def _failures_of(messages: "DataFrame", now: datetime) -> "DataFrame":
    from pyspark.sql import functions as f

    is_dead = f.col("queue_kind").isin(*_KINDS)
    is_nack = f.col("class").bitwiseAND(NEGATIVE_BIT) != 0
    age = f.unix_seconds(f.lit(now)) - f.unix_seconds(f.coalesce("arrived_time", "sent_time"))
    rows = messages.where(is_dead | is_nack)
    return (
        rows.withColumn("evidence", f.when(is_dead, DEAD_LETTER).otherwise(NACK))
        .withColumn("message_id", f.when(is_dead, f.col("id")).otherwise(f.col("correlation_id")))
        # [MS-MQQB] 3.1.7.15: an acknowledgment has the destination as its response queue.
        .withColumn(
            "destination",
            f.when(is_dead, f.col("destination_queue")).otherwise(f.col("response_queue")),
        )
        .withColumn("age_seconds", age)
    )


def _texts(codes: Sequence[int], field: str) -> "SparkColumn":
    from pyspark.sql import functions as f

    if not codes:
        return f.lit(None).cast("string")
    pairs = [f.lit(part) for code in codes for part in (code, getattr(remedy(code), field))]
    return f.create_map(*pairs)[f.col("class")]


def _replay(codes: Sequence[int]) -> "SparkColumn":
    from pyspark.sql import functions as f

    return f.col("class").isin([code for code in codes if remedy(code).replay])


def _summarize(failed: "DataFrame", inputs: Inputs) -> tuple[Summary, dict[int, int]]:
    from pyspark.sql import functions as f

    groups = [
        row.asDict()
        for row in failed.groupBy("class", "destination", "label", _age().alias("age"), "evidence")
        .agg(
            f.count("*").alias("messages"),
            f.sum("body_size").alias("bytes"),
            f.max("age_seconds").alias("oldest"),
            f.min("age_seconds").alias("newest"),
        )
        .collect()
    ]
    by_class: dict[int, int] = {}
    for group in groups:
        by_class[group["class"]] = by_class.get(group["class"], 0) + group["messages"]
    total = sum(by_class.values())
    reasons = _reasons(groups)
    return (
        Summary(
            "triage",
            _headline(by_class, total),
            facts=_facts(groups, total),
            tables=(
                reasons,
                _first_failures(failed, total),
                _by(groups, "destinations", "By destination", "destination", "Destination"),
                _by(groups, "labels", "By label", "label", "Label", most=MOST_LABELS),
                _ages(groups),
            ),
            charts=_charts(by_class, groups),
            inputs=inputs,
        ),
        by_class,
    )


def _age() -> "SparkColumn":
    from pyspark.sql import functions as f

    column = f.when(f.lit(False), "")
    for name, limit in AGES:
        if limit is None:
            return column.otherwise(name)
        column = column.when(f.col("age_seconds") < limit, name)
    return column


def _headline(by_class: dict[int, int], total: int) -> str:
    if not total:
        return "Nothing has failed: there are no dead letters."
    most = max(by_class, key=lambda code: (by_class[code], -code))
    failed = f"{count_text(total, 'message')} failed"
    if len(by_class) == 1:
        return f"{failed}: {remedy(most).in_short}."
    return f"{failed}; {by_class[most]:,} of them: {remedy(most).in_short}."


def _facts(groups: list[dict[str, Any]], total: int) -> tuple[tuple[Column, Value], ...]:
    dead_letters = sum(group["messages"] for group in groups if group["evidence"] == DEAD_LETTER)
    again = sum(group["messages"] for group in groups if remedy(group["class"]).replay)
    return (
        (Column("failed", "Failed", Kind.COUNT), total),
        (Column("dead_letters", "Dead letters", Kind.COUNT), dead_letters),
        (
            Column("acknowledgments", "Known by acknowledgment only", Kind.COUNT),
            total - dead_letters,
        ),
        (Column("replay", "Worth sending again", Kind.COUNT), again),
        (Column("bytes", "Size", Kind.BYTES), sum(group["bytes"] or 0 for group in groups)),
        (
            Column("oldest_seconds", "Oldest", Kind.SECONDS),
            max((group["oldest"] for group in groups), default=None),
        ),
    )


def _reasons(groups: list[dict[str, Any]]) -> Table:
    columns = (
        Column("reason", "Reason"),
        Column("messages", "Messages", Kind.COUNT),
        Column("bytes", "Size", Kind.BYTES),
        Column("oldest_seconds", "Oldest", Kind.SECONDS),
        Column("cause", "Likely cause", Kind.PROSE),
        Column("action", "What to do", Kind.PROSE),
        Column("replay", "Then send again", Kind.PROSE),
    )
    rows: list[tuple[Value, ...]] = []
    for code in {group["class"] for group in groups}:
        mine = [group for group in groups if group["class"] == code]
        known = remedy(code)
        rows.append(
            (
                known.reason,
                sum(group["messages"] for group in mine),
                sum(group["bytes"] or 0 for group in mine),
                max(group["oldest"] for group in mine),
                known.cause,
                known.action,
                known.replay,
            )
        )
    return Table("reasons", "By reason", columns, _most_first(rows), adds_up=True)


def _first_failures(failed: "DataFrame", total: int) -> Table:
    from pyspark.sql import functions as f

    columns = (
        Column("message_id", "Message"),
        Column("destination", "Destination"),
        Column("label", "Label"),
        Column("reason", "Reason"),
        Column("age_seconds", "Age", Kind.SECONDS),
    )
    rows = (
        failed.select(*(column.name for column in columns))
        .orderBy(f.desc("age_seconds"), "message_id")
        .limit(SHOWN_MESSAGES)
        .collect()
        if total
        else ()
    )
    note = f"The oldest {SHOWN_MESSAGES} of {total:,}; the table failures has all."
    return Table(
        "attention",
        "First messages that need attention",
        columns,
        tuple(tuple(row) for row in rows),
        note=note if total > SHOWN_MESSAGES else "",
        shown=NAMED_MESSAGES,
    )


def _by(
    groups: list[dict[str, Any]],
    name: str,
    title: str,
    key: str,
    head: str,
    most: int | None = None,
) -> Table:
    counts: dict[str | None, list[int]] = {}
    for group in groups:
        sums = counts.setdefault(group[key], [0, 0])
        sums[0] += group["messages"]
        sums[1] += group["bytes"] or 0
    rows = _most_first([(value or "unknown", *sums) for value, sums in counts.items()])
    columns = (
        Column(key, head),
        Column("messages", "Messages", Kind.COUNT),
        Column("bytes", "Size", Kind.BYTES),
    )
    if most is None or len(rows) <= most:
        return Table(name, title, columns, rows, adds_up=True)
    # What is cut is one row, so that the sums stay those of all.
    rest = rows[most:]
    other: tuple[Value, ...] = (f"{len(rest):,} others", _total(rest, 1), _total(rest, 2))
    return Table(name, title, columns, (*rows[:most], other), adds_up=True)


def _total(rows: Sequence[tuple[Value, ...]], index: int) -> int:
    return sum(value for row in rows if isinstance(value := row[index], int))


def _ages(groups: list[dict[str, Any]]) -> Table:
    counts = {name: 0 for name, _ in AGES}
    for group in groups:
        counts[group["age"]] += group["messages"]
    columns = (Column("age", "Age"), Column("messages", "Messages", Kind.COUNT))
    return Table("ages", "By age", columns, tuple(counts.items()), adds_up=True)


def _charts(by_class: dict[int, int], groups: list[dict[str, Any]]) -> tuple[Bars, ...]:
    if not groups:
        return ()
    ages = _ages(groups).rows
    ordered = sorted(by_class.items(), key=lambda item: -item[1])
    return (
        Bars(
            "Failed messages by reason",
            tuple(remedy(code).in_short for code, _ in ordered),
            tuple(count for _, count in ordered),
            tones=(Tone.BAD,) * len(ordered),
        ),
        Bars(
            "Failed messages by age",
            tuple(str(age) for age, _ in ages),
            tuple(float(str(count)) for _, count in ages),
        ),
    )


def _most_first(rows: Sequence[tuple[Value, ...]]) -> tuple[tuple[Value, ...], ...]:
    return tuple(sorted(rows, key=lambda row: (-int(str(row[1])), str(row[0]))))
