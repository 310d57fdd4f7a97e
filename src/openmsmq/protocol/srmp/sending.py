"""Sending messages: outgoing queues over HTTP, and the effect of answers ([MC-MQSRM] 3.1.7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.core.transfer.outgoing.departures import DispatchCollection
from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.core.transfer.outgoing.stream_rules import SRMP_RULES
from openmsmq.core.transfer.transports import WEB
from openmsmq.protocol.http import Answered, Destination, OutletEvent, OutletFailed, OutletOpened
from openmsmq.protocol.transfer_states import TransferInput, TransferState
from openmsmq.protocol.transfers import Transfers
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import parse_format_name

from .outgoing_requests import OutgoingRequests
from .transfer import GIVEN_UP, Transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.outgoing.stream import OutgoingStream
    from openmsmq.protocol.carrier import Gate
    from openmsmq.protocol.timer_heap import TimerHeap

    from .settings import SrmpSettings

OK: Final = 200
# Statuses of a proxy itself: it requires a logon, or has no answer of the host.
OF_PROXIES: Final = frozenset((407, 502, 504))
# The class of the dead letter has the status in it.
STATUS_CLASS: Final = 0xA000
# The number of bytes taken from a queue at a time.
_READ_BYTES: Final = 1024 * 1024
_TRACED: Final = 0x01


class Outlets(Protocol):
    """The outlets to other hosts, as in `protocol.http.HttpClient`."""

    def open(self, destination: Destination) -> int:
        """Create an outlet to a host."""

    def proxy_of(self, number: int) -> str:
        """The proxy that may answer in place of the host; empty without one."""

    def room(self, number: int) -> int:
        """The number of further requests that an outlet takes."""

    def post(
        self, number: int, token: object, target: str, content_type: str, body: Sequence[bytes]
    ) -> None:
        """Send a request; its response is identified by the token."""

    def close(self, number: int, *, now: float, hang_up: bool = False) -> None:
        """Close an outlet."""

    def take_events(self) -> list[OutletEvent]:
        """The events of outlets since the last call."""


class Sender:
    """The outgoing queues of one queue manager to names of HTTP and HTTPS.

    Args:
        ready_at: the batch that must be on disk before anything leaves.
    """

    __slots__ = (
        "_by_outlet",
        "_gate",
        "_manager",
        "_outlets",
        "_ready_at",
        "_settings",
        "_waiting",
        "requests",
        "streams",
        "transfers",
    )

    def __init__(
        self,
        manager: QueueManager,
        gate: Gate,
        outlets: Outlets,
        settings: SrmpSettings,
        timers: TimerHeap,
        *,
        ready_at: int,
    ) -> None:
        self._manager = manager
        self._gate = gate
        self._outlets = outlets
        self._settings = settings
        self._ready_at = ready_at
        self.requests = OutgoingRequests(manager, settings)
        self.streams = manager.outgoing.open_streams(WEB, settings.resend_timer_table, SRMP_RULES)
        self.transfers: Transfers[Transfer] = Transfers(
            manager, self.streams, self, timers, retry_seconds=settings.retransmission_seconds
        )
        self._by_outlet: dict[int, Transfer] = {}
        # Transfers to process after the next flush, and the batch that their next message needs.
        self._waiting: dict[Transfer, int] = {}

    # The queue manager

    def forget(self, queue: Queue, *, now: float) -> None:
        """An outgoing queue was deleted."""
        transfer = self.transfers.forget(queue, now=now)
        if transfer is not None:
            self._waiting.pop(transfer, None)

    @property
    def waits_for_disk(self) -> bool:
        """Whether messages wait for their batch."""
        return bool(self._waiting)

    def durable(self, *, now: float) -> None:
        """More batches are on disk."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        ready = DispatchCollection([transfer.stream for transfer in waiting])
        while ready.count:
            transfer = self.transfers.by_queue[ready.first.queue.number]
            ready.pass_over()
            self.transfers.handle(transfer, TransferInput.WORK, now)

    def removed(self, queue: Queue, messages: Sequence[Message], *, now: float) -> None:
        """Messages left an outgoing queue, such as expired ones."""
        self.streams.removed(queue, messages)
        self.transfers.available(queue, now=now)

    # Answers

    def turn(self, *, now: float) -> bool:
        """Process the events of requests; return whether there were any."""
        events = self._outlets.take_events()
        for event in events:
            transfer = self._by_outlet.get(event.outlet)
            if transfer is None:
                continue
            if isinstance(event, Answered):
                self._answered(transfer, event, now)
            elif isinstance(event, OutletOpened):
                self.transfers.handle(transfer, TransferInput.OPENED, now)
            else:
                self._failed(transfer, event, now)
        return bool(events)

    def _answered(self, transfer: Transfer, event: Answered, now: float) -> None:
        """Responses to messages of a transfer ([MC-MQSRM] 3.1.7.2.5)."""
        accepted = [token for token, status in event.answers if status == OK]
        self.streams.arrived(accepted)
        self.streams.delivered(accepted)
        again = 0
        for token, status in event.answers:
            transfer.last_status = status
            if status in GIVEN_UP:
                transfer.stream.refused(token, STATUS_CLASS + status)
            elif status != OK:
                again = status
        if again:
            proxy = transfer.proxy if again in OF_PROXIES else ""
            who = f"the proxy {proxy}" if proxy else transfer.host
            self._manager.outgoing.change(
                transfer.queue,
                OutgoingInput.UNANSWERED,
                status=ConnectionStatus.REFUSED_BY_OTHER_SIDE,
                reason=f"{who} answered with HTTP status {again}",
                address=proxy or transfer.host,
            )
            self.transfers.handle(transfer, TransferInput.FAILED, now)
            return
        transfer.idle_at = now + self._settings.cleanup_seconds
        self.transfers.watch(transfer)
        if transfer.stream.has_work:
            self.transfers.handle(transfer, TransferInput.WORK, now)

    def _failed(self, transfer: Transfer, event: OutletFailed, now: float) -> None:
        """The host was unreachable or gave no answer."""
        opened = transfer.state is TransferState.OPEN
        transfer.outlet = 0
        del self._by_outlet[event.outlet]
        self._manager.outgoing.change(
            transfer.queue,
            OutgoingInput.UNANSWERED if opened else OutgoingInput.FAILED,
            status=event.status,
            reason=event.reason,
            address=transfer.host,
        )
        self.transfers.handle(transfer, TransferInput.FAILED, now)

    # Timers

    def due(self, transfer: Transfer, *, now: float) -> None:
        """A timer of a transfer is over."""
        stream = transfer.stream
        self.transfers.retry_if_due(transfer, now)
        if transfer.idle_at is not None and transfer.idle_at <= now:
            transfer.idle_at = None
            if not stream.unacknowledged:
                self.transfers.handle(transfer, TransferInput.IDLE, now)
        if stream.resend_at is not None and stream.resend_at <= now:
            # [MC-MQSRM] 3.1.6.2: messages that await a stream receipt are sent again.
            stream.resend_due()
            if transfer.stream.has_work:
                self.transfers.handle(transfer, TransferInput.WORK, now)
        self.transfers.watch(transfer)

    # Connections to hosts

    def new_transfer(self, stream: OutgoingStream) -> Transfer:
        """The transfer of an outgoing queue, at rest."""
        return Transfer(stream)

    def connect(self, transfer: Transfer, now: float) -> None:  # noqa: ARG002 - of the interface
        """Establish Transport Connection ([MC-MQSRM] 3.1.7.9)."""
        name = self._host_of(transfer)
        transfer.host = name.address
        secure = name.protocol is DirectProtocol.HTTPS
        host = Destination(name.address.strip("[]").lower(), name.port, secure)
        transfer.outlet = self._outlets.open(host)
        transfer.proxy = self._outlets.proxy_of(transfer.outlet)
        self._by_outlet[transfer.outlet] = transfer

    def _host_of(self, transfer: Transfer) -> DirectFormatName:
        """A name on the host that takes the messages: of the URL, unless it is redirected."""
        redirected = self._manager.redirections.outbound(transfer.url)
        if not redirected:
            return transfer.name
        target = parse_format_name(f"DIRECT={redirected}")
        assert isinstance(target, DirectFormatName)  # noqa: S101 - was checked when it was set
        return target

    def opened(self, transfer: Transfer, now: float) -> None:
        """The host is connected."""
        self._manager.outgoing.change(transfer.queue, OutgoingInput.OPENED, address=transfer.host)
        transfer.idle_at = now + self._settings.cleanup_seconds

    def close(self, transfer: Transfer, now: float) -> None:
        """Close the outlet."""
        transfer.idle_at = None
        if transfer.outlet:
            self._outlets.close(transfer.outlet, now=now, hang_up=True)
            del self._by_outlet[transfer.outlet]
            transfer.outlet = 0

    def send(self, transfer: Transfer) -> None:
        """Post messages that may leave now."""
        durable = self._gate.durable_number
        if self._ready_at > durable:
            self._waiting[transfer] = self._ready_at
        if self._waiting.get(transfer, 0) > durable:
            return
        while (room := self._outlets.room(transfer.outlet)) > 0:
            departure = transfer.stream.take(room, _READ_BYTES)
            for packet, token in zip(departure.packets, departure.tokens, strict=True):
                self._post(transfer, packet, token)
            if departure.depends:
                self._waiting[transfer] = departure.depends
            if departure.depends or not departure.packets:
                break

    def _post(self, transfer: Transfer, packet: bytes, token: object) -> None:
        try:
            content = self.requests.write(transfer, packet)
        except ValueError:
            # SRMP cannot express the message: later attempts would fail, too.
            transfer.stream.refused(token, MessageClass.NACK_BAD_DST_Q)
            return
        self._outlets.post(
            transfer.outlet, token, transfer.target, content.content_type, (content.data,)
        )
        if packet[3] & _TRACED:
            self._manager.incoming.report(UserMessage(packet), transfer.name.address)
