"""The audit of streams: a verdict for each new event of a message, and after its time limit.

Two stateful operators, one after the other: the first sees the messages of a target queue in order
and marks late ones; the second keeps the state of each message.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from openmsmq.wire.codes.message_class import NEGATIVE_BIT

from .auditing import VERDICT_COLUMNS
from .evidence import (
    ARRIVAL_ACK,
    ARRIVED,
    DEAD_LETTER,
    DELIVERIES,
    EVENT_SCHEMA,
    JOURNALED,
    NACK,
    OUTGOING,
    RECEIVE_ACK,
    SEND,
    evidence_events,
    send_events,
)
from .verdict import FACTS_SCHEMA, with_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.stateful_processor import TimerValues

STATE_STORE: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE_STORE_CONF: Final = "spark.sql.streaming.stateStore.providerClass"
# How long a message is remembered after the last event about it.
KEEP: Final = timedelta(days=30)

_EVENT_NAMES: Final = tuple(part.split(" ")[0] for part in EVENT_SCHEMA.split(", "))
_SEND_NAMES: Final = (
    *("label", "destination_queue", "sent_time", "time_to_reach_queue"),
    *("time_to_be_received", "acknowledge", "transactional"),
)
# Moments are microseconds since 1970 on their way through Python: Spark hands them out in the zone
# of the session and takes them back in that of the machine.
_EVENT_MOMENTS: Final = ("at", "sent_time")
_LATE_SCHEMA: Final = f"{EVENT_SCHEMA}, late boolean".replace(" timestamp", " long")
_KNOWN_MOMENTS: Final = ("sent_time", "arrived_at", "read_at", "evaluated_at")
_KNOWN_SCHEMA: Final = f"{FACTS_SCHEMA}, evaluated_at timestamp".replace(" timestamp", " long")
_KNOWN_NAMES: Final = tuple(part.split(" ")[0] for part in _KNOWN_SCHEMA.split(", "))

Event = dict[str, Any]


def audit_stream(
    sends: "DataFrame", evidence: "Sequence[DataFrame]", *, keep: timedelta = KEEP
) -> "DataFrame":
    """A stream of verdicts; the newest one of a message, by `evaluated_at`, is the one that holds.

    Args:
        sends: a stream of message rows, as in `audit`.
        evidence: streams of message rows, as in `audit`.
        keep: how long a message is remembered after the last event about it.
    """
    from pyspark.sql import functions as f

    spark = sends.sparkSession
    # The only state store that has timers and several states for one key.
    spark.conf.set(STATE_STORE_CONF, STATE_STORE)
    events = send_events(sends)
    for frame in evidence:
        events = events.unionByName(evidence_events(frame))
    events = events.withColumns({name: f.unix_micros(name) for name in _EVENT_MOMENTS})
    late = events.groupBy("place", "sender", "order_group").transformWithState(
        statefulProcessor=OrderProcessor(keep),
        outputStructType=_LATE_SCHEMA,
        outputMode="Append",
        timeMode="ProcessingTime",
    )
    known = late.groupBy("message_id").transformWithState(
        statefulProcessor=MessageProcessor(keep),
        outputStructType=_KNOWN_SCHEMA,
        outputMode="Append",
        timeMode="ProcessingTime",
    )
    known = known.withColumns({name: f.timestamp_micros(name) for name in _KNOWN_MOMENTS})
    return with_verdict(known, known["evaluated_at"]).select(*VERDICT_COLUMNS, "evaluated_at")


def latest_verdicts(verdicts: "DataFrame") -> "DataFrame":
    """The verdict that holds for each message, from all that a stream has written."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    newest = Window.partitionBy("message_id").orderBy(f.col("evaluated_at").desc())
    return verdicts.withColumn("age", f.row_number().over(newest)).where("age = 1").drop("age")


class OrderProcessor(StatefulProcessor):
    """Marks messages of a queue that come after a later one of their transaction or sender."""

    def __init__(self, keep: timedelta) -> None:
        self._keep_milliseconds = int(keep.total_seconds() * 1000)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._highest = handle.getValueState("highest", "ordinal long", self._keep_milliseconds)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: "TimerValues",  # noqa: N803 - as above
    ) -> Iterator[Row]:
        del timerValues
        has_order = key[2] is not None
        if not has_order:
            for row in rows:
                yield Row(**row.asDict(), late=False)
            return
        before = self._highest.get()
        highest: int = before[0] if before is not None else -1
        for row in sorted(rows, key=lambda other: other["position"]):
            yield Row(**row.asDict(), late=row["ordinal"] < highest)
            highest = max(highest, row["ordinal"])
        self._highest.update((highest,))


class MessageProcessor(StatefulProcessor):
    """Keeps the events about a message, and tells what is known whenever that changes."""

    def __init__(self, keep: timedelta) -> None:
        self._keep_milliseconds = int(keep.total_seconds() * 1000)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._events = handle.getListState("events", _LATE_SCHEMA, self._keep_milliseconds)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: "TimerValues",  # noqa: N803 - as above
    ) -> Iterator[Row]:
        del key
        new = [row.asDict() for row in rows]
        for event in new:
            self._events.appendValue(tuple(event.values()))
        events = self._all()
        now = timerValues.getCurrentProcessingTimeInMs()
        if any(event["fact"] == SEND for event in new):
            for moment in deadlines(events):
                # One that has passed needs no timer: the verdict below already knows.
                if moment > now:
                    self._handle.registerTimer(moment)
        yield from self._tell(events, now)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: Any,
        timerValues: "TimerValues",  # noqa: N803 - Spark's name
        expiredTimerInfo: Any,  # noqa: N803 - Spark's name
    ) -> Iterator[Row]:
        del key, expiredTimerInfo
        yield from self._tell(self._all(), timerValues.getCurrentProcessingTimeInMs())

    def _all(self) -> list[Event]:
        names = (*_EVENT_NAMES, "late")
        return [dict(zip(names, values, strict=True)) for values in self._events.get()]

    def _tell(self, events: list[Event], now: int) -> Iterator[Row]:
        known = facts(events)
        if known is not None:
            values = known | {"evaluated_at": now * 1000}
            yield Row(**{name: values[name] for name in _KNOWN_NAMES})


def deadlines(events: Iterable[Event]) -> list[int]:
    """When the times to reach the queue and to be received run out, in milliseconds since 1970."""
    times = set()
    for event in events:
        if event["fact"] != SEND or event["sent_time"] is None:
            continue
        sent = event["sent_time"] // 1_000_000
        for name in ("time_to_reach_queue", "time_to_be_received"):
            if event[name] is not None:
                times.add((sent + event[name]) * 1000)
    return sorted(times)


def facts(events: Iterable[Event]) -> dict[str, Any] | None:
    """The verdict from these events about one message; None if no source has it as sent."""
    distinct: dict[tuple[Any, ...], Event] = {}
    for event in events:
        key = (event["fact"], event["place"], event["position"])
        known = distinct.setdefault(key, event)
        known["late"] = known["late"] or event["late"]
    by_fact: dict[str, list[Event]] = {}
    for event in distinct.values():
        by_fact.setdefault(event["fact"], []).append(event)
    sends = by_fact.get(SEND)
    if not sends:
        return None
    send = min(sends, key=lambda event: event["position"] or 0)
    arrived = _of(by_fact, ARRIVAL_ACK, ARRIVED)
    read = _of(by_fact, RECEIVE_ACK, JOURNALED)
    return {
        "message_id": send["message_id"],
        **{name: send[name] for name in _SEND_NAMES},
        "arrivals": len(arrived),
        "reads": len(read),
        "copies": max(_copies(by_fact.get(fact, ())) for fact in DELIVERIES),
        "nack_code": _code(by_fact.get(NACK, ())),
        "dead_code": _code(by_fact.get(DEAD_LETTER, ())),
        "dead_letters": len(by_fact.get(DEAD_LETTER, ())),
        "outgoing": len(by_fact.get(OUTGOING, ())),
        "out_of_order": any(event["late"] for event in arrived),
        "arrived_at": min((event["at"] for event in arrived), default=None),
        "read_at": min((event["at"] for event in read), default=None),
    }


def _of(by_fact: dict[str, list[Event]], *names: str) -> list[Event]:
    return [event for name in names for event in by_fact.get(name, ())]


def _copies(events: Iterable[Event]) -> int:
    """How often it is there in the place where it is most often."""
    counts: dict[str | None, int] = {}
    for event in events:
        counts[event["place"]] = counts.get(event["place"], 0) + 1
    return max(counts.values(), default=0)


def _code(events: Iterable[Event]) -> int | None:
    return min((event["code"] for event in events if event["code"] & NEGATIVE_BIT), default=None)
