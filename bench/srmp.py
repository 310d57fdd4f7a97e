"""Receiving messages over HTTP: durable POSTs with bodies of 1 KiB, beside a bare receiver.

Reproduce with `python -m bench srmp`; add `--json` for one object per line.

The requests are built beforehand and arrive in chunks of 64 KiB, as sixteen and more requests on
one connection do. The floor cuts them with httptools, keeps their bodies and writes an answer for
each; it reads no envelope and stores nothing. The receiver is everything but the sockets: HTTP,
SRMP, the queue, and a store on disk that is flushed after each chunk, before its answers leave.
Every round runs all of them in turn, with new message ids; the figures are medians of processor
time over the rounds.
"""

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Final
from uuid import UUID

from httptools import HttpRequestParser

from bench.report import Result
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.protocol.http import HttpSettings, HttpTransport
from openmsmq.protocol.http.server import HttpServer
from openmsmq.protocol.srmp.manager import SrmpProtocol
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.store.file_store import FileStore

MESSAGES: Final = 1024
ROUNDS: Final = 9
CHUNK_SIZE: Final = 65536
BODY: Final = b"x" * 1024
# How many times the floor's time may be taken.
HTTP_LIMIT: Final = 4.0
RECEIVER_LIMIT: Final = 12.0
UTC: Final = 1_800_000_000.0
GUID: Final = "caf195ea-615c-4264-ae08-11a4e60194c0"
URL: Final = "http://127.0.0.1/msmq/private$/orders"
ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

_ENVELOPE: Final = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" '
    'xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
    "<action>MSMQ:order</action><to>{url}</to><id>uuid:{number}@{guid}</id></path>"
    '<properties se:mustUnderstand="1"><expiresAt>20380119T031407</expiresAt>'
    "<sentAt>20260101T000000</sentAt></properties>"
    '<services se:mustUnderstand="1"><durable/></services>'
    '<Msmq xmlns="msmq.namespace.xml"><Class>0</Class><Priority>3</Priority>'
    "<Correlation>AAAAAAAAAAAAAAAAAAAAAAAAAAA=</Correlation><App>0</App><BodyType>0</BodyType>"
    "<HashAlgorithm>32772</HashAlgorithm><SourceQmGuid>{guid}</SourceQmGuid>"
    "<TTrq>20380119T031407</TTrq></Msmq></se:Header><se:Body></se:Body></se:Envelope>"
)


def request(number: int) -> bytes:
    """A POST of a durable message, in the form of Windows."""
    envelope = _ENVELOPE.format(url=URL, number=number, guid=GUID).encode()
    delimiter = f"--MSMQ - SOAP boundary, {number}"
    content = (
        f"{delimiter}\r\nContent-Type: text/xml; charset=UTF-8\r\n"
        f"Content-Length: {len(envelope)}\r\n\r\n".encode()
        + envelope
        + f"{delimiter}\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {len(BODY)}\r\nContent-Id: body@{GUID}\r\n\r\n".encode()
        + BODY
        + f"{delimiter}--\r\n".encode()
    )
    head = (
        f"POST /msmq/private$/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f'Content-Type: multipart/related; boundary="{delimiter[2:]}"; type=text/xml\r\n'
        f'Content-Length: {len(content)}\r\nSOAPAction: "MSMQMessage"\r\n'
        "Proxy-Accept: NonInteractiveClient\r\n\r\n"
    )
    return head.encode() + content


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
        self._queue = manager.create_queue(r".\private$\orders", caller=SYSTEM_CALLER).value
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


def measure(receive: Callable[[list[bytes]], int], data: list[bytes]) -> float:
    """Seconds of processor time for each message."""
    start = process_time()
    count = receive(data)
    seconds = process_time() - start
    if count != MESSAGES:
        raise RuntimeError(f"{count} of {MESSAGES} messages were received")
    return seconds / MESSAGES


def run() -> list[Result]:
    seconds: dict[str, list[float]] = {"floor": [], "http": [], "receiver": []}
    with tempfile.TemporaryDirectory() as folder:
        receiver = Receiver(Path(folder) / "store")
        for number in range(ROUNDS):
            data = chunks(number * MESSAGES + 1)
            seconds["floor"].append(measure(Floor().receive, data))
            seconds["http"].append(measure(http_alone, data))
            seconds["receiver"].append(measure(receiver.receive, data))
    floor, http, whole = (statistics.median(each) for each in seconds.values())
    return [
        Result("httptools alone (floor)", 1 / floor),
        Result("HTTP without SRMP", 1 / http, http / floor, HTTP_LIMIT),
        Result("receiver, durable messages", 1 / whole, whole / floor, RECEIVER_LIMIT),
    ]
