"""One measurement of one broker: worker processes are started, watched and ended."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from .board import Board, Slot, new_board, now
from .brokers import ROOT, Broker
from .install import PYTHON
from .machine import busy_seconds, cpu_seconds, flush_count
from .worker import Task

WARM_UP_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 90.0
DRAIN_SECONDS: Final = 20.0
SETTLE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A steady flow from one producer to one consumer; times in microseconds per message."""

    per_second: float
    broker: float
    producer: float
    consumer: float
    per_flush: float | None
    lost: int
    others: float
    """Processors that anybody else kept busy meanwhile; 0.5 is half of one."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from a send to its confirm, one at a time."""

    p50: float
    p99: float


class Worker:
    """A client process."""

    def __init__(self, broker: Broker, function: str, board: Path, task: Task) -> None:
        order = {
            "client": broker.client,
            "function": function,
            "board": str(board),
            "task": asdict(task),
        }
        python = str(PYTHON) if broker.foreign else sys.executable
        variables = {} if broker.foreign else broker.environment()
        self._function = f"{broker.name}: {function} {task.mode}"
        self._process = subprocess.Popen(
            [python, "-m", "bench.peers.worker", json.dumps(order)],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def cpu_seconds(self) -> float:
        return cpu_seconds([self._process.pid])

    def check(self) -> None:
        """Raise if the process has failed."""
        if self._process.poll() not in (None, 0):
            _, errors = self._process.communicate()
            raise RuntimeError(f"{self._function} failed:\n{errors.decode()[-2000:]}")

    def result(self, seconds: float) -> Any:
        try:
            output, _ = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{self._function} did not end") from None
        self.check()
        return json.loads(output)


def wait_until(board: Board, slot: Slot, *workers: Worker) -> None:
    end = now() + PATIENCE_SECONDS
    while not board[slot]:
        for worker in workers:
            worker.check()
        if now() > end:
            raise RuntimeError(f"nothing happened for {PATIENCE_SECONDS:.0f} s ({slot.name})")
        time.sleep(0.002)


class Usage:
    """What brokers and clients use from now on."""

    def __init__(self, brokers: Sequence[Broker], producer: Worker, consumer: Worker) -> None:
        self._brokers = brokers
        self._clients = producer, consumer
        self._start = self._sample()

    def _sample(self) -> list[float]:
        return [
            sum(broker.cpu_seconds() for broker in self._brokers),
            *[client.cpu_seconds() for client in self._clients],
            # The last one is where messages arrive.
            flush_count(self._brokers[-1].folder),
            busy_seconds(),
            cpu_seconds([os.getpid()]),
        ]

    def flow(self, count: float, seconds: float) -> Flow:
        """What it was until now, when so many messages went through in so many seconds."""
        *times, flushes, busy, own = [
            later - earlier for earlier, later in zip(self._start, self._sample(), strict=True)
        ]
        if not count:
            raise RuntimeError(f"{self._brokers[-1].name}: nothing was received")
        in_brokers, in_producer, in_consumer = [each / count * 1e6 for each in times]
        return Flow(
            per_second=count / seconds,
            broker=in_brokers,
            producer=in_producer,
            consumer=in_consumer,
            per_flush=count / flushes if flushes else None,
            lost=0,
            others=max(0.0, (busy - sum(times) - own) / seconds),
        )


def let_flow(seconds: float, *workers: Worker) -> None:
    end = now() + seconds
    while now() < end:
        time.sleep(0.1)
        for worker in workers:
            worker.check()


def run_out(board: Board, *workers: Worker) -> int:
    """End the producer and let what it sent arrive; returns how many never did."""
    board[Slot.STOP] = 1
    wait_until(board, Slot.FINISHED, *workers)
    end = now() + DRAIN_SECONDS
    while board[Slot.RECEIVED] < board[Slot.SENT] and now() < end:
        time.sleep(0.002)
    return int(board[Slot.SENT] - board[Slot.RECEIVED])


def measure_flow(broker: Broker, task: Task) -> Flow:
    """Send and receive for some seconds in a steady state."""
    with contextlib.ExitStack() as stack:
        path, board = stack.enter_context(new_board())
        consumer = stack.enter_context(Worker(broker, "consume", path, task))
        wait_until(board, Slot.CONSUMER_READY, consumer)
        producer = stack.enter_context(Worker(broker, "produce", path, task))
        wait_until(board, Slot.PRODUCER_READY, consumer, producer)
        board[Slot.GO] = 1
        wait_until(board, Slot.RECEIVED, consumer, producer)
        time.sleep(WARM_UP_SECONDS)
        usage = Usage([broker], producer, consumer)
        start, received = now(), board[Slot.RECEIVED]
        let_flow(task.seconds, consumer, producer)
        flow = usage.flow(board[Slot.RECEIVED] - received, now() - start)
        return replace(flow, lost=run_out(board, consumer, producer))


def measure_transfer(sender: Broker, receiver: Broker, task: Task, destination: str) -> Flow:
    """From the first send at one queue manager to the last receive at another.

    `task` is that of the consumer; the producer sends to `destination`.
    """
    with contextlib.ExitStack() as stack:
        path, board = stack.enter_context(new_board())
        consumer = stack.enter_context(Worker(receiver, "consume", path, task))
        wait_until(board, Slot.CONSUMER_READY, consumer)
        sending = replace(task, address=sender.address, queue=destination)
        producer = stack.enter_context(Worker(sender, "produce", path, sending))
        wait_until(board, Slot.PRODUCER_READY, consumer, producer)
        usage = Usage([sender, receiver], producer, consumer)
        board[Slot.GO] = 1
        wait_until(board, Slot.STARTED, consumer, producer)
        let_flow(task.seconds, consumer, producer)
        lost = run_out(board, consumer, producer)
        flow = usage.flow(board[Slot.RECEIVED], now() - board[Slot.STARTED])
        return replace(flow, lost=lost)


def run_worker(broker: Broker, function: str, task: Task) -> Any:
    with new_board() as (path, _), Worker(broker, function, path, task) as worker:
        return worker.result(task.seconds + PATIENCE_SECONDS)


def measure_latency(broker: Broker, task: Task) -> Latency:
    """Send and wait for the confirm, one at a time; nobody reads."""
    taken = sorted(run_worker(broker, "latency", task))
    return Latency(statistics.median(taken) * 1e3, taken[int(len(taken) * 0.99)] * 1e3)


def measure_transactions(broker: Broker, task: Task) -> float:
    """Messages a second in transactions that are waited for; nobody reads."""
    sent, seconds = run_worker(broker, "transact", task)
    return float(sent / seconds)


@contextlib.contextmanager
def filled(broker: Broker, task: Task) -> Iterator[None]:
    """With `task.count` messages in the queue."""
    with new_board() as (path, board), Worker(broker, "produce", path, task) as worker:
        wait_until(board, Slot.PRODUCER_READY, worker)
        board[Slot.GO] = 1
        wait_until(board, Slot.FINISHED, worker)
        worker.result(PATIENCE_SECONDS)
    yield


def measure_memory(broker: Broker, task: Task) -> float:
    """Megabytes of the broker with that many messages in the queue, a while after the last."""
    with filled(broker, task):
        time.sleep(SETTLE_SECONDS)
        return broker.resident_bytes() / 1e6


def measure_restart(broker: Broker, task: Task) -> tuple[float, int]:
    """Kill the broker with that many messages; seconds from its start to the first received.

    The client runs already and tries to connect all the time. Also how many messages came back.
    """
    with filled(broker, task):
        broker.stop(signal.SIGKILL)
    consuming = replace(task, wait=True)
    with new_board() as (path, board), Worker(broker, "consume", path, consuming) as worker:
        wait_until(board, Slot.CONSUMER_READY, worker)
        start = now()
        broker.launch(wait=False)
        board[Slot.GO] = 1
        wait_until(board, Slot.FIRST_RECEIVED, worker)
        seconds = board[Slot.FIRST_RECEIVED] - start
        end = now() + DRAIN_SECONDS
        while board[Slot.RECEIVED] < task.count and now() < end:
            time.sleep(0.01)
            worker.check()
        return seconds, int(board[Slot.RECEIVED])


def measure_native(program: Path, port: int, mode: str, seconds: float) -> float:
    """Messages a second through RabbitMQ with the C client."""
    done = subprocess.run(
        [str(program), str(port), mode, str(seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return float(json.loads(done.stdout)["rate"])
