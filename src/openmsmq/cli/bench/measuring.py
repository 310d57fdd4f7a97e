"""How fast a queue manager is for one client: rates, and how long one message takes."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from openmsmq.client import Message, Queue, QueueManager
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

# This many are sent, then the same number received; fewer if they are large.
CHUNK: Final = 5000
CHUNK_BYTES: Final = 8 * 1024 * 1024
TRANSACTION: Final = 100
WAIT_SECONDS: Final = 30.0
MEASUREMENTS: Final = 8

_clock: Final = time.perf_counter


class Measured(NamedTuple):
    """One measurement; the times of one message are known where one was in flight at a time."""

    name: str
    messages: int
    seconds: float
    p50: float | None = None
    p99: float | None = None

    @property
    def per_second(self) -> float:
        return self.messages / self.seconds


class Load(NamedTuple):
    """What is measured, and how long each time."""

    seconds: float
    body: bytes

    @property
    def chunk(self) -> int:
        return max(min(CHUNK, CHUNK_BYTES // max(len(self.body), 1)), 1)

    def message(self, delivery: str = "express") -> Message:
        return Message(self.body, delivery=delivery)


def measure(manager: QueueManager, load: Load) -> Iterator[Measured]:
    """Measure a queue manager with queues of its own, which are gone afterwards."""
    with temporary_queue(manager, transactional=False) as queue:
        for name, delivery in (("express", "express"), ("durable", "recoverable")):
            yield from flow(manager, queue, load, name, delivery)
        yield one_at_a_time(load, "express, there and back", lambda: there_and_back(queue, load))
        yield one_at_a_time(load, "durable, sent", lambda: queue.send(load.message("recoverable")))
    with temporary_queue(manager, transactional=True) as queue:
        yield from transactions(manager, queue, load)


@contextmanager
def temporary_queue(manager: QueueManager, *, transactional: bool) -> Iterator[Queue]:
    """A queue of this measurement alone."""
    path = rf".\private$\openmsmq-bench-{os.urandom(8).hex()}"
    manager.create_queue(path, transactional=transactional)
    try:
        with manager.open_queue(path) as queue:
            yield queue
    finally:
        manager.delete_queue(path)


def flow(
    manager: QueueManager, queue: Queue, load: Load, name: str, delivery: str
) -> Iterator[Measured]:
    """Many messages in flight: sent and accepted, then received and removed."""

    def send(count: int) -> None:
        queue.send_many(load.message(delivery) for _ in range(count))

    def receive(count: int) -> None:
        while count:
            count -= require(len(queue.receive_many(count, timeout=WAIT_SECONDS)))
        manager.flush()

    return in_turns(load, name, load.chunk, send, receive)


def transactions(manager: QueueManager, queue: Queue, load: Load) -> Iterator[Measured]:
    """Transactions that are committed one after the other."""

    def send(count: int) -> None:
        for _ in range(count // TRANSACTION):
            with manager.transaction() as transaction:
                for _ in range(TRANSACTION):
                    queue.send(load.message(), transaction=transaction)

    def receive(count: int) -> None:
        for _ in range(count // TRANSACTION):
            with manager.transaction() as transaction:
                remaining = TRANSACTION
                while remaining:
                    messages = queue.receive_many(remaining, WAIT_SECONDS, transaction)
                    remaining -= require(len(messages))

    chunk = max(load.chunk // TRANSACTION, 1) * TRANSACTION
    return in_turns(load, f"transactions of {TRANSACTION}", chunk, send, receive)


def in_turns(
    load: Load,
    name: str,
    chunk: int,
    send: Callable[[int], None],
    receive: Callable[[int], None],
) -> Iterator[Measured]:
    """Send and receive in turns until each took long enough."""
    sending = receiving = 0.0
    count = 0
    while min(sending, receiving) < load.seconds:
        start = _clock()
        send(chunk)
        middle = _clock()
        receive(chunk)
        sending += middle - start
        receiving += _clock() - middle
        count += chunk
    yield Measured(f"{name}, sent", count, sending)
    yield Measured(f"{name}, received", count, receiving)


def there_and_back(queue: Queue, load: Load) -> None:
    queue.send(load.message())
    queue.receive(timeout=WAIT_SECONDS)


def one_at_a_time(load: Load, name: str, act: Callable[[], None]) -> Measured:
    """One message in flight."""
    durations: list[float] = []
    begin = _clock()
    while not durations or _clock() - begin < load.seconds:
        start = _clock()
        act()
        durations.append(_clock() - start)
    durations.sort()
    return Measured(
        f"{name}, one in flight",
        len(durations),
        sum(durations),
        statistics.median(durations),
        durations[int(len(durations) * 0.99)],
    )


def require(received: int) -> int:
    """How many messages were received.

    Raises:
        QueueError: none.
    """
    if not received:
        raise QueueError(Hresult.MQ_ERROR_IO_TIMEOUT, "messages that were sent did not come back")
    return received
