"""Which messages a queue takes, whoever brings them."""

from openmsmq.wire.hresult import Hresult
from openmsmq.wire.message_class import MessageClass
from openmsmq.wire.queue_enums import QueuePrivacyLevel
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.user_message import UserMessage

from .queue import Queue

_CODES = {
    MessageClass.NACK_NOT_TRANSACTIONAL_Q: Hresult.MQ_ERROR_TRANSACTION_USAGE,
    MessageClass.NACK_NOT_TRANSACTIONAL_MSG: Hresult.MQ_ERROR_TRANSACTION_USAGE,
    MessageClass.NACK_BAD_SIGNATURE: Hresult.MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,
    MessageClass.NACK_BAD_ENCRYPTION: Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
}
_REASONS = {
    MessageClass.NACK_NOT_TRANSACTIONAL_Q: "the queue takes messages without a transaction only",
    MessageClass.NACK_NOT_TRANSACTIONAL_MSG: "the queue takes messages in a transaction only",
    MessageClass.NACK_BAD_SIGNATURE: "the queue takes authenticated messages only",
    MessageClass.NACK_BAD_ENCRYPTION: "the privacy level of the queue refuses the message",
}


def refusal(queue: Queue, message: UserMessage, *, transactional: bool) -> MessageClass | None:
    """Why the queue does not take the message, as the class of a negative acknowledgment."""
    properties = queue.properties
    if transactional != properties.transactional:
        if transactional:
            return MessageClass.NACK_NOT_TRANSACTIONAL_Q
        return MessageClass.NACK_NOT_TRANSACTIONAL_MSG
    if properties.authentication and not message.authentication_level:
        return MessageClass.NACK_BAD_SIGNATURE
    privacy = properties.privacy_level
    if privacy is not QueuePrivacyLevel.OPTIONAL:
        encrypted = message.encrypted or message.privacy_level != 0
        if encrypted != (privacy is QueuePrivacyLevel.BODY):
            return MessageClass.NACK_BAD_ENCRYPTION
    return None


def check_acceptance(queue: Queue, message: UserMessage, *, transactional: bool) -> None:
    """Refuse a message that the queue does not take.

    Raises:
        QueueError: with the reason.
    """
    reason = refusal(queue, message, transactional=transactional)
    if reason is not None:
        raise QueueError(_CODES[reason], f"{queue.path}: {_REASONS[reason]}")
