"""Walk the ways of a message: which files and functions it passes, as a table.

Two queue managers run in this process, and a profiler notes every function of openmsmq that runs
between the beginning and the end of each way, in all threads. `--list WAY` prints them in the order
of their first call; `--write` puts the table into docs/architecture.md.
"""

import argparse
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import openmsmq
from openmsmq import Message
from tools.catalogue import ROOT

PAGE: Final = ROOT / "docs" / "architecture.md"
PACKAGE: Final = str(Path(openmsmq.__file__).parent)
BEGIN, END = "<!-- walk -->", "<!-- end of walk -->"
# Addresses of this process alone: several walks may run at a time.
_NETWORK: Final = f"127.46.{os.getpid() >> 7 & 0xFF}"
ALPHA: Final = f"{_NETWORK}.{os.getpid() & 0x7F | 1}"
BETA: Final = f"{_NETWORK}.{os.getpid() & 0x7F | 0x81}"
ORDERS: Final = r"private$\orders"
WAIT_SECONDS: Final = 20.0
# Order acknowledgments leave after half a second.
ACKNOWLEDGED_SECONDS: Final = 2.0


class Way(NamedTuple):
    """What ran on one way: calls in all, functions in the order of their first call."""

    calls: int
    functions: list[tuple[str, str]]

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _ in self.functions))


class Recorder:
    """A profiler that notes functions of openmsmq while it is switched on."""

    def __init__(self) -> None:
        self._on = False
        self._calls = 0
        self._seen: dict[tuple[str, str], None] = {}
        self._threads: set[int] | None = None

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if not self._on or event != "call":
            return
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if self._threads is not None and threading.get_ident() not in self._threads:
            return
        self._calls += 1
        file = code.co_filename.removeprefix(PACKAGE).lstrip("/")
        self._seen.setdefault((file, code.co_qualname))

    def install(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)

    @contextmanager
    def recording(self, *threads: str) -> Iterator[None]:
        """Note what runs, in all threads or in those whose names begin so."""
        self._calls = 0
        self._seen = {}
        self._threads = {
            thread.ident
            for thread in threading.enumerate()
            if thread.ident is not None and thread.name.startswith(threads)
        }
        if not threads:
            self._threads = None
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def way(self) -> Way:
        return Way(self._calls, list(self._seen))


def until(condition: Callable[[], bool]) -> None:
    """Wait without a call into openmsmq between the looks."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("walk: a message did not arrive in time")
        time.sleep(0.05)


class Walk:
    """Two queue managers, ALPHA and BETA, each with a queue for orders."""

    def __init__(self, folder: Path) -> None:
        self.recorder = Recorder()
        self.recorder.install()
        options: dict[str, Any] = {"binary_port": 1801, "segment_bytes": 1 << 20}
        self.alpha = openmsmq.embedded(folder / "a", name="ALPHA", bind=ALPHA, **options)
        alpha_threads = {thread.ident for thread in threading.enumerate()}
        self.beta = openmsmq.embedded(folder / "b", name="BETA", bind=BETA, **options)
        for thread in threading.enumerate():
            if thread.name.startswith("openmsmq"):
                side = "alpha" if thread.ident in alpha_threads else "beta"
                thread.name = f"{side} {thread.name}"
        self.a = self.alpha.connect()
        self.b = self.beta.connect()
        for qm in (self.a, self.b):
            qm.create_queue(rf".\{ORDERS}", transactional=True)
            qm.create_queue(r".\private$\plain")
        self._to_beta = rf"DIRECT=TCP:{BETA}\private$"

    def close(self) -> None:
        self.alpha.close()
        self.beta.close()
        sys.setprofile(None)
        threading.setprofile(None)

    def _count(self, queue: str) -> int:
        return int(self.b.open_queue(rf".\{queue}", "peek").info()["messages"])

    def from_peer(self) -> Way:
        """BETA receives a recoverable message: from the socket to the session acknowledgment."""
        plain = r"private$\plain"
        message = Message(b"1", delivery="recoverable")
        with self.recorder.recording("beta"):
            self.a.send(rf"{self._to_beta}\plain", message)
            time.sleep(ACKNOWLEDGED_SECONDS)
        way = self.recorder.way()
        until(lambda: self._count(plain) == 1)
        return way

    def local_send(self) -> Way:
        """A client sends a recoverable message and waits until it is on disk."""
        queue = self.a.open_queue(r".\private$\plain", "send")
        message = Message(b"1", delivery="recoverable")
        queue.send_and_wait(message)
        with self.recorder.recording("Main", "alpha"):
            queue.send_and_wait(message)
        return self.recorder.way()

    def local_receive(self) -> Way:
        """A client receives a message in a transaction: begin, receive, commit."""
        queue = self.a.open_queue(rf".\{ORDERS}", "receive")
        for _ in range(2):
            self.a.send(rf".\{ORDERS}", Message(b"1"), transaction="single")
        with self.a.transaction() as transaction:
            queue.receive(transaction=transaction, timeout=5)
        with self.recorder.recording("Main", "alpha"), self.a.transaction() as transaction:
            queue.receive(transaction=transaction, timeout=5)
        return self.recorder.way()

    def to_peer(self) -> Way:
        """ALPHA sends a transactional message: from the request to the order acknowledgment."""
        with self.recorder.recording("alpha"):
            self.a.send(rf"{self._to_beta}\orders", Message(b"1"), transaction="single")
            time.sleep(ACKNOWLEDGED_SECONDS)
        way = self.recorder.way()
        until(lambda: self._count(ORDERS) == 1)
        return way

    def spark_read(self) -> Way:
        """The data source plans and reads a queue, in the driver and in a task."""
        from openmsmq.spark.source import MsmqDataSource

        options = {"endpoint": self.a.address, "queue": r".\private$\plain"}
        source = MsmqDataSource(options)
        schema = source.schema()
        with self.recorder.recording("Main", "alpha"):
            reader = MsmqDataSource(options).reader(schema)
            rows = sum(
                batch.num_rows for part in reader.partitions() for batch in reader.read(part)
            )
        if not rows:
            raise SystemExit("walk: Spark's reader found no message")
        return self.recorder.way()


WAYS: Final = {
    "from a peer": Walk.from_peer,
    "local send": Walk.local_send,
    "local transactional receive": Walk.local_receive,
    "to a peer": Walk.to_peer,
    "Spark read": Walk.spark_read,
}


def measure() -> dict[str, Way]:
    """All ways, on queue managers of their own."""
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(Path(folder))
        try:
            return {name: way(walk) for name, way in WAYS.items()}
        finally:
            walk.close()


def table(ways: dict[str, Way]) -> str:
    """The ways as a table for the page."""
    lines = ["| way of a message | files | functions | calls |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {len(way.files)} | {len(way.functions)} | {way.calls} |"
        for name, way in ways.items()
    ]
    return "\n".join(lines)


def write_page(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    block = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    if not block.search(page):
        raise SystemExit(f"walk: {PAGE} has no place marked {BEGIN}")
    PAGE.write_text(block.sub(lambda _: f"{BEGIN}\n{text}\n{END}", page), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="WAY", choices=WAYS, help="print files and functions")
    parser.add_argument("--write", action="store_true", help="update docs/architecture.md")
    arguments = parser.parse_args()
    ways = measure()
    if arguments.list:
        for file, function in ways[arguments.list].functions:
            print(f"{file}\t{function}")
        return
    text = table(ways)
    print(text)
    if arguments.write:
        write_page(text)


if __name__ == "__main__":
    main()
