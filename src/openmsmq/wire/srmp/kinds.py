"""What an SRMP message is: class, decision and receipt entries must fit ([MC-MQSRM] 3.1.5.1.5)."""

from enum import Enum, auto
from typing import Final

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.packets.order_ack import ACK_LABEL

from .envelope import Envelope
from .formats import ACTION_PREFIX

STREAM_RECEIPT_ACTION: Final = f"{ACTION_PREFIX}{ACK_LABEL}"
# The classes of negative receipts. The list of the specification lacks NACK_RECEIVE_REJECTED,
# which [MC-MQSRM] 3.1.7.3.1 sends.
NEGATIVE_RECEIPT_CLASSES: Final = frozenset(
    {
        MessageClass.NACK_DELETED,
        MessageClass.NACK_Q_DELETED,
        MessageClass.NACK_Q_PURGED,
        MessageClass.NACK_RECEIVE_TIMEOUT,
        MessageClass.NACK_RECEIVE_REJECTED,
    }
)
COMMITMENT_CLASSES: Final = NEGATIVE_RECEIPT_CLASSES | {MessageClass.ACK_RECEIVE}


class MessageKind(Enum):
    """The kinds of SRMP messages; UNKNOWN ones are ignored."""

    USER = auto()
    DELIVERY_RECEIPT = auto()
    COMMITMENT_RECEIPT = auto()
    STREAM_RECEIPT = auto()
    FINAL_STREAM_RECEIPT = auto()
    UNKNOWN = auto()


# By the entries that are there: <deliveryReceipt>, <commitmentReceipt>, <streamReceipt>.
_KINDS: Final = {
    (False, False, False): MessageKind.USER,
    (True, False, False): MessageKind.DELIVERY_RECEIPT,
    (False, True, False): MessageKind.COMMITMENT_RECEIPT,
    (False, False, True): MessageKind.STREAM_RECEIPT,
    (False, True, True): MessageKind.FINAL_STREAM_RECEIPT,
}
_OF_STREAMS: Final = (MessageKind.STREAM_RECEIPT, MessageKind.FINAL_STREAM_RECEIPT)
_CLASSES: Final[dict[MessageKind, frozenset[MessageClass]]] = {
    MessageKind.USER: frozenset({MessageClass.NORMAL}),
    MessageKind.DELIVERY_RECEIPT: frozenset({MessageClass.ACK_REACH_QUEUE}),
    MessageKind.COMMITMENT_RECEIPT: COMMITMENT_CLASSES,
    MessageKind.STREAM_RECEIPT: frozenset({MessageClass.ORDER_ACK}),
    MessageKind.FINAL_STREAM_RECEIPT: COMMITMENT_CLASSES,
    MessageKind.UNKNOWN: frozenset(),
}


def kind_of(envelope: Envelope) -> MessageKind:
    """What the message with this envelope is."""
    commitment = envelope.commitment_receipt
    entries = (
        envelope.delivery_receipt is not None,
        commitment is not None,
        envelope.stream_receipt is not None,
    )
    kind = _KINDS.get(entries, MessageKind.UNKNOWN)
    message_class = 0 if envelope.msmq is None else envelope.msmq.message_class
    fits = message_class in _CLASSES[kind]
    if commitment is not None:
        fits = fits and commitment.positive == (message_class == MessageClass.ACK_RECEIVE)
    if kind in _OF_STREAMS:
        fits = fits and envelope.path.action == STREAM_RECEIPT_ACTION
    return kind if fits else MessageKind.UNKNOWN
