"""Messages arrive over sessions, and senders hear how far their streams got ([MS-MQQB] 3.1.5.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.order_ack import OrderAck, build_order_ack, recognize_ack

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.outgoing_streams import OutgoingStreams
    from openmsmq.wire.message.user_message import UserMessage
    from openmsmq.wire.message.user_message_run import UserMessageRun
    from openmsmq.wire.names.queue_address import QueueAddress

    from .peer_connection import PeerConnection


class Receiver:
    """Hands the messages that sessions bring to the queue manager."""

    __slots__ = ("_counters", "_manager", "_streams")

    def __init__(
        self, manager: QueueManager, streams: OutgoingStreams, counters: dict[str, int]
    ) -> None:
        self._manager = manager
        self._streams = streams
        self._counters = counters

    def receive(
        self, connection: PeerConnection, runs: list[UserMessageRun], *, now: float
    ) -> int | None:
        """Deal with the messages of one read.

        Returns:
            The batch that must be durable before they are acknowledged; None if there was no room
            for all of them, so that the session must end.
        """
        origin = Origin(Transport.BINARY, connection.address, connection.session.remote_guid)
        received = self._manager.incoming.receive(
            runs, origin, acknowledgments=self, count=self._count
        )
        for stream, order_queue in received.progress:
            connection.order_acks.received(
                stream, order_queue, depends=received.progress_depends, now=now
            )
        return received.depends if received.complete else None

    def _count(self, what: str) -> None:
        self._counters[what] = self._counters.get(what, 0) + 1

    def take(self, message: UserMessage, origin: Origin) -> bool:
        """A message to the order queue: whether it is an OrderAck or FinalAck that concerns us."""
        try:
            ack = recognize_ack(message)
        except MalformedPacket:
            return False
        if ack is None:
            return False
        sequence, number = ack.tx_sequence_id.value, ack.tx_sequence_number
        peer = origin.queue_manager
        if isinstance(ack, OrderAck):
            return self._streams.acknowledged(sequence, number, peer)
        return self._streams.final(sequence, number, ack.message_id, message.message_class, peer)

    def send_order_ack(
        self, connection: PeerConnection, ack: OrderAck, destination: QueueAddress, *, now: float
    ) -> None:
        """Order Ack Send Timer: tell the sender how far its stream got."""
        state = self._manager.state
        ordinal = state.ordinals.take(1, state.outbox) + 1
        packet = build_order_ack(
            ack,
            destination,
            source_queue_manager=state.manager.identifier,
            message_id=ordinal & 0xFFFFFFFF,
            sent_time=int(state.utc),
        )
        connection.session.send(packet, None, now=now)
