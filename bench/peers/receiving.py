"""The receiving half alone: a stream of express packets that was built before."""

import contextlib
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Final
from uuid import UUID

import openmsmq
from openmsmq.protocol.binary.session import BinarySession
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.packets.session_header import SessionAck

from .board import BODY
from .brokers import HOST, Broker, Floor
from .node import BINARY_PORT, Node

# What fits in memory beside the queue manager's own limit.
TOGETHER: Final = 25_000
QUEUE: Final = "received"
PATIENCE_SECONDS: Final = 60.0
# As a queue manager sends them: four days to reach the queue.
LIFE_SECONDS: Final = 345_600
_GUID: Final = UUID("6a6f2b0e-5d3c-4f0e-9a55-0b1f6f0f3a11")
_MESSAGE_ID: Final = Struct("<I")
_MESSAGE_ID_AT: Final = 56
_COUNTER_MASK: Final = 0xFFFF
_READ_SIZE: Final = 256 * 1024
# Acknowledgments of less than half a window come by timer.
_WINDOW: Final = 64
_REPEATED: Final = 8


@dataclass(frozen=True, slots=True)
class Receiving:
    """Microseconds of processor time for each message."""

    queue_manager: float
    splitter: float


class Splitter(Floor):
    """The bare receiver."""

    name = "splitter"

    def command(self) -> list[str]:
        return [sys.executable, "-m", "bench.peers.splitter", self.address]


def measure_receiving(
    folder: Path,
    sender: str,
    receiver: str,
    *,
    rounds: int,
    compiled: bool,
    count: int = TOGETHER,
) -> Receiving:
    """The same stream through the bare receiver, and through a queue manager into a queue."""
    with Splitter(folder) as broker:
        floor = _through_splitter(broker, next(streams(receiver, count)), rounds * _REPEATED)
    with (
        Node(folder, receiver, compiled=compiled) as node,
        contextlib.closing(Sender(sender, receiver)) as session,
    ):
        ours = _through_queue_manager(node, session, streams(receiver, count), count, rounds)
    return Receiving(ours / count * 1e6, floor / count * 1e6)


def streams(receiver: str, count: int) -> Iterator[bytes]:
    """Express packets to the queue, each with another message identifier."""
    packet = build_user_message(
        body=BODY,
        destination_queue=direct_address(rf"TCP:{receiver}\private$\{QUEUE}"),
        source_queue_manager=_GUID,
        sent_time=int(time.time()),
        time_to_reach_queue=LIFE_SECONDS,
    )
    head, tail = packet[:_MESSAGE_ID_AT], packet[_MESSAGE_ID_AT + _MESSAGE_ID.size :]
    number = 0
    while True:
        parts = []
        for each in range(number + 1, number + count + 1):
            parts += [head, _MESSAGE_ID.pack(each), tail]
        yield b"".join(parts)
        number += count


def _through_splitter(broker: Broker, stream: bytes, rounds: int) -> float:
    with socket.create_connection((HOST, broker.port)) as connection:
        connection.sendall(stream)
        _wait_until_idle(broker)
        before = broker.cpu_seconds()
        for _ in range(rounds):
            connection.sendall(stream)
        _wait_until_idle(broker)
        return (broker.cpu_seconds() - before) / rounds


def _wait_until_idle(broker: Broker) -> None:
    last = -1.0
    while (spent := broker.cpu_seconds()) != last:
        last = spent
        time.sleep(0.2)


def _through_queue_manager(
    node: Broker, session: "Sender", parts: Iterator[bytes], count: int, rounds: int
) -> float:
    spent = 0.0
    with openmsmq.connect(Path(node.address)) as manager:
        manager.create_queue(rf".\private$\{QUEUE}")
        queue = manager.open_queue(rf".\private$\{QUEUE}", access="receive")
        # The first round is for warming up.
        for number, stream in zip(range(rounds + 1), parts, strict=False):
            before = node.cpu_seconds()
            session.send(stream, count)
            if number:
                spent += node.cpu_seconds() - before
            arrived = queue.purge()
            if arrived != count:
                raise RuntimeError(f"{count} messages were sent, {arrived} are in the queue")
    return spent / rounds


class Sender:
    """A session with the queue manager, over a plain socket."""

    def __init__(self, sender: str, receiver: str) -> None:
        self._socket = socket.create_connection(
            (receiver, BINARY_PORT), PATIENCE_SECONDS, source_address=(sender, 0)
        )
        self._framer = Framer()
        self._sent = 0
        self._acked = 0
        session = BinarySession(BinarySettings(), _GUID, initiator=True, now=0.0)
        while not session.open:
            self._socket.sendall(b"".join(session.data_to_send()))
            session.receive_data(self._read(), now=0.0)
        self._socket.setblocking(False)

    def _read(self) -> bytes:
        data = self._socket.recv(_READ_SIZE)
        if not data:
            raise ConnectionError("the queue manager hung up")
        return data

    def close(self) -> None:
        self._socket.close()

    def send(self, stream: bytes, count: int) -> None:
        """Send all and return when it is acknowledged, but for what the timer is left with."""
        self._sent += count
        rest = memoryview(stream)
        end = time.monotonic() + PATIENCE_SECONDS
        while rest or self._acked <= self._sent - _WINDOW:
            if time.monotonic() > end:
                raise RuntimeError(f"{self._sent - self._acked} messages are not acknowledged")
            time.sleep(0.0005)
            with contextlib.suppress(BlockingIOError):
                while rest:
                    rest = rest[self._socket.send(rest) :]
            with contextlib.suppress(BlockingIOError):
                self._count(self._read())

    def _count(self, data: bytes) -> None:
        for packet, _ in self._framer.feed(data):
            number = SessionAck.parse(packet)[0].session_header.ack_sequence_number
            self._acked += (number - self._acked) & _COUNTER_MASK
