"""Message classes: what a message is, or what it says about another one ([MS-MQMQ] 2.2.18.1.6)."""

from enum import IntEnum
from typing import Final

NEGATIVE_BIT: Final = 0x8000
RECEIVE_STAGE_BIT: Final = 0x4000
HTTP_STATUS_BIT: Final = 0x2000
# The bits that an application may use in a class of its own.
APPLICATION_CLASS_MASK: Final = 0xE1FF
# Choice: nine bits, as the mask above has them, so that every HTTP status fits.
_CODE_MASK: Final = 0x01FF


class MessageClass(IntEnum):
    """MQMSG_CLASS_*; a packet may carry any other u16, so helpers here take an `int`."""

    NORMAL = 0x0000
    REPORT = 0x0001
    ACK_REACH_QUEUE = 0x0002
    ORDER_ACK = 0x00FF
    ACK_RECEIVE = 0x4000
    NACK_BAD_DST_Q = 0x8000
    NACK_DELETED = 0x8001
    NACK_REACH_QUEUE_TIMEOUT = 0x8002
    NACK_Q_EXCEED_QUOTA = 0x8003
    NACK_ACCESS_DENIED = 0x8004
    NACK_HOP_COUNT_EXCEEDED = 0x8005
    NACK_BAD_SIGNATURE = 0x8006
    NACK_BAD_ENCRYPTION = 0x8007
    NACK_COULD_NOT_ENCRYPT = 0x8008
    NACK_NOT_TRANSACTIONAL_Q = 0x8009
    NACK_NOT_TRANSACTIONAL_MSG = 0x800A
    NACK_UNSUPPORTED_CRYPTO_PROVIDER = 0x800B
    NACK_SOURCE_COMPUTER_GUID_CHANGED = 0x800C
    NACK_MESSAGE_TOO_LARGE = 0x800D
    NACK_Q_DELETED = 0xC000
    NACK_Q_PURGED = 0xC001
    NACK_RECEIVE_TIMEOUT = 0xC002
    NACK_RECEIVE_TIMEOUT_AT_SENDER = 0xC003
    NACK_RECEIVE_REJECTED = 0xC004


MEANINGS: Final[dict[int, str]] = {
    MessageClass.NORMAL: "a message of an application",
    MessageClass.REPORT: "a hop on the way of a traced message",
    MessageClass.ACK_REACH_QUEUE: "the message arrived in the destination queue",
    MessageClass.ORDER_ACK: "transactional messages arrived in order",
    MessageClass.ACK_RECEIVE: "an application received the message",
    MessageClass.NACK_BAD_DST_Q: "the destination queue does not exist for this sender",
    MessageClass.NACK_DELETED: "an administrator removed the message before it arrived",
    MessageClass.NACK_REACH_QUEUE_TIMEOUT: "the time to reach the queue ran out on the way",
    MessageClass.NACK_Q_EXCEED_QUOTA: "the quota of the destination queue or machine is used up",
    MessageClass.NACK_ACCESS_DENIED: "the sender may not write to the destination queue",
    MessageClass.NACK_HOP_COUNT_EXCEEDED: "the message passed too many routing servers",
    MessageClass.NACK_BAD_SIGNATURE: "the signature does not match the message",
    MessageClass.NACK_BAD_ENCRYPTION: "the destination could not decrypt the body",
    MessageClass.NACK_COULD_NOT_ENCRYPT: "the sending queue manager could not encrypt the body",
    MessageClass.NACK_NOT_TRANSACTIONAL_Q: "a transactional message for a plain queue",
    MessageClass.NACK_NOT_TRANSACTIONAL_MSG: "a plain message for a transactional queue",
    MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER: "the destination lacks the crypto provider",
    MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED: "the sending queue manager has a new GUID",
    MessageClass.NACK_MESSAGE_TOO_LARGE: "the message is larger than the destination takes",
    MessageClass.NACK_Q_DELETED: "the queue was deleted before the message was received",
    MessageClass.NACK_Q_PURGED: "the queue was purged before the message was received",
    MessageClass.NACK_RECEIVE_TIMEOUT: "the time to be received ran out in the queue",
    MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER: "the time to be received ran out at the sender",
    MessageClass.NACK_RECEIVE_REJECTED: "the receiving application rejected the message",
}

# [MS-MQQB] 3.1.7.15: administration queues do not get these unless SendInsecureNacks is set.
INSECURE_NACKS: Final = frozenset(
    {
        MessageClass.NACK_BAD_DST_Q,
        MessageClass.NACK_ACCESS_DENIED,
        MessageClass.NACK_BAD_SIGNATURE,
        MessageClass.NACK_BAD_ENCRYPTION,
        MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER,
    }
)

_POSITIVE_ACKNOWLEDGMENTS: Final = frozenset(
    {MessageClass.ACK_REACH_QUEUE, MessageClass.ACK_RECEIVE}
)

_NAMES: Final = {int(known): f"MQMSG_CLASS_{known.name}" for known in MessageClass}


def is_negative(message_class: int) -> bool:
    """Whether the class reports a failure."""
    return message_class & NEGATIVE_BIT != 0


def is_receive_stage(message_class: int) -> bool:
    """Whether the class speaks of receiving, after arrival."""
    return message_class & RECEIVE_STAGE_BIT != 0


def is_acknowledgment(message_class: int) -> bool:
    """Whether the class tells an administration queue what became of another message."""
    return is_negative(message_class) or message_class in _POSITIVE_ACKNOWLEDGMENTS


def is_application_class(message_class: int) -> bool:
    """Whether an application may set this class itself."""
    return message_class & ~APPLICATION_CLASS_MASK == 0


def http_status(message_class: int) -> int | None:
    """The HTTP status that the class carries, if it carries one."""
    return message_class & _CODE_MASK if message_class & HTTP_STATUS_BIT else None


def class_name(message_class: int) -> str:
    """`MQMSG_CLASS_NORMAL` and so on; a class without a name in hexadecimal digits."""
    return _NAMES.get(message_class) or f"0x{message_class:04X}"
