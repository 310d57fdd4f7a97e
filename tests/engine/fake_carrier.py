"""A transport in a hundred lines: the proof that a new one needs nothing of the binary protocol.

Two queue managers hand each other packets in lists. A message leaves when it is on disk, is
acknowledged when it is on disk at the other side, and stays in its outgoing queue until then.
Transactional messages wait for a receipt of their stream, too, and are sent again without one.
"""

from __future__ import annotations

from itertools import count
from uuid import UUID

from tests.core.harness import START_UTC

from openmsmq.core.events import Event, OutgoingAvailable
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.model.queue import Queue
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.core.transfer.checks.checks import CheckJob, Verifier
from openmsmq.core.transfer.incoming.received import Received
from openmsmq.core.transfer.incoming.stream_order import StreamPosition, position_in_session
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun

BATCH = 100
RESEND_TABLE = 10.0, 20.0


def _position(message: UserMessage) -> StreamPosition:
    """As in a session; the first message of a stream says where receipts go."""
    position = position_in_session(message)
    position.starts = position.previous == 0
    position.receipts_to = f"receipts of {message.source_queue_manager}" * position.starts
    return position


class FakeCarrier:
    """Carries what is addressed to HTTP names, without HTTP."""

    carries = frozenset((Transport.HTTP,))

    def __init__(self, name: str, number: int, verifier: Verifier | None = None) -> None:
        self.name = name
        self.guid = UUID(int=number)
        self.store = MemoryStore()
        self.peer: FakeCarrier
        self.faults: list[str] = []
        # Packets on their way to the peer, and the tokens of those that it has not acknowledged.
        self.wire: list[bytes] = []
        self.sent: list[object] = []
        self._waiting: set[Queue] = set()
        self.now = 1000.0
        guids = count(number << 32)
        self.qm = QueueManager(
            self.store.recover(None),
            new=LocalQueueManager(
                QueueManagerObject(self.guid, computer_name=name, queue_manager_quota=UNLIMITED),
                directory_integrated=False,
            ),
            guids=lambda: UUID(int=next(guids)),
            packets=self.store,
            settings=Settings(names=frozenset((name.lower(),)), send_insecure_nacks=True),
            verifier=verifier,
            now=self.now,
            utc=START_UTC,
        )
        self.qm.start(MachineIdentity(name))
        self.streams = self.qm.outgoing.open_streams(self.carries, RESEND_TABLE)
        self.engine = Engine(self.qm, self.store)
        self.engine.add_carrier(self)
        self.engine.flush()
        self.inlet = self.qm.incoming.open_inlet(self, acknowledgments=self)

    # What the engine calls

    def core_event(self, event: Event, *, now: float) -> None:  # noqa: ARG002 - as carriers do
        if isinstance(event, OutgoingAvailable):
            self._waiting.add(event.queue)
            self._pump()

    @property
    def waits_for_disk(self) -> bool:
        return bool(self._waiting)

    def durable(self, *, now: float) -> None:  # noqa: ARG002 - as carriers do
        self._pump()

    def next_timer(self) -> float | None:
        times = [stream.resend_at for stream in self.streams.streams.values()]
        return min((time for time in times if time is not None), default=None)

    def handle_timer(self, *, now: float) -> None:
        for stream in self.streams.streams.values():
            if stream.resend_at is not None and stream.resend_at <= now:
                stream.resend_due()
                self._waiting.add(stream.queue)
        self._pump()

    # Out

    def _pump(self) -> None:
        for queue in sorted(self._waiting, key=lambda queue: queue.number):
            self.qm.outgoing.set_destination(queue, self.peer.guid)
            stream = self.streams.find(queue)
            assert stream is not None
            departure = stream.take(BATCH, 1 << 20)
            self.sent += departure.tokens
            self.wire += departure.packets
            if not departure.packets and not departure.depends:
                self._waiting.discard(queue)

    def acknowledged(self, number: int) -> None:
        """The peer has the oldest messages on disk."""
        taken, self.sent = self.sent[:number], self.sent[number:]
        self.streams.arrived(taken)
        self.streams.delivered(taken)

    def receipt(self, sequence_and_number: tuple[int, int]) -> None:
        """The peer has a stream up to a number on disk."""
        assert self.streams.acknowledged(*sequence_and_number, self.peer.guid)

    def jobs(self) -> list[CheckJob]:
        """The checks that are to be made; hand each back with `engine.job_done`."""
        return list(iter(self.engine.take_job, None))

    # In

    def arrive(self, packets: list[bytes]) -> None:
        """The peer hands over packets; it hears of them once they are on disk."""
        origin = Origin(Transport.HTTP, self.peer.name, self.peer.guid)
        runs = [UserMessageRun(UserMessage(packet)) for packet in packets]
        positions = [_position(run.head) if run.head.transactional else None for run in runs]
        received = self.inlet.receive(runs, origin, len(packets), positions)
        if received is not None:
            self.received(len(packets), received, now=self.now)

    def received(self, read: object, received: Received, *, now: float) -> None:  # noqa: ARG002
        """What became of packets is known; what was left out comes again."""
        if not received.complete:
            self.faults.append(received.fault)
            return
        gate = self.engine.gate
        gate.when_durable(received.depends, self.peer.acknowledged, read)
        for stream, _, _, sequence, number in received.progress:
            assert stream.transport is Transport.HTTP
            assert stream.receipts_to == f"receipts of {self.peer.guid}"
            reached = int.from_bytes(sequence), number
            gate.when_durable(received.progress_depends, self.peer.receipt, reached)

    def take(self, message: UserMessage) -> bool:  # noqa: ARG002 - as carriers do
        """Its receipts are no messages."""
        return False

    def turn(self, *, flush: bool = True, lose: bool = False) -> bool:
        """One turn; whether anything was sent or stored."""
        self.now += 1.0
        self.engine.handle_timer(now=self.now, utc=START_UTC + self.now)
        before = self.engine.gate.durable_number
        self.engine.work()
        if flush:
            self.engine.flush()
            self.engine.work()
        packets, self.wire = self.wire, []
        if lose:
            self.sent = self.sent[: len(self.sent) - len(packets)]
        elif packets:
            self.peer.arrive(packets)
        return bool(packets) or self.engine.gate.durable_number > before


def pair(verifier: Verifier | None = None) -> tuple[FakeCarrier, FakeCarrier]:
    """Two queue managers that carry messages to each other; the second may check them."""
    a, b = FakeCarrier("A", 0xA), FakeCarrier("B", 0xB, verifier)
    a.peer, b.peer = b, a
    return a, b


def run(*nodes: FakeCarrier) -> None:
    """Let turns follow each other until nothing happens any more."""
    happened = True
    while happened:
        happened = False
        for node in nodes:
            happened |= node.turn()
