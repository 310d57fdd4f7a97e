"""A real queue manager with or without its console, and what looks at it, each a process."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tools.compile import environment, is_fresh

import openmsmq

from .machine import cpu_seconds, process_tree, resident_bytes

_PORTS: Final = ("binary", "ping", "rpc", "qm2qm", "epm", "http", "https")
_OPENMSMQ: Final = ("-c", "from openmsmq.cli import main; main()")
# Scrapes every 5 s and keeps the sampler at once a second.
_SCRAPER: Final = """
import sys, time, urllib.request
step = 0
while True:
    narrow = "" if step % 5 == 0 else "?family=ready"
    urllib.request.urlopen(f"http://{sys.argv[1]}/metrics{narrow}").read()
    step += 1
    time.sleep(1)
"""
# As the console does: at a lower priority.
_SEARCHER: Final = """
import os, sys, openmsmq
from openmsmq.care import parse_filter, place_of, search
os.nice(10)
condition = parse_filter("body ~ 'needle in'")
with openmsmq.connect(sys.argv[1]) as manager:
    while True:
        assert not list(search(manager, [place_of(sys.argv[2])], condition))
"""


class Server(NamedTuple):
    """A queue manager that runs, and how long it took to be ready."""

    process: "subprocess.Popen[bytes]"
    socket: str
    console: str
    start_seconds: float

    def cpu_seconds(self) -> float:
        """What its process has spent so far."""
        return cpu_seconds([self.process.pid])

    def console_bytes(self) -> int:
        """The resident memory of its console."""
        return resident_bytes(process_tree(self.process.pid)[1:])

    def scrape(self) -> bytes:
        """All metrics."""
        with urllib.request.urlopen(f"http://{self.console}/metrics") as answer:
            return bytes(answer.read())


@contextlib.contextmanager
def serving(*, console: bool, program: Sequence[str] = _OPENMSMQ) -> Iterator[Server]:
    """A queue manager in a folder of its own, compiled if it can be, as with `make serve`.

    Args:
        program: what runs it, as arguments of Python.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ready = folder / "ready"
        off = [f"--{port}-port=off" for port in _PORTS]
        port = "0" if console else "off"
        started = time.perf_counter()
        process = subprocess.Popen(
            [
                *(sys.executable, *program, "serve"),
                *("--data", str(folder / "data"), "--ready-file", str(ready), *off),
                *("--console-port", port, "--log-level", "warning"),
            ],
            env=environment() if is_fresh() else os.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not ready.exists():
                assert process.poll() is None, "the queue manager did not start"
                time.sleep(0.002)
            seconds = time.perf_counter() - started
            endpoints = json.loads(ready.read_text())
            server = Server(process, endpoints["local"], endpoints.get("console", ""), seconds)
            if console:
                # It is there once it answers.
                server.scrape()
            yield server
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[None]:
    """A Python program that runs until the end of the block."""
    with subprocess.Popen([sys.executable, *arguments]) as process:
        try:
            yield
            assert process.poll() is None, "it ended by itself"
        finally:
            process.terminate()


def scraping(server: Server) -> contextlib.AbstractContextManager[None]:
    """Somebody who scrapes every 5 s and looks every second."""
    return running("-c", _SCRAPER, server.console)


def searching(server: Server, queue: str) -> contextlib.AbstractContextManager[None]:
    """Somebody who searches a queue for a text again and again."""
    return running("-c", _SEARCHER, server.socket, queue)


def looking(server: Server, action: str, queue: str) -> contextlib.AbstractContextManager[None]:
    """Somebody who does something of `bench.peers.lookers` again and again."""
    return running("-m", "bench.peers.lookers", action, server.socket, server.console, queue)


def spent(server: Server, action: Callable[[], object]) -> float:
    """What the queue manager spends on something."""
    before = server.cpu_seconds()
    action()
    return server.cpu_seconds() - before


def make_queues(server: Server, count: int) -> None:
    """Create so many queues."""
    with openmsmq.connect(server.socket) as manager:
        for number in range(count):
            manager.create_queue(rf".\private$\q{number}")


def give_histories(server: Server, count: int) -> None:
    """Send a message to each queue of `make_queues`; all of a day's history is there at once."""
    with openmsmq.connect(server.socket) as manager:
        for number in range(count):
            manager.send(rf".\private$\q{number}", openmsmq.Message(b"x"))
        manager.flush()
