"""Carrying: the session of each outgoing queue, and sending through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.scalars import GUID_NULL

from .events import CloseReason
from .status import CLOSE_STATUS

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.carrier import Gate
    from openmsmq.protocol.timer_heap import TimerHeap

    from .connections import Connections
    from .hop_links import HopLink
    from .peer_connection import PeerConnection
    from .sending import OutgoingTransfers
    from .session_finder import SessionFinder
    from .transfer import Transfer


# Members of enumerations take long to look up, so often used ones are constants.
_CONNECTED: Final = QueueState.CONNECTED


class Carrying:
    """Gives each outgoing queue with messages a session, and sends through it.

    Args:
        transfers: the outgoing queues.
        finder: makes and finds sessions.
        connections: notified of connections that have output.
        waiting: connections to look at after the next flush.
    """

    __slots__ = (
        "_connections",
        "_finder",
        "_gate",
        "_manager",
        "_timers",
        "_transfers",
        "_waiting",
    )

    def __init__(
        self,
        manager: QueueManager,
        gate: Gate,
        timers: TimerHeap,
        transfers: OutgoingTransfers,
        finder: SessionFinder,
        connections: Connections,
        waiting: set[PeerConnection],
    ) -> None:
        self._manager = manager
        self._gate = gate
        self._timers = timers
        self._transfers = transfers
        self._finder = finder
        self._connections = connections
        self._waiting = waiting

    def available(self, queue: Queue, now: float, depends: int = 0) -> None:
        """Message Position Available ([MS-MQQB] 3.1.7.12): some wait for batch `depends`."""
        transfer = self._transfers.find_transfer(queue)
        if transfer is None or not transfer.outgoing.may_transmit:
            return
        if transfer.connection is not None:
            self._leave_old_way(transfer, transfer.connection)
        connection = transfer.connection
        if connection is not None:
            if transfer.outgoing.state is not _CONNECTED:
                self._manager.outgoing.change(
                    queue, OutgoingInput.OPENED, address=connection.address
                )
            if depends > self._gate.durable_number:
                self._waiting.add(connection)
            else:
                self.pump(connection, now)
        elif queue.lanes.count and not self._finder.offline:
            connection = self._finder.find(transfer, now=now)
            self._update_transfer(transfer)
            if connection is not None:
                self._attach(transfer, connection)
                self.pump(connection, now)

    def _leave_old_way(self, transfer: Transfer, connection: PeerConnection) -> bool:
        """Leave the session if the directory has changed, and the route with it."""
        if transfer.destination == GUID_NULL:
            return False
        outgoing = self._manager.outgoing
        version = outgoing.topology_version
        if version == transfer.topology_version:
            return False
        transfer.topology_version = version
        destination = outgoing.find_destination(transfer.queue)
        hops = destination.next_hops if destination is not None else ()
        peer = connection.session.remote_guid
        if not hops or any(hop.queue_manager == peer for hop in hops):
            return False
        outgoing.change(transfer.queue, OutgoingInput.CLOSING)
        self._transfers.detach(transfer, connection)
        self._finder.forget(transfer)
        outgoing.change(transfer.queue, OutgoingInput.CLOSED)
        return True

    def paused(self, queue: Queue) -> None:
        """An outgoing queue must not send for now."""
        transfer = self._transfers.find_transfer(queue)
        if transfer is not None and transfer.connection is not None:
            transfer.connection.session.announce_pause()
            self._connections.update(transfer.connection)

    def forget(self, queue: Queue) -> None:
        """An outgoing queue was deleted."""
        transfer = self._transfers.forget(queue)
        if transfer is not None:
            self._timers.set(transfer, None)
            if transfer.connection is not None:
                del transfer.connection.transfers[transfer]
            self._finder.forget(transfer)

    def _attach(self, transfer: Transfer, connection: PeerConnection) -> None:
        transfer.connection = connection
        transfer.published_keys = None
        connection.transfers[transfer] = None
        transfer.stream.connected()
        session = connection.session
        host = connection.link.hop.host if connection.link is not None else connection.address
        transfer.outgoing.next_hops = (NextHop(host, session.remote_guid, connection.address),)
        # A direct name leads to the queue manager that answers there.
        destination = transfer.destination
        outgoing = self._manager.outgoing
        outgoing.set_destination(
            transfer.queue, destination if destination != GUID_NULL else session.remote_guid
        )
        transfer.hops = ()
        outgoing.change(transfer.queue, OutgoingInput.OPENED, address=connection.address)

    def opened(self, connection: PeerConnection, now: float) -> None:
        """A session is open: the outgoing queues that waited for it use it."""
        self._finder.opened(connection)
        for transfer in list(connection.waiting):
            if transfer.connection is None:
                self._attach(transfer, connection)
                if self._leave_old_way(transfer, connection):
                    self.available(transfer.queue, now)
        self.pump(connection, now)
        # Other queues may have waited for this queue manager, too.
        for transfer in self._finder.leading_to(connection):
            if transfer.connection is None:
                self.available(transfer.queue, now)

    def detach(self, connection: PeerConnection, reason: CloseReason, now: float) -> None:
        """Undelivered messages of a session go back in place; its queues look for another one."""
        outgoing = self._manager.outgoing
        link = connection.link
        transfers = list(connection.transfers)
        for transfer in transfers:
            outgoing.change(transfer.queue, OutgoingInput.CLOSING)
        self._transfers.release(connection)
        status = CLOSE_STATUS.get(reason, ConnectionStatus.UNKNOWN_FAILURE)
        words = "" if reason in CLOSE_STATUS else f"the session ended: {reason}"
        address = connection.address
        if reason is CloseReason.IDLE:
            for transfer in transfers:
                outgoing.change(transfer.queue, OutgoingInput.CLOSED)
        else:
            for transfer in transfers:
                outgoing.change(
                    transfer.queue,
                    OutgoingInput.CLOSED,
                    status=status,
                    reason=words,
                    address=address,
                )
        for transfer in transfers:
            self._update_transfer(transfer)
        if link is not None:
            if reason is not CloseReason.IDLE:
                self._finder.broke(link, status, words, address)
            self._finder.down(link, now=now)
        for transfer in transfers:
            if transfer.link is not link or link is None:
                if not transfer.stream.has_work:
                    outgoing.change(transfer.queue, OutgoingInput.RESTED)
                self.available(transfer.queue, now)

    def pump(self, connection: PeerConnection, now: float) -> None:
        """Send what the outgoing queues of a connection have."""
        if self._transfers.pump(connection, now=now):
            self._waiting.add(connection)
        self._update_transfers(connection)
        self._connections.update(connection)

    def go_on(self, connection: PeerConnection, now: float) -> None:
        """There is room again: send messages that had found none."""
        if connection.full:
            self.pump(connection, now)
        else:
            self._update_transfers(connection)

    def _update_transfers(self, connection: PeerConnection) -> None:
        for transfer in connection.transfers:
            self._update_transfer(transfer)

    def _update_transfer(self, transfer: Transfer) -> None:
        times = (transfer.stream.resend_at, transfer.validate_at)
        self._timers.set(transfer, min([time for time in times if time is not None], default=None))

    # Timers

    def link_timer(self, link: HopLink, now: float) -> None:
        """A link retries its connection, or its queues look for another route."""
        for transfer in self._finder.timer(link, now=now):
            self.available(transfer.queue, now)
        self._finder.rest_if_passed_over(link, now=now)

    def transfer_timer(self, transfer: Transfer, now: float) -> None:
        """Messages are due to be sent again, or a destination to be looked up again."""
        resend_at = transfer.stream.resend_at
        if resend_at is not None and resend_at <= now:
            transfer.stream.resend_due()
        if transfer.validate_at is not None and transfer.validate_at <= now:
            transfer.validate_at = None
        self._update_transfer(transfer)
        self.available(transfer.queue, now)
