"""Messages over HTTP beside the binary protocol and bare web servers, in one run.

Reproduce with `python -m bench srmp`; `--quick` for a first look, `--json` for one object per line.
openmsmq runs the modules that `make compile` compiled if they fit the sources, with `--pure` always
pure Python. Bodies have 1 KiB. Each round runs everything in turn; figures are medians.

The receiving half alone: POSTs of durable messages are built beforehand and arrive in chunks of
256,000 bytes, as uvloop reads them from a connection whose client does not wait for answers. The
floor cuts them with httptools, keeps their bodies and writes an answer for each; it reads no
envelope and stores nothing. The receiver is everything but the sockets: HTTP, SRMP, the queue, and
a store on disk that is flushed after each chunk, before its answers leave. Both give their memory
back between rounds.

From one queue manager to another: as in the benchmark of transfers, over HTTP and by the binary
protocol. The web server is starlette on uvicorn, with an aiohttp client that keeps sixteen requests
under way; they post the same bytes and store nothing. One in flight: from the send at one queue
manager to the receive at the other. Idle connections only connect.
"""

import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console

import openmsmq
from bench.brokers import Options, Run, Work, data_folder, show_run
from bench.peers import install
from bench.peers.board import BODY
from bench.peers.brokers import COMPILED, ROOT
from bench.peers.measure import measure_transfer, run_worker
from bench.peers.node import HTTP_PORT, WebNode
from bench.peers.web import WebServer
from bench.targets import SRMP_TARGETS

SENDER: Final = "127.0.0.2"
RECEIVER: Final = "127.0.0.3"
IDLER: Final = "127.0.0.4"
IDLE: Final = 1_000
# They are short, and the speed of a processor that others share changes within seconds.
RECEIVING_ROUNDS: Final = 31
# What is sent before a latency counts.
WARM_UP: Final = 50


def receiving(run: Run) -> None:
    """The receiving half alone, in a process of its own."""
    path = {"PYTHONPATH": str(COMPILED)} if run.options.compiled else {}
    rounds = 3 if run.options.quick else RECEIVING_ROUNDS
    done = subprocess.run(
        [sys.executable, "-m", "bench.peers.srmp_receiving", str(run.folder), str(rounds)],
        cwd=ROOT,
        env={**os.environ, **path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    for name, value in json.loads(done.stdout).items():
        run.number(f"{name} µs", value)


class Pair:
    """Two queue managers, and a queue at the second one.

    Args:
        mode: of the messages.
        sender, receiver: their addresses.
    """

    def __init__(self, run: Run, mode: str, sender: str, receiver: str) -> None:
        compiled = run.options.compiled
        self._run = run
        self._mode = mode
        self.source: Final = WebNode(run.folder, sender, compiled=compiled)
        self.target: Final = WebNode(run.folder, receiver, compiled=compiled)
        self.names: Final = {
            "http": f"DIRECT=HTTP://{receiver}:{HTTP_PORT}/msmq/private$/{mode}",
            "binary": rf"DIRECT=TCP:{receiver}\private$\{mode}",
        }

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        with self.source, self.target:
            with openmsmq.connect(Path(self.target.address)) as manager:
                transactional = self._mode == "transactional"
                manager.create_queue(rf".\private$\{self._mode}", transactional=transactional)
            yield

    def flow(self, protocol: str, name: str) -> None:
        """Send as much as arrives."""
        task = self._run.task(self.target, self._mode, self._mode)
        found = measure_transfer(self.source, self.target, task, self.names[protocol])
        self._run.keep(name, found)

    def latencies(self) -> None:
        """Send one message after the other; the time until each is received.

        The protocols take turns, because the disk is not equally fast all the time.
        """
        taken: dict[str, list[float]] = {protocol: [] for protocol in self.names}
        with (
            openmsmq.connect(Path(self.source.address)) as source,
            openmsmq.connect(Path(self.target.address)) as target,
            contextlib.ExitStack() as stack,
            target.open_queue(rf".\private$\{self._mode}") as queue,
        ):
            sending = {
                protocol: stack.enter_context(source.open_queue(name, access="send"))
                for protocol, name in self.names.items()
            }
            end = time.perf_counter() + 2 * self._run.options.seconds
            while len(taken["http"]) < 2 * WARM_UP or time.perf_counter() < end:
                for protocol, opened in sending.items():
                    start = time.perf_counter()
                    opened.send(openmsmq.Message(BODY, delivery="recoverable"))
                    queue.receive(timeout=30)
                    taken[protocol].append(time.perf_counter() - start)
        for protocol, times in taken.items():
            median = statistics.median(times[WARM_UP:])
            self._run.number(f"{protocol} one in flight ms", median * 1e3)


def durable(run: Run, sender: str = SENDER, receiver: str = RECEIVER) -> None:
    for protocol in ("http", "binary"):
        pair = Pair(run, "durable", sender, receiver)
        with pair.running():
            pair.flow(protocol, f"{protocol} durable")
    pair = Pair(run, "durable", sender, receiver)
    with pair.running():
        pair.latencies()


def transactional(run: Run, sender: str = SENDER, receiver: str = RECEIVER) -> None:
    pair = Pair(run, "transactional", sender, receiver)
    with pair.running():
        pair.flow("http", "http transactional")


def idle(
    run: Run,
    sender: str = SENDER,
    receiver: str = RECEIVER,
    idler: str = IDLER,
    count: int = IDLE,
) -> None:
    """The same with connections that do nothing."""
    pair = Pair(run, "durable", sender, receiver)
    with pair.running(), contextlib.ExitStack() as stack:
        for _ in range(count):
            place = receiver, HTTP_PORT
            stack.enter_context(socket.create_connection(place, source_address=(idler, 0)))
        pair.flow("http", "http durable, idle connections")


def web(run: Run) -> None:
    """A bare web server and client."""
    install.need_clients()
    with WebServer(run.folder) as server:
        count, seconds = run_worker(server, "post", run.task(server, "durable", "web"))
        run.number("starlette with aiohttp", count / seconds)


WORK: Final[dict[str, Work]] = {
    "receiving": receiving,
    "durable": durable,
    "transactional": transactional,
    "idle": idle,
    "web": web,
}


def present(options: Options) -> None:
    """Measure everything and print it."""
    console = Console(stderr=options.as_json)
    how = "compiled modules (make compile)" if options.compiled else "pure Python"
    console.print(f"openmsmq runs {how}", style="dim")
    # Whoever ends this also ends the queue managers and the server.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with data_folder() as folder:
        run = Run(options, folder, console)
        for number in range(options.rounds):
            for part, work in WORK.items():
                console.print(f"round {number + 1}: {part}", style="dim")
                run.attempt(part, work)
    show_run("srmp", run, SRMP_TARGETS, console)
