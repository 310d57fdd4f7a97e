"""The example of the README, but for where the queue manager and the files are."""

import re
from pathlib import Path

from pyspark.sql import SparkSession

import openmsmq

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_queue_becomes_a_table(spark: SparkSession, tmp_path: Path) -> None:
    (example,) = re.findall(
        r"^```python\n(import openmsmq\.spark\n.*?)^```$",
        README.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    server = openmsmq.embedded(tmp_path / "data")
    try:
        example = example.replace("queue=", f"endpoint={str(server.address)!r}, queue=")
        example = example.replace('="orders', f'="{tmp_path}/orders')
        with openmsmq.connect(server.address) as qm:
            orders = qm.create_queue(r".\private$\orders")
            orders.send_many(openmsmq.Message(b"apples", label=f"order {n}") for n in range(9))
            exec(compile(example, str(README), "exec"), {})  # noqa: S102 - our own page
            table = spark.read.parquet(str(tmp_path / "orders"))
            labels = sorted(row.label for row in table.select("label").collect())
            assert labels == [f"order {n}" for n in range(9)]
            assert orders.info()["messages"] == 0
    finally:
        server.close()
