"""The timing of OrderAcks: soon, one for several messages ([MS-MQQB] 3.1.1.6.2)."""

from collections import OrderedDict
from uuid import UUID

from openmsmq.core.transfer.incoming.received import StreamProgress
from openmsmq.protocol.carrier import Gate
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.packets.order_ack import OrderAck
from openmsmq.wire.scalars import TxSequenceID

from .settings import BinarySettings


class Reached:
    """The progress of a stream once batch `depends` is on disk."""

    __slots__ = ("depends", "number", "sequence")

    def __init__(self, depends: int, sequence: bytes, number: int) -> None:
        self.depends = depends
        self.sequence = sequence
        self.number = number


class OrderAckTimer:
    """The running Order Ack Send Timer of one stream of transactional messages in one session."""

    __slots__ = ("_held", "_reached", "deadline", "destination", "last_sent", "speaker")

    def __init__(self, destination: QueueAddress, speaker: UUID, last_sent: float) -> None:
        # The order queue of the sender, and the queue manager that acknowledges.
        self.destination = destination
        self.speaker = speaker
        self.deadline = 0.0
        # LastOrderAckSendTime.
        self.last_sent = last_sent
        # The progress on disk that is not acknowledged yet.
        self._reached: Reached | None = None
        # The last progress that is not on disk yet.
        self._held: Reached | None = None

    def hold(self, gate: Gate, depends: int, progress: StreamProgress) -> None:
        """Acknowledge the progress of the stream once batch `depends` is on disk."""
        pending = self._held
        if pending is not None and pending.depends == depends:
            pending.sequence = progress.sequence
            pending.number = progress.number
        else:
            self._held = Reached(depends, progress.sequence, progress.number)
            gate.when_durable(depends, self._release, self._held)

    def _release(self, reached: Reached) -> None:
        self._reached = reached
        if self._held is reached:
            self._held = None

    def take(self) -> OrderAck | None:
        """The progress that may be acknowledged."""
        reached, self._reached = self._reached, None
        if reached is None or not reached.number:
            return None
        return OrderAck(TxSequenceID.from_value(int.from_bytes(reached.sequence)), reached.number)

    @property
    def waits(self) -> bool:
        """Whether some progress is not on disk yet."""
        return self._held is not None


class OrderAckSchedule:
    """The timers of all streams received on one session, which began at `now`."""

    __slots__ = ("_began", "_gate", "_sent", "_settings", "running")

    def __init__(self, settings: BinarySettings, gate: Gate, now: float) -> None:
        self._settings = settings
        self._gate = gate
        self._began = now
        # All timers run equally long, so that the one started first ends first.
        self.running: OrderedDict[bytes, OrderAckTimer] = OrderedDict()
        # LastOrderAckSendTime of streams without a timer, the latest at the end. Times so old that
        # they make no difference are left out.
        self._sent: OrderedDict[bytes, float] = OrderedDict()

    def received(self, progress: StreamProgress, *, depends: int, now: float) -> None:
        """Messages of a stream arrived, accepted or not; acknowledge them after a delay."""
        key = progress.stream.key
        timer = self.running.get(key)
        if timer is None:
            last_sent = self._sent.pop(key, self._began)
            timer = OrderAckTimer(progress.order_queue, progress.speaker, last_sent)
            self._start(key, timer, now)
        elif now - timer.last_sent < self._settings.maximum_order_ack_delay:
            self._start(key, timer, now)
        timer.hold(self._gate, depends, progress)

    def _start(self, key: bytes, timer: OrderAckTimer, now: float) -> None:
        timer.deadline = now + self._settings.order_ack_seconds
        self.running[key] = timer
        self.running.move_to_end(key)

    def next_timer(self) -> float | None:
        for timer in self.running.values():
            return timer.deadline
        return None

    def take_due(self, limit: int, *, now: float) -> list[tuple[OrderAck, OrderAckTimer]]:
        """The acknowledgments to send now, up to a limit, with the timers that have the addresses.

        A timer whose messages are not on disk yet runs again for the same time.
        """
        due: list[tuple[OrderAck, OrderAckTimer]] = []
        while len(due) < limit:
            deadline = self.next_timer()
            if deadline is None or deadline > now:
                break
            key, timer = self.running.popitem(last=False)
            ack = timer.take()
            if ack is not None:
                timer.last_sent = now
                due.append((ack, timer))
            if timer.waits:
                self._start(key, timer, now)
            else:
                self._sent[key] = timer.last_sent
        self._forget(now - self._settings.maximum_order_ack_delay)
        return due

    def _forget(self, limit: float) -> None:
        """Drop the records of streams that were acknowledged long ago."""
        while self._sent and next(iter(self._sent.values())) <= limit:
            self._sent.popitem(last=False)
