"""Which session an outgoing queue uses, or how one is made.

[MS-MQQB] 3.1.5.2: find the host, ping it if that is wanted, connect, and try again later.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from openmsmq.core.model.outgoing_queue import ConnectionHistoryEntry
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.names.format_name import PrivateFormatName

from .destinations import Destination, find_destination
from .events import Connect, Event, SendPing
from .hop_links import HopLink, HopLinkState
from .ping import PingRequests
from .settings import PING_RESPONSE_SECONDS, BinarySettings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from openmsmq.core.queue_manager import QueueManager

    from .peer_connection import PeerConnection
    from .timer_heap import TimerHeap
    from .transfer import Transfer


class SessionFinder:
    """Open sessions by peer, and links for those destinations that have none."""

    __slots__ = (
        "_by_guid",
        "_by_host",
        "_connecting",
        "_direct",
        "_events",
        "_last_number",
        "_manager",
        "_named",
        "_pings",
        "_settings",
        "_timers",
        "_unknown",
        "offline",
    )

    def __init__(
        self,
        manager: QueueManager,
        settings: BinarySettings,
        timers: TimerHeap,
        events: deque[Event],
    ) -> None:
        self._manager = manager
        self._settings = settings
        self._timers = timers
        self._events = events
        # Whether no connection may be made.
        self.offline = not manager.state.local.connection_active
        self._pings = PingRequests(
            manager.state.local.identifier, server_class=settings.server_class
        )
        self._last_number = 0
        # Links by the host of direct names, and those to a certain queue manager.
        self._direct: dict[str, HopLink] = {}
        self._named: dict[Destination, HopLink] = {}
        # Links by the number of the connection that they are making.
        self._connecting: dict[int, HopLink] = {}
        # Open sessions by queue manager and by address.
        self._by_guid: dict[UUID, PeerConnection] = {}
        self._by_host: dict[str, PeerConnection] = {}
        # Outgoing queues to a queue manager of which nobody knows where it is.
        self._unknown: dict[UUID, dict[Transfer, None]] = {}

    def new_number(self) -> int:
        """A number for a connection, never used before."""
        self._last_number += 1
        return self._last_number

    # Open sessions

    def opened(self, connection: PeerConnection) -> None:
        """A session is open: it serves all destinations that are the same peer."""
        self._by_guid.setdefault(connection.session.remote_guid, connection)
        self._by_host.setdefault(connection.address.lower(), connection)
        if connection.link is not None:
            self._by_host.setdefault(connection.link.destination.host.lower(), connection)

    def closed(self, connection: PeerConnection, others: Iterable[PeerConnection]) -> None:
        """A session is over; another open one to the same peer takes its place."""
        guid = connection.session.remote_guid
        if self._by_guid.get(guid) is connection:
            del self._by_guid[guid]
        for host in [host for host, each in self._by_host.items() if each is connection]:
            del self._by_host[host]
        for other in others:
            if other.session.open and other.session.remote_guid == guid:
                self.opened(other)

    def leading_to(self, connection: PeerConnection) -> list[Transfer]:
        """The outgoing queues that lead to the peer of a session, as far as that is known."""
        guid = connection.session.remote_guid
        hosts = [host for host, each in self._by_host.items() if each is connection]
        links = [self._direct[host] for host in hosts if host in self._direct]
        links += [link for link in self._named.values() if link.destination.guid == guid]
        found = [transfer for link in links for transfer in link.transfers]
        return found + list(self._unknown.get(guid, ()))

    # Outgoing queues

    def find(self, transfer: Transfer, *, now: float) -> PeerConnection | None:
        """The session that an outgoing queue uses; None while one is being made."""
        destination = find_destination(self._manager.state, transfer.name)
        self._know(transfer)
        connection = self._open_connection(destination) if destination is not None else None
        if connection is not None:
            transfer.validate_at = None
        elif destination is None or not destination.host:
            self._validate_later(transfer, now)
        else:
            transfer.validate_at = None
            link = self._link_to(destination)
            if transfer.link is not link:
                self.forget(transfer)
                transfer.link = link
                link.transfers[transfer] = None
            if link.state is HopLinkState.IDLE:
                self._begin(link, ping=self._settings.send_ping, now=now)
        return connection

    def forget(self, transfer: Transfer) -> None:
        """An outgoing queue is gone or goes another way."""
        self._know(transfer)
        link = transfer.link
        if link is not None:
            del link.transfers[transfer]
            self._drop_if_unused(link)

    def _drop_if_unused(self, link: HopLink) -> None:
        """No queue goes this way any more, and no connection is made or used."""
        if link.transfers or link.state is not HopLinkState.IDLE:
            return
        if link.destination.direct:
            del self._direct[link.destination.host.lower()]
        else:
            del self._named[link.destination]

    def _link_to(self, destination: Destination) -> HopLink:
        if destination.direct:
            host = destination.host.lower()
            link = self._direct.get(host)
            if link is None:
                link = self._direct[host] = HopLink(destination)
            return link
        link = self._named.get(destination)
        if link is None:
            link = self._named[destination] = HopLink(destination)
        return link

    def _open_connection(self, destination: Destination) -> PeerConnection | None:
        if destination.direct:
            return self._by_host.get(destination.host.lower())
        return self._by_guid.get(destination.guid)

    def _validate_later(self, transfer: Transfer, now: float) -> None:
        """[MS-MQQB] 3.1.5.2.1: nobody knows the destination; look again later."""
        if isinstance(transfer.name, PrivateFormatName):
            self._unknown.setdefault(transfer.name.guid, {})[transfer] = None
        if transfer.validate_at is None:
            self.note(transfer, ConnectionStatus.ROUTING_FAILURE, "", Hresult.MQ_ERROR)
            transfer.validate_at = now + self._retry_seconds
            self._manager.outgoing.set_state(transfer.queue, QueueState.NEED_VALIDATION)

    def _know(self, transfer: Transfer) -> None:
        """Where an outgoing queue leads is looked up, or does not matter any more."""
        if isinstance(transfer.name, PrivateFormatName) and transfer.name.guid in self._unknown:
            waiting = self._unknown[transfer.name.guid]
            waiting.pop(transfer, None)
            if not waiting:
                del self._unknown[transfer.name.guid]

    # Links

    @property
    def _retry_seconds(self) -> float:
        return self._settings.retry_connect_seconds + self._settings.round_trip_delay

    def _begin(self, link: HopLink, *, ping: bool, now: float) -> None:
        """Establish a Protocol Session ([MS-MQQB] 3.1.5.2)."""
        number = link.connection = self.new_number()
        self._connecting[number] = link
        link.retry_at = None
        link.pinged = False
        self._set_states(link, QueueState.WAITING)
        if not ping:
            self._connect(link, number)
            return
        link.state = HopLinkState.PINGING
        self._timers.set(link, now + PING_RESPONSE_SECONDS)
        self._events.append(
            SendPing(
                connection=number,
                host=link.destination.host,
                port=self._settings.peer_ping_port,
                datagram=self._pings.request(number),
            )
        )

    def _connect(self, link: HopLink, number: int) -> None:
        link.state = HopLinkState.CONNECTING
        self._events.append(
            Connect(connection=number, host=link.destination.host, port=self._settings.peer_port)
        )

    def ping_response(self, datagram: bytes, *, now: float) -> None:
        """A datagram came to the port from which a ping was sent."""
        found = self._pings.response(datagram)
        if found is None:
            return
        number, accepted = found
        link = self._connecting[number]
        self._timers.set(link, None)
        if accepted:
            link.pinged = True
            self._connect(link, number)
        else:
            self.failed(number, ConnectionStatus.PING_FAILURE, Hresult.MQ_ERROR, now=now)

    def connected(self, number: int, address: str) -> HopLink | None:
        """A connection was made; None if nobody wants it any more."""
        link = self._connecting.pop(number, None)
        if link is None or self.offline:
            return None
        link.state = HopLinkState.CONNECTED
        self.note_waiting(link.transfers, ConnectionStatus.NONE, address)
        self._set_states(link, QueueState.WAITING)
        return link

    def failed(self, number: int, status: ConnectionStatus, error: int, *, now: float) -> None:
        """A connection could not be made."""
        link = self._connecting.pop(number, None)
        if link is not None:
            self._pings.forget(number)
            self.note_waiting(link.transfers, status, "", error)
            self.down(link, now=now)

    def down(self, link: HopLink, *, now: float) -> None:
        """The connection of a link is gone: try again if messages wait ([MS-MQQB] 3.1.5.9)."""
        link.connection = 0
        self._set_states(link, QueueState.DISCONNECTED)
        if link.has_work and not self.offline:
            link.state = HopLinkState.WAITING
            link.retry_at = now + self._retry_seconds
        else:
            self._rest(link)
        self._timers.set(link, link.retry_at)

    def timer(self, link: HopLink, *, now: float) -> None:
        """No answer to a ping, or the Session Retry Connect Timer ([MS-MQQB] 3.1.6.1)."""
        if link.state is HopLinkState.PINGING:
            status = ConnectionStatus.PING_FAILURE
            self.failed(link.connection, status, Hresult.MQ_ERROR, now=now)
        elif link.has_work and not self.offline:
            # [MS-MQQB] 3.1.5.2.2: no ping before a retry.
            self._begin(link, ping=False, now=now)
        else:
            self._rest(link)

    def _rest(self, link: HopLink) -> None:
        """No connection is needed for now."""
        link.state = HopLinkState.IDLE
        link.retry_at = None
        self._drop_if_unused(link)

    # What people see

    def _set_states(self, link: HopLink, state: QueueState) -> None:
        for transfer in link.transfers:
            if transfer.connection is None:
                self._manager.outgoing.set_state(transfer.queue, state)

    def note_waiting(
        self,
        transfers: Iterable[Transfer],
        status: ConnectionStatus,
        address: str,
        error: int = 0,
    ) -> None:
        """Append to ConnectionHistory of those outgoing queues that have no session."""
        for transfer in transfers:
            if transfer.connection is None:
                self.note(transfer, status, address, error)

    def note(
        self, transfer: Transfer, status: ConnectionStatus, address: str, error: int = 0
    ) -> None:
        """Append to ConnectionHistory of an outgoing queue."""
        self._manager.outgoing.add_history(
            transfer.queue,
            ConnectionHistoryEntry(
                status,
                int(self._manager.state.utc),
                error,
                (address,) if address else (),
            ),
        )
