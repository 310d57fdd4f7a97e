"""What a queue manager notices of its console: rates and processor time with it and without.

Reproduce with `python -m bench watching` (or `make bench`); add `--json` for one object per line.
It takes about three minutes.

A real `openmsmq serve` with a thousand queues moves messages of 1 KiB through one more queue, one
producer and one consumer, express and durable. In one run it has a console whose sampler is kept at
once a second and that is scraped every 5 s, in the other `--console-port off`; the rounds take
turns and the figures are medians. The floor of "messages" and "processor time" is the queue manager
without a console. With ten thousand queues, the floor of a sample of all of them is `ListQueues`,
and that of a page of 200 messages in a deep queue is the same page in a shallow one. "Processor
time" is what the process of the queue manager spends.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import openmsmq
from bench.report import Result

QUEUES: Final = 1_000
MANY_QUEUES: Final = 10_000
MESSAGES: Final = 20_000
BODY: Final = bytes(1024)
ROUNDS: Final = 3
SCRAPE_SECONDS: Final = 5.0
DEPTHS: Final = (1_000, 100_000)
PAGE: Final = 200
PAGES: Final = 200
BUSY: Final = r".\private$\busy"
_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")
_PORTS: Final = ("binary", "ping", "rpc", "qm2qm", "epm", "http", "https")
# Messages a second with the console are at least 0.95 of those without.
RATE_LIMIT: Final = 1 / 0.95
TIME_LIMIT: Final = 1.05
SAMPLE_LIMIT: Final = 0.1
PAGE_LIMIT: Final = 1.5


class Server(NamedTuple):
    """A queue manager that runs."""

    process: "subprocess.Popen[bytes]"
    socket: str
    console: str

    def cpu_seconds(self) -> float:
        """What its process has spent so far."""
        raw = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(raw[11]) + int(raw[12])) * _TICK


@contextlib.contextmanager
def serving(*, console: bool) -> Iterator[Server]:
    """A queue manager in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ready = folder / "ready"
        off = [f"--{port}-port=off" for port in _PORTS]
        port = "0" if console else "off"
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", "from openmsmq.cli import main; main()", "serve"),
                *("--data", str(folder / "data"), "--ready-file", str(ready), *off),
                *("--console-port", port, "--log-level", "warning"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not ready.exists():
                assert process.poll() is None, "the queue manager did not start"
                time.sleep(0.005)
            endpoints = json.loads(ready.read_text())
            yield Server(process, endpoints["local"], endpoints.get("console", ""))
        finally:
            process.terminate()
            process.wait()


class Scraper(threading.Thread):
    """Scrapes the console, and looks at it once a second so that the sampler hurries."""

    def __init__(self, console: str) -> None:
        super().__init__(daemon=True)
        self._console = console
        self._ended = threading.Event()

    def run(self) -> None:
        step = 0
        while not self._ended.wait(1.0):
            narrow = "" if step % SCRAPE_SECONDS == 0 else "?family=ready"
            with urllib.request.urlopen(f"http://{self._console}/metrics{narrow}") as answer:
                answer.read()
            step += 1

    def end(self) -> None:
        self._ended.set()
        self.join()


class Flow(NamedTuple):
    """Messages through a queue: how many a second, and the processor time of one."""

    per_second: float
    cpu_seconds: float


def flow(server: Server, *, durable: bool, messages: int) -> Flow:
    """One producer and one consumer, each with a connection and a thread of its own."""
    delivery = "recoverable" if durable else "express"

    def produce() -> None:
        with openmsmq.connect(server.socket) as manager:
            queue = manager.open_queue(BUSY, "send")
            queue.send_many(openmsmq.Message(BODY, delivery=delivery) for _ in range(messages))

    started, cpu = time.perf_counter(), server.cpu_seconds()
    producer = threading.Thread(target=produce)
    producer.start()
    with openmsmq.connect(server.socket) as manager:
        stream = manager.open_queue(BUSY, "receive").messages(timeout=60)
        assert sum(1 for _ in islice(stream, messages)) == messages
    producer.join()
    seconds = time.perf_counter() - started
    return Flow(messages / seconds, (server.cpu_seconds() - cpu) / messages)


def flows(*, console: bool, queues: int, messages: int) -> dict[str, Flow]:
    """Express and durable messages, with a console that is looked at, or without any."""
    with serving(console=console) as server:
        with openmsmq.connect(server.socket) as manager:
            for number in range(queues):
                manager.create_queue(rf".\private$\q{number}")
            manager.create_queue(BUSY)
        scraper = Scraper(server.console) if console else None
        if scraper is not None:
            scraper.start()
        try:
            return {
                "durable" if durable else "express": flow(
                    server, durable=durable, messages=messages
                )
                for durable in (False, True)
            }
        finally:
            if scraper is not None:
                scraper.end()


def spent(server: Server, action: Callable[[], object]) -> float:
    """What the queue manager spends on something."""
    before = server.cpu_seconds()
    action()
    return server.cpu_seconds() - before


def samples(queues: int) -> list[Result]:
    """A sample of many queues beside a list of them."""
    times = 5
    with serving(console=False) as server, openmsmq.connect(server.socket) as manager:
        for number in range(queues):
            manager.create_queue(rf".\private$\q{number}")
        listed = spent(server, lambda: [manager.queues() for _ in range(times)]) / times
        whole = spent(server, lambda: [manager.sample(0) for _ in range(times)]) / times
        last = manager.sample(0)[0]["number"]
        again = spent(server, lambda: [manager.sample(last) for _ in range(times)]) / times
    floor = max(listed, _TICK)
    return [
        Result(f"ListQueues of {queues:,} queues", 1 / floor),
        Result("a sample of all of them", 1 / max(whole, _TICK), whole / floor, SAMPLE_LIMIT),
        Result("a sample after no change", 1 / max(again, _TICK), again / floor, SAMPLE_LIMIT),
    ]


def pages(depths: tuple[int, ...]) -> list[Result]:
    """Pages at the front, in the middle and at the end of queues of several depths."""
    found: list[Result] = []
    floor = 0.0
    with serving(console=False) as server, openmsmq.connect(server.socket) as manager:
        for depth in depths:
            queue = manager.create_queue(rf".\private$\d{depth}")
            queue.send_many(openmsmq.Message(BODY) for _ in range(depth))
            ids = [None, _middle(queue, depth)]
            for place, lookup_id, backwards in (
                ("front", ids[0], False),
                ("middle", ids[1], False),
                ("end", None, True),
            ):
                started = time.perf_counter()
                for _ in range(PAGES):
                    queue.ranges.browse(lookup_id, backwards=backwards, count=PAGE, head_bytes=100)
                seconds = (time.perf_counter() - started) / PAGES
                floor = floor or seconds
                name = f"a page of {PAGE} at the {place} of {depth:,} messages"
                found.append(Result(name, 1 / seconds, seconds / floor, PAGE_LIMIT))
    return found


def _middle(queue: openmsmq.Queue, depth: int) -> int:
    """The lookup id of a message in the middle."""
    first = queue.peek_by_lookup_id(0, "first").lookup_id
    return first + depth // 2


def run(
    queues: int = QUEUES,
    messages: int = MESSAGES,
    many: int = MANY_QUEUES,
    depths: tuple[int, ...] = DEPTHS,
    rounds: int = ROUNDS,
) -> list[Result]:
    """Measure everything."""
    rates: dict[tuple[str, bool], list[Flow]] = {}
    for _ in range(rounds):
        for console in (False, True):
            for kind, measured in flows(console=console, queues=queues, messages=messages).items():
                rates.setdefault((kind, console), []).append(measured)
    results: list[Result] = []
    for kind in ("express", "durable"):
        bare, watched = (
            Flow(
                statistics.median(each.per_second for each in rates[kind, console]),
                statistics.median(each.cpu_seconds for each in rates[kind, console]),
            )
            for console in (False, True)
        )
        results += [
            Result(f"{kind} messages without a console", bare.per_second),
            Result(
                f"{kind} messages with a console",
                watched.per_second,
                bare.per_second / watched.per_second,
                RATE_LIMIT,
            ),
            Result(
                f"processor time of {kind} messages with a console",
                1 / max(watched.cpu_seconds, 1e-9),
                watched.cpu_seconds / max(bare.cpu_seconds, 1e-9),
                TIME_LIMIT,
            ),
        ]
    return [*results, *samples(many), *pages(depths)]
