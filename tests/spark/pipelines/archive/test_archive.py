"""Queues into archives, with a real queue manager."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import openmsmq
from openmsmq.spark.pipelines.archive.archiving import archive, look_after, read_archive
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.wire.codes.queue_error import QueueError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = r".\private$\orders"
BILLS = r".\private$\bills"


def messages(first: int, count: int, priority: int = 3) -> list[openmsmq.Message]:
    return [
        openmsmq.Message(f"body {number}", label=f"order {number}", priority=priority)
        for number in range(first, first + count)
    ]


# Several runs of Spark: slow where many tests run side by side.
@pytest.mark.timeout(300)
def test_each_run_adds_what_is_new_and_a_lease_removes_it(
    spark: "SparkSession", tmp_path: Path
) -> None:
    with openmsmq.embedded() as manager:
        orders = manager.create_queue(ORDERS)
        orders.send_many(messages(0, 15, priority=0))
        path = tmp_path / "archive"
        options = {"endpoint": manager.address}

        first = archive(spark, path, queues=ORDERS, max_messages=10, options=options)
        assert (first.messages, first.batches) == (15, 2)
        assert orders.info()["messages"] == 15

        # A scalar lookup id would pass these by: they stand before all others.
        orders.send_many(messages(15, 5, priority=7))
        second = archive(spark, path, queues=ORDERS, options=options, verify=True)
        assert second.messages == 5
        assert second.verification is not None
        assert second.verification.complete
        assert second.verification.messages == 20
        (covered,) = second.queues
        assert (covered.messages, covered.ranges) == (20, 3)

        third = archive(spark, path, queues=ORDERS, options=options)
        assert (third.messages, third.batches) == (0, 0)
        rows = read_archive(spark, path).select("label", "raw_packet").collect()
        packets = {message.label: message.packet for message in orders.cursor()}
        assert {row["label"]: bytes(row["raw_packet"]) for row in rows} == packets
        assert len(rows) == 20
        assert "20" in (path / "report.html").read_text()

        # A consuming archive takes what is there, and only once it is on disk.
        taken = archive(
            spark,
            tmp_path / "taken",
            queues=ORDERS,
            consume="lease",
            consumer_name="archive",
            table="delta",
            options=options,
        )
        assert taken.messages == 20
        assert orders.info()["messages"] == 0

        # Another selection of queues; the one that is not named stays where it was.
        bills = manager.create_queue(BILLS)
        bills.send_many(messages(0, 3))
        assert archive(spark, path, queues=BILLS, options=options).messages == 3

        # A queue that is another one now is a loss that somebody must accept.
        manager.delete_queue(ORDERS)
        manager.create_queue(ORDERS).send_many(messages(20, 2))
        with pytest.raises(PipelineError, match=r"what it held is gone\. Messages") as caught:
            archive(spark, path, queues=[ORDERS, BILLS], options=options)
        assert "--accept-loss" in caught.value.remedy
        accepted = archive(
            spark, path, queue_pattern=r"private$\*", accept_loss=True, options=options
        )
        assert (accepted.messages, len(accepted.losses)) == (2, 1)
        assert "created again after sequence" in accepted.summary().warnings[0]

        last = look_after(spark, path, compact=True, verify=True)
        assert last.compaction is not None
        assert last.compaction.files_after < last.compaction.files_before
        assert last.verification is not None
        assert last.verification.complete
        assert last.verification.accepted == accepted.losses
        assert read_archive(spark, path).count() == 25


def test_a_queue_that_is_not_there_is_named(spark: "SparkSession", tmp_path: Path) -> None:
    with (
        openmsmq.embedded() as manager,
        pytest.raises(QueueError, match=r"MQ_ERROR_QUEUE_NOT_FOUND: .*nosuch"),
    ):
        archive(
            spark,
            tmp_path,
            queues=r".\private$\nosuch",
            options={"endpoint": manager.address},
        )


def test_a_folder_of_others_is_left_as_it_is(spark: "SparkSession", tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(PipelineError, match="holds other files, such as mine"):
        archive(spark, tmp_path, queues=ORDERS)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_wrong_option_is_named(spark: "SparkSession", tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="option consumerName: needed"):
        archive(spark, tmp_path, queues=ORDERS, consume="lease")
