"""Walk the ways of a message: which files and functions it passes, as a table.

Two queue managers run in this process, and a profiler notes every function of openmsmq that runs
between the beginning and the end of each way. A way is taken once before it counts, so that the
connection, the session and the open queue exist, then several times. Only what runs every time
belongs to the way: timers and maintenance that happen to run at the same moment do not, nor do
protocols of other ways, which every turn asks whether they have something to send.

`--list WAY` prints the functions in the order of their first call; `--write` puts the table into
docs/architecture.md. Run as a script with the interpreter of another checkout, it walks that one.
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

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
PACKAGE: Final = str(Path(openmsmq.__file__).parent)
BEGIN, END = "<!-- walk -->", "<!-- end of walk -->"
# Addresses of this process alone: several walks may run at a time.
_NETWORK: Final = f"127.46.{os.getpid() >> 7 & 0xFF}"
ALPHA: Final = f"{_NETWORK}.{os.getpid() & 0x7F | 1}"
BETA: Final = f"{_NETWORK}.{os.getpid() & 0x7F | 0x81}"
PLAIN: Final = r"private$\plain"
ORDERS: Final = r"private$\orders"
# How often a way is taken and noted.
TRIPS: Final = 3
# Order acknowledgments leave after half a second.
ACKNOWLEDGED_SECONDS: Final = 0.7

# Protocols that no way here uses.
OTHERS: Final = (
    *("net/srmp/", "protocol/srmp/", "protocol/http/", "net/rpc/", "protocol/rpc/"),
    *("net/pgm/", "protocol/multicast/", "protocol/pgm/"),
)

Trip = Callable[[], object]


class Way(NamedTuple):
    """What ran on one way: calls in all, functions in the order of their first call."""

    calls: int
    functions: list[tuple[str, str]]

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _ in self.functions))


def common(ways: list[Way]) -> Way:
    """What all trips over a way have in common."""
    functions = [
        function
        for function in ways[0].functions
        if all(function in way.functions for way in ways[1:])
    ]
    return Way(min(way.calls for way in ways), functions)


class Recorder:
    """A profiler that notes functions of openmsmq while it is switched on."""

    def __init__(self) -> None:
        self._on = False
        self._calls = 0
        self._seen: dict[tuple[str, str], None] = {}
        self._threads: set[int] = set()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if not self._on or event != "call":
            return
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if threading.get_ident() not in self._threads:
            return
        file = code.co_filename.removeprefix(PACKAGE).lstrip("/")
        if file.startswith(OTHERS):
            return
        self._calls += 1
        self._seen.setdefault((file, code.co_qualname))

    def install(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)

    @contextmanager
    def recording(self, *threads: str) -> Iterator[None]:
        """Note what runs in the threads whose names begin so."""
        self._calls = 0
        self._seen = {}
        self._threads = {
            thread.ident
            for thread in threading.enumerate()
            if thread.ident is not None and thread.name.startswith(threads)
        }
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def way(self) -> Way:
        return Way(self._calls, list(self._seen))


class Walk:
    """Two queue managers, ALPHA and BETA, each with a queue for orders."""

    def __init__(self, folder: Path) -> None:
        self.recorder = Recorder()
        self.recorder.install()
        # As `serve` has it: with a history.
        options: dict[str, Any] = {
            "binary_port": 1801,
            "segment_bytes": 1 << 20,
            "history_bytes": 1 << 26,
        }
        others = set(threading.enumerate())
        self.alpha = openmsmq.embedded(folder / "a", name="ALPHA", bind=ALPHA, **options)
        alpha_threads = set(threading.enumerate()) - others
        self.beta = openmsmq.embedded(folder / "b", name="BETA", bind=BETA, **options)
        for thread in set(threading.enumerate()) - others:
            side = "alpha" if thread in alpha_threads else "beta"
            thread.name = f"{side} {thread.name}"
        self.a = self.alpha.connect()
        self.b = self.beta.connect()
        for qm in (self.a, self.b):
            qm.create_queue(rf".\{ORDERS}", transactional=True)
            qm.create_queue(rf".\{PLAIN}")
        self._to_beta = rf"DIRECT=TCP:{BETA}"

    def close(self) -> None:
        self.alpha.close()
        self.beta.close()
        sys.setprofile(None)
        threading.setprofile(None)

    def _take(self, trip: Trip, *threads: str) -> Way:
        """Take a way once, then several times with the recorder on."""
        trip()
        ways: list[Way] = []
        for _ in range(TRIPS):
            with self.recorder.recording(*threads):
                trip()
            ways.append(self.recorder.way())
        return common(ways)

    def _count(self, queue: str) -> int:
        return int(self.b.open_queue(rf".\{queue}", "peek").info()["messages"])

    def _check_arrived(self, queue: str) -> None:
        if self._count(queue) <= TRIPS:
            raise SystemExit(f"walk: not all messages arrived in {queue}")

    def from_peer(self) -> Way:
        """BETA receives a recoverable message: from the socket to the session acknowledgment."""
        queue = self.a.open_queue(rf"{self._to_beta}\{PLAIN}", "send")
        message = Message(b"1", delivery="recoverable")

        def trip() -> None:
            queue.send(message)
            time.sleep(ACKNOWLEDGED_SECONDS)

        way = self._take(trip, "beta")
        self._check_arrived(PLAIN)
        return way

    def local_send(self) -> Way:
        """A client sends a recoverable message and waits until it is on disk."""
        queue = self.a.open_queue(rf".\{PLAIN}", "send")
        message = Message(b"1", delivery="recoverable")
        return self._take(lambda: queue.send_and_wait(message), "Main", "alpha")

    def local_receive(self) -> Way:
        """A client receives a message in a transaction: begin, receive, commit."""
        queue = self.a.open_queue(rf".\{ORDERS}", "receive")
        for _ in range(TRIPS + 1):
            self.a.send(rf".\{ORDERS}", Message(b"1"), transaction="single")

        def trip() -> None:
            with self.a.transaction() as transaction:
                queue.receive(transaction=transaction, timeout=5)

        return self._take(trip, "Main", "alpha")

    def to_peer(self) -> Way:
        """ALPHA sends a transactional message: from the request to the order acknowledgment."""
        queue = self.a.open_queue(rf"{self._to_beta}\{ORDERS}", "send")

        def trip() -> None:
            queue.send(Message(b"1"), transaction="single")
            time.sleep(ACKNOWLEDGED_SECONDS)

        way = self._take(trip, "alpha")
        self._check_arrived(ORDERS)
        return way

    def spark_read(self) -> Way:
        """The data source plans and reads a queue, in the driver and in a task."""
        from openmsmq.spark.source import MsmqDataSource

        options = {"endpoint": self.a.address, "queue": rf".\{PLAIN}"}
        schema = MsmqDataSource(options).schema()

        def trip() -> None:
            reader = MsmqDataSource(options).reader(schema)
            batches = [batch for part in reader.partitions() for batch in reader.read(part)]
            if not sum(batch.num_rows for batch in batches):
                raise SystemExit("walk: Spark's reader found no message")

        return self._take(trip, "Main", "alpha")


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


def _block() -> re.Pattern[str]:
    return re.compile(f"{re.escape(BEGIN)}\n(.*?)\n?{re.escape(END)}", re.DOTALL)


def written_table() -> str:
    """The table as it stands in the page."""
    block = _block().search(PAGE.read_text(encoding="utf-8"))
    if block is None:
        raise SystemExit(f"walk: {PAGE} has no place marked {BEGIN}")
    return block[1]


def write_page(text: str) -> None:
    written_table()
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_block().sub(lambda _: f"{BEGIN}\n{text}\n{END}", page), encoding="utf-8")


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
