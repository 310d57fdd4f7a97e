"""Stream receipts as packets, for outgoing queues: an OrderAck or a FinalAck to a URL.

The stream that a receipt acknowledges belongs to a queue manager that an OrderAck does not name:
its GUID is the extension of the packet.
"""

from uuid import UUID

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import Delivery
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress, direct_address
from openmsmq.wire.packets.order_ack import ACK_BODY_SIZE, ACK_LABEL, FinalAck, OrderAck
from openmsmq.wire.scalars import GUID_SIZE, MessageIdentifier, guid

from .envelope import NULL_CORRELATION, StreamId
from .kinds import COMMITMENT_CLASSES


def build_stream_receipt(
    stream_id: StreamId,
    last_ordinal: int,
    send_receipts_to: str,
    *,
    queue: QueueAddress = NO_QUEUE,
    source_queue_manager: UUID,
    message_id: int,
    sent_time: int,
) -> bytes:
    """The packet of a stream receipt.

    Args:
        last_ordinal: the number of the last message that was accepted.
        send_receipts_to: the URL that the first message of the stream gave.
        queue: the queue that the stream goes to.
    """
    return build_user_message(
        destination_queue=direct_address(send_receipts_to),
        response_queue=queue,
        source_queue_manager=source_queue_manager,
        message_id=message_id,
        sent_time=sent_time,
        priority=0,
        message_class=MessageClass.ORDER_ACK,
        label=ACK_LABEL,
        extension=stream_id.guid.bytes_le,
        body=OrderAck(stream_id.tx_sequence_id, last_ordinal).serialize(),
    )


def build_final_stream_receipt(
    stream_id: StreamId,
    ordinal: int,
    identifier: MessageIdentifier,
    message_class: int,
    send_receipts_to: str,
    *,
    queue: QueueAddress = NO_QUEUE,
    source_queue_manager: UUID,
    message_id: int,
    sent_time: int,
) -> bytes:
    """The packet of a final stream receipt.

    Args:
        ordinal: the number of the message that left its queue.
        identifier: of that message.
        message_class: how it left.

    Raises:
        ValueError: a message that left in this way has no final stream receipt.
    """
    if message_class not in COMMITMENT_CLASSES:
        raise ValueError(f"there is no final stream receipt of class 0x{message_class:04X}")
    ack = FinalAck(
        stream_id.tx_sequence_id, ordinal, ordinal - 1, identifier.source, identifier.ordinal
    )
    return build_user_message(
        destination_queue=direct_address(send_receipts_to),
        response_queue=queue,
        source_queue_manager=source_queue_manager,
        message_id=message_id,
        sent_time=sent_time,
        priority=0,
        delivery_mode=Delivery.RECOVERABLE,
        message_class=message_class,
        label=ACK_LABEL,
        extension=stream_id.guid.bytes_le,
        body=ack.serialize(),
    )


def is_final_stream_receipt(message: UserMessage) -> bool:
    """Whether an acknowledgment is about a stream: it has no correlation identifier."""
    return (
        message.label == ACK_LABEL
        and message.correlation_id == NULL_CORRELATION
        and message.message_size == ACK_BODY_SIZE
    )


def stream_guid_of(message: UserMessage) -> UUID:
    """The queue manager that made the stream which a receipt acknowledges.

    Raises:
        ValueError: the packet does not say.
    """
    extension = message.extension
    if len(extension) == GUID_SIZE:
        return guid(extension)
    if message.message_class != MessageClass.ORDER_ACK:
        return FinalAck.parse(message.body)[0].source_guid
    raise ValueError("the stream receipt does not name the queue manager of its stream")
