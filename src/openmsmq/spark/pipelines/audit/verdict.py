"""The verdict on a sent message: its state and the reason."""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from openmsmq.spark.pipelines.reporting.summary import Tone
from openmsmq.wire.codes.message_class import MEANINGS, RECEIVE_STAGE_BIT, MessageClass, class_name
from openmsmq.wire.codes.message_enums import Acknowledgment

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class State(StrEnum):
    """What became of a sent message; each is in exactly one state."""

    READ = "read"
    ARRIVED_UNREAD = "arrived unread"
    OUT_OF_ORDER = "out of order"
    DUPLICATE = "duplicate"
    EXPIRED_IN_TRANSIT = "expired in transit"
    EXPIRED_UNREAD = "expired unread"
    REJECTED = "rejected"
    DEAD_LETTERED = "dead-lettered"
    IN_DOUBT = "in doubt"
    NO_EVIDENCE = "no evidence"


MEANING: Final = {
    State.READ: "an application received it",
    State.ARRIVED_UNREAD: "it is or was in its queue, and has not been received",
    State.OUT_OF_ORDER: "it arrived after a later message of its transaction or sender",
    State.DUPLICATE: "it was delivered more than once",
    State.EXPIRED_IN_TRANSIT: "its time ran out before it arrived",
    State.EXPIRED_UNREAD: "its time ran out in its queue",
    State.REJECTED: "a negative acknowledgment says why",
    State.DEAD_LETTERED: "only a dead-letter queue knows of it",
    State.IN_DOUBT: "what is known contradicts itself, or its time is not over and the answer "
    "may still come",
    State.NO_EVIDENCE: "nothing tells what became of it",
}
TONES: Final = {
    State.READ: Tone.GOOD,
    State.ARRIVED_UNREAD: Tone.WAITING,
    State.IN_DOUBT: Tone.WAITING,
    State.NO_EVIDENCE: Tone.UNKNOWN,
}
# The states that somebody should look at.
FAILED: Final = frozenset(State) - TONES.keys()

# What is known of a message: the columns of `facts` in the audit and of its stream.
FACTS_SCHEMA: Final = (
    "message_id string, label string, destination_queue string, sent_time timestamp, "
    "time_to_reach_queue long, time_to_be_received long, acknowledge int, transactional boolean, "
    "arrivals long, reads long, copies long, nack_code int, dead_code int, dead_letters long, "
    "outgoing long, out_of_order boolean, arrived_at timestamp, read_at timestamp"
)
_IN_TRANSIT: Final = (
    MessageClass.NACK_REACH_QUEUE_TIMEOUT,
    MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER,
)
_POSITIVE: Final = int(Acknowledgment.POS_ARRIVAL | Acknowledgment.POS_RECEIVE)
_ARRIVAL: Final = int(Acknowledgment.POS_ARRIVAL | Acknowledgment.NEG_ARRIVAL)


def with_verdict(facts: "DataFrame", now: "datetime | Column") -> "DataFrame":
    """The facts with `state`, `reason`, `lost`, `deadline` and whether it was `read`."""
    from pyspark.sql import Column
    from pyspark.sql import functions as f

    moment = now if isinstance(now, Column) else f.lit(now)
    known = (
        facts.withColumn("read", f.col("reads") > 0)
        .withColumn("failure", f.coalesce("nack_code", "dead_code"))
        .withColumn("deadline", _deadline())
        .withColumn("overdue", f.coalesce(f.col("deadline") <= moment, f.lit(False)))
    )
    known = known.withColumn("state", _state())
    waits_for_nothing = f.col("acknowledge").bitwiseAND(_POSITIVE) != 0
    lost = (f.col("state") == State.NO_EVIDENCE) & waits_for_nothing & f.col("overdue")
    known = known.withColumn("lost", lost)
    return known.withColumn("reason", _reason()).drop("overdue")


def _state() -> "Column":
    from pyspark.sql import functions as f

    read, arrived = f.col("read"), (f.col("arrivals") > 0) | f.col("read")
    failure = f.col("failure")
    return (
        f.when(f.col("copies") > 1, State.DUPLICATE)
        .when(_contradicts(), State.IN_DOUBT)
        .when(f.col("out_of_order"), State.OUT_OF_ORDER)
        .when(read, State.READ)
        .when(failure.isin(*map(int, _IN_TRANSIT)), State.EXPIRED_IN_TRANSIT)
        .when(failure == int(MessageClass.NACK_RECEIVE_TIMEOUT), State.EXPIRED_UNREAD)
        .when(f.col("nack_code").isNotNull(), State.REJECTED)
        .when(f.col("dead_letters") > 0, State.DEAD_LETTERED)
        .when(arrived, State.ARRIVED_UNREAD)
        .when((f.col("outgoing") > 0) | _awaited(), State.IN_DOUBT)
        .otherwise(State.NO_EVIDENCE)
        .cast("string")
    )


def _contradicts() -> "Column":
    """Read and failed, or arrived and failed to arrive."""
    from pyspark.sql import functions as f

    on_the_way = f.col("failure").bitwiseAND(RECEIVE_STAGE_BIT) == 0
    at_sender = f.col("failure") == int(MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER)
    failed = (f.col("failure").isNotNull()) | (f.col("dead_letters") > 0)
    never_arrived = f.coalesce(on_the_way | at_sender, failed)
    return (f.col("read") & failed) | ((f.col("arrivals") > 0) & failed & never_arrived)


def _awaited() -> "Column":
    from pyspark.sql import functions as f

    wants_ack = f.coalesce(f.col("acknowledge").bitwiseAND(_POSITIVE) != 0, f.lit(False))
    return wants_ack & ~f.col("overdue")


def _deadline() -> "Column":
    """When the first answer must be there: of the arrival if asked for, else of the receipt."""
    from pyspark.sql import functions as f

    asks_arrival = f.coalesce(f.col("acknowledge").bitwiseAND(_ARRIVAL) != 0, f.lit(False))
    reach, receive = f.col("time_to_reach_queue"), f.col("time_to_be_received")
    seconds = f.when(asks_arrival, f.least(reach, receive)).otherwise(receive)
    return f.timestamp_seconds(f.unix_seconds("sent_time") + seconds)


def _reason() -> "Column":
    from pyspark.sql import functions as f

    codes = f.create_map(
        *(f.lit(part) for code in MessageClass for part in (int(code), reason_text(code)))
    )
    why = f.coalesce(codes[f.col("failure")], f.hex(f.col("failure")))
    state = f.col("state")
    return (
        f.when(_contradicts() & (state == State.IN_DOUBT), f.concat(f.lit("it arrived, but "), why))
        .when(f.col("failure").isNotNull(), why)
        .when((state == State.IN_DOUBT) & (f.col("outgoing") > 0), "it waits in an outgoing queue")
        .when(
            (state == State.IN_DOUBT) & f.col("deadline").isNull(),
            "no acknowledgment has come, and there is no time limit",
        )
        .when(state == State.IN_DOUBT, "an acknowledgment may still come in time")
        .when(f.col("lost"), "lost: the acknowledgments it asked for did not come in time")
        .when(state == State.NO_EVIDENCE, "it asked for no acknowledgment of success")
        .when(state == State.DUPLICATE, f.concat(f.col("copies"), f.lit(" copies were delivered")))
    )


def reason_text(code: int) -> str:
    """What a message class says, in words, with its name."""
    meaning = MEANINGS.get(code)
    return f"{meaning} ({class_name(code)})" if meaning else class_name(code)
