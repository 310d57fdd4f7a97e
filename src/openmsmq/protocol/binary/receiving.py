"""Receiving messages over sessions, and acknowledging their streams ([MS-MQQB] 3.1.5.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.order_ack import OrderAck, build_order_ack, recognize_ack

from .events import CloseReason

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.incoming.inlet import Inlet, InletOwner
    from openmsmq.core.transfer.incoming.received import Received
    from openmsmq.core.transfer.outgoing.streams import OutgoingStreams
    from openmsmq.protocol.carrier import Gate
    from openmsmq.wire.message.user_message import UserMessage

    from .events import MessagesReceived
    from .order_acks import OrderAckTimer
    from .peer_connection import PeerConnection


# Members of enumerations take long to look up, so often used ones are constants.
_BINARY: Final = Transport.BINARY


class Backlog:
    """Received bytes that are not checked or not on disk yet; reading pauses above a limit.

    Counted by address, so that a peer does not reset its count by connecting again.
    """

    __slots__ = ("_by_address", "total")

    def __init__(self) -> None:
        self.total = 0
        self._by_address: dict[str, int] = {}

    def of(self, address: str) -> int:
        """The bytes of an address."""
        return self._by_address.get(address, 0)

    def add(self, address: str, size: int) -> None:
        """Messages of this size arrived."""
        self._by_address[address] = self.of(address) + size
        self.total += size

    def remove(self, address: str, size: int) -> None:
        """Messages of this size are on disk, or were refused."""
        self.total -= size
        remaining = self._by_address.pop(address) - size
        assert remaining >= 0, "more bytes left than came"  # noqa: S101
        if remaining:
            self._by_address[address] = remaining


class Arrived:
    """One read of a session; its messages are not processed yet, or wait for a batch.

    `count` and `recoverable` are the messages of the session up to its last one, `size` is the
    size of its own bytes.
    """

    __slots__ = ("connection", "count", "depends", "recoverable", "size")

    def __init__(self, connection: PeerConnection, size: int) -> None:
        self.connection = connection
        self.count = connection.session.received.count
        self.recoverable = connection.session.received.recoverable
        self.size = size
        self.depends = 0

    def join(self, later: Arrived) -> None:
        """A later read waits for the same batch."""
        self.count = later.count
        self.recoverable = later.recoverable
        self.size += later.size


class Receiver:
    """Passes the messages of sessions to the queue manager.

    Args:
        gate: holds acknowledgments until the acknowledged messages are on disk.
        streams: of outgoing transactional messages, which peers acknowledge.
        released: receives the connections that may acknowledge more than before.
    """

    __slots__ = ("_gate", "_manager", "_released", "_streams", "backlog")

    def __init__(
        self,
        manager: QueueManager,
        gate: Gate,
        streams: OutgoingStreams,
        released: set[PeerConnection],
    ) -> None:
        self._manager = manager
        self._gate = gate
        self._streams = streams
        self.backlog = Backlog()
        self._released = released

    def open_inlet(self, owner: InletOwner) -> Inlet:
        """The inlet of a new connection."""
        return self._manager.incoming.open_inlet(owner, acknowledgments=self)

    def receive(self, connection: PeerConnection, event: MessagesReceived, *, now: float) -> None:
        """Pass on the messages of one read; they are not acknowledged before they are settled."""
        size = sum([sum(map(len, run.packets)) for run in event.runs])
        arrived = Arrived(connection, size)
        self.backlog.add(connection.address, arrived.size)
        origin = Origin(_BINARY, connection.address, connection.session.remote_guid)
        received = connection.inlet.receive(event.runs, origin, arrived)
        if received is not None:
            self.settle(arrived, received, now=now)

    def settle(self, arrived: Arrived, received: Received, *, now: float) -> None:
        """Let a read be acknowledged once its batch is on disk; close a session that lost one."""
        connection = arrived.connection
        session = connection.session
        for progress in received.progress:
            connection.order_acks.received(progress, depends=received.progress_depends, now=now)
        if not received.complete:
            self.backlog.remove(connection.address, arrived.size)
            reason = CloseReason.CHECK_FAILED if received.fault else CloseReason.NO_ROOM
            session.close(reason, received.fault)
            return
        self._hold(connection, arrived, received.depends)
        session.acknowledge(now=now)

    def _hold(self, connection: PeerConnection, arrived: Arrived, depends: int) -> None:
        waiting = connection.arrived
        if waiting is None and depends <= self._gate.durable_number:
            self._release(arrived)
        elif waiting is not None and depends <= waiting.depends:
            # Nothing is acknowledged before earlier messages are.
            waiting.join(arrived)
        else:
            arrived.depends = depends
            connection.arrived = arrived
            self._gate.when_durable(depends, self._on_disk, arrived)

    def _on_disk(self, arrived: Arrived) -> None:
        connection = arrived.connection
        if connection.arrived is arrived:
            connection.arrived = None
        self._release(arrived)
        if not connection.session.closed:
            self._released.add(connection)

    def _release(self, arrived: Arrived) -> None:
        """Everything up to the end of a read may be acknowledged."""
        self.backlog.remove(arrived.connection.address, arrived.size)
        arrived.connection.session.received.release(arrived.count, arrived.recoverable)

    def take(self, message: UserMessage) -> bool:
        """Process a message to the order queue; return whether it is an ack that concerns us."""
        try:
            ack = recognize_ack(message)
        except MalformedPacket:
            return False
        if ack is None:
            return False
        sequence, number = ack.tx_sequence_id.value, ack.tx_sequence_number
        # Not the peer of the session: routers may use another route than that of the messages.
        source = message.source_queue_manager
        if isinstance(ack, OrderAck):
            return self._streams.acknowledged(sequence, number, source)
        return self._streams.final(sequence, number, ack.message_id, message.message_class, source)

    def send_order_ack(
        self, connection: PeerConnection, ack: OrderAck, timer: OrderAckTimer, *, now: float
    ) -> None:
        """Order Ack Send Timer: report the progress of a stream to its sender."""
        peer = connection.session.remote_guid
        destination, speaker = timer.destination, timer.speaker
        if self._manager.incoming.route_order_ack(ack, destination, peer, speaker):
            return
        packet = build_order_ack(
            ack,
            destination,
            source_queue_manager=speaker,
            message_id=self._manager.outgoing.new_message_id(),
            sent_time=int(self._manager.utc),
        )
        connection.session.send(packet, None, now=now)
