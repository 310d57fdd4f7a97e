"""SrmpProtocol: messages over HTTP and HTTPS of one queue manager, without sockets.

How to use it
    Set the time with `manager.set_time` first. Pass bytes to the `HttpTransport`, then call
    `turn` with the same `now`: it takes the received requests and responses, and posts messages
    that may leave. Leave the rest to the engine: it calls `core_event`, `durable`, `next_timer` and
    `handle_timer` (see `openmsmq.protocol.carrier`). Afterwards send the output of the
    `HttpTransport`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from openmsmq.core.events import (
    ConnectionActiveChanged,
    MessagesDeleted,
    MessagesMoved,
    OutgoingAvailable,
    QueueDeleted,
    QueuePaused,
    QueueResumed,
    Stopped,
)
from openmsmq.core.model.timers import earlier
from openmsmq.core.transfer.transports import WEB
from openmsmq.protocol.cleanup import Cleanup
from openmsmq.protocol.timer_heap import TimerHeap

from .receipts import Receipts
from .receiving import Answers, Receiver
from .sending import Outlets, Sender
from .settings import SrmpSettings
from .status import describe
from .stream_receipts import CoalescingTimer, StreamReceipts
from .transfer import Transfer

if TYPE_CHECKING:
    from openmsmq.core.events import Event
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.transports import Transport
    from openmsmq.protocol.carrier import Gate
    from openmsmq.protocol.outgoing_status import OutgoingStatus


class Http(Protocol):
    """HTTP without sockets, as `protocol.http.HttpTransport` is."""

    @property
    def server(self) -> Answers:
        """The source of requests."""

    @property
    def client(self) -> Outlets:
        """The outlets to other hosts."""

    def next_timer(self) -> float | None:
        """The time at which `handle_timer` must be called next."""

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""


class SrmpProtocol:
    """SRMP of one queue manager.

    Args:
        manager: the queue manager; started, so that its queues are known.
        gate: holds answers and receipts until their effects are on disk.
        http: receives requests and responses, and sends them.
    """

    __slots__ = (
        "_cleanup",
        "_http",
        "_manager",
        "_receiver",
        "_sender",
        "_stream_receipts",
        "_timers",
    )

    def __init__(
        self, manager: QueueManager, gate: Gate, http: Http, settings: SrmpSettings | None = None
    ) -> None:
        settings = settings or SrmpSettings()
        self._manager = manager
        self._http = http
        self._timers = TimerHeap()
        self._sender = Sender(
            manager,
            gate,
            http.client,
            settings,
            self._timers,
            ready_at=manager.outgoing.make_receipt_secret(),
        )
        self._cleanup = Cleanup(
            manager,
            self._timers,
            history_seconds=settings.history_seconds,
            stream_seconds=settings.stream_cleanup_seconds,
        )
        manager.incoming.set_history_size(settings.history_size)
        self._stream_receipts = StreamReceipts(manager, gate, settings, self._timers)
        self._receiver = Receiver(
            manager,
            gate,
            http.server,
            Receipts(manager, self._sender.streams),
            self._stream_receipts,
        )

    @property
    def carries(self) -> frozenset[Transport]:
        return WEB

    # Start and stop

    def start(self, *, now: float) -> None:
        """Begin: every outgoing queue with stored messages sends them."""
        self._cleanup.start(now)
        self._set_offline(not self._manager.outgoing.online, now)

    def stop(self, *, now: float) -> None:
        """Stop sending and receiving."""
        self._set_offline(True, now)

    def _set_offline(self, offline: bool, now: float) -> None:  # noqa: FBT001 - one private value
        self._sender.transfers.offline = self._receiver.offline = offline
        for queue in self._manager.outgoing.queues:
            self._sender.transfers.available(queue, now=now)

    def reached_at(self, *, http_host: str, https_host: str) -> None:
        """Set the host by which others reach this machine, with a port other than the default."""
        self._sender.requests.http_host = http_host
        self._sender.requests.https_host = https_host

    # Every turn

    def turn(self, *, now: float) -> None:
        """Process the received requests and responses."""
        if self._receiver.turn():
            self._cleanup.start(now)
        self._sender.turn(now=now)

    def core_event(self, event: Event, *, now: float) -> None:
        """An event of the queue manager."""
        if isinstance(event, OutgoingAvailable | QueuePaused | QueueResumed):
            self._sender.transfers.available(event.queue, now=now)
        elif isinstance(event, QueueDeleted):
            self._sender.forget(event.queue, now=now)
        elif isinstance(event, MessagesDeleted):
            self._sender.removed(event.queue, event.messages, now=now)
        elif isinstance(event, MessagesMoved):
            self._sender.removed(event.queue, (), now=now)
        elif isinstance(event, ConnectionActiveChanged):
            self._set_offline(not event.active, now)
        elif isinstance(event, Stopped):
            self.stop(now=now)

    @property
    def waits_for_disk(self) -> bool:
        """Whether messages wait for their batch."""
        return self._sender.waits_for_disk

    def durable(self, *, now: float) -> None:
        """More batches are on disk, and effects that waited for them at the gate were released."""
        self._sender.durable(now=now)

    # Time

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        return earlier(self._timers.next(), self._http.next_timer())

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""
        self._http.handle_timer(now=now)
        for owner in self._timers.take_due(now):
            if isinstance(owner, Transfer):
                self._sender.due(owner, now=now)
            elif isinstance(owner, CoalescingTimer):
                self._stream_receipts.due(owner, now=now)
            else:
                self._cleanup.timer(owner, now)
        self.turn(now=now)

    # Queries

    def outgoing_status(self, queue: Queue, *, now: float) -> OutgoingStatus | None:
        """One outgoing queue, with its OutgoingTransferInfo updated."""
        transfer = self._sender.transfers.find(queue)
        if transfer is None:
            return None
        transfer.stream.refresh_info()
        return describe(transfer, now=now, offline=self._sender.transfers.offline)
