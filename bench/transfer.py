"""From one queue manager to another over loopback, beside RabbitMQ's single broker.

Reproduce with `python -m bench transfer` (or `make bench`); the options are those of `brokers`.

End to end: a producer process at the queue manager on 127.0.0.2, a consumer process at that on
127.0.0.3, bodies of 1 KiB, from the first send to the last receive. Each message crosses two queue
managers, and both write it to disk unless it is express. RabbitMQ's figures are of one broker, as
in the benchmark of brokers, in the same run.

The receiving half alone: a prebuilt stream of express packets goes into a queue and is
acknowledged; processor time beside that of a bare receiver which only splits the stream.
"""

import contextlib
import signal
import sys
from pathlib import Path
from typing import Final

from rich.console import Console

import openmsmq
from bench.brokers import Options, Run, Work, data_folder, rabbitmq, show_run
from bench.peers.measure import measure_transfer
from bench.peers.node import Node
from bench.peers.receiving import measure_receiving
from bench.targets import TRANSFER_TARGETS

SENDER: Final = "127.0.0.2"
RECEIVER: Final = "127.0.0.3"
RECEIVING_ROUNDS: Final = 6
# Modes of the client programs, by what people call them.
MODES: Final = {
    "express": "express",
    "recoverable": "durable",
    "transactional": "transactional",
}


def transfer(run: Run, sender: str = SENDER, receiver: str = RECEIVER) -> None:
    compiled = run.options.compiled
    for name, mode in MODES.items():
        with contextlib.ExitStack() as stack:
            source = stack.enter_context(Node(run.folder, sender, compiled=compiled))
            target = stack.enter_context(Node(run.folder, receiver, compiled=compiled))
            with openmsmq.connect(Path(target.address)) as manager:
                manager.create_queue(rf".\private$\{mode}", transactional=mode == "transactional")
            task = run.task(target, mode, mode)
            destination = rf"DIRECT=TCP:{receiver}\private$\{mode}"
            run.keep(f"transfer {name}", measure_transfer(source, target, task, destination))


def receiving(run: Run) -> None:
    rounds = 1 if run.options.quick else RECEIVING_ROUNDS
    compiled = run.options.compiled
    found = measure_receiving(run.folder, SENDER, RECEIVER, rounds=rounds, compiled=compiled)
    run.number("receive µs", found.queue_manager)
    run.number("split µs", found.splitter)


WORK: Final[dict[str, Work]] = {
    "receiving": receiving,
    "openmsmq": transfer,
    "rabbitmq": rabbitmq,
}


def present(options: Options) -> None:
    """Measure everything and print it."""
    console = Console(stderr=options.as_json)
    how = "compiled modules (make compile)" if options.compiled else "pure Python"
    console.print(f"openmsmq runs {how}", style="dim")
    # Whoever ends this also ends the queue managers and the broker.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with data_folder() as folder:
        run = Run(options, folder, console)
        for number in range(options.rounds):
            for peer, work in WORK.items():
                if peer in options.only or peer not in ("openmsmq", "rabbitmq"):
                    console.print(f"round {number + 1}: {peer}", style="dim")
                    run.attempt(peer, work)
    show_run("transfer", run, TRANSFER_TARGETS, console)
