"""What a queue manager notices of its console: rates and processor time with it and without.

Reproduce with `python -m bench watching` (or `make bench`); add `--json` for one object per line.
It takes about six minutes.

A real `openmsmq serve` with a thousand queues moves messages of 1 KiB through one more queue, one
producer and one consumer, express and durable, for some seconds each. In one run it has a console
whose sampler is kept at once a second and that is scraped every 5 s, in another somebody searches
100,000 bodies as well, in a third it has `--console-port off`; the rounds take turns and the
figures are medians. The floor of "messages" and "processor time" is the queue manager without a
console. "Processor time" is what the process of the queue manager spends.

With ten thousand queues, the floor of a sample is `ListQueues`, of a scrape that of RabbitMQ's
`/metrics/per-object`. The floor of a page of 200 messages in a deep queue is the same page in a
shallow one. "Longest pause" is the longest turn of the event loop within a second, in processor
time, beside a producer and a consumer of express messages, as a median of all seconds; its floor is
that without anybody who looks. The floor of the memory of the console is 150 MB, that of the start
with a console the start without.
"""

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import openmsmq
from bench.console_costs import memory, pauses, scrapes, starts
from bench.peers.watched import (
    Server,
    make_queues,
    scraping,
    searching,
    serving,
    spent,
)
from bench.report import Result

QUEUES: Final = 1_000
MANY_QUEUES: Final = 10_000
SECONDS: Final = 6.0
CHUNK: Final = 1_000
BODY: Final = bytes(1024)
ROUNDS: Final = 3
DEPTHS: Final = (1_000, 100_000)
PAGE: Final = 200
PAGES: Final = 200
BUSY: Final = r".\private$\busy"
SEARCHED: Final = r".\private$\searched"
# Messages a second with the console are at least 0.95 of those without, with a search 0.85.
RATE_LIMIT: Final = 1 / 0.95
SEARCH_LIMIT: Final = 1 / 0.85
TIME_LIMIT: Final = 1.05
SAMPLE_LIMIT: Final = 0.1
PAGE_LIMIT: Final = 1.5
WAYS: Final = ("without a console", "with a console", "with a console and a search")


class Flow(NamedTuple):
    """Messages through a queue: how many a second, and the processor time of one."""

    per_second: float
    cpu_seconds: float


def flow(server: Server, *, durable: bool, seconds: float) -> Flow:
    """One producer and one consumer, each with a connection and a thread of its own."""
    delivery = "recoverable" if durable else "express"

    def produce() -> None:
        end = time.perf_counter() + seconds
        with openmsmq.connect(server.socket) as manager:
            queue = manager.open_queue(BUSY, "send")
            while time.perf_counter() < end:
                queue.send_many(openmsmq.Message(BODY, delivery=delivery) for _ in range(CHUNK))
            # A small one ends it.
            queue.send(openmsmq.Message(b"", delivery=delivery))

    started, cpu = time.perf_counter(), server.cpu_seconds()
    producer = threading.Thread(target=produce)
    producer.start()
    received = 0
    with openmsmq.connect(server.socket) as manager:
        for message in manager.open_queue(BUSY, "receive").messages(timeout=60):
            if len(message.packet) < len(BODY):
                break
            received += 1
    producer.join()
    taken = time.perf_counter() - started
    return Flow(received / taken, (server.cpu_seconds() - cpu) / received)


def flows(way: str, *, queues: int, seconds: float, searched: int) -> dict[str, Flow]:
    """Express and durable messages, with those who look or without any."""
    with serving(console=way != WAYS[0]) as server:
        make_queues(server, queues)
        with openmsmq.connect(server.socket) as manager:
            manager.create_queue(BUSY)
            queue = manager.create_queue(SEARCHED)
            queue.send_many(openmsmq.Message(BODY) for _ in range(searched))
        with _lookers(server, way):
            return {
                "durable" if durable else "express": flow(server, durable=durable, seconds=seconds)
                for durable in (False, True)
            }


@contextlib.contextmanager
def _lookers(server: Server, way: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        if way != WAYS[0]:
            stack.enter_context(scraping(server))
        if way == WAYS[2]:
            stack.enter_context(searching(server, SEARCHED))
        yield


def flow_results(queues: int, seconds: float, searched: int, rounds: int) -> list[Result]:
    """Rates and processor time with and without those who look."""
    measured: dict[tuple[str, str], list[Flow]] = {}
    for _ in range(rounds):
        for way in WAYS:
            found = flows(way, queues=queues, seconds=seconds, searched=searched)
            for kind, one in found.items():
                measured.setdefault((kind, way), []).append(one)
    results: list[Result] = []
    for kind in ("express", "durable"):
        bare, watched, searching_too = (_median(measured[kind, way]) for way in WAYS)
        results += [
            Result(f"{kind} messages {WAYS[0]}", bare.per_second),
            Result(
                f"{kind} messages {WAYS[1]}",
                watched.per_second,
                bare.per_second / watched.per_second,
                RATE_LIMIT,
            ),
            Result(
                f"processor time of {kind} messages {WAYS[1]}",
                1 / max(watched.cpu_seconds, 1e-9),
                watched.cpu_seconds / max(bare.cpu_seconds, 1e-9),
                TIME_LIMIT,
            ),
            Result(
                f"{kind} messages {WAYS[2]}",
                searching_too.per_second,
                bare.per_second / searching_too.per_second,
                SEARCH_LIMIT,
            ),
        ]
    return results


def _median(flows: list[Flow]) -> Flow:
    return Flow(
        statistics.median(each.per_second for each in flows),
        statistics.median(each.cpu_seconds for each in flows),
    )


def samples(queues: int) -> list[Result]:
    """Samples of many queues beside a list of them."""
    times = 5
    with serving(console=False) as server, openmsmq.connect(server.socket) as manager:
        make_queues(server, queues)
        listed = spent(server, lambda: [manager.queues() for _ in range(times)]) / times
        whole = spent(server, lambda: [manager.sample(0) for _ in range(times)]) / times
        changed = again = 0.0
        for _ in range(times):
            last = manager.sample(0)[0]["number"]
            for number in range(queues):
                manager.send(rf".\private$\q{number}", openmsmq.Message(b"x"))
            manager.flush()
            changed += spent(server, lambda since=last: manager.sample(since)) / times  # type: ignore[misc]
        last = manager.sample(0)[0]["number"]
        again = spent(server, lambda: [manager.sample(last) for _ in range(times)]) / times
    return [
        Result(f"ListQueues of {queues:,} queues", 1 / listed),
        Result("a first sample, with all names", 1 / whole, whole / listed),
        *(
            Result(name, 1 / cost, cost / listed, SAMPLE_LIMIT)
            for name, cost in (
                ("a sample after a change of every queue", changed),
                ("a sample after no change", again),
            )
        ),
    ]


def pages(depths: tuple[int, ...]) -> list[Result]:
    """Pages at the front, in the middle and at the end of queues of several depths, in turn."""
    taken: dict[str, list[float]] = {}
    with serving(console=False) as server, openmsmq.connect(server.socket) as manager:
        places: dict[str, tuple[openmsmq.Queue, int | None, bool]] = {}
        for depth in depths:
            queue = manager.create_queue(rf".\private$\d{depth}")
            queue.send_many(openmsmq.Message(BODY) for _ in range(depth))
            name = f"a page of {PAGE} at the {{}} of {depth:,} messages"
            places[name.format("front")] = queue, None, False
            places[name.format("middle")] = queue, _middle(queue, depth), False
            places[name.format("end")] = queue, None, True
        for _ in range(PAGES):
            for name, (queue, lookup_id, backwards) in places.items():
                started = time.perf_counter()
                queue.ranges.browse(lookup_id, backwards=backwards, count=PAGE, head_bytes=100)
                taken.setdefault(name, []).append(time.perf_counter() - started)
    costs = {name: statistics.median(seconds) for name, seconds in taken.items()}
    floor = next(iter(costs.values()))
    return [Result(name, 1 / cost, cost / floor, PAGE_LIMIT) for name, cost in costs.items()]


def _middle(queue: openmsmq.Queue, depth: int) -> int:
    """The lookup id of a message in the middle."""
    first = queue.peek_by_lookup_id(0, "first").lookup_id
    return first + depth // 2


def run(
    queues: int = QUEUES,
    seconds: float = SECONDS,
    many: int = MANY_QUEUES,
    depths: tuple[int, ...] = DEPTHS,
    rounds: int = ROUNDS,
    *,
    rabbitmq: bool = True,
) -> list[Result]:
    """Measure everything."""
    return [
        *flow_results(queues, seconds, depths[-1], rounds),
        *samples(many),
        *scrapes(many, rabbitmq=rabbitmq),
        *pauses(many, depths[-1], seconds, rounds),
        *pages(depths),
        *memory(many),
        *starts(rounds),
    ]
