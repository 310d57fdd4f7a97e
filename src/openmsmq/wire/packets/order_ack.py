"""OrderAck and FinalAck: acknowledgments of transactional messages ([MS-MQQB] 2.2.4, 2.2.5).

Both are UserMessages to the order queue of the original sender; the body says what arrived.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import Delivery
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    QueueAddressType,
    direct_address,
    private_address,
)
from openmsmq.wire.scalars import TX_SEQUENCE_ID_SIZE, TxSequenceID, guid

from .base_header import BaseHeaderFlags

_SH: Final = int(BaseHeaderFlags.SH)
ORDER_ACK_BODY: Final = Struct("<8sII20x")
FINAL_ACK_BODY: Final = Struct("<8sII16sI")
ACK_BODY_SIZE: Final = 0x24
ACK_LABEL: Final = "QM Ordering Ack"
ORDER_QUEUE_NUMBER: Final = 4
ORDER_QUEUE_NAME: Final = "\\PRIVATE$\\order_queue$"
MIN_FINAL_ACK_CLASS: Final = 0x4000
MAX_PREVIOUS_NUMBER: Final = 0xFFFFFFFE
FINAL_ACK_CLASSES: Final = frozenset(
    {
        MessageClass.ACK_RECEIVE,
        MessageClass.NACK_NOT_TRANSACTIONAL_Q,
        MessageClass.NACK_BAD_DST_Q,
        MessageClass.NACK_ACCESS_DENIED,
        MessageClass.NACK_BAD_ENCRYPTION,
        MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER,
        MessageClass.NACK_BAD_SIGNATURE,
        MessageClass.NACK_Q_EXCEED_QUOTA,
        MessageClass.NACK_Q_DELETED,
        MessageClass.NACK_Q_PURGED,
        MessageClass.NACK_RECEIVE_TIMEOUT,
        # [MS-MQQB] 3.1.7.17 adds these.
        MessageClass.NACK_DELETED,
        MessageClass.NACK_REACH_QUEUE_TIMEOUT,
        MessageClass.NACK_HOP_COUNT_EXCEEDED,
        MessageClass.NACK_NOT_TRANSACTIONAL_MSG,
        MessageClass.NACK_RECEIVE_REJECTED,
    }
)


@dataclass(frozen=True, slots=True)
class OrderAck:
    """All messages of a sequence up to a number were received, in order."""

    tx_sequence_id: TxSequenceID
    tx_sequence_number: int

    @property
    def tx_previous_sequence_number(self) -> int:
        return self.tx_sequence_number - 1

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read the body of an OrderAck."""
        end = require(buf, offset, ACK_BODY_SIZE, "OrderAck")
        _, number, _ = ORDER_ACK_BODY.unpack_from(buf, offset)
        _check_number(number, "OrderAck", offset)
        return cls(TxSequenceID.parse(buf, offset)[0], number), end

    def serialize(self) -> bytes:
        return ORDER_ACK_BODY.pack(
            self.tx_sequence_id.serialize(),
            self.tx_sequence_number,
            self.tx_previous_sequence_number,
        )


@dataclass(frozen=True, slots=True)
class FinalAck:
    """One message of a sequence was rejected, or has left its destination queue."""

    tx_sequence_id: TxSequenceID
    tx_sequence_number: int
    tx_previous_sequence_number: int
    source_guid: UUID
    message_id: int

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        """Read the body of a FinalAck."""
        end = require(buf, offset, ACK_BODY_SIZE, "FinalAck")
        _, number, previous, source, message_id = FINAL_ACK_BODY.unpack_from(buf, offset)
        _check_number(number, "FinalAck", offset)
        if previous > MAX_PREVIOUS_NUMBER:
            raise MalformedPacket(
                "FinalAck.TxPreviousSequenceNumber",
                offset + 12,
                f"{previous} is before no other number",
            )
        sequence = TxSequenceID.parse(buf, offset)[0]
        return cls(sequence, number, previous, guid(source), message_id), end

    def serialize(self) -> bytes:
        return FINAL_ACK_BODY.pack(
            self.tx_sequence_id.serialize(),
            self.tx_sequence_number,
            self.tx_previous_sequence_number,
            self.source_guid.bytes_le,
            self.message_id,
        )


def _check_number(number: int, packet: str, offset: int) -> None:
    if number == 0:
        raise MalformedPacket(
            f"{packet}.TxSequenceNumber", offset + TX_SEQUENCE_ID_SIZE, "0 is not in a sequence"
        )


def order_queue(queue_manager: UUID) -> QueueAddress:
    """The order queue of a queue manager, by its GUID."""
    return private_address(queue_manager, ORDER_QUEUE_NUMBER)


def direct_order_queue(ip_address: str) -> QueueAddress:
    """The order queue of a queue manager, by its address."""
    return direct_address(f"TCP:{ip_address}{ORDER_QUEUE_NAME}")


def is_order_queue(address: QueueAddress) -> bool:
    """Whether this is the order queue of some queue manager."""
    if address.type == QueueAddressType.DIRECT:
        return (address.direct or "").lower().endswith(ORDER_QUEUE_NAME.lower())
    return (
        address.type == QueueAddressType.PRIVATE_ON_OTHER and address.number == ORDER_QUEUE_NUMBER
    )


def build_order_ack(
    ack: OrderAck,
    destination_queue: QueueAddress,
    *,
    source_queue_manager: UUID,
    message_id: int,
    sent_time: int,
) -> bytes:
    """The packet of an OrderAck to an order queue."""
    return build_user_message(
        destination_queue=destination_queue,
        source_queue_manager=source_queue_manager,
        message_id=message_id,
        sent_time=sent_time,
        priority=0,
        message_class=MessageClass.ORDER_ACK,
        label=ACK_LABEL,
        body=ack.serialize(),
    )


def build_final_ack(
    ack: FinalAck,
    message_class: MessageClass,
    destination_queue: QueueAddress,
    *,
    source_queue_manager: UUID,
    message_id: int,
    sent_time: int,
) -> bytes:
    """The packet of a FinalAck to an order queue.

    Raises:
        ValueError: a FinalAck cannot be of this class.
    """
    if message_class not in FINAL_ACK_CLASSES:
        raise ValueError(f"a FinalAck cannot be of class {message_class}")
    return build_user_message(
        destination_queue=destination_queue,
        source_queue_manager=source_queue_manager,
        message_id=message_id,
        sent_time=sent_time,
        priority=0,
        delivery_mode=Delivery.RECOVERABLE,
        message_class=message_class,
        label=ACK_LABEL,
        body=ack.serialize(),
    )


def recognize_ack(message: UserMessage) -> OrderAck | FinalAck | None:
    """Return what a message to an order queue acknowledges; None for any other message.

    Whether the order queue is that of this queue manager is for the caller to find out.

    Raises:
        MalformedPacket: it is an acknowledgment, but its body is not one.
    """
    # [MS-MQQB] 3.1.5.1.1: these properties together, and nothing else, make an acknowledgment.
    destination = message.destination_queue
    # A SessionHeader that follows on the stream says nothing about the message.
    if message.base_flags & ~_SH or destination is None or not is_order_queue(destination):
        return None
    if message.label != ACK_LABEL:
        return None
    if message.message_class >= MIN_FINAL_ACK_CLASS:
        return FinalAck.parse(message.body)[0]
    if message.message_class == MessageClass.ORDER_ACK and message.message_size == ACK_BODY_SIZE:
        return OrderAck.parse(message.body)[0]
    return None
