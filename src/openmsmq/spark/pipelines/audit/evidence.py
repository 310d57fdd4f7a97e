"""Evidence about sent messages in message rows: one event per row, keyed by the message id.

The same events feed the audit of tables and of streams.
"""

from typing import TYPE_CHECKING, Final

from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.wire.codes.message_class import NEGATIVE_BIT, MessageClass
from openmsmq.wire.packets.order_ack import ACK_BODY_SIZE, ACK_LABEL

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SEND: Final = "send"
ARRIVAL_ACK: Final = "arrival_ack"
RECEIVE_ACK: Final = "receive_ack"
NACK: Final = "nack"
DEAD_LETTER: Final = "dead_letter"
ARRIVED: Final = "arrived"
JOURNALED: Final = "journaled"
OUTGOING: Final = "outgoing"
# Each of these in one place more than once is a message that was delivered more than once.
DELIVERIES: Final = (ARRIVED, JOURNALED, ARRIVAL_ACK, RECEIVE_ACK)

# Order is promised within one transaction, and among transactions of one message each.
SINGLE: Final = "single"

NEEDED: Final = (
    *("queue", "queue_kind", "seq", "id", "correlation_id", "class", "label", "sent_time"),
    *("arrived_time", "time_to_reach_queue", "time_to_be_received", "destination_queue"),
    *("response_queue", "acknowledge", "transactional", "transaction_id"),
    *("first_in_transaction", "last_in_transaction"),
)
# The columns of an event, and their types.
EVENT_SCHEMA: Final = (
    "message_id string, fact string, code int, place string, position long, at timestamp, "
    "order_group string, sender string, ordinal long, label string, destination_queue string, "
    "sent_time timestamp, time_to_reach_queue long, time_to_be_received long, acknowledge int, "
    "transactional boolean"
)
_SEND_COLUMNS: Final = (
    *("label", "destination_queue", "sent_time", "time_to_reach_queue"),
    *("time_to_be_received", "acknowledge", "transactional"),
)
_MACHINE_JOURNAL: Final = r"(?i)(^MACHINE=|\\system\$;journal$)"
_DEADLETTER_KINDS: Final = ("deadletter", "xact_deadletter")


def send_events(messages: "DataFrame") -> "DataFrame":
    """Each message of an application as a send; acknowledgments among them are left out.

    A dead letter is a message that was sent, though its class says why it failed.
    """
    from pyspark.sql import functions as f

    is_dead = f.coalesce(f.col("queue_kind").isin(*_DEADLETTER_KINDS), f.lit(False))
    is_message = ~_is_acknowledgment(_class()) & (_class() != int(MessageClass.ORDER_ACK))
    rows = messages.where((is_dead | is_message) & f.col("id").isNotNull())
    return _events(rows, f.col("id"), f.lit(SEND))


def evidence_events(messages: "DataFrame") -> "DataFrame":
    """What rows of administration queues, dead letters, journals and queues prove."""
    from pyspark.sql import functions as f

    kind, code = f.col("queue_kind"), _class()
    acknowledges = _is_acknowledgment(code)
    fact = (
        f.when(kind.isin(*_DEADLETTER_KINDS), DEAD_LETTER)
        .when(acknowledges & (code == int(MessageClass.ACK_REACH_QUEUE)), ARRIVAL_ACK)
        .when(acknowledges & (code == int(MessageClass.ACK_RECEIVE)), RECEIVE_ACK)
        .when(acknowledges, NACK)
        .when(code == int(MessageClass.ORDER_ACK), None)
        # The journal of a machine has what it sent, that of a queue what was received from it.
        .when((kind == "journal") & f.col("queue").rlike(_MACHINE_JOURNAL), None)
        .when(kind == "journal", JOURNALED)
        .when(kind == "outgoing", OUTGOING)
        # Packets of a capture were seen on their way, in no queue.
        .when(kind.isNull(), None)
        .otherwise(ARRIVED)
    )
    about_itself = f.col("fact").isin(DEAD_LETTER, JOURNALED, OUTGOING, ARRIVED)
    final = _final_ack_id(messages)
    message_id = f.when(about_itself, f.col("id")).otherwise(
        f.coalesce(final, f.col("correlation_id"))
    )
    rows = messages.withColumn("fact", fact).where(f.col("fact").isNotNull())
    return _events(rows, message_id, f.col("fact")).where(f.col("message_id").isNotNull())


def _events(rows: "DataFrame", message_id: "Column", fact: "Column") -> "DataFrame":
    from pyspark.sql import functions as f

    missing = [name for name in NEEDED if name not in rows.columns]
    if missing:
        raise PipelineError(
            f"the messages have no column {', '.join(missing)}",
            cause="They were read with other columns than those of the format msmq.",
            remedy="Read them with include=headers, or archive them without choosing columns.",
        )
    is_send = fact == SEND
    ordered = (fact == ARRIVED) & f.col("transactional")
    alone = f.col("first_in_transaction") & f.col("last_in_transaction")
    group = f.when(alone, SINGLE).otherwise(f.col("transaction_id"))
    # Copies to several queues may have one id; each queue acknowledges its own.
    acknowledged = f.concat_ws(" of ", "queue", "response_queue")
    parts = f.split(f.col("id"), r"\\")
    return rows.select(
        message_id.alias("message_id"),
        fact.alias("fact"),
        _class().alias("code"),
        f.when(fact.isin(ARRIVAL_ACK, RECEIVE_ACK), acknowledged)
        .otherwise(f.col("queue"))
        .alias("place"),
        f.col("seq").alias("position"),
        # An acknowledgment is made when what it reports happens, and comes later.
        f.when(fact.isin(ARRIVAL_ACK, RECEIVE_ACK), f.col("sent_time"))
        .otherwise(f.coalesce("arrived_time", "sent_time"))
        .alias("at"),
        f.when(ordered, group).alias("order_group"),
        parts[0].alias("sender"),
        parts[1].cast("long").alias("ordinal"),
        *(f.when(is_send, f.col(name)).cast(_type(name)).alias(name) for name in _SEND_COLUMNS),
    )


def _type(name: str) -> str:
    return dict(part.split(" ") for part in EVENT_SCHEMA.split(", "))[name]


def _class() -> "Column":
    from pyspark.sql import functions as f

    return f.col("class").cast("int")


def _is_acknowledgment(code: "Column") -> "Column":
    positive = code.isin(int(MessageClass.ACK_REACH_QUEUE), int(MessageClass.ACK_RECEIVE))
    return positive | (code.bitwiseAND(NEGATIVE_BIT) != 0)


def _final_ack_id(messages: "DataFrame") -> "Column":
    """The message that a final acknowledgment is about, which only its body names."""
    from pyspark.sql import functions as f

    if "body" not in messages.columns:
        return f.lit(None).cast("string")
    is_final = (f.col("label") == ACK_LABEL) & (f.length("body") == ACK_BODY_SIZE)

    # [MS-MQQB] 2.2.5: the GUID of the source and the ordinal follow 16 bytes, low bytes first.
    def swapped(start: int, size: int) -> "Column":
        return f.concat(*(_hex(start + size - 1 - index, 1) for index in range(size)))

    guid = f.concat_ws(
        "-", swapped(17, 4), swapped(21, 2), swapped(23, 2), _hex(25, 2), _hex(27, 6)
    )
    ordinal = f.conv(swapped(33, 4), 16, 10)
    return f.when(is_final, f.concat(f.lit("{"), guid, f.lit("}\\"), ordinal))


def _hex(start: int, size: int) -> "Column":
    from pyspark.sql import functions as f

    return f.hex(f.substring(f.col("body"), start, size))
