"""BinaryProtocol: all sessions and outgoing queues of one queue manager, without sockets.

How to use it
    Set the time with `manager.set_time` first, then call one of the methods below with the
    same `now`. Afterwards

    - carry out `next_event`: `Connect`, `SendPing`, `Disconnect`;
    - write `data_to_send(connection)` for each connection in `take_ready()`, again and again until
      it is empty: more is returned only when the last was taken;
    - leave the rest to the engine: it calls `core_event`, `durable`, `next_timer` and
      `handle_timer` (see `openmsmq.protocol.carrier`).

    A connection is a number. It comes from `accept`, or with `Connect` (then `connected` or
    `connect_failed` is the answer), and ends with `Disconnect` or `connection_lost`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from openmsmq.core.events import (
    ConnectionActiveChanged,
    FlowControlChanged,
    MessagesDeleted,
    MessagesMoved,
    OutgoingAvailable,
    QueueDeleted,
    QueuePaused,
    QueueResumed,
    Stopped,
)
from openmsmq.core.events import Event as CoreEvent
from openmsmq.protocol.cleanup import Cleanup
from openmsmq.protocol.timer_heap import TimerHeap
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.scalars import GUID_NULL

from .carrying import Carrying
from .connections import WINDOW_TIMER, Connections
from .encrypting import KEYS_TIMER, Encrypting
from .events import (
    Closed,
    CloseReason,
    Disconnect,
    Event,
    MessagesAcknowledged,
    MessagesReceived,
    Opened,
)
from .hop_links import HopLink
from .peer_connection import PeerConnection
from .ping import answer_ping
from .receiving import Arrived, Receiver
from .sending import CARRIES, OutgoingTransfers
from .session import BinarySession
from .session_finder import SessionFinder
from .session_infos import PROTOCOL, session_info, session_traffic
from .settings import BinarySettings
from .status import describe
from .transfer import Transfer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from openmsmq.core.management.records import SessionInfo
    from openmsmq.core.management.sources import Traffic
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.incoming.received import Received
    from openmsmq.core.transfer.transports import Transport
    from openmsmq.protocol.carrier import Gate
    from openmsmq.protocol.outgoing_status import OutgoingStatus
    from openmsmq.security.encryption.body_encryption import BodyEncryption


class BinaryProtocol:
    """The Binary Protocol of one queue manager.

    Args:
        manager: the queue manager; started, so that its queues are known.
        gate: holds acknowledgments until the acknowledged messages are on disk.
        settings: timers, windows and limits.
        encryption: encrypts bodies; without it messages that ask for encryption are given up.
    """

    def __init__(
        self,
        manager: QueueManager,
        gate: Gate,
        settings: BinarySettings | None = None,
        encryption: BodyEncryption | None = None,
    ) -> None:
        self._manager = manager
        self._gate = gate
        self.settings = settings or BinarySettings()
        self._events: deque[Event] = deque()
        self._timers = TimerHeap()
        self._encrypting = Encrypting(manager, encryption, self._timers)
        self._transfers = OutgoingTransfers(manager, self.settings, self._encrypting)
        self._connections = Connections(manager, self.settings, self._timers)
        self._finder = SessionFinder(manager, self.settings, self._timers, self._events)
        # Connections to process after the next flush.
        self._waiting: set[PeerConnection] = set()
        self._receiver = Receiver(manager, gate, self._transfers.streams, self._waiting)
        self._carrying = Carrying(
            manager,
            gate,
            self._timers,
            self._transfers,
            self._finder,
            self._connections,
            self._waiting,
        )
        self._cleanup = Cleanup(
            manager,
            self._timers,
            history_seconds=self.settings.history_seconds,
            stream_seconds=self.settings.stream_cleanup_seconds,
        )
        manager.incoming.set_history_size(self.settings.history_size)

    @property
    def carries(self) -> frozenset[Transport]:
        return CARRIES

    # Start and stop

    def start(self, *, now: float) -> None:
        """Begin: every outgoing queue with stored messages gets a session ([MS-MQQB] 3.1.4.1)."""
        self._cleanup.start(now)
        for queue in self._manager.outgoing.queues:
            self._carrying.available(queue, now)

    def stop(self, *, now: float) -> None:
        """Close all sessions and open no more."""
        self._finder.offline = True
        self._close_all(CloseReason.STOPPED, now)

    def _close_all(self, reason: CloseReason, now: float) -> None:
        for connection in list(self._connections.by_number.values()):
            connection.session.close(reason)
            self._process(connection, now)

    # Connections

    def accept(self, address: str, *, now: float) -> int | None:
        """A peer connects from this address; None means to close the connection at once."""
        connection_count = self._connections.held_by(address)
        if (
            self._finder.offline
            or not self._connections.admit(address, connection_count)
            or self._receiver.backlog.of(address) > self.settings.max_peer_bytes
        ):
            self._manager.counters.refused_connections.add((PROTOCOL,))
            return None
        session = BinarySession(
            self.settings,
            self._manager.identifier,
            initiator=False,
            now=now,
            refuse=connection_count >= self.settings.max_connections_per_peer,
            window_size=self._connections.window,
        )
        number = self._finder.new_number()
        self._add(number, session, address, None, now)
        return number

    def connected(self, number: int, address: str, *, now: float) -> None:
        """A connection requested by `Connect` is open, to this address."""
        link = self._finder.connected(number, address, now=now)
        if link is None:
            self._events.append(Disconnect(connection=number, reason=CloseReason.OFFLINE))
            return
        session = BinarySession(
            self.settings,
            self._manager.identifier,
            initiator=True,
            now=now,
            remote_guid=link.hop.queue_manager,
            direct=link.hop.queue_manager == GUID_NULL,
            pinged=link.pinged,
            window_size=self._connections.window,
        )
        self._add(number, session, address, link, now)

    def _add(
        self, number: int, session: BinarySession, address: str, link: HopLink | None, now: float
    ) -> None:
        inlet = self._receiver.open_inlet(self)
        connection = PeerConnection(
            number, session, address, link, inlet, self.settings, self._gate, now
        )
        self._connections.add(connection)

    def connect_failed(self, number: int, status: ConnectionStatus, *, now: float) -> None:
        """A connection requested by `Connect` or `SendPing` failed."""
        self._finder.failed(number, status, now=now)

    def receive_data(self, number: int, data: bytes, *, now: float) -> None:
        """Bytes arrived on a connection."""
        connection = self._connections.by_number.get(number)
        if connection is not None:
            connection.session.receive_data(data, now=now)
            self._process(connection, now)

    def connection_lost(self, number: int, *, now: float) -> None:
        """A connection was closed by the peer or broke."""
        connection = self._connections.by_number.get(number)
        if connection is not None:
            connection.session.connection_lost()
            self._process(connection, now)

    def data_to_send(self, number: int, *, now: float) -> list[bytes]:
        """The next bytes for a connection, in order; empty when there are none."""
        connection = self._connections.by_number.get(number)
        if connection is None:
            return []
        data = connection.session.data_to_send()
        if data and connection.full:
            self._carrying.pump(connection, now)
        return data

    def may_read(self, number: int) -> bool:
        """Whether to resume reading from a connection; ask again after `durable`."""
        connection = self._connections.by_number.get(number)
        return connection is None or (
            self._receiver.backlog.of(connection.address) <= self.settings.max_peer_bytes
            and self._receiver.backlog.total <= self.settings.max_backlog_bytes
        )

    @property
    def outputs(self) -> tuple[Collection[object], ...]:
        """Events, and connections that may have output; the same collections always."""
        return self._events, self._connections.ready

    def take_ready(self) -> list[int]:
        """The connections that have got output since the last call."""
        return self._connections.take_ready()

    def next_event(self) -> Event | None:
        """The oldest event that was not fetched yet."""
        return self._events.popleft() if self._events else None

    # Pings

    def ping_request(self, datagram: bytes) -> bytes | None:
        """The answer to a datagram received on the ping port, if there is one."""
        if not self.settings.answer_ping or self._manager.hardened:
            return None
        refuse = self._finder.offline or self._connections.full
        return answer_ping(datagram, self._manager.identifier, refuse=refuse)

    def ping_response(self, datagram: bytes, *, now: float) -> None:
        """A datagram arrived on the port from which a ping was sent."""
        self._finder.ping_response(datagram, now=now)

    # The queue manager

    def core_event(self, event: CoreEvent, *, now: float) -> None:
        """An event of the queue manager."""
        if isinstance(event, OutgoingAvailable):
            self._carrying.available(event.queue, now, event.depends)
        elif isinstance(event, QueuePaused):
            self._carrying.paused(event.queue)
        elif isinstance(event, QueueResumed):
            self._carrying.available(event.queue, now)
        elif isinstance(event, QueueDeleted):
            self._carrying.forget(event.queue)
        elif isinstance(event, (MessagesDeleted, MessagesMoved)):
            self._transfers.streams.removed(event.queue)
        elif isinstance(event, ConnectionActiveChanged):
            self._active_changed(event, now)
        elif isinstance(event, FlowControlChanged):
            self._connections.throttle(now, throttled=event.throttled)
        elif isinstance(event, Stopped):
            self.stop(now=now)

    @property
    def waits_for_disk(self) -> bool:
        """Whether connections have messages or acknowledgments that wait for their batch."""
        return bool(self._waiting)

    def durable(self, *, now: float) -> None:
        """More batches are on disk, and effects that waited for them at the gate were released."""
        waiting = sorted(self._waiting, key=_number)
        self._waiting.clear()
        for connection in waiting:
            connection.session.acknowledge(now=now)
            if connection.transfers:
                self._carrying.pump(connection, now)
            else:
                self._connections.update(connection)

    # Queries and administration

    @property
    def protocol(self) -> str:
        return PROTOCOL

    @property
    def session_count(self) -> int:
        return len(self._connections.by_number)

    @property
    def waiting_bytes(self) -> int:
        return self._receiver.backlog.total

    def sessions(self) -> Iterator[SessionInfo]:
        """Every session, whatever its state."""
        return map(session_info, list(self._connections.by_number.values()))

    def traffic(self) -> Iterator[Traffic]:
        """The traffic of every session."""
        return map(session_traffic, list(self._connections.by_number.values()))

    def hang_up(self, number: int) -> bool:
        """End a session; one that is needed is opened again."""
        connection = self._connections.by_number.get(number)
        if connection is None:
            return False
        connection.session.close(CloseReason.HUNG_UP)
        self._process(connection, self._manager.now)
        return True

    # Outgoing queues

    def outgoing(self, *, now: float) -> list[OutgoingStatus]:
        """The status of every outgoing queue that this protocol serves."""
        statuses = [self.outgoing_status(queue, now=now) for queue in self._manager.outgoing.queues]
        return [status for status in statuses if status is not None]

    def outgoing_status(self, queue: Queue, *, now: float) -> OutgoingStatus | None:
        """One outgoing queue, with its OutgoingTransferInfo updated."""
        transfer = self._transfers.find_transfer(queue)
        if transfer is None:
            return None
        transfer.stream.refresh_info()
        return describe(transfer, now=now, offline=self._finder.offline)

    def _active_changed(self, event: ConnectionActiveChanged, now: float) -> None:
        self._finder.offline = not event.active
        if event.active:
            self.start(now=now)
        else:
            self._close_all(CloseReason.OFFLINE, now)

    # Sessions

    def _process(self, connection: PeerConnection, now: float) -> None:
        """Process the events of a session."""
        while (event := connection.session.next_event()) is not None:
            if isinstance(event, MessagesReceived):
                self._receiver.receive(connection, event, now=now)
                self._cleanup.start(now)
            elif isinstance(event, MessagesAcknowledged):
                self._transfers.acknowledged(event)
                self._carrying.go_on(connection, now)
            elif isinstance(event, Opened):
                self._carrying.opened(connection, now)
            elif isinstance(event, Closed):
                self._closed(connection, event, now)
            else:
                self._finder.established(connection)
        self._connections.update(connection)

    def received(self, read: object, received: Received, *, now: float) -> None:
        """Messages that waited for checks were processed."""
        assert isinstance(read, Arrived)  # noqa: S101
        self._receiver.settle(read, received, now=now)
        self._process(read.connection, now)

    def _closed(self, connection: PeerConnection, event: Closed, now: float) -> None:
        """Closing a Session ([MS-MQQB] 3.1.5.9)."""
        self._manager.counters.closed_sessions.add((PROTOCOL, str(event.reason)))
        number = connection.number
        self._connections.remove(connection)
        self._waiting.discard(connection)
        data = connection.session.data_to_send() if event.reason is CloseReason.REFUSING else []
        self._events.append(
            Disconnect(
                connection=number, reason=event.reason, detail=event.detail, data=tuple(data)
            )
        )
        self._finder.closed(connection, self._connections.by_number.values())
        self._carrying.detach(connection, event.reason, now)

    # Timers

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` must be called next."""
        return self._timers.next()

    def handle_timer(self, *, now: float) -> None:
        """Handle the timers that are due."""
        for owner in self._timers.take_due(now):
            if isinstance(owner, PeerConnection):
                self._connection_timer(owner, now)
            elif isinstance(owner, HopLink):
                self._carrying.link_timer(owner, now)
            elif isinstance(owner, Transfer):
                self._carrying.transfer_timer(owner, now)
            elif owner is WINDOW_TIMER:
                self._connections.widen(now)
            elif owner is KEYS_TIMER:
                self._encrypting.timer(now)
            else:
                self._cleanup.timer(owner, now)

    def _connection_timer(self, connection: PeerConnection, now: float) -> None:
        connection.session.handle_timer(now=now)
        if self._connections.may_order_ack(connection):
            room = connection.session.room
            for ack, timer in connection.order_acks.take_due(room, now=now):
                self._receiver.send_order_ack(connection, ack, timer, now=now)
        self._process(connection, now)


def _number(connection: PeerConnection) -> int:
    return connection.number
