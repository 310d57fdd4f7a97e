"""The audit: the fate of each sent message, from all evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from openmsmq.spark.pipelines.support.moments import collect_utc
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.codes.message_class import NEGATIVE_BIT

from .evidence import (
    ARRIVAL_ACK,
    ARRIVED,
    DEAD_LETTER,
    DELIVERIES,
    JOURNALED,
    NACK,
    OUTGOING,
    RECEIVE_ACK,
    evidence_events,
    send_events,
)
from .verdict import FAILED, MEANING, TONES, State, with_verdict

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, Row

STEPS: Final = 4
VERDICT_COLUMNS: Final = (
    *("message_id", "state", "reason", "lost", "label", "destination_queue", "sent_time"),
    *("transactional", "acknowledge", "arrived_at", "read_at", "read", "dead_letters", "copies"),
    *("out_of_order", "deadline"),
)
_COUNT: Final = Kind.COUNT


@dataclass(frozen=True, slots=True)
class AuditResult:
    """How many sent messages are in which state.

    Args:
        verdicts: one row per sent message.
        counts: how many are in each state; every state is there.
        sends: how many messages were sent; the sum of the counts.
        lost: those without evidence that asked for acknowledgments and got none in time.
        repeated: rows of sends that only repeat another one.
        summary: all of it for people.
    """

    verdicts: "DataFrame"
    counts: dict[State, int]
    sends: int
    lost: int
    repeated: int
    summary: Summary


def audit(
    sends: "DataFrame",
    evidence: "Sequence[DataFrame]",
    *,
    now: datetime | None = None,
    output: str | Path | None = None,
    step: Step = silent,
    inputs: Inputs = (),
) -> AuditResult:
    """Find out what became of each sent message.

    Args:
        sends: message rows of a source journal, an outgoing queue, an archive or a capture.
        evidence: message rows of administration queues, dead-letter queues, journals of target
            queues and target queues themselves.
        now: the moment up to which answers could have come; else now.
        output: a folder for the tables and the report.
        step: told what is going on.
        inputs: what the report says that was read.
    """
    step("joining sends and evidence")
    verdicts = audit_messages(sends, evidence, now or datetime.now(UTC)).cache()
    try:
        step("counting")
        rows = send_events(sends).count()
        summary, counts, lost = summarize(verdicts, rows)
        summary = replace(summary, inputs=inputs)
        step("writing")
        summary = write_outputs(summary, {"messages": verdicts}, output)
    finally:
        verdicts.unpersist()
    total = sum(counts.values())
    return AuditResult(verdicts, counts, total, lost, rows - total, summary)


def audit_messages(
    sends: "DataFrame", evidence: "Sequence[DataFrame]", now: datetime
) -> "DataFrame":
    """One row per sent message, with its state and what is known of it."""
    known = _joined(_distinct_sends(sends), _known(evidence))
    return with_verdict(known, now).select(*VERDICT_COLUMNS)


def _distinct_sends(sends: "DataFrame") -> "DataFrame":
    """One row per sent message: the first one, if an archive or a capture has it repeatedly."""
    from pyspark.sql import functions as f

    events = send_events(sends)
    first = f.struct(
        f.coalesce("position", f.lit(0)).alias("position"),
        *("label", "destination_queue", "sent_time", "time_to_reach_queue"),
        *("time_to_be_received", "acknowledge", "transactional"),
    )
    rows = events.groupBy("message_id").agg(f.min(first).alias("first"))
    return rows.select("message_id", "first.*").drop("position")


def _known(evidence: "Sequence[DataFrame]") -> "DataFrame":
    """What all evidence together tells, one row per message."""
    from pyspark.sql import functions as f

    places = [_by_place(places_of_one) for places_of_one in evidence]
    known = places[0]
    for places_of_one in places[1:]:
        known = known.unionByName(places_of_one)
    count = f.col("n")
    return known.groupBy("message_id").agg(
        _sum(count, ARRIVAL_ACK, ARRIVED).alias("arrivals"),
        _sum(count, RECEIVE_ACK, JOURNALED).alias("reads"),
        f.max(f.when(f.col("fact").isin(*DELIVERIES), count)).alias("copies"),
        f.min(f.when(f.col("fact") == NACK, f.col("code"))).alias("nack_code"),
        f.min(f.when(f.col("fact") == DEAD_LETTER, f.col("code"))).alias("dead_code"),
        _sum(count, DEAD_LETTER).alias("dead_letters"),
        _sum(count, OUTGOING).alias("outgoing"),
        f.max("out_of_order").alias("out_of_order"),
        _first(ARRIVAL_ACK, ARRIVED).alias("arrived_at"),
        _first(RECEIVE_ACK, JOURNALED).alias("read_at"),
    )


def _by_place(messages: "DataFrame") -> "DataFrame":
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    # Rows that were archived twice are one.
    events = evidence_events(messages).dropDuplicates(["message_id", "fact", "place", "position"])
    earlier = (
        Window.partitionBy("place", "sender", "order_group")
        .orderBy("position")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    late = f.col("ordinal") < f.max("ordinal").over(earlier)
    has_order = f.col("order_group").isNotNull()
    events = events.withColumn("late", f.when(has_order, f.coalesce(late, f.lit(False))))
    return events.groupBy("message_id", "fact", "place").agg(
        f.count("*").alias("n"),
        f.min(_failure_code()).alias("code"),
        f.min("at").alias("at"),
        f.coalesce(f.max("late"), f.lit(False)).alias("out_of_order"),
    )


def _failure_code() -> "SparkColumn":
    """The class if it reports a failure; a dead letter may have kept the one it was sent with."""
    from pyspark.sql import functions as f

    return f.when(f.col("code").bitwiseAND(NEGATIVE_BIT) != 0, f.col("code"))


def _sum(count: "SparkColumn", *kinds: str) -> "SparkColumn":
    from pyspark.sql import functions as f

    return f.sum(f.when(f.col("fact").isin(*kinds), count).otherwise(0))


def _first(*kinds: str) -> "SparkColumn":
    from pyspark.sql import functions as f

    return f.min(f.when(f.col("fact").isin(*kinds), f.col("at")))


def _joined(sends: "DataFrame", known: "DataFrame") -> "DataFrame":
    """Every send, with what is known of it; numbers are zero where nothing is."""
    joined = sends.join(known, "message_id", "left").fillna(
        0, ["arrivals", "reads", "copies", "dead_letters", "outgoing"]
    )
    return joined.fillna(False, ["out_of_order"])


def summarize(
    verdicts: "DataFrame", rows: int | None = None
) -> tuple[Summary, dict[State, int], int]:
    """Count verdicts: a summary, how many messages are in each state, and how many are lost.

    Args:
        verdicts: one row per sent message.
        rows: how many rows of sends they were made from, if some may be repeated.
    """
    from pyspark.sql import functions as f

    groups = (
        verdicts.groupBy("state", "destination_queue", "reason", "lost")
        .agg(f.count("*").alias("messages"))
        .collect()
    )
    counts = dict.fromkeys(State, 0)
    for group in groups:
        counts[State(group["state"])] += group["messages"]
    total = sum(counts.values())
    rows = total if rows is None else rows
    lost = sum(group["messages"] for group in groups if group["lost"])
    return (
        Summary(
            "audit",
            _headline(counts, total, lost),
            facts=_facts(counts, total, lost, rows),
            tables=(
                _states(counts, total),
                _first_failures(verdicts, _needy(counts, lost)),
                _destinations(groups),
                _reasons(groups),
            ),
            charts=(_chart(counts),),
            warnings=_warnings(counts, lost, rows - total),
        ),
        counts,
        lost,
    )


def _needy(counts: dict[State, int], lost: int) -> int:
    """How many messages need attention."""
    return sum(counts[state] for state in FAILED) + lost


def _headline(counts: dict[State, int], total: int, lost: int) -> str:
    if not total:
        return "No sent messages were found."
    bad = _needy(counts, lost)
    settled = f"{counts[State.READ]:,} of {total:,} sent messages were read"
    verb = "needs" if bad == 1 else "need"
    return f"{settled}; {bad:,} {verb} attention." if bad else f"{settled}; none failed."


def _facts(
    counts: dict[State, int], total: int, lost: int, rows: int
) -> tuple[tuple[Column, Value], ...]:
    arrived = counts[State.ARRIVED_UNREAD]
    failed = sum(counts[state] for state in FAILED)
    return (
        (Column("sends", "Sent", _COUNT), total),
        (Column("read", "Read", _COUNT), counts[State.READ]),
        (Column("arrived_unread", "Arrived, unread", _COUNT), arrived),
        (Column("failed", "Failed", _COUNT), failed),
        (Column("in_doubt", "In doubt", _COUNT), counts[State.IN_DOUBT]),
        (Column("no_evidence", "No evidence", _COUNT), counts[State.NO_EVIDENCE]),
        (Column("lost", "Lost (no evidence, time is over)", _COUNT), lost),
        (Column("repeated", "Repeated rows", _COUNT), rows - total),
    )


def _states(counts: dict[State, int], total: int) -> Table:
    rows = tuple(
        (str(state), count, count / total if total else 0.0, MEANING[state])
        for state, count in counts.items()
    )
    columns = (
        Column("state", "State"),
        Column("messages", "Messages", _COUNT),
        Column("share", "Share", Kind.SHARE),
        Column("meaning", "Meaning"),
    )
    note = "Every sent message is in exactly one state."
    return Table("states", "What became of the messages", columns, rows, adds_up=True, note=note)


def _first_failures(verdicts: "DataFrame", total: int) -> Table:
    from pyspark.sql import functions as f

    columns = (
        Column("message_id", "Message"),
        Column("destination_queue", "Destination"),
        Column("label", "Label"),
        Column("state", "State"),
        Column("reason", "Reason"),
        Column("sent_time", "Sent", Kind.TIME),
    )
    names = [column.name for column in columns]
    needy = f.col("state").isin(*(str(state) for state in FAILED)) | f.col("lost")
    rows = (
        collect_utc(
            verdicts.where(needy)
            .select(*names)
            .orderBy("sent_time", "message_id")
            .limit(SHOWN_MESSAGES)
        )
        if total
        else []
    )
    note = f"The first {SHOWN_MESSAGES} of {total:,}; the table messages has all."
    return Table(
        "attention",
        "First messages that need attention",
        columns,
        tuple(tuple(row[name] for name in names) for row in rows),
        note=note if total > SHOWN_MESSAGES else "",
        shown=NAMED_MESSAGES,
    )


def _destinations(groups: "list[Row]") -> Table:
    by_destination: dict[str, dict[State, int]] = {}
    for group in groups:
        name = group["destination_queue"] or "unknown"
        counts = by_destination.setdefault(name, dict.fromkeys(State, 0))
        counts[State(group["state"])] += group["messages"]
    used = [state for state in State if any(counts[state] for counts in by_destination.values())]
    columns = (
        Column("destination_queue", "Destination"),
        Column("messages", "Messages", _COUNT),
        *(Column(state.replace(" ", "_"), state.capitalize(), _COUNT) for state in used),
    )
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (name, sum(counts.values()), *(counts[state] for state in used))
        for name, counts in sorted(by_destination.items())
    )
    return Table("destinations", "By destination", columns, rows, adds_up=True)


def _reasons(groups: "list[Row]") -> Table:
    counts: dict[tuple[str, str], int] = {}
    for group in groups:
        if group["reason"]:
            key = (group["state"], group["reason"])
            counts[key] = counts.get(key, 0) + group["messages"]
    columns = (
        Column("state", "State"),
        Column("reason", "Reason"),
        Column("messages", "Messages", _COUNT),
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple((state, reason, count) for (state, reason), count in ordered)
    return Table("reasons", "Reasons", columns, rows, adds_up=True)


def _chart(counts: dict[State, int]) -> Bars:
    return Bars(
        "Sent messages by state",
        tuple(map(str, counts)),
        tuple(counts.values()),
        tones=tuple(TONES.get(state, Tone.BAD) for state in counts),
    )


def _warnings(counts: dict[State, int], lost: int, repeated: int) -> tuple[str, ...]:
    warnings = []
    unknown = counts[State.NO_EVIDENCE] - lost
    if unknown:
        warnings.append(
            f"{count_text(unknown, 'message')} asked for no acknowledgment of success: nothing "
            "tells whether they arrived, and they are not counted as lost."
        )
    if lost:
        verb = "is" if lost == 1 else "are"
        warnings.append(
            f"{count_text(lost, 'message')} {verb} lost: no acknowledgment came in their time."
        )
    if repeated:
        warnings.append(
            f"Rows of sends that repeat another one, and were counted once: {repeated:,}."
        )
    return tuple(warnings)
