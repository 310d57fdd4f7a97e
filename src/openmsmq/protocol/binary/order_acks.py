"""When an OrderAck is sent: soon, for several messages at once ([MS-MQQB] 3.1.1.6.2)."""

from collections import deque

from openmsmq.core.transfer_info import IncomingTransactionalTransferInfo
from openmsmq.wire.order_ack import OrderAck
from openmsmq.wire.queue_address import QueueAddress
from openmsmq.wire.scalars import TxSequenceID

from .settings import BinarySettings


class OrderAckTimer:
    """The Order Ack Send Timer of one stream of transactional messages in one session."""

    __slots__ = ("_pending", "deadline", "destination", "last_sent")

    def __init__(self, destination: QueueAddress, now: float) -> None:
        # The order queue of the sender.
        self.destination = destination
        self.deadline: float | None = None
        # LastOrderAckSendTime.
        self.last_sent = now
        # (batch, sequence, number) that wait for the disk or for the timer.
        self._pending: deque[tuple[int, int, int]] = deque()

    def got(self, depends: int, stream: IncomingTransactionalTransferInfo) -> None:
        """The stream is as far as batch `depends` stores it."""
        entry = depends, stream.sequence_identifier, stream.sequence_number
        if self._pending and self._pending[-1][0] == depends:
            self._pending[-1] = entry
        else:
            self._pending.append(entry)

    def take(self, durable: int) -> OrderAck | None:
        """What may be acknowledged anew now that batches up to `durable` are on disk."""
        sequence = number = 0
        while self._pending and self._pending[0][0] <= durable:
            _, sequence, number = self._pending.popleft()
        return OrderAck(TxSequenceID.from_value(sequence), number) if number else None

    @property
    def waits(self) -> bool:
        """Whether something is not on disk yet."""
        return bool(self._pending)


class OrderAckSchedule:
    """The timers of all streams that come in through one session."""

    __slots__ = ("_settings", "_timers")

    def __init__(self, settings: BinarySettings) -> None:
        self._settings = settings
        self._timers: dict[bytes, OrderAckTimer] = {}

    def received(
        self,
        stream: IncomingTransactionalTransferInfo,
        destination: QueueAddress,
        *,
        depends: int,
        now: float,
    ) -> None:
        """Messages of a stream came, accepted or not; acknowledge them in a while."""
        key = stream.key
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = OrderAckTimer(destination, now)
        timer.got(depends, stream)
        running = timer.deadline is not None
        if not running or now - timer.last_sent < self._settings.maximum_order_ack_delay:
            timer.deadline = now + self._settings.order_ack_seconds

    def next_timer(self) -> float | None:
        return min(
            (timer.deadline for timer in self._timers.values() if timer.deadline is not None),
            default=None,
        )

    def take_due(self, durable: int, *, now: float) -> list[tuple[OrderAck, QueueAddress]]:
        """The acknowledgments to send now, and where to.

        One whose messages are not on disk yet is looked at again after the same time.
        """
        due = []
        for timer in self._timers.values():
            if timer.deadline is None or timer.deadline > now:
                continue
            ack = timer.take(durable)
            timer.deadline = now + self._settings.order_ack_seconds if timer.waits else None
            if ack is not None:
                timer.last_sent = now
                due.append((ack, timer.destination))
        return due
