"""Message rows made by hand, with the columns that the data source gives."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from openmsmq.wire.codes.message_class import MessageClass, class_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOW: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENDER: Final = "{11111111-2222-3333-4444-55555555AAAA}"
TARGET: Final = "{99999999-2222-3333-4444-55555555BBBB}"
ORDERS: Final = r"DIRECT=TCP:10.0.0.2\private$\orders"
ADMIN: Final = r"DIRECT=OS:alpha\private$\admin"
SCHEMA: Final = (
    "queue string, queue_kind string, seq long, id string, correlation_id string, class int, "
    "class_name string, label string, body binary, body_size long, sent_time timestamp, "
    "arrived_time timestamp, time_to_reach_queue long, time_to_be_received long, "
    "destination_queue string, response_queue string, acknowledge byte, transactional boolean, "
    "transaction_id string, first_in_transaction boolean, last_in_transaction boolean"
)
NAMES: Final = tuple(part.split(" ")[0] for part in SCHEMA.split(", "))

Row = dict[str, Any]


def message(ordinal: int, **changes: Any) -> Row:
    """A message that was sent a day ago, as a source journal keeps it."""
    code = int(changes.get("class", 0))
    row: Row = {
        "queue": "MACHINE=alpha;JOURNAL",
        "queue_kind": "journal",
        "seq": ordinal,
        "id": rf"{SENDER}\{ordinal}",
        "class": code,
        "class_name": class_name(code),
        "label": f"order {ordinal}",
        "body": b"12 apples",
        "body_size": 9,
        "sent_time": NOW - timedelta(days=1) + timedelta(seconds=ordinal),
        "arrived_time": NOW - timedelta(days=1) + timedelta(seconds=ordinal),
        "destination_queue": ORDERS,
        "acknowledge": 0,
        "transactional": False,
    }
    return row | changes | {"class": code}


def found(ordinal: int, kind: str = "queue", **changes: Any) -> Row:
    """The same message in its target queue, a journal or a dead-letter queue."""
    places = {"queue": ORDERS, "journal": f"{ORDERS};journal"}
    return message(
        ordinal,
        **{"queue": places.get(kind, kind), "queue_kind": kind, "seq": 100 + ordinal} | changes,
    )


def acknowledgment(
    ordinal: int, code: MessageClass, number: int = 0, destination: str = ORDERS
) -> Row:
    """What an administration queue holds about a message."""
    return message(
        ordinal,
        **{
            "queue": ADMIN,
            "queue_kind": "queue",
            "seq": 1000 + number + int(code) + ordinal * 0x10000,
            "id": rf"{TARGET}\{ordinal}",
            "correlation_id": rf"{SENDER}\{ordinal}",
            "class": int(code),
            "destination_queue": ADMIN,
            "response_queue": destination,
        },
    )


def frame(spark: "SparkSession", rows: Sequence[Row]) -> "DataFrame":
    return spark.createDataFrame([tuple(row.get(name) for name in NAMES) for row in rows], SCHEMA)
