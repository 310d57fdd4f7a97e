"""Care for many messages: a search beside streaming, a retry beside receiving and sending.

Reproduce with `python -m bench care` (or `make bench`); add `--json` for one object per line.

"Search" looks for a text that occurs once in bodies of 1 KiB; its floor streams the same messages
and looks at none. "Retry" is a job that sends recoverable messages to another queue and removes the
originals, with its plan and its journal on disk; its floor receives them in a loop and sends them
with the client, without any promise about crashes. The queue manager is a real `openmsmq serve`.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import openmsmq
from bench.peers.watched import serving
from bench.report import Result
from openmsmq.care import parse_filter, place_of, search
from openmsmq.care.jobs import JobKind, JobRunner, JobSpec, plan_job

MESSAGES: Final = 100_000
RETRIED: Final = 10_000
ROUNDS: Final = 5
BODY: Final = bytes(1024)
SEARCH_LIMIT: Final = 3.0
RETRY_LIMIT: Final = 2.0
SOURCE: Final = r".\private$\source"
TARGET: Final = r".\private$\target"


def run(messages: int = MESSAGES, retried: int = RETRIED, rounds: int = ROUNDS) -> list[Result]:
    with (
        tempfile.TemporaryDirectory(prefix="openmsmq-care-") as jobs,
        serving(console=False) as server,
        openmsmq.connect(server.socket) as manager,
    ):
        return [
            *search_results(manager, messages, rounds),
            *retry_results(manager, Path(jobs), retried, rounds),
        ]


def fill(manager: openmsmq.QueueManager, name: str, count: int, delivery: str) -> None:
    queue = manager.create_queue(name, exist_ok=True)
    queue.send_many(openmsmq.Message(BODY, "order", delivery=delivery) for _ in range(count))


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def search_results(manager: openmsmq.QueueManager, count: int, rounds: int) -> list[Result]:
    name = r".\private$\searched"
    fill(manager, name, count - 1, "express")
    manager.send(name, openmsmq.Message(b"the needle in the haystack"))
    manager.flush()
    condition = parse_filter("body ~ 'NEEDLE in'")

    def stream() -> None:
        with manager.open_queue(name, "peek") as queue:
            last = queue.ranges.info().last
            assert sum(len(block.ends) for block in queue.ranges.peek(0, last)) == count

    def find() -> None:
        assert len(list(search(manager, [place_of(name)], condition))) == 1

    pairs = [(timed(stream), timed(find)) for _ in range(rounds)]
    floor = statistics.median(one for one, _ in pairs)
    found = statistics.median(other for _, other in pairs)
    manager.delete_queue(name)
    return [
        Result("streamed", count / floor),
        Result("searched for a text", count / found, found / floor, SEARCH_LIMIT),
    ]


def retry_results(
    manager: openmsmq.QueueManager, jobs: Path, count: int, rounds: int
) -> list[Result]:
    target = manager.create_queue(TARGET)

    def by_hand() -> None:
        source = manager.open_queue(SOURCE)
        target.send_many(message.to_message() for message in source.messages(timeout=0))
        manager.flush()

    def retry() -> None:
        spec = JobSpec(kind=JobKind.RETRY, sources=(SOURCE,), target=TARGET)
        job = plan_job(manager, spec, jobs)
        runner = JobRunner(job, lambda: openmsmq.connect(manager.address))
        assert runner.run().done == count

    pairs = []
    for _ in range(rounds):
        costs = []
        for way in (by_hand, retry):
            fill(manager, SOURCE, count, "recoverable")
            costs.append(timed(way))
            target.purge()
        pairs.append(costs)
    floor = statistics.median(one for one, _ in pairs)
    again = statistics.median(other for _, other in pairs)
    return [
        Result("received and sent", count / floor),
        Result("retried by a job", count / again, again / floor, RETRY_LIMIT),
    ]
