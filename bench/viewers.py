"""What a queue manager notices of people at its console: ten of them, and a hundred.

Reproduce with `python -m bench viewers` (or `make bench`); add `--json` for one object per line. It
takes about three minutes.

A real `openmsmq serve` with a thousand queues and 100,000 messages in one of them moves messages of
1 KiB through one more queue, one producer and one consumer, express and durable. In one run ten
viewers hold live pages open (the overview, the list of queues, the busy queue) and a scraper asks
for `/metrics` every 5 s, in the other it has `--console-port off`; the rounds take turns and the
figures are medians. With a search, the console also looks through all messages again and again.
The viewers are a process of their own at a low priority, since browsers run elsewhere. "100
viewers" compares the processor time of the queue manager with that of one viewer for each of the
three pages, over the same time without other work. The memory of the console is measured with ten
thousand queues, each with a history, and one viewer for each of the three pages.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

import openmsmq
from bench.peers.viewers import PAGES
from bench.peers.watched import Server, give_histories, running, serving
from bench.report import Result
from bench.watching import BODY, BUSY, Flow, flow

QUEUES: Final = 1_000
MANY_QUEUES: Final = 10_000
FLOW_SECONDS: Final = 6.0
STORED: Final = 100_000
ROUNDS: Final = 3
VIEWERS: Final = 10
MANY_VIEWERS: Final = 100
LOOK_SECONDS: Final = 8.0
# Messages a second with viewers are at least 0.95 of those without, and 0.85 with a search.
RATE_LIMIT: Final = 1 / 0.95
SEARCH_LIMIT: Final = 1 / 0.85
TIME_LIMIT: Final = 1.05
MANY_LIMIT: Final = 1.1
MEMORY_LIMIT: Final = 150e6


def viewing(server: Server, count: int, *, searches: bool = False) -> AbstractContextManager[None]:
    """People with live pages open, a scraper, and perhaps somebody who searches."""
    token = _token(Path(server.socket).parent)
    words = [server.console, token, str(count), "searches" if searches else "looks"]
    return running("-m", "bench.peers.viewers", *words)


def _token(data: Path) -> str:
    program = [sys.executable, "-c", "from openmsmq.cli import main; main()"]
    words = ["console", "token", "add", f"t{time.monotonic_ns()}", "--principal", "user:root"]
    role = ["--role", "administrator", "--data", str(data)]
    done = subprocess.run([*program, *words, *role], capture_output=True, check=True, text=True)
    return done.stdout.strip()


@contextmanager
def filled(*, console: bool, queues: int, stored: int = 0) -> Iterator[Server]:
    """A queue manager with many queues, one of them busy."""
    with serving(console=console) as server:
        with openmsmq.connect(server.socket) as manager:
            for number in range(queues):
                manager.create_queue(rf".\private$\q{number}")
            manager.create_queue(BUSY)
            if stored:
                deep = manager.create_queue(r".\private$\deep")
                deep.send_many(openmsmq.Message(BODY) for _ in range(stored))
                manager.flush()
        yield server


def flows(
    viewers: int, *, queues: int, seconds: float, stored: int, searches: bool
) -> dict[str, Flow]:
    """Express and durable messages while people look, or without a console."""
    with filled(console=viewers > 0, queues=queues, stored=stored) as server, ExitStack() as stack:
        if viewers:
            stack.enter_context(viewing(server, viewers, searches=searches))
            time.sleep(min(seconds, 2.0))
        return {
            "durable" if durable else "express": flow(server, durable=durable, seconds=seconds)
            for durable in (False, True)
        }


def spent_on(viewers: int, queues: int, seconds: float) -> float:
    """The processor time of the queue manager in a second of so many viewers."""
    with filled(console=True, queues=queues) as server, viewing(server, viewers):
        time.sleep(min(seconds, 3.0))
        before, began = server.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        return (server.cpu_seconds() - before) / (time.monotonic() - began)


def console_memory(queues: int, seconds: float) -> float:
    """Resident bytes of the console while people look at many queues with a day of history."""
    with filled(console=True, queues=queues) as server:
        give_histories(server, queues)
        with viewing(server, len(PAGES)):
            time.sleep(seconds)
            return float(server.console_bytes())


def run(
    queues: int = QUEUES,
    seconds: float = FLOW_SECONDS,
    stored: int = STORED,
    many: int = MANY_QUEUES,
    rounds: int = ROUNDS,
    look_seconds: float = LOOK_SECONDS,
    crowd: int = MANY_VIEWERS,
) -> list[Result]:
    """Measure everything."""
    kinds = {"none": (0, False), "ten": (VIEWERS, False), "search": (VIEWERS, True)}
    found: dict[tuple[str, str], list[Flow]] = {}
    for _ in range(rounds):
        for name, (viewers, searches) in kinds.items():
            for kind, measured in flows(
                viewers, queues=queues, seconds=seconds, stored=stored, searches=searches
            ).items():
                found.setdefault((name, kind), []).append(measured)
    results: list[Result] = []
    for kind in ("express", "durable"):
        bare, ten, searched = (_median(found[name, kind]) for name in kinds)
        spent = ten.cpu_seconds / max(bare.cpu_seconds, 1e-9)
        results += [
            Result(f"{kind} messages without a console", bare.per_second),
            Result(
                f"{kind} messages with {VIEWERS} viewers",
                ten.per_second,
                bare.per_second / ten.per_second,
                RATE_LIMIT,
            ),
            Result(
                f"processor time of {kind} messages with {VIEWERS} viewers",
                1 / max(ten.cpu_seconds, 1e-9),
                spent,
                TIME_LIMIT,
            ),
            Result(
                f"{kind} messages with a search as well",
                searched.per_second,
                bare.per_second / searched.per_second,
                SEARCH_LIMIT,
            ),
        ]
    one, hundred = (spent_on(count, queues, look_seconds) for count in (len(PAGES), crowd))
    # Long enough for each page, some scrapes, and a second list of all queues.
    memory = console_memory(many, 2 * look_seconds)
    return [
        *results,
        Result("processor time of one viewer with each page", 1 / max(one, 1e-9)),
        Result(
            f"processor time of {crowd} viewers",
            1 / max(hundred, 1e-9),
            hundred / max(one, 1e-9),
            MANY_LIMIT,
        ),
        Result(f"memory of the console with {many:,} queues", memory, memory / MEMORY_LIMIT, 1.0),
    ]


def _median(flows: list[Flow]) -> Flow:
    return Flow(
        statistics.median(each.per_second for each in flows),
        statistics.median(each.cpu_seconds for each in flows),
    )
