"""The driver program of the cluster tests: a write, a read and a stream.

`python -m tests.spark.cluster_driver MASTER ENDPOINT FOLDER` prints what it found as JSON.
"""

import json
import sys
from pathlib import Path

import openmsmq.spark

ORDERS = r".\private$\orders"
BILLS = r".\private$\bills"
COUNT = 5000


def main(master: str, endpoint: str, folder: Path) -> None:
    conf = {} if master.startswith("sc://") else {"spark.driver.host": "127.0.0.1"}
    spark = openmsmq.spark.session(master, app_name="cluster test", **conf)
    at = {"endpoint": endpoint}
    rows = spark.range(0, COUNT, 1, 4).selectExpr("cast(cast(id as string) as binary) as body")
    rows.write.format("msmq").mode("append").options(**at, queue=ORDERS).save()
    read = spark.read.format("msmq").options(**at, queue=ORDERS, minPartitions="4").load()
    found = read.selectExpr("count(*)", "count(distinct body)").first()
    stream = spark.readStream.format("msmq").options(
        **at, queue=ORDERS, consume="exclusive", maxMessagesPerTrigger="2000", minPartitions="2"
    )
    writing = stream.load().writeStream.format("msmq").options(**at, queue=BILLS)
    query = writing.option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    print(json.dumps({"rows": found and found[0], "distinct": found and found[1]}))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
