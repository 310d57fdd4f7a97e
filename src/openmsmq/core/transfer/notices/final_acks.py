"""FinalAck and OrderAck: the fate of transactional messages ([MS-MQQB] 3.1.7.17, 3.1.6.9).

A FinalAck is a recoverable message to the order queue of the source, in the batch of the event
that it reports. An OrderAck is a message when the messages came over other queue managers.
"""

from functools import partial
from uuid import UUID

from openmsmq.core.messages.system_messages import send_system_message
from openmsmq.core.queues.connectors import foreign_site_of
from openmsmq.core.routing.current_topology import current_topology
from openmsmq.core.state import State
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import QueueAddress, QueueAddressType
from openmsmq.wire.packets.order_ack import (
    FINAL_ACK_CLASSES,
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    direct_order_queue,
    order_queue,
)
from openmsmq.wire.scalars import GUID_NULL, guid

from .srmp_receipts import came_by_srmp, send_final_receipt


def send_final_ack(state: State, packet: bytes, message_class: int) -> None:
    """Report the fate of a transactional message to its source."""
    message = UserMessage(packet)
    if came_by_srmp(message):
        send_final_receipt(state, message, message_class)
        return
    header = message.transaction_header
    source = message.source_queue_manager
    if (
        header is None
        or not header.tx_sequence_number
        or source == state.manager.identifier
        or message_class not in FINAL_ACK_CLASSES
    ):
        return
    ack = FinalAck(
        header.tx_sequence_id,
        header.tx_sequence_number,
        min(header.previous_tx_sequence_number, header.tx_sequence_number - 1),
        source,
        message.message_id,
    )
    address = order_queue_of(state, message)
    build = partial(_build, state, ack, message_class, address, speaker_of(state, message))
    send_system_message(state, address, build, what="final acknowledgment", about=message)


def _build(
    state: State,
    ack: FinalAck,
    message_class: int,
    address: QueueAddress,
    speaker: UUID,
    ordinal: int,
) -> bytes:
    return build_final_ack(
        ack,
        MessageClass(message_class),
        address,
        source_queue_manager=speaker,
        message_id=ordinal,
        sent_time=int(state.utc),
    )


def speaker_of(state: State, message: UserMessage) -> UUID:
    """The queue manager that acknowledges: the foreign computer, at its connector."""
    computer = guid(message.target)
    own = state.manager.identifier
    if computer in (GUID_NULL, own) or foreign_site_of(state, computer) is None:
        return own
    return computer


def route_order_ack(
    state: State, ack: OrderAck, address: QueueAddress, peer: UUID, speaker: UUID
) -> bool:
    """Send an OrderAck on the route in the directory; False if it must take the session.

    Args:
        address: the order queue of the source.
        speaker: the queue manager that acknowledges.
        peer: the queue manager over which the messages came. If that is the source itself, or
            the source is unknown, the OrderAck takes the session with it.
    """
    if address.guid is None or address.guid == peer:
        return False
    topology = current_topology(state)
    if topology is None or address.guid not in topology.machines:
        return False
    build = partial(_build_order_ack, state, ack, address, speaker)
    send_system_message(state, address, build, what="order acknowledgment", about=None)
    return True


def _build_order_ack(
    state: State, ack: OrderAck, address: QueueAddress, speaker: UUID, ordinal: int
) -> bytes:
    return build_order_ack(
        ack,
        address,
        source_queue_manager=speaker,
        message_id=ordinal,
        sent_time=int(state.utc),
    )


def order_queue_of(state: State, message: UserMessage) -> QueueAddress:
    """The order queue of the source of a message, by address if the message was addressed so."""
    destination = message.destination_queue
    source = message.source_queue_manager
    if destination is not None and destination.type == QueueAddressType.DIRECT:
        host = state.addresses.get(source)
        if host is not None:
            return direct_order_queue(host)
    return order_queue(source)
