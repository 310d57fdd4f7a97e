"""The session of each outgoing queue, or the attempts to open one.

[MS-MQQB] 3.1.5.2: find the next hops, ping if configured, connect, and try again later.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.scalars import GUID_NULL

from .events import Connect, Event, SendPing
from .hop_links import HopLink, HopLinkAction, HopLinkInput, HopLinkState
from .ping import PingRequests
from .settings import PING_RESPONSE_SECONDS, BinarySettings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from openmsmq.core.model.outgoing_queue import NextHop
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.timer_heap import TimerHeap

    from .peer_connection import PeerConnection
    from .transfer import Transfer


class SessionFinder:
    """Open sessions by peer, and links to next hops without one."""

    __slots__ = (
        "_by_guid",
        "_by_host",
        "_connecting",
        "_direct",
        "_events",
        "_last_number",
        "_named",
        "_outgoing",
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
        self._outgoing = manager.outgoing
        self._settings = settings
        self._timers = timers
        self._events = events
        # Whether no connection may be opened.
        self.offline = not manager.outgoing.online
        self._pings = PingRequests(manager.identifier, server_class=settings.server_class)
        self._last_number = 0
        # Links by the host of direct names, and those to a known queue manager.
        self._direct: dict[str, HopLink] = {}
        self._named: dict[NextHop, HopLink] = {}
        # Links by the number of the connection that they are opening.
        self._connecting: dict[int, HopLink] = {}
        # Open sessions by queue manager and by address.
        self._by_guid: dict[UUID, PeerConnection] = {}
        self._by_host: dict[str, PeerConnection] = {}
        # Outgoing queues to a queue manager whose address is unknown.
        self._unknown: dict[UUID, dict[Transfer, None]] = {}

    def new_number(self) -> int:
        """A number for a connection, never used before."""
        self._last_number += 1
        return self._last_number

    # Open sessions

    def opened(self, connection: PeerConnection) -> None:
        """A session is open: it serves all next hops that are the same peer."""
        self._by_guid.setdefault(connection.session.remote_guid, connection)
        self._by_host.setdefault(connection.address.lower(), connection)
        if connection.link is not None:
            self._by_host.setdefault(connection.link.hop.host.lower(), connection)

    def closed(self, connection: PeerConnection, others: Iterable[PeerConnection]) -> None:
        """A session is over; another open one to the same peer takes its place."""
        guid = connection.session.remote_guid
        if self._by_guid.get(guid) is connection:
            del self._by_guid[guid]
        for host in self._hosts_of(connection):
            del self._by_host[host]
        for other in others:
            if other.session.open and other.session.remote_guid == guid:
                self.opened(other)

    def _hosts_of(self, connection: PeerConnection) -> list[str]:
        return [host for host, other in self._by_host.items() if other is connection]

    def leading_to(self, connection: PeerConnection) -> list[Transfer]:
        """The outgoing queues that lead to the peer of a session, as far as known."""
        guid = connection.session.remote_guid
        hosts = self._hosts_of(connection)
        links = [self._direct[host] for host in hosts if host in self._direct]
        links += [link for link in self._named.values() if link.hop.queue_manager == guid]
        transfers = [transfer for link in links for transfer in link.transfers]
        return transfers + list(self._unknown.get(guid, ()))

    # Outgoing queues

    def find(self, transfer: Transfer, *, now: float) -> PeerConnection | None:
        """The session that an outgoing queue uses; None while one is being opened."""
        link = transfer.link
        if link is not None and link.state not in (HopLinkState.IDLE, HopLinkState.DUE):
            # Its attempt is in progress, or the next one has its time.
            return self._open_connection(transfer, link.hop)
        self._forget_unknown(transfer)
        if not transfer.hops or link is None or link.state is HopLinkState.IDLE:
            transfer.resolved(self._outgoing.find_destination(transfer.queue))
            if transfer.destination != GUID_NULL:
                transfer.topology_version = self._outgoing.topology_version
        hop = transfer.hops[0] if transfer.hops else None
        connection = self._open_connection(transfer, hop)
        if connection is not None:
            transfer.validate_at = None
            if link is not None and link.hop not in transfer.hops:
                # That was the route before the directory changed: it must not be used again.
                self.forget(transfer)
        elif hop is None:
            self._validate_later(transfer, now)
        else:
            transfer.validate_at = None
            self._use_link(transfer, self._link_to(hop), now)
        return connection

    def _open_connection(self, transfer: Transfer, hop: NextHop | None) -> PeerConnection | None:
        """An open session to the destination itself, or to a next hop."""
        destination = self._by_guid.get(transfer.destination)
        if destination is not None and (hop is None or transfer.may_go_to(transfer.destination)):
            return destination
        if hop is None:
            return None
        if hop.queue_manager == GUID_NULL:
            return self._by_host.get(hop.host.lower())
        return self._by_guid.get(hop.queue_manager)

    def _use_link(self, transfer: Transfer, link: HopLink, now: float) -> None:
        """Wait for the session of a link; start it if it is idle."""
        if transfer.link is not link:
            self.forget(transfer)
            transfer.link = link
            link.transfers[transfer] = None
        ping = self._settings.send_ping
        self._step(link, HopLinkInput.PING if ping else HopLinkInput.CONNECT, now)

    def forget(self, transfer: Transfer) -> None:
        """An outgoing queue was deleted or uses another route."""
        self._forget_unknown(transfer)
        link = transfer.link
        if link is not None:
            transfer.link = None
            del link.transfers[transfer]
            self._drop_if_unused(link)

    def _drop_if_unused(self, link: HopLink) -> None:
        """No queue uses this link any more, and no connection is opened or used."""
        if link.transfers or link.state is not HopLinkState.IDLE:
            return
        if link.hop.queue_manager == GUID_NULL:
            self._direct.pop(link.hop.host.lower(), None)
        else:
            self._named.pop(link.hop, None)

    def _link_to(self, hop: NextHop) -> HopLink:
        if hop.queue_manager == GUID_NULL:
            host = hop.host.lower()
            link = self._direct.get(host)
            if link is None:
                link = self._direct[host] = HopLink(hop)
            return link
        link = self._named.get(hop)
        if link is None:
            link = self._named[hop] = HopLink(hop)
        return link

    def _validate_later(self, transfer: Transfer, now: float) -> None:
        """[MS-MQQB] 3.1.5.2.1: the destination is unknown; look it up again later."""
        if transfer.destination != GUID_NULL:
            self._unknown.setdefault(transfer.destination, {})[transfer] = None
        if transfer.validate_at is None:
            transfer.validate_at = now + self._retry_seconds
            self._outgoing.change(transfer.queue, OutgoingInput.UNRESOLVED)

    def _forget_unknown(self, transfer: Transfer) -> None:
        """The destination of an outgoing queue is looked up again, or no longer matters."""
        waiting = self._unknown.get(transfer.destination)
        if waiting is not None:
            waiting.pop(transfer, None)
            if not waiting:
                del self._unknown[transfer.destination]

    # Links

    @property
    def _retry_seconds(self) -> float:
        return self._settings.retry_connect_seconds + self._settings.round_trip_delay

    def _step(self, link: HopLink, what: HopLinkInput, now: float) -> None:
        """Process an input of a link: carry out the action of its table."""
        action = link.step(what)
        if action is HopLinkAction.SEND_PING:
            self._send_ping(link, now)
        elif action is HopLinkAction.CONNECT:
            self._connect(link)
        elif action is HopLinkAction.RETRY_LATER:
            link.retry_at = now + self._retry_seconds
            self._timers.set(link, link.retry_at)
        elif action is HopLinkAction.TRY_NEXT_HOP:
            self._try_next_hops(link)
        elif action is HopLinkAction.REST:
            self._rest(link)

    def _begin(self, link: HopLink) -> None:
        """Establish a Protocol Session ([MS-MQQB] 3.1.5.2)."""
        link.connection = self.new_number()
        self._connecting[link.connection] = link
        link.retry_at = None
        link.pinged = False
        self._change(link.transfers, OutgoingInput.CONNECTING)

    def _send_ping(self, link: HopLink, now: float) -> None:
        self._begin(link)
        self._timers.set(link, now + PING_RESPONSE_SECONDS)
        self._events.append(
            SendPing(
                connection=link.connection,
                host=link.hop.host,
                port=self._settings.peer_ping_port,
                datagram=self._pings.request(link.connection),
            )
        )

    def _connect(self, link: HopLink) -> None:
        if not link.pinged:
            self._begin(link)
        self._events.append(
            Connect(connection=link.connection, host=link.hop.host, port=self._settings.peer_port)
        )

    def _try_next_hops(self, link: HopLink) -> None:
        """Each outgoing queue tries its next hop; after the last it looks the hops up again."""
        link.retry_at = None
        for transfer in link.transfers:
            transfer.hops = transfer.hops[1:]

    def _rest(self, link: HopLink) -> None:
        """No connection is needed for now."""
        link.retry_at = None
        self._timers.set(link, None)
        for transfer in link.transfers:
            transfer.hops = ()
        self._change(link.transfers, OutgoingInput.RESTED)
        self._drop_if_unused(link)

    def ping_response(self, datagram: bytes, *, now: float) -> None:
        """A datagram arrived on the port from which a ping was sent."""
        answer = self._pings.response(datagram)
        if answer is None:
            return
        number, accepted = answer
        link = self._connecting[number]
        self._timers.set(link, None)
        if accepted:
            link.pinged = True
            self._step(link, HopLinkInput.ANSWERED, now)
        else:
            self.failed(number, ConnectionStatus.PING_FAILURE, now=now)

    def connected(self, number: int, address: str, *, now: float) -> HopLink | None:
        """A connection was opened; None if it is no longer wanted."""
        link = self._connecting.pop(number, None)
        if link is None:
            return None
        if self.offline:
            self.down(link, now=now)
            return None
        self._step(link, HopLinkInput.REACHED, now)
        self._change(link.transfers, OutgoingInput.REACHED, address=address)
        return link

    def failed(self, number: int, status: ConnectionStatus, *, now: float) -> None:
        """A connection could not be opened."""
        link = self._connecting.pop(number, None)
        if link is not None:
            self._pings.forget(number)
            self._change(link.transfers, OutgoingInput.FAILED, status=status)
            self.down(link, now=now)

    def down(self, link: HopLink, *, now: float) -> None:
        """The connection of a link is closed: try again if messages wait ([MS-MQQB] 3.1.5.9)."""
        link.connection = 0
        needed = link.has_work and not self.offline
        self._timers.set(link, None)
        self._step(link, HopLinkInput.BROKE if needed else HopLinkInput.ENDED, now)

    def timer(self, link: HopLink, *, now: float) -> list[Transfer]:
        """No answer to a ping, or the Session Retry Connect Timer ([MS-MQQB] 3.1.6.1).

        Returns:
            The outgoing queues that need a session now.
        """
        if link.state is HopLinkState.PINGING:
            self.failed(link.connection, ConnectionStatus.PING_FAILURE, now=now)
            return []
        if not link.has_work or self.offline:
            self._step(link, HopLinkInput.REST, now)
            return []
        self._step(link, HopLinkInput.RETRY, now)
        return [transfer for transfer in link.transfers if transfer.stream.has_work]

    def rest_if_passed_over(self, link: HopLink, *, now: float) -> None:
        """All outgoing queues of a due link have switched to other next hops."""
        if link.state is HopLinkState.DUE:
            self._step(link, HopLinkInput.REST, now)

    # Information for users

    def established(self, connection: PeerConnection) -> None:
        """The peer has answered the session that this side opens."""
        address = connection.address
        self._change(connection.waiting, OutgoingInput.ESTABLISHED, address=address)

    def broke(self, link: HopLink, status: ConnectionStatus, reason: str, address: str) -> None:
        """A session ended before the outgoing queues of its link could use it."""
        self._change(
            link.transfers, OutgoingInput.FAILED, status=status, reason=reason, address=address
        )

    def _change(
        self,
        transfers: Iterable[Transfer],
        what: OutgoingInput,
        *,
        status: ConnectionStatus | None = None,
        reason: str = "",
        address: str = "",
    ) -> None:
        """Process an input of the outgoing queues that have no session."""
        for transfer in transfers:
            if transfer.connection is None:
                self._outgoing.change(
                    transfer.queue, what, status=status, reason=reason, address=address
                )
