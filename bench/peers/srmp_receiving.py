"""The receiving half of SRMP alone: `python -m bench.peers.srmp_receiving FOLDER ROUNDS`.

Prints the microseconds of processor time for each message, by name, as JSON.
"""

import gc
import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Final
from uuid import UUID

from httptools import HttpRequestParser

from openmsmq.cli.manager.serve import GARBAGE_THRESHOLDS
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.protocol.http import HttpSettings, HttpTransport
from openmsmq.protocol.http.server import HttpServer
from openmsmq.protocol.srmp.manager import SrmpProtocol
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.store.file_store import FileStore

from .srmp_requests import request

MESSAGES: Final = 1024
CHUNK_SIZE: Final = 256_000
ORDERS: Final = r".\private$\orders"
UTC: Final = 1_800_000_000.0
ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def chunks(first: int) -> list[bytes]:
    """Requests whose message ids begin at a number, as reads bring them."""
    data = b"".join([request(first + number) for number in range(MESSAGES)])
    return [data[at : at + CHUNK_SIZE] for at in range(0, len(data), CHUNK_SIZE)]


class Floor:
    """Cuts requests, keeps their bodies, and writes answers."""

    def __init__(self) -> None:
        self._parser = HttpRequestParser(self)
        self._body: list[bytes] = []
        self.bodies: list[bytes] = []
        self.answers: list[bytes] = []

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self.bodies.append(b"".join(self._body))
        self._body = []
        self.answers.append(ANSWER)

    def receive(self, data: list[bytes]) -> int:
        for chunk in data:
            self._parser.feed_data(chunk)
            b"".join(self.answers)
            self.answers = []
        return len(self.bodies)


def http_alone(data: list[bytes]) -> int:
    """What protocol/http does of the same."""
    server = HttpServer(HttpSettings(max_unanswered=MESSAGES))
    number = server.accept("127.0.0.1", secure=False, now=0.0)
    assert number is not None
    count = 0
    for chunk in data:
        server.receive_data(number, chunk, now=0.0)
        for each in server.take_requests():
            count += 1
            server.answer(each, 200)
        server.take_ready()
        b"".join(server.data_to_send(number, now=0.0))
    return count


class Receiver:
    """A queue manager without sockets, whose store is in a folder."""

    def __init__(self, folder: Path) -> None:
        store = FileStore(folder, new_store_id=bytes(16))
        published = QueueManagerObject(
            identifier=UUID(int=1), computer_name="BENCH", queue_manager_quota=UNLIMITED
        )
        manager = QueueManager(
            store.recover(None),
            new=LocalQueueManager(published, directory_integrated=False),
            guids=lambda: UUID(int=2),
            packets=store,
            settings=Settings(names=frozenset(("127.0.0.1",))),
            now=0.0,
            utc=UTC,
        )
        manager.start(MachineIdentity("BENCH"))
        self._http = HttpTransport(HttpSettings(max_unanswered=MESSAGES))
        self._engine = Engine(manager, store)
        self._srmp = SrmpProtocol(manager, self._engine.gate, self._http)
        self._engine.add_carrier(self._srmp)
        manager.create_queue(ORDERS, caller=SYSTEM_CALLER)
        self._traffic = manager.traffic
        self._queue = manager.open_queue(ORDERS, QueueAccessType.RECEIVE, caller=SYSTEM_CALLER)
        self._engine.flush()
        self._srmp.start(now=0.0)
        number = self._http.server.accept("127.0.0.1", secure=False, now=0.0)
        assert number is not None
        self._number = number

    def receive(self, data: list[bytes]) -> int:
        """Take requests; returns how many were answered 200."""
        before = self._http.server.counters.answers[200]
        for chunk in data:
            self._engine.enter(now=0.0, utc=UTC)
            self._http.receive_data(self._number, chunk, now=0.0)
            self._srmp.turn(now=0.0)
            self._engine.work()
            self._engine.flush()
            self._http.take_ready()
            b"".join(self._http.data_to_send(self._number, now=0.0))
        return self._http.server.counters.answers[200] - before

    def empty_queue(self) -> None:
        """Give back the memory of what was received, as the floor does."""
        self._traffic.purge(self._queue, limit=MESSAGES)
        self._engine.work()
        self._engine.flush()


def measure(receive: Callable[[list[bytes]], int], data: list[bytes]) -> float:
    """Seconds of processor time for each message."""
    start = process_time()
    count = receive(data)
    seconds = process_time() - start
    if count != MESSAGES:
        raise RuntimeError(f"{count} of {MESSAGES} messages were received")
    return seconds / MESSAGES


def main(folder: Path, rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {"floor": [], "http": [], "receiver": []}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        receiver = Receiver(Path(name) / "store")
        for number in range(rounds):
            data = chunks(number * MESSAGES + 1)
            seconds["floor"].append(measure(Floor().receive, data))
            seconds["http"].append(measure(http_alone, data))
            seconds["receiver"].append(measure(receiver.receive, data))
            receiver.empty_queue()
    return {name: statistics.median(times) * 1e6 for name, times in seconds.items()}


if __name__ == "__main__":
    # As `serve` has it.
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
