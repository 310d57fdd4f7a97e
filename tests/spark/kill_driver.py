"""Drain a queue into Parquet or into another queue, as a program of its own or in a session.

`python -m tests.spark.kill_driver PLAN` with a JSON object of what to do.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.spark.killing import DRIVER, FORMAT, KillingSource

import openmsmq.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def start(spark: "SparkSession", plan: dict[str, Any]) -> "StreamingQuery":
    """Start the query; `kill` in the plan is what kills somebody."""
    options = {"endpoint": plan["socket"], "connectTimeout": "30s"}
    kind = "msmq"
    if plan["kill"] is not None:
        spark.dataSource.register(KillingSource)
        kind = FORMAT
        options["kill"] = json.dumps(plan["kill"])
    frame = spark.readStream.format(kind).options(**options, **plan["read"]).load()
    writer = frame.writeStream.option("checkpointLocation", plan["checkpoint"])
    if plan["sink"] == "queue":
        writer = writer.format(kind).options(**options, queue=plan["target"])
    else:
        writer = writer.format("parquet").option("path", plan["target"])
    return writer.trigger(availableNow=True).start()


def main(plan: dict[str, Any]) -> None:
    os.environ[DRIVER] = str(os.getpid())
    # A task that is killed is tried again.
    spark = openmsmq.spark.session("local[2,2]", app_name="kill test")
    query = start(spark, plan)
    Path(plan["started"]).touch()
    query.awaitTermination()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
