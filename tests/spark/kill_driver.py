"""The driver program of the kill tests: drains a queue into Parquet or into another queue.

`python -m tests.spark.kill_driver PLAN` with a JSON object of what to do.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.spark.killing import DRIVER, KillingSource

import openmsmq.spark


def main(plan: dict[str, Any]) -> None:
    os.environ[DRIVER] = str(os.getpid())
    # A task that is killed is tried again.
    spark = openmsmq.spark.session("local[2,4]", app_name="kill test")
    spark.dataSource.register(KillingSource)
    endpoint = {"endpoint": plan["socket"], "connectTimeout": "30s"}
    frame = spark.readStream.format("msmq").options(**endpoint, **plan["read"]).load()
    writer = frame.writeStream.option("checkpointLocation", plan["checkpoint"])
    if plan["sink"] == "queue":
        writer = writer.format("msmq").options(**endpoint, queue=plan["target"])
    else:
        writer = writer.format("parquet").option("path", plan["target"])
    query = writer.trigger(availableNow=True).start()
    Path(plan["started"]).touch()
    query.awaitTermination()
    if plan["sink"] == "parquet":
        rows = spark.read.parquet(plan["target"]).select("body").collect()
        Path(plan["result"]).write_text(json.dumps([bytes(row.body).decode() for row in rows]))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
