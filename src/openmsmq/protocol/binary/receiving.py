"""Messages arrive over sessions, and senders hear how far their streams got ([MS-MQQB] 3.1.5.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.order_ack import OrderAck, build_order_ack, recognize_ack

from .backlog import Backlog
from .events import CloseReason
from .peer_connection import Arrived

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.inlet import Inlet, InletOwner
    from openmsmq.core.transfer.outgoing_streams import OutgoingStreams
    from openmsmq.core.transfer.received import Received
    from openmsmq.protocol.carrier import Gate
    from openmsmq.wire.message.user_message import UserMessage
    from openmsmq.wire.names.queue_address import QueueAddress

    from .events import MessagesReceived
    from .peer_connection import PeerConnection


class Receiver:
    """Hands the messages that sessions bring to the queue manager.

    Args:
        gate: holds acknowledgments until what they acknowledge is on disk.
        streams: of transactional messages on their way out, which others acknowledge.
    """

    __slots__ = ("_gate", "_manager", "_released", "_streams", "backlog")

    def __init__(
        self,
        manager: QueueManager,
        gate: Gate,
        streams: OutgoingStreams,
    ) -> None:
        self._manager = manager
        self._gate = gate
        self._streams = streams
        self.backlog = Backlog()
        # Connections that may acknowledge more than before.
        self._released: set[PeerConnection] = set()

    def open_inlet(self, owner: InletOwner) -> Inlet:
        """The way in for a new connection."""
        return self._manager.incoming.open_inlet(owner, acknowledgments=self)

    def receive(self, connection: PeerConnection, event: MessagesReceived, *, now: float) -> None:
        """Hand over the messages of one read; nothing is acknowledged before it is settled."""
        arrived = Arrived(connection, sum(map(len, event.packets)))
        self.backlog.add(connection.address, arrived.size)
        origin = Origin(Transport.BINARY, connection.address, connection.session.remote_guid)
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
            # Nothing is acknowledged before what came before it.
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

    def take_released(self) -> set[PeerConnection]:
        """The connections that may acknowledge more than at the last call."""
        released, self._released = self._released, set()
        return released

    def take(self, message: UserMessage) -> bool:
        """A message to the order queue: whether it is an OrderAck or FinalAck that concerns us."""
        try:
            ack = recognize_ack(message)
        except MalformedPacket:
            return False
        if ack is None:
            return False
        sequence, number = ack.tx_sequence_id.value, ack.tx_sequence_number
        # Not the peer of the session: routers may bring it another way than the messages went.
        source = message.source_queue_manager
        if isinstance(ack, OrderAck):
            return self._streams.acknowledged(sequence, number, source)
        return self._streams.final(sequence, number, ack.message_id, message.message_class, source)

    def send_order_ack(
        self, connection: PeerConnection, ack: OrderAck, destination: QueueAddress, *, now: float
    ) -> None:
        """Order Ack Send Timer: tell the sender how far its stream got."""
        packet = build_order_ack(
            ack,
            destination,
            source_queue_manager=self._manager.identifier,
            message_id=self._manager.outgoing.new_message_id(),
            sent_time=int(self._manager.utc),
        )
        connection.session.send(packet, None, now=now)
