"""The messages of a replay: rows of a source, converted to messages."""

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Final

from openmsmq.spark.options.connection import CONNECTION
from openmsmq.spark.pipelines.sources import read_source

from .filter import ReplayFilter, sendable
from .mark import marked
from .state import IDENTITY, POSITION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEEP: Final = "keep"
NEW: Final = "new"
TARGET: Final = "target_queue"
TIMEOUTS: Final = ("time_to_reach_queue", "time_to_be_received")
SENDABLE: Final = "sendable"
IS_NEW: Final = "is_new"
# What is sent again; the rest is given by the queue manager to every message.
SENT_COLUMNS: Final = (
    "label",
    "body",
    "body_type",
    "priority",
    "correlation_id",
    "app_specific",
    "extension",
    "delivery",
    *TIMEOUTS,
    "response_queue",
    "admin_queue",
    "acknowledge",
    "journal",
    "transactional",
)


class ReplayJob:
    """What is replayed, and how."""

    def __init__(
        self,
        spark: "SparkSession",
        source: str,
        to: str | None,
        only: ReplayFilter,
        correlation: str,
        key: str,
        endpoint: str | None,
        options: dict[str, str],
    ) -> None:
        self.spark = spark
        self.source = source
        self.to = to
        self.only = only
        self.correlation = correlation
        self.key = key
        self.endpoint = endpoint
        self.options = {**options, **({"endpoint": endpoint} if endpoint else {})}

    def connection(self) -> dict[str, str]:
        """Those of the options that say how to reach the queue manager."""
        return connection_of(self.options)

    def rows(self, chosen: "DataFrame | None", *, mark: bool, keep_timeouts: bool) -> "DataFrame":
        """What the filters take, whether it can be sent, and whether no run has chosen it yet."""
        from pyspark.sql import functions as f

        frame = read_source(
            self.spark, self.source, endpoint=self.endpoint, options=self.connection()
        )
        target = f.lit(self.to) if self.to else f.col("destination_queue")
        extension = f.col("extension")
        if mark:
            extension = marked(extension, f.col("id"), self.key)
        correlation_id = f.col("id") if self.correlation == NEW else f.col("correlation_id")
        messages = (
            frame.filter(self.only.condition())
            .withColumn(SENDABLE, f.coalesce(sendable(), f.lit(False)))
            .withColumn(TARGET, target)
            .withColumn("extension", extension)
            .withColumn("correlation_id", correlation_id)
        )
        if not keep_timeouts:
            never = f.lit(None).cast("bigint")
            messages = messages.withColumns(dict.fromkeys(TIMEOUTS, never))
        known = ("seq", "lookup_id", "arrived_time", "class_name")
        return _with_new(
            messages.select(SENDABLE, TARGET, *IDENTITY, *known, *SENT_COLUMNS), chosen
        )


def connection_of(options: Mapping[str, str]) -> dict[str, str]:
    """Those of the options that say how to reach the queue manager."""
    names = {name.lower() for name in CONNECTION}
    return {name: value for name, value in options.items() if name.lower() in names}


def _with_new(rows: "DataFrame", chosen: "DataFrame | None") -> "DataFrame":
    """The rows, each with whether no earlier run has chosen it."""
    from pyspark.sql import functions as f

    if chosen is None:
        return rows.withColumn(IS_NEW, f.lit(True))
    names = [f"chosen_{name}" for name in IDENTITY]
    other = chosen.toDF(*names)
    same = [rows[name].eqNullSafe(other[f"chosen_{name}"]) for name in IDENTITY]
    joined = rows.join(other, reduce(lambda one, two: one & two, same), "left")
    return joined.withColumn(IS_NEW, f.col("chosen_id").isNull()).drop(*names)


def numbered(rows: "DataFrame") -> "DataFrame":
    """What is to send, in the order in which it arrived, numbered from 0 on."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    new = rows.filter(f.col(SENDABLE) & f.col(IS_NEW)).dropDuplicates(list(IDENTITY))
    order = Window.partitionBy(f.lit(0)).orderBy("arrived_time", "seq", "queue", "id")
    return new.withColumn(POSITION, f.row_number().over(order) - 1)
