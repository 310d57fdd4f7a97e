"""Receiving messages over HTTP: durable POSTs with bodies of 1 KiB, beside a bare receiver.

Reproduce with `python -m bench srmp`; add `--json` for one object per line.

The requests are built beforehand and arrive in chunks of 64 KiB, as sixteen and more requests on
one connection do. The floor cuts them with httptools, keeps their bodies and writes an answer for
each; it reads no envelope and stores nothing. Every round runs all of them in turn, with new
message ids; the figures are medians of processor time over the rounds.
"""

import statistics
from collections.abc import Callable
from time import process_time
from typing import Final

from httptools import HttpRequestParser

from bench.report import Result
from openmsmq.protocol.http import HttpSettings
from openmsmq.protocol.http.server import HttpServer

MESSAGES: Final = 1024
ROUNDS: Final = 9
CHUNK_SIZE: Final = 65536
BODY: Final = b"x" * 1024
HTTP_LIMIT: Final = 4.0
GUID: Final = "caf195ea-615c-4264-ae08-11a4e60194c0"
URL: Final = "http://127.0.0.1/msmq/private$/orders"
ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

_ENVELOPE: Final = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" '
    'xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
    "<action>MSMQ:order</action><to>{url}</to><id>uuid:{number}@{guid}</id></path>"
    '<properties se:mustUnderstand="1"><expiresAt>20380119T031407</expiresAt>'
    "<sentAt>20260101T000000</sentAt></properties><services><durable/></services>"
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


def measure(receive: Callable[[list[bytes]], int], data: list[bytes]) -> float:
    """Seconds of processor time for each message."""
    start = process_time()
    count = receive(data)
    seconds = process_time() - start
    if count != MESSAGES:
        raise RuntimeError(f"{count} of {MESSAGES} messages were received")
    return seconds / MESSAGES


def run() -> list[Result]:
    floors, https = [], []
    for number in range(ROUNDS):
        data = chunks(number * MESSAGES + 1)
        floors.append(measure(Floor().receive, data))
        https.append(measure(http_alone, data))
    floor, http = statistics.median(floors), statistics.median(https)
    return [
        Result("httptools alone (floor)", 1 / floor),
        Result("HTTP without SRMP", 1 / http, http / floor, HTTP_LIMIT),
    ]
