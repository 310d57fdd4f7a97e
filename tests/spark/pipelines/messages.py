"""Messages for tests of pipelines, as rows of the data source."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from openmsmq.spark.columns import INCLUDES, Packets, message_schema
from openmsmq.spark.decoding.row_decoder import RowDecoder
from openmsmq.spark.pipelines.archive.manifest import Range
from openmsmq.spark.readers.offsets import digest_of
from openmsmq.wire.lookup_id import digest_text
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERS = r"DIRECT=OS:node\private$\orders"
BILLS = r"DIRECT=OS:node\private$\bills"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def packet(number: int, **changes: object) -> bytes:
    """The packet of a message with this ordinal."""
    properties = {
        "destination_queue": direct_address(r"OS:node\private$\orders"),
        "message_id": number,
        "sent_time": int(NOON.timestamp()),
        "body": f"body {number}".encode(),
        "label": f"order {number}",
    }
    return build_user_message(**(properties | changes))  # type: ignore[arg-type]  # by name


def rows(queue: str, sequences: range, *, kind: str = "queue") -> pa.RecordBatch:
    """A message for each sequence, one a second from noon on, with every column."""
    packets = [packet(sequence) for sequence in sequences]
    block = Packets(
        b"".join(packets),
        np.cumsum([len(each) for each in packets]).tolist(),
        list(sequences),
        [NOON.timestamp() + sequence for sequence in sequences],
    )
    return RowDecoder(message_schema(INCLUDES), queue=queue, queue_kind=kind).decode(block)


def frame(spark: "SparkSession", *batches: pa.RecordBatch) -> "DataFrame":
    """These rows as one partition."""
    return spark.createDataFrame(pa.Table.from_batches(batches)).coalesce(1)


def planned(queue: str, after: int, sequences: range, incarnation: str = "a-1") -> Range:
    """What the queue manager would tell about these sequences."""
    digest = digest_text(digest_of(np.array(sequences, np.uint64)))
    upto = max(sequences, default=after)
    return Range(queue, incarnation, after, upto, len(sequences), digest)
