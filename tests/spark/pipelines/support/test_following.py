"""Archives that follow their queues, and how they end."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.test_commands import totals

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.pipelines.archive.archiving import archive, read_archive
from openmsmq.spark.pipelines.archive.manifest import Manifest
from openmsmq.spark.pipelines.archive.store import STAGING
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.following import Gate, Interrupted, interruptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = r".\private$\orders"
SECONDS = 120


def send(manager: QueueManager, *labels: str) -> None:
    orders = manager.open_queue(ORDERS, "send")
    orders.send_many(openmsmq.Message(f"body of {label}", label=label) for label in labels)


def archived(path: Path) -> int:
    return sum(each.count for _, each in Manifest.load(path).ranges())


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# Several runs of Spark: slow where many tests run side by side.
@pytest.mark.timeout(300)
def test_a_following_archive_takes_what_comes_and_ends_clean_at_a_signal(
    spark: "SparkSession", tmp_path: Path
) -> None:
    path = tmp_path / "archive"
    seen: list[int] = []
    with openmsmq.embedded() as manager:
        manager.create_queue(ORDERS)
        send(manager, "a", "b", "c")

        def others() -> None:
            """What happens meanwhile."""
            with openmsmq.connect(manager.address) as qm:
                try:
                    wait_until(lambda: archived(path) == 3)
                    send(qm, "d", "e")
                    # Archived, and by then removed from the queue.
                    wait_until(lambda: archived(path) == 5)
                    wait_until(lambda: qm.queue_info(ORDERS)["messages"] == 0)
                    seen.append(archived(path))
                finally:
                    os.kill(os.getpid(), signal.SIGINT)

        meanwhile = threading.Thread(target=others)
        before = signal.getsignal(signal.SIGINT)
        meanwhile.start()
        told = totals(
            *("archive", str(path), "--queue", ORDERS, "--consume", "exclusive"),
            *("--follow", "--verify", "--socket", manager.address),
        )
        meanwhile.join()
        assert seen == [5]
        assert signal.getsignal(signal.SIGINT) is before
        assert (told["messages"], told["complete"], told["warnings"]) == (5, True, [])
        assert not list((path / "_manifest").glob("*.pending"))
        assert not (path / STAGING).exists()
        with only_writer(path):
            pass

        # The next run goes on where this one was, and is interrupted before it begins.
        send(manager, "f")
        stop = threading.Event()
        stop.set()
        options = {"endpoint": manager.address}
        result = archive(
            spark, path, queues=ORDERS, consume="exclusive", stop=stop, options=options
        )
        assert result.interrupted == (result.messages == 0)
        last = archive(spark, path, queues=ORDERS, consume="exclusive", options=options)
        assert result.messages + last.messages == 1
        assert manager.queue_info(ORDERS)["messages"] == 0
        rows = read_archive(spark, path).select("label").collect()
        assert sorted(row["label"] for row in rows) == ["a", "b", "c", "d", "e", "f"]


@pytest.mark.timeout(300)  # as above
def test_archives_that_lease_go_on_where_they_were(spark: "SparkSession", tmp_path: Path) -> None:
    with openmsmq.embedded() as manager:
        manager.create_queue(ORDERS)
        found = []
        for labels in ("abc", "de"):
            # The subqueue of the lease goes with its last message, and comes again.
            send(manager, *labels)
            result = archive(
                spark,
                tmp_path,
                queues=ORDERS,
                consume="lease",
                consumer_name="archive",
                options={"endpoint": manager.address},
                verify=True,
            )
            assert result.verification is not None
            found.append((result.messages, result.verification.complete))
            assert manager.queue_info(ORDERS)["messages"] == 0
        assert found == [(3, True), (2, True)]
    rows = read_archive(spark, tmp_path).select("label").collect()
    assert sorted(row["label"] for row in rows) == ["a", "b", "c", "d", "e"]


def test_a_closed_gate_lets_the_batch_end_and_none_begin() -> None:
    gate = Gate()
    done: list[str] = []
    begun = threading.Event()

    def batch() -> None:
        with gate.batch():
            begun.set()
            time.sleep(0.1)
            done.append("batch")

    thread = threading.Thread(target=batch)
    thread.start()
    assert begun.wait(SECONDS)
    gate.close()
    assert done == ["batch"]
    with pytest.raises(Interrupted), gate.batch():
        pass
    thread.join()


def test_a_second_signal_does_what_it_did_before() -> None:
    with pytest.raises(KeyboardInterrupt), interruptions() as stop:  # noqa: PT012 - both signals
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(SECONDS)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(SECONDS)
