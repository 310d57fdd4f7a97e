"""Transfers of outgoing queues to their hosts: the common part of HTTP and multicast."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from openmsmq.core.transfer.outgoing.states import OutgoingInput

from .transfer_states import TransferAction, TransferInput, TransferState, step

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.outgoing.stream import OutgoingStream
    from openmsmq.core.transfer.outgoing.streams import OutgoingStreams

    from .timer_heap import TimerHeap


class QueueTransfer(Hashable, Protocol):
    """The progress of the messages of one outgoing queue."""

    state: TransferState
    # The time of the Retransmission Timer.
    retry_at: float | None

    @property
    def stream(self) -> OutgoingStream:
        """The messages."""

    @property
    def timer(self) -> float | None:
        """The time of its next timer."""


T = TypeVar("T", bound=QueueTransfer)


class Way(Protocol[T]):
    """The part of a transfer that differs by protocol."""

    def new_transfer(self, stream: OutgoingStream) -> T:
        """The transfer of an outgoing queue, at rest."""

    def connect(self, transfer: T, now: float) -> None:
        """Request a connection to the host; `OPENED` or `FAILED` follows."""

    def opened(self, transfer: T, now: float) -> None:
        """The host is connected."""

    def send(self, transfer: T) -> None:
        """Send messages that may leave now."""

    def close(self, transfer: T, now: float) -> None:
        """Close the connection to the host, if there is one."""


class Transfers(Generic[T]):
    """The outgoing queues of one queue manager that one protocol sends from.

    Args:
        streams: the messages of these queues.
        timers: has the timer of each transfer.
        retry_seconds: the Retransmission Timer.

    Attributes:
        by_queue: the transfers by the numbers of their queues.
        offline: whether nothing may be sent.
    """

    __slots__ = ("_manager", "_retry_seconds", "_streams", "_timers", "_way", "by_queue", "offline")

    def __init__(
        self,
        manager: QueueManager,
        streams: OutgoingStreams,
        way: Way[T],
        timers: TimerHeap,
        *,
        retry_seconds: float,
    ) -> None:
        self._manager = manager
        self._streams = streams
        self._way = way
        self._timers = timers
        self._retry_seconds = retry_seconds
        self.by_queue: dict[int, T] = {}
        self.offline = False

    def find(self, queue: Queue) -> T | None:
        """The transfer of an outgoing queue; None if another protocol sends its messages."""
        transfer = self.by_queue.get(queue.number)
        if transfer is None:
            stream = self._streams.find(queue)
            if stream is not None:
                transfer = self.by_queue[queue.number] = self._way.new_transfer(stream)
        return transfer

    def available(self, queue: Queue, *, now: float) -> None:
        """Message Position Available ([MC-MQSRM] 3.1.7.7), or the queue may send again."""
        transfer = self.find(queue)
        if transfer is None:
            return
        if transfer.stream.outgoing.may_transmit and not self.offline:
            self.handle(transfer, TransferInput.RELEASE, now)
            if transfer.stream.has_work:
                self.handle(transfer, TransferInput.WORK, now)
        else:
            self.handle(transfer, TransferInput.HOLD, now)

    def forget(self, queue: Queue, *, now: float) -> T | None:
        """An outgoing queue was deleted; return its former transfer."""
        transfer = self.by_queue.pop(queue.number, None)
        if transfer is not None:
            self._way.close(transfer, now)
            self._timers.set(transfer, None)
        self._streams.forget(queue)
        return transfer

    def retry_if_due(self, transfer: T, now: float) -> None:
        """A timer of a transfer is over: try again if it is the Retransmission Timer."""
        if transfer.retry_at is None or transfer.retry_at > now:
            return
        transfer.retry_at = None
        if transfer.stream.has_work:
            self.handle(transfer, TransferInput.DUE, now)
        else:
            self.handle(transfer, TransferInput.REST, now)
            self._manager.outgoing.change(transfer.stream.queue, OutgoingInput.RESTED)

    def watch(self, transfer: T) -> None:
        """Set the timer of a transfer to its next time."""
        self._timers.set(transfer, transfer.timer)

    def handle(self, transfer: T, what: TransferInput, now: float) -> None:
        """Process an input of a transfer: take the step of the table."""
        before = transfer.state
        action, transfer.state = step(before, what)
        if action is TransferAction.CONNECT:
            self._manager.outgoing.change(transfer.stream.queue, OutgoingInput.CONNECTING)
            self._way.connect(transfer, now)
        elif action is TransferAction.SEND:
            if what is TransferInput.OPENED:
                self._way.opened(transfer, now)
            self._way.send(transfer)
        elif action is TransferAction.RETRY_LATER:
            self._put_back(transfer, now)
            transfer.retry_at = now + self._retry_seconds
        elif action is TransferAction.PUT_BACK:
            self._put_back(transfer, now)
            if before is not TransferState.WAITING:
                # A failure stays visible; the connection to the host is closed.
                self._manager.outgoing.change(transfer.stream.queue, OutgoingInput.RESTED)
        elif action is TransferAction.HANG_UP:
            self._way.close(transfer, now)
            self._manager.outgoing.change(transfer.stream.queue, OutgoingInput.CLOSED)
        self.watch(transfer)

    def _put_back(self, transfer: T, now: float) -> None:
        """Messages in transit are sent again later; the connection to the host is closed."""
        transfer.retry_at = None
        self._way.close(transfer, now)
        # [MC-MQSRM] 3.1.2.1: not those answered 200, which wait for their stream receipts.
        transfer.stream.release(transfer.stream.unanswered)
