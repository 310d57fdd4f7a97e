"""Sending by name to ten thousand queues in turn, beside sending to one open queue.

Reproduce with `python -m bench by-name` (or `make bench`); add `--json` for one object per line.

Express messages of 100 bytes leave without waiting; a round ends when the queue manager has
accepted all of them. Client and queue manager are one process, which looks for garbage as seldom as
`openmsmq serve`; the figures are the processor time of both together, medians over the rounds.
"First time" opens each queue in the request that carries its first message; "again" finds them
open, as many as a client keeps.
"""

import gc
import statistics
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from time import process_time
from typing import Final

import openmsmq
from bench.report import Result
from openmsmq import Message
from openmsmq.cli.manager.serve import GARBAGE_THRESHOLDS

QUEUES: Final = 10_000
ROUNDS: Final = 5
LIMIT: Final = 3.0
Send = Callable[[Message], None]


def seconds_per_message(manager: openmsmq.QueueManager, sends: Iterable[Send]) -> float:
    """The processor time of one message, from the first send until all are accepted."""
    message = Message(bytes(100))
    count = 0
    began = process_time()
    for send in sends:
        send(message)
        count += 1
    manager.flush()
    return (process_time() - began) / count


def run(queues: int = QUEUES, rounds: int = ROUNDS) -> list[Result]:
    thresholds = gc.get_threshold()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    try:
        return results(queues, rounds)
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)


def results(queues: int, rounds: int) -> list[Result]:
    """All figures, with the garbage collector as it is."""
    names = [rf".\private$\queue{number}" for number in range(queues)]
    with (
        tempfile.TemporaryDirectory(prefix="openmsmq-by-name-") as folder,
        openmsmq.embedded(folder, name="BENCH") as manager,
    ):
        for name in names:
            manager.create_queue(name)
        to_one = [manager.open_queue(names[0], "send").send] * queues
        to_each = [partial(manager.send, name) for name in names]
        gc.freeze()
        first = seconds_per_message(manager, to_each)
        gc.freeze()
        costs = [
            (seconds_per_message(manager, to_one), seconds_per_message(manager, to_each))
            for _ in range(rounds)
        ]
    floor = statistics.median(one for one, _ in costs)
    again = statistics.median(each for _, each in costs)
    return [
        Result("one open queue", 1 / floor),
        Result(f"{queues:,} queues by name, first time", 1 / first, first / floor),
        Result(f"{queues:,} queues by name, again", 1 / again, again / floor, LIMIT),
    ]
