"""A server that is read over RPC, with Spark itself."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.test_remote_read import PASSWORD, Server, options, server

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["server"]

COLUMNS = ("queue", "queue_kind", "lookup_id", "label", "priority", "body", "time_to_reach_queue")


def rows(frame: "DataFrame") -> list[tuple[object, ...]]:
    return [tuple(row) for row in frame.select(*COLUMNS).orderBy("seq").collect()]


def test_a_batch_and_a_stream_equal_the_local_ones_and_show_no_password(
    spark: "SparkSession", server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.fill(120)
    name = rf"DIRECT=OS:{server.name}\private$\orders"
    far = spark.read.format("msmq").options(**options(server.remote, queue=name)).load()
    near = spark.read.format("msmq").options(**options(server.local, queue=name)).load()
    with caplog.at_level(logging.DEBUG):
        found = rows(far)
    assert len(found) == 120
    assert found == rows(near)
    shown = [str(far._jdf.queryExecution().toString()), caplog.text]
    written: list[list[tuple[object, ...]]] = []
    for kind, given in (("far", server.remote), ("near", server.local)):
        folder = tmp_path / kind
        query = (
            spark.readStream.format("msmq")
            .options(**options(given, queue=name, maxMessagesPerTrigger="50"))
            .load()
            .writeStream.format("parquet")
            .option("path", str(folder / "rows"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120)
        written.append(rows(spark.read.parquet(str(folder / "rows"))))
        shown.append(str(query.recentProgress))
        shown += [
            file.read_text(errors="replace")
            for file in (folder / "checkpoint").rglob("*")
            if file.is_file()
        ]
    assert written == [found, found]
    assert not any(PASSWORD in text for text in shown)
