"""SrmpProtocol: messages over HTTP and HTTPS of one queue manager, without sockets.

How to drive it
    Say what time it is with `manager.set_time` first. Give bytes to the `HttpTransport`, then call
    `turn` with the same `now`: it takes the requests and responses that came, and posts what may
    leave. Let the engine do the rest: it calls `core_event`, `durable`, `next_timer` and
    `handle_timer` (see `openmsmq.protocol.carrier`). Afterwards write what the `HttpTransport` has
    to send.
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
        """Where requests come from."""

    @property
    def client(self) -> Outlets:
        """The ways to other hosts."""

    def next_timer(self) -> float | None:
        """When `handle_timer` is to be called next."""

    def handle_timer(self, *, now: float) -> None:
        """Do what is due."""


class SrmpProtocol:
    """SRMP of one queue manager.

    Args:
        manager: the queue manager; started, so that its queues are known.
        gate: holds answers and receipts until what they report is on disk.
        http: brings requests and responses, and takes them.
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
        """Send and take nothing any more."""
        self._set_offline(True, now)

    def _set_offline(self, offline: bool, now: float) -> None:  # noqa: FBT001 - one private value
        self._sender.transfers.offline = self._receiver.offline = offline
        for queue in self._manager.outgoing.queues:
            self._sender.transfers.available(queue, now=now)

    def reached_at(self, *, http_host: str, https_host: str) -> None:
        """Say how others reach this machine: host, and port if it is not that of the scheme."""
        self._sender.requests.http_host = http_host
        self._sender.requests.https_host = https_host

    # Every turn

    def turn(self, *, now: float) -> None:
        """Deal with the requests and responses that came."""
        if self._receiver.turn():
            self._cleanup.start(now)
        self._sender.turn(now=now)

    def core_event(self, event: Event, *, now: float) -> None:
        """Something happened in the queue manager."""
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
        """More batches are on disk, and what waited for them at the gate was released."""
        self._sender.durable(now=now)

    # Time

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""
        return earlier(self._timers.next(), self._http.next_timer())

    def handle_timer(self, *, now: float) -> None:
        """Do what is due."""
        self._http.handle_timer(now=now)
        for owner in self._timers.take_due(now):
            if isinstance(owner, Transfer):
                self._sender.due(owner, now=now)
            elif isinstance(owner, CoalescingTimer):
                self._stream_receipts.due(owner, now=now)
            else:
                self._cleanup.timer(owner, now)
        self.turn(now=now)

    # What people ask for

    def outgoing_status(self, queue: Queue, *, now: float) -> OutgoingStatus | None:
        """One outgoing queue, and its OutgoingTransferInfo brought up to date."""
        transfer = self._sender.transfers.find(queue)
        if transfer is None:
            return None
        transfer.stream.refresh_info()
        return describe(transfer, now=now, offline=self._sender.transfers.offline)
