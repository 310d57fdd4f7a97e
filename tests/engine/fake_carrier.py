"""A transport in a hundred lines: the proof that a new one needs nothing of the binary protocol.

Two queue managers hand each other packets in lists. A message leaves when it is on disk, is
acknowledged when it is on disk at the other side, and stays in its outgoing queue until then.
"""

from __future__ import annotations

from itertools import count
from uuid import UUID

from tests.core.harness import START_UTC

from openmsmq.core.events import Event, OutgoingAvailable
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.message import Message
from openmsmq.core.model.queue import Queue
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.sites.initialization import MachineIdentity
from openmsmq.core.state import Settings
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import RunBuilder

BATCH = 100


class FakeCarrier:
    """Carries what is addressed to HTTP names, without HTTP."""

    carries = frozenset((Transport.HTTP,))

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.store = MemoryStore()
        self.peer: FakeCarrier
        self.counted: list[str] = []
        # Packets on their way to the peer, and the messages that it has not acknowledged.
        self.wire: list[bytes] = []
        self.sent: list[tuple[Queue, Message]] = []
        self._waiting: set[Queue] = set()
        self.now = 1000.0
        guids = count(number << 32)
        self.qm = QueueManager(
            self.store.recover(None),
            new=LocalQueueManager(
                QueueManagerObject(
                    UUID(int=number), computer_name=name, queue_manager_quota=UNLIMITED
                ),
                directory_integrated=False,
            ),
            guids=lambda: UUID(int=next(guids)),
            packets=self.store,
            settings=Settings(names=frozenset((name.lower(),)), send_insecure_nacks=True),
            now=self.now,
            utc=START_UTC,
        )
        self.qm.start(MachineIdentity(name))
        self.engine = Engine(self.qm, self.store)
        self.engine.add_carrier(self)
        self.engine.flush()

    # What the engine calls

    def core_event(self, event: Event, *, now: float) -> None:  # noqa: ARG002 - as carriers do
        if isinstance(event, OutgoingAvailable):
            self._waiting.add(event.queue)
            self._pump()

    def durable(self, *, now: float) -> None:  # noqa: ARG002 - as carriers do
        self._pump()

    def next_timer(self) -> float | None:
        return None

    def handle_timer(self, *, now: float) -> None:
        """It has no timers."""

    # Out

    def _pump(self) -> None:
        outgoing, durable = self.qm.outgoing, self.engine.gate.durable_number
        for queue in sorted(self._waiting, key=lambda queue: queue.number):
            read = outgoing.peek(queue, max_count=BATCH, max_bytes=1 << 20)
            if read is None:
                self._waiting.discard(queue)
                continue
            ready = [each for each in read.messages if each.stored <= durable]
            outgoing.lock_front(queue, len(ready), self)
            self.sent += [(queue, message) for message in ready]
            self.wire += read.packets[: len(ready)]

    def acknowledged(self, number: int) -> None:
        """The peer has the oldest messages on disk."""
        taken, self.sent = self.sent[:number], self.sent[number:]
        for queue, message in taken:
            self.qm.outgoing.finish(queue, [message], MessageClass.ACK_REACH_QUEUE)

    # In

    def arrive(self, packets: list[bytes]) -> None:
        """The peer hands over packets; it hears of them once they are on disk."""
        builder = RunBuilder()
        for packet in packets:
            builder.add(packet)
        origin = Origin(Transport.HTTP, self.peer.name, UUID(int=0))
        received = self.qm.incoming.receive(
            builder.runs, origin, acknowledgments=self, count=self.counted.append
        )
        self.engine.gate.when_durable(received.depends, self.peer.acknowledged, len(packets))

    def take(self, message: UserMessage, origin: Origin) -> bool:  # noqa: ARG002 - as carriers do
        """It has no acknowledgments of transactional messages."""
        return False

    def turn(self, *, flush: bool = True) -> bool:
        """One turn; whether anything was sent or stored."""
        self.now += 1.0
        self.engine.enter(now=self.now, utc=START_UTC + self.now)
        before = self.engine.gate.durable_number
        self.engine.work()
        if flush:
            self.engine.flush()
            self.engine.work()
        packets, self.wire = self.wire, []
        if packets:
            self.peer.arrive(packets)
        return bool(packets) or self.engine.gate.durable_number > before


def pair() -> tuple[FakeCarrier, FakeCarrier]:
    """Two queue managers that carry messages to each other."""
    a, b = FakeCarrier("A", 0xA), FakeCarrier("B", 0xB)
    a.peer, b.peer = b, a
    return a, b


def run(*nodes: FakeCarrier) -> None:
    """Let turns follow each other until nothing happens any more."""
    happened = True
    while happened:
        happened = False
        for node in nodes:
            happened |= node.turn()
