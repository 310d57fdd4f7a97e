"""Sending by multicast: outgoing queues and their PGM sources ([MC-MQSRM] 3.1.7.9)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import Message
from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.core.transfer.outgoing.stream_rules import SRMP_RULES
from openmsmq.core.transfer.transports import Transport
from openmsmq.protocol.pgm import OutgoingDatagram, Source
from openmsmq.protocol.pgm.source_states import SourceState
from openmsmq.protocol.transfer_states import TransferInput, TransferState
from openmsmq.protocol.transfers import Transfers
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.pgm import TransportSessionId
from openmsmq.wire.srmp.multicast import multicast_request

from .events import OpenSocket
from .transfer import MulticastTransfer

if TYPE_CHECKING:
    from collections import deque
    from ipaddress import IPv4Address

    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.outgoing.stream import OutgoingStream
    from openmsmq.protocol.timer_heap import TimerHeap

    from .events import MulticastEvent
    from .packet_counts import PacketCounts
    from .settings import MulticastSettings, Randomness

MULTICAST: Final = frozenset((Transport.MULTICAST,))
TOO_MANY: Final = "messages go to as many multicast addresses already as multicast_max_destinations"
_READ_BYTES: Final = 1
# There are no acknowledgments, so nothing is sent again because one is missing.
_NEVER_RESENT: Final = (1e9,)


class SocketState(Enum):
    """Whether there is a socket to send from."""

    CLOSED = "nothing was sent yet"
    OPENING = "the shell is asked for it"
    OPEN = "it is there"


class MulticastSender:
    """The outgoing queues of one queue manager to multicast addresses.

    Args:
        events: receives the requests to the shell.
        counts: receives the counts of sources that end.
    """

    __slots__ = (
        "_counts",
        "_events",
        "_manager",
        "_randomness",
        "_settings",
        "_socket",
        "_sources",
        "_timers",
        "address",
        "streams",
        "transfers",
    )

    def __init__(
        self,
        manager: QueueManager,
        settings: MulticastSettings,
        timers: TimerHeap,
        randomness: Randomness,
        events: deque[MulticastEvent],
        counts: PacketCounts,
    ) -> None:
        self._manager = manager
        self._settings = settings
        self._timers = timers
        self._randomness = randomness
        self._events = events
        self._counts = counts
        self.streams = manager.outgoing.open_streams(MULTICAST, _NEVER_RESENT, SRMP_RULES)
        self.transfers: Transfers[MulticastTransfer] = Transfers(
            manager, self.streams, self, timers, retry_seconds=settings.retry_seconds
        )
        # Until the protocol starts.
        self.transfers.offline = True
        # Every active source, by its port; some only repair earlier data.
        self._sources: dict[int, Source] = {}
        self._socket = SocketState.CLOSED
        self.address: IPv4Address | None = None

    @property
    def sources(self) -> list[Source]:
        """Every active source."""
        return list(self._sources.values())

    def unsent_messages(self, source: Source) -> int:
        """The number of messages in a source that have not left yet."""
        return sum(
            len(transfer.leaving)
            for transfer in self.transfers.by_queue.values()
            if transfer.source is source
        )

    # The socket

    def socket_opened(self, address: IPv4Address, *, now: float) -> None:
        """A socket to send from is open, at an address of this machine."""
        self._socket = SocketState.OPEN
        self.address = address
        for transfer in list(self.transfers.by_queue.values()):
            self.transfers.handle(transfer, TransferInput.OPENED, now)

    def socket_failed(self, status: ConnectionStatus, reason: str, *, now: float) -> None:
        """The socket could not be opened; the reason is a text."""
        self._socket = SocketState.CLOSED
        for transfer in list(self.transfers.by_queue.values()):
            if transfer.state is TransferState.OPENING:
                self._fail(transfer, status, reason, now)

    def _fail(
        self, transfer: MulticastTransfer, status: ConnectionStatus, reason: str, now: float
    ) -> None:
        outgoing = self._manager.outgoing
        outgoing.change(transfer.queue, OutgoingInput.FAILED, status=status, reason=reason)
        # Without multicast an outgoing queue of Windows waits to connect; the reason stays.
        outgoing.change(transfer.queue, OutgoingInput.CONNECTING)
        self.transfers.handle(transfer, TransferInput.FAILED, now)

    # Sending

    @property
    def in_use(self) -> bool:
        """Whether there are outgoing queues, or sources that have not ended yet."""
        return bool(self.transfers.by_queue or self._sources)

    def datagrams_to_send(self, *, now: float) -> list[OutgoingDatagram]:
        """All datagrams that may leave now."""
        datagrams: list[OutgoingDatagram] = []
        for source in self.sources:
            datagrams += source.datagrams_to_send(now=now)
            if source.state is SourceState.CLOSED:
                del self._sources[source.tsi.source_port]
                self._counts.add(source.counters)
                self._timers.set(source, None)
        for transfer in self.transfers.by_queue.values():
            if transfer.source is not None:
                datagrams += self._pump(transfer, transfer.source, now)
        for source in self.sources:
            self._timers.set(source, source.next_timer())
        return datagrams

    def _pump(
        self, transfer: MulticastTransfer, source: Source, now: float
    ) -> list[OutgoingDatagram]:
        """Settle messages that have left, and let more leave, as long as the rate allows it."""
        datagrams: list[OutgoingDatagram] = []
        while True:
            has_settled = self._settle(transfer, source)
            if not self._fill(transfer, source, now) and not has_settled:
                return datagrams
            datagrams += source.datagrams_to_send(now=now)

    def _settle(self, transfer: MulticastTransfer, source: Source) -> bool:
        """Finish messages of which every packet has left; return whether there were any."""
        tokens: list[object] = []
        while transfer.leaving and source.has_sent(transfer.leaving[0][0]):
            tokens.append(transfer.leaving.popleft()[1])
        self.streams.delivered(tokens)
        return bool(tokens)

    def _fill(self, transfer: MulticastTransfer, source: Source, now: float) -> bool:
        """Pass messages to a source; return whether there were any."""
        filled = False
        while source.can_send:
            departure = transfer.stream.take(1, _READ_BYTES)
            for packet, token in zip(departure.packets, departure.tokens, strict=True):
                filled |= self._give(transfer, source, packet, token)
            if not departure.packets:
                break
        if filled:
            transfer.idle_at = now + self._settings.idle_seconds
            self.transfers.watch(transfer)
        return filled

    def _give(
        self, transfer: MulticastTransfer, source: Source, packet: bytes, token: object
    ) -> bool:
        """Pass one message to a source; False if it can never be sent."""
        if not isinstance(token, Message):
            # Choice: no receiver acknowledges it, so that it could never be finished.
            transfer.stream.refused(token, MessageClass.NACK_NOT_TRANSACTIONAL_Q)
            return False
        try:
            apdu = multicast_request(UserMessage(packet), str(transfer.name))
            last = source.send(apdu)
        except ValueError:
            # SRMP over PGM cannot express it, or it is too large.
            transfer.stream.refused(token, MessageClass.NACK_BAD_DST_Q)
            return False
        transfer.leaving.append((last, token))
        return True

    def receive_nak(self, data: bytes, *, now: float) -> None:
        """A datagram arrived at the address of this machine: receivers miss data."""
        # The ports of a NAK are swapped against those of the data.
        source = self._sources.get(int.from_bytes(data[2:4], "big"))
        if source is not None:
            source.receive_datagram(data, now=now)

    # Timers

    def source_due(self, source: Source, *, now: float) -> None:
        """A timer of a source is over."""
        source.handle_timer(now=now)
        self._timers.set(source, source.next_timer())

    def due(self, transfer: MulticastTransfer, *, now: float) -> None:
        """A timer of a transfer is over."""
        self.transfers.retry_if_due(transfer, now)
        if transfer.idle_at is not None and transfer.idle_at <= now:
            transfer.idle_at = None
            if transfer.leaving or transfer.stream.has_work:
                transfer.idle_at = now + self._settings.idle_seconds
            else:
                self.transfers.handle(transfer, TransferInput.IDLE, now)
        self.transfers.watch(transfer)

    # Transport connections

    def new_transfer(self, stream: OutgoingStream) -> MulticastTransfer:
        """The transfer of an outgoing queue, at rest."""
        return MulticastTransfer(stream)

    def connect(self, transfer: MulticastTransfer, now: float) -> None:
        """Establish Transport Connection ([MC-MQSRM] 3.1.7.9)."""
        if self._socket is SocketState.OPEN:
            self.transfers.handle(transfer, TransferInput.OPENED, now)
        elif self._socket is SocketState.CLOSED:
            self._socket = SocketState.OPENING
            self._events.append(OpenSocket())

    def send(self, transfer: MulticastTransfer) -> None:
        """Messages leave when `datagrams_to_send` is called."""

    def opened(self, transfer: MulticastTransfer, now: float) -> None:
        """A new PGM source for an address."""
        if len(self._sources) >= self._settings.max_destinations:
            transfer.state = TransferState.OPENING
            self._fail(transfer, ConnectionStatus.LIMIT_REACHED, TOO_MANY, now)
            return
        assert self.address is not None  # noqa: S101 - the socket is open
        tsi = TransportSessionId(self._randomness.global_source_id, self._free_port())
        source = Source(
            self._settings.source,
            tsi=tsi,
            destination_port=transfer.name.port,
            source_nla=self.address,
            group_nla=transfer.name.address,
            first_sequence_number=int(self._randomness.random() * (1 << 32)),
            now=now,
        )
        transfer.source = self._sources[tsi.source_port] = source
        transfer.idle_at = now + self._settings.idle_seconds
        address = f"{transfer.name.address}:{transfer.name.port}"
        self._manager.outgoing.change(transfer.queue, OutgoingInput.OPENED, address=address)

    def _free_port(self) -> int:
        """A source port that no other source of this queue manager has."""
        port = 1 + int(self._randomness.random() * 0xFFFF)
        while port in self._sources:
            port = port % 0xFFFF + 1
        return port

    def close(self, transfer: MulticastTransfer, now: float) -> None:
        """End sending: unsent messages go back, sent data is repaired for a while."""
        transfer.idle_at = None
        source, transfer.source = transfer.source, None
        if source is None:
            return
        self._settle(transfer, source)
        transfer.stream.release([token for _, token in transfer.leaving])
        transfer.leaving.clear()
        source.abort(now=now)
