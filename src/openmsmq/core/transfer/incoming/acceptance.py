"""Which messages a queue takes."""

from typing import Final

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage

# Members of enumerations take long to look up, so often used ones are constants.
_CONNECTOR: Final = QueueRole.CONNECTOR
_PRIVATE_ONLY: Final = QueuePrivacyLevel.BODY
_ANY_PRIVACY: Final = QueuePrivacyLevel.OPTIONAL

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
    MessageClass.NACK_BAD_ENCRYPTION: "its privacy level or encryption is not accepted",
}


def refusal(queue: Queue, message: UserMessage, *, transactional: bool) -> MessageClass | None:
    """Why the queue does not take the message, as the class of a negative acknowledgment."""
    properties = queue.properties
    if transactional != properties.transactional:
        if transactional:
            return MessageClass.NACK_NOT_TRANSACTIONAL_Q
        return MessageClass.NACK_NOT_TRANSACTIONAL_MSG
    if queue.role is _CONNECTOR:
        # What is signed and encrypted for a foreign computer is the business of that.
        return None
    # [MS-MQQB] 3.1.5.8.3: what has not been decrypted is rejected.
    if message.encrypted:
        return MessageClass.NACK_BAD_ENCRYPTION
    if properties.authentication and not message.authentication_level:
        return MessageClass.NACK_BAD_SIGNATURE
    privacy = properties.privacy_level
    # PrivacyLevel asks for encryption in transfer. The body of a local message does not travel;
    # one that came in the clear was not encrypted, whatever level it names.
    takes_private = privacy is _PRIVATE_ONLY
    if privacy is not _ANY_PRIVACY and message.private_body != takes_private:
        return MessageClass.NACK_BAD_ENCRYPTION
    return None


def check_acceptance(queue: Queue, message: UserMessage, *, transactional: bool) -> None:
    """Refuse a message of a local client that the queue does not take.

    Raises:
        QueueError: with the reason.
    """
    reason = refusal(queue, message, transactional=transactional)
    if reason is not None:
        raise QueueError(_CODES[reason], f"{queue.path}: {_REASONS[reason]}")
