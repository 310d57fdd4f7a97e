"""Drivers, workers and queue managers are killed; every message arrives once all the same."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from tests.server.raw_client import ROOT, Serve
from tests.spark.conftest import python_path
from tests.spark.kill_driver import start
from tests.spark.killing import HOOKS, Killer

import openmsmq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Machines are busy at times, and Spark is slow to start then.
pytestmark = pytest.mark.timeout(1800)

SOURCE = r".\private$\source"
TARGET = r".\private$\target"
PER_TRIGGER = 150
LIFE_SECONDS = 600
MOST_LIVES = 6
QUEUE_POINTS = tuple(HOOKS)
PARQUET_POINTS = tuple(
    point for point in HOOKS if point not in ("after stage", "after commit_batch")
)
# Only these take the session with them, so they need one of their own.
DRIVERS = ("driver", "jvm")


def priority(number: int) -> int:
    return number % 8


class Case:
    """A queue manager, a queue to drain, and drivers that drain it.

    Args:
        spark: drains whenever a driver of its own is not wanted.
    """

    def __init__(self, spark: "SparkSession", folder: Path, sink: str, consume: str) -> None:
        self.spark = spark
        self.folder = folder
        self.count = 0
        self.serve = Serve(folder)
        self.pid_file = folder / "pid"
        self.started = folder / "started"
        self.sink = sink
        read = {"queue": SOURCE, "consume": consume, "maxMessagesPerTrigger": str(PER_TRIGGER)}
        # One partition keeps the order; files have none, so they show what several do.
        read["minPartitions"] = "1" if sink == "queue" else "3"
        if consume == "lease":
            read["consumerName"] = "kill-test"
        self.plan: dict[str, Any] = {
            "socket": str(self.serve.socket),
            "read": read,
            "sink": sink,
            "target": TARGET if sink == "queue" else str(folder / "parquet"),
            "checkpoint": str(folder / "checkpoint"),
            "started": str(self.started),
            "kill": None,
        }

    def start_queue_manager(self) -> None:
        self.serve.start()
        self.pid_file.write_text(str(self.serve.process.pid))

    def create_queues(self) -> None:
        with openmsmq.connect(self.serve.socket) as qm:
            qm.create_queue(TARGET, transactional=True)
            qm.create_queue(SOURCE)

    def fill(self, batches: int) -> None:
        """Send as many messages as make so many batches."""
        numbers = range(self.count, self.count + batches * PER_TRIGGER)
        with openmsmq.connect(self.serve.socket) as qm:
            qm.open_queue(SOURCE, "send").send_many(
                openmsmq.Message(b"%d" % number, delivery="recoverable", priority=priority(number))
                for number in numbers
            )
        self.count = numbers.stop

    def kill_plan(self, point: str, victim: str, after: int) -> dict[str, Any]:
        return {
            "point": point,
            "victim": victim,
            "after": after,
            "marker": str(self.folder / "passed"),
            "queue_manager": str(self.pid_file),
        }

    def live_alone(self, kill: dict[str, Any] | None = None, delay: float | None = None) -> bool:
        """One life of a driver in a process group of its own; says whether it came to its end."""
        self.started.unlink(missing_ok=True)
        plan = json.dumps(self.plan | {"kill": kill})
        command = [sys.executable, "-m", "tests.spark.kill_driver", plan]
        environ = {**os.environ, "PYTHONPATH": python_path()}
        with (self.folder / "driver.log").open("ab") as log:
            driver = subprocess.Popen(
                command, cwd=ROOT, env=environ, stdout=log, stderr=log, start_new_session=True
            )
        with self.revived(), ended(driver):
            if delay is not None:
                self.wait_for(self.started, driver)
                time.sleep(delay)
            else:
                driver.wait(LIFE_SECONDS)
        return driver.returncode == 0

    def live(self, kill: dict[str, Any] | None = None) -> bool:
        """One life of the query in the session of the tests; says whether it came to its end."""
        with self.revived():
            query = start(self.spark, self.plan | {"kill": kill})
            try:
                assert query.awaitTermination(LIFE_SECONDS)
            except StreamingQueryException as exc:
                with (self.folder / "driver.log").open("a") as log:
                    print(exc, file=log)
                return False
            finally:
                query.stop()
        return True

    @contextmanager
    def revived(self) -> Iterator[None]:
        """Start the queue manager again whenever it is killed."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.1):
                self.revive()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def revive(self) -> None:
        if self.serve.process.poll() is not None:
            self.start_queue_manager()

    def wait_for(self, file: Path, driver: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + LIFE_SECONDS
        while not file.exists() and driver.poll() is None:
            assert time.monotonic() < end, self.log
            time.sleep(0.05)

    def drain(self) -> None:
        """Let the query live until it has nothing left to do."""
        for _ in range(MOST_LIVES):
            if self.live():
                return
        raise AssertionError(f"no query comes to its end: {self.log}")

    @property
    def log(self) -> str:
        log = self.folder / "driver.log"
        return log.read_text()[-4000:] if log.exists() else ""

    def sent_in_order(self) -> list[int]:
        """By arrival; a lease moves messages in the order of their queue, by priority first."""
        numbers = list(range(self.count))
        if self.plan["read"]["consume"] == "lease":
            numbers.sort(key=lambda number: -priority(number))
        return numbers

    def check(self) -> None:
        """Everything arrived once and in order, and nothing is left behind."""
        sent = [str(number) for number in self.sent_in_order()]
        with openmsmq.connect(self.serve.socket) as qm:
            status = qm.status()
            assert qm.queue_info(SOURCE)["messages"] == 0
            if self.sink == "queue":
                arrived = [
                    message.body_bytes.decode() for message in qm.open_queue(TARGET).cursor()
                ]
                assert arrived == sent
            else:
                rows = self.spark.read.parquet(self.plan["target"]).select("body").collect()
                assert sorted(bytes(row.body).decode() for row in rows) == sorted(sent)
            assert status["messages"] == (self.count if self.sink == "queue" else 0)
            assert (status["staged_bytes"], status["transactions"]) == (0, 0)


@contextmanager
def ended(driver: subprocess.Popen[bytes]) -> Iterator[None]:
    """Nothing of a driver is left afterwards."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()


@contextmanager
def case(
    spark: "SparkSession", folder: Path, sink: str, consume: str, batches: int
) -> Iterator[Case]:
    made = Case(spark, folder, sink, consume)
    made.start_queue_manager()
    try:
        made.create_queues()
        made.fill(batches)
        yield made
    finally:
        if made.serve.process.poll() is None:
            made.serve.kill()


def kill_once(made: Case, point: str, victim: str, after: int = 0) -> None:
    kill = made.kill_plan(point, victim, after)
    # On a busy machine Spark itself gives up at times, before the point is reached.
    for _ in range(MOST_LIVES):
        is_over = made.live_alone(kill) if victim in DRIVERS else made.live(kill)
        if Killer(kill).has_killed or is_over:
            break
    assert Killer(kill).has_killed, f"{point} was never reached: {made.log}"
    assert not (is_over and victim in DRIVERS), made.log
    if not is_over:
        made.drain()
    made.check()


def test_a_driver_killed_after_commit_batch_publishes_no_batch_twice(
    spark: "SparkSession", tmp_path: Path
) -> None:
    with case(spark, tmp_path, "queue", "lease", 2) as made:
        kill_once(made, "after commit_batch", "driver")


def test_a_source_killed_after_the_commit_log_forgets_no_message(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """The process of the driver that has the source; its end is that of the query."""
    with case(spark, tmp_path, "parquet", "exclusive", 2) as made:
        kill_once(made, "after commit log", "worker")


def test_a_queue_manager_killed_after_a_stage_is_found_out(
    spark: "SparkSession", tmp_path: Path
) -> None:
    with case(spark, tmp_path, "queue", "exclusive", 2) as made:
        kill_once(made, "after stage", "queue manager")


def test_a_worker_killed_while_it_reads_leaves_no_row_out_or_twice(
    spark: "SparkSession", tmp_path: Path
) -> None:
    with case(spark, tmp_path, "parquet", "lease", 2) as made:
        kill_once(made, "mid-read", "worker", 1)


def soak_cases() -> Iterator[tuple[str, str, str, str]]:
    for point in QUEUE_POINTS:
        consume = "lease" if point == "after lease" else "exclusive"
        for victim in ("driver", "worker", "queue manager"):
            yield "queue", consume, point, victim
    for point in PARQUET_POINTS:
        yield "parquet", "lease", point, "driver"
    yield "queue", "lease", "mid-read", "jvm"


@pytest.mark.soak
@pytest.mark.parametrize(("sink", "consume", "point", "victim"), list(soak_cases()))
def test_a_kill_at_a_named_point_loses_and_repeats_nothing(
    spark: "SparkSession", tmp_path: Path, sink: str, consume: str, point: str, victim: str
) -> None:
    with case(spark, tmp_path, sink, consume, 3) as made:
        after = 1 if point in ("after stage", "after commit_batch", "mid-read") else 0
        kill_once(made, point, victim, after)


@pytest.mark.soak
@pytest.mark.parametrize(("sink", "consume"), [("queue", "exclusive"), ("parquet", "lease")])
def test_kills_at_random_lose_and_repeat_nothing(
    spark: "SparkSession", tmp_path: Path, sink: str, consume: str
) -> None:
    dice = random.Random(sink)
    with case(spark, tmp_path, sink, consume, 1) as made:
        for number in range(8):
            # So that there is work to interrupt.
            made.fill(4)
            delay = dice.uniform(0, 4)
            if number % 3 == 2:
                killer = threading.Timer(delay, made.serve.kill)
                killer.start()
                made.live()
                killer.join()
                made.revive()
            else:
                made.live_alone(delay=delay)
        made.drain()
        made.check()
