"""What the console costs: scrapes of many queues, pauses of the event loop, memory, the start.

`bench.watching` runs this and says what the figures mean.
"""

import json
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Final

import openmsmq
from bench.peers.brokers import HOST, RabbitMQ, free_port
from bench.peers.install import Missing, need_rabbitmq
from bench.peers.turns import read_windows
from bench.peers.watched import give_histories, looking, make_queues, serving
from bench.report import Result

BODY: Final = bytes(1024)
SCRAPES: Final = 5
SCRAPE_LIMIT: Final = 0.1
PAUSE_LIMIT: Final = 2.0
MEMORY_BYTES: Final = 150_000_000
START_LIMIT: Final = 1.05
STARTS: Final = 5
BUSY: Final = r".\private$\busy"
DEEP: Final = r".\private$\deep"


class WatchedRabbitMQ(RabbitMQ):
    """RabbitMQ with queues and its metrics."""

    def __init__(self, folder: Path, queues: int) -> None:
        super().__init__(folder)
        self._queues = queues
        self.metrics_port: Final = free_port()

    def configure(self) -> None:
        super().configure()
        names = (f"q{number}" for number in range(self._queues))
        queue = {"vhost": "/", "durable": True, "auto_delete": False, "arguments": {}}
        definitions = {
            "vhosts": [{"name": "/"}],
            "queues": [{"name": name, **queue} for name in names],
        }
        (self.folder / "definitions.json").write_text(json.dumps(definitions))
        with (self.folder / "rabbitmq.conf").open("a") as file:
            file.write(f"prometheus.tcp.ip = {HOST}\nprometheus.tcp.port = {self.metrics_port}\n")
            file.write(f"load_definitions = {self.folder}/definitions.json\n")
        (self.folder / "enabled_plugins").write_text("[rabbitmq_prometheus].\n")

    def scrape(self) -> bytes:
        """The metrics of each queue."""
        url = f"http://{HOST}:{self.metrics_port}/metrics/per-object"
        with urllib.request.urlopen(url) as answer:
            return bytes(answer.read())


def scrapes(queues: int, *, rabbitmq: bool) -> list[Result]:
    """A scrape of many queues beside one of RabbitMQ."""
    with serving(console=True) as server:
        make_queues(server, queues)
        while server.scrape().count(b"msmq_queue_messages{") < queues:
            time.sleep(0.1)
        own = _median_seconds(server.scrape)
    floor: float | None = None
    if rabbitmq:
        try:
            need_rabbitmq(install=False)
            floor = _rabbitmq_seconds(queues)
        except Missing:
            floor = None
    results = [] if floor is None else [Result(f"RabbitMQ's scrape of {queues:,}", 1 / floor)]
    ratio = None if floor is None else own / floor
    return [*results, Result(f"a scrape of {queues:,} queues", 1 / own, ratio, SCRAPE_LIMIT)]


def _rabbitmq_seconds(queues: int) -> float:
    with tempfile.TemporaryDirectory() as folder, WatchedRabbitMQ(Path(folder), queues) as broker:
        assert isinstance(broker, WatchedRabbitMQ)
        while broker.scrape().count(b"rabbitmq_queue_messages_ready{") < queues:
            time.sleep(0.5)
        return _median_seconds(broker.scrape)


def _median_seconds(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(SCRAPES):
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def pauses(queues: int, depth: int, seconds: float, rounds: int) -> list[Result]:
    """The longest pause with those who look, beside a busy time without them."""
    looks = {
        "": "",
        "a scrape": "scrape",
        f"a browse of {depth:,} messages": "browse",
        f"a list of {queues:,} queues": "list",
    }
    window = min(seconds, 1.0)
    longest: dict[str, list[float]] = {name: [] for name in looks}
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "turns"
        program = ("-m", "bench.peers.turns", str(file), str(window))
        server = stack.enter_context(serving(console=True, program=program))
        manager = stack.enter_context(openmsmq.connect(server.socket))
        make_queues(server, queues)
        manager.create_queue(BUSY)
        deep = manager.create_queue(DEEP)
        deep.send_many(openmsmq.Message(BODY) for _ in range(depth))
        server.scrape()
        stack.enter_context(looking(server, "consume", BUSY))
        stack.enter_context(looking(server, "produce", BUSY))
        for _ in range(rounds):
            for name, action in looks.items():
                with looking(server, action, DEEP) if action else nullcontext():
                    # Until it is connected, and a window has begun.
                    time.sleep(1.0 + window)
                    begin = time.monotonic()
                    time.sleep(seconds)
                windows = read_windows(file)
                longest[name] += [one.longest for one in windows if begin < one.end]
    floor, *others = (statistics.median(each) for each in longest.values())
    names = list(looks)[1:]
    return [
        Result("longest pause without anybody who looks", 1 / floor),
        *(
            Result(f"longest pause during {name}", 1 / pause, pause / floor, PAUSE_LIMIT)
            for name, pause in zip(names, others, strict=True)
        ),
    ]


def memory(queues: int) -> list[Result]:
    """The memory of the console with many queues; all of a day's history is there at once."""
    with serving(console=True) as server:
        make_queues(server, queues)
        give_histories(server, queues)
        for _ in range(SCRAPES):
            server.scrape()
            time.sleep(1)
        used = server.console_bytes()
    name = f"memory of the console with {queues:,} queues ({used / 1e6:.0f} MB)"
    return [Result(name, 1.0, used / MEMORY_BYTES, 1.0)]


def starts(rounds: int) -> list[Result]:
    """How soon a queue manager is ready with its console and without."""
    taken: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(max(STARTS, rounds) if rounds > 1 else 1):
        for console in (False, True):
            with serving(console=console) as server:
                taken[console].append(server.start_seconds)
    without, with_it = (statistics.median(taken[console]) for console in (False, True))
    return [
        Result("ready without a console", 1 / without),
        Result("ready with a console", 1 / with_it, with_it / without, START_LIMIT),
    ]
