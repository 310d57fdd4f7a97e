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
from typing import Any

import pytest
from tests.service.raw_client import ROOT, Serve
from tests.spark.killing import HOOKS, VARIABLE

import openmsmq

# Machines are busy at times, and Spark is slow to start then.
pytestmark = pytest.mark.timeout(1800)

SOURCE = r".\private$\source"
TARGET = r".\private$\target"
COUNT = 1500
PER_TRIGGER = "600"
LIFE_SECONDS = 600.0
MOST_LIVES = 6
QUEUE_POINTS = tuple(HOOKS)
PARQUET_POINTS = tuple(
    point for point in HOOKS if point not in ("after stage", "after commit_batch")
)


def python_path() -> str:
    """So that workers find the modules of tests, too."""
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))


def priority(number: int) -> int:
    return number % 8


class Case:
    """A queue manager, a queue to drain, and drivers that drain it."""

    def __init__(self, folder: Path, sink: str, consume: str) -> None:
        self.folder = folder
        self.serve = Serve(folder)
        self.pid_file = folder / "pid"
        self.marker = folder / "killed"
        self.started = folder / "started"
        self.result = folder / "result.json"
        self.sink = sink
        read = {"queue": SOURCE, "consume": consume, "maxMessagesPerTrigger": PER_TRIGGER}
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
            "result": str(self.result),
        }

    def start_queue_manager(self) -> None:
        self.serve.start()
        self.pid_file.write_text(str(self.serve.process.pid))

    def fill(self) -> None:
        with openmsmq.connect(self.serve.socket) as qm:
            qm.create_queue(TARGET, transactional=True)
            queue = qm.create_queue(SOURCE)
            queue.send_many(
                openmsmq.Message(b"%d" % number, delivery="recoverable", priority=priority(number))
                for number in range(COUNT)
            )

    def spawn(self, kill: dict[str, Any] | None) -> subprocess.Popen[bytes]:
        """Start a driver in a process group of its own."""
        environ = {**os.environ, "PYTHONPATH": python_path()}
        if kill is not None:
            environ[VARIABLE] = json.dumps(
                {"marker": str(self.marker), "queue_manager": str(self.pid_file), **kill}
            )
        command = [sys.executable, "-m", "tests.spark.kill_driver", json.dumps(self.plan)]
        with (self.folder / "driver.log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=ROOT, env=environ, stdout=log, stderr=log, start_new_session=True
            )

    def live(self, kill: dict[str, Any] | None = None, delay: float | None = None) -> int:
        """One life of a driver; returns its exit code."""
        self.started.unlink(missing_ok=True)
        driver = self.spawn(kill)
        with self.revived(), ended(driver):
            if delay is not None:
                self.wait_for(self.started, driver)
                time.sleep(delay)
            else:
                driver.wait(LIFE_SECONDS)
        return driver.returncode

    @contextmanager
    def revived(self) -> Iterator[None]:
        """Start the queue manager again whenever it is killed."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.1):
                if self.serve.process.poll() is not None:
                    self.start_queue_manager()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def wait_for(self, file: Path, driver: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + LIFE_SECONDS
        while not file.exists() and driver.poll() is None:
            assert time.monotonic() < end, self.log
            time.sleep(0.05)

    def drain(self) -> None:
        """Let drivers live until one has nothing left to do."""
        for _ in range(MOST_LIVES):
            if self.live() == 0:
                return
        raise AssertionError(f"no driver comes to an end: {self.log}")

    @property
    def log(self) -> str:
        return (self.folder / "driver.log").read_text()[-4000:]

    def sent_in_order(self) -> list[int]:
        """By arrival; a lease moves messages in the order of their queue, by priority first."""
        numbers = list(range(COUNT))
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
                assert sorted(json.loads(self.result.read_text())) == sorted(sent)
            assert status["messages"] == (COUNT if self.sink == "queue" else 0)
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
def case(folder: Path, sink: str, consume: str) -> Iterator[Case]:
    made = Case(folder, sink, consume)
    made.start_queue_manager()
    try:
        made.fill()
        yield made
    finally:
        if made.serve.process.poll() is None:
            made.serve.kill()


def kill_once(folder: Path, sink: str, consume: str, point: str, victim: str, after: int) -> None:
    with case(folder, sink, consume) as made:
        # On a busy machine Spark itself gives up at times, before the point is reached.
        for _ in range(MOST_LIVES):
            code = made.live({"point": point, "victim": victim, "after": after})
            if made.marker.exists() or not code:
                break
        assert made.marker.exists(), f"{point} was never reached: {made.log}"
        assert code != 0 or victim not in ("driver", "jvm"), made.log
        if code:
            made.drain()
        made.check()


def test_a_driver_killed_after_commit_batch_publishes_no_batch_twice(tmp_path: Path) -> None:
    kill_once(tmp_path, "queue", "lease", "after commit_batch", "driver", 0)


def test_a_driver_killed_after_its_commit_log_forgets_no_message(tmp_path: Path) -> None:
    kill_once(tmp_path, "parquet", "exclusive", "after commit log", "driver", 0)


def test_a_queue_manager_killed_after_a_stage_is_found_out(tmp_path: Path) -> None:
    kill_once(tmp_path, "queue", "exclusive", "after stage", "queue manager", 0)


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
    tmp_path: Path, sink: str, consume: str, point: str, victim: str
) -> None:
    after = 1 if point in ("after stage", "after commit_batch", "mid-read") else 0
    kill_once(tmp_path, sink, consume, point, victim, after)


@pytest.mark.soak
@pytest.mark.parametrize("sink", ["queue", "parquet"])
def test_kills_at_random_lose_and_repeat_nothing(tmp_path: Path, sink: str) -> None:
    dice = random.Random(sink)
    with case(tmp_path, sink, "lease") as made:
        for number in range(8):
            delay = dice.uniform(0, 5)
            if number % 3 == 2:
                killer = threading.Timer(delay, made.serve.kill)
                killer.start()
                made.live()
                killer.join()
            else:
                made.live(delay=delay)
        made.drain()
        made.check()
