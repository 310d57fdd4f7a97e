"""The causes and remedies of failed messages, by message class."""

from typing import Final, NamedTuple

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.hresult_catalogue import explain
from openmsmq.wire.codes.message_class import MEANINGS, MessageClass, class_name, http_status


class Remedy(NamedTuple):
    """The meaning and the remedy of a failure.

    Args:
        reason: the class as text.
        cause: the likely cause, as a sentence.
        action: what to do first, as a sentence.
        replay: whether sending the messages again after that makes sense.
        fix_first: whether they fail in the same way until that is done.
    """

    reason: str
    cause: str
    action: str
    replay: bool
    fix_first: bool = False

    @property
    def retry_now(self) -> bool:
        """Whether sending the messages again makes sense at present."""
        return self.replay and not self.fix_first

    @property
    def in_short(self) -> str:
        """The reason without the name of its class."""
        return self.reason.rpartition(" (")[0]


def refusal_words(name: str) -> str:
    """Why a queue refused messages, as text, from the reason told to their sender.

    Args:
        name: of an error, for programs, or of a message class, for other machines.
    """
    message_class = MessageClass.__members__.get(name)
    if message_class is not None:
        return MEANINGS[message_class]
    code = Hresult.__members__.get(name)
    if code is None:
        return name
    text = explain(code).text.removesuffix(".")
    return text[:1].lower() + text[1:]


# Classes with the same failure in the catalogue of result codes.
_CODES: Final = {
    MessageClass.NACK_BAD_DST_Q: Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
    MessageClass.NACK_ACCESS_DENIED: Hresult.MQ_ERROR_ACCESS_DENIED,
    MessageClass.NACK_Q_EXCEED_QUOTA: Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES,
    MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER: (
        Hresult.MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION
    ),
}
_OTHERS: Final = {
    MessageClass.NACK_DELETED: (
        "An administrator deleted the message from an outgoing queue.",
        "Ask who purged the outgoing queue and why.",
    ),
    MessageClass.NACK_REACH_QUEUE_TIMEOUT: (
        "The destination was not reachable for as long as the message was valid.",
        "Look at `openmsmq outgoing` for the state of the connection and its last error.",
    ),
    MessageClass.NACK_HOP_COUNT_EXCEEDED: (
        "Routing servers send the message in a circle.",
        "Check the routing of the sites, or address the queue directly.",
    ),
    MessageClass.NACK_BAD_SIGNATURE: (
        "The message was changed on its way, or signed with another key.",
        "Check the certificate of the sender and its registration at the destination.",
    ),
    MessageClass.NACK_BAD_ENCRYPTION: (
        "The destination has new keys, or the body was changed on its way.",
        "Renew the keys of the destination in the directory.",
    ),
    MessageClass.NACK_COULD_NOT_ENCRYPT: (
        "The sending queue manager has no key of the destination.",
        "Publish the keys of the destination, or send without encryption.",
    ),
    MessageClass.NACK_NOT_TRANSACTIONAL_Q: (
        "The message was sent in a transaction and the queue is a plain one.",
        "Send it without a transaction, or make the queue transactional.",
    ),
    MessageClass.NACK_NOT_TRANSACTIONAL_MSG: (
        "The message was sent without a transaction and the queue is transactional.",
        "Send it in a transaction, or use a plain queue.",
    ),
    MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED: (
        "The sending machine was installed anew and has another identity.",
        "Make sure that the old installation no longer runs.",
    ),
    MessageClass.NACK_MESSAGE_TOO_LARGE: (
        "The destination takes smaller messages than this one.",
        "Make the message smaller, or send its parts.",
    ),
    MessageClass.NACK_Q_DELETED: (
        "The queue was deleted while messages were in it.",
        "Find out whether the queue was deleted on purpose; create it again if not.",
    ),
    MessageClass.NACK_Q_PURGED: (
        "An administrator or a program purged the queue.",
        "Ask who purged the queue; the messages may have been removed on purpose.",
    ),
    MessageClass.NACK_RECEIVE_TIMEOUT: (
        "No application received the message within its time.",
        "Check that the receiver runs and keeps up with the queue.",
    ),
    MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER: (
        "The message was still at the sender when its whole time was over.",
        "Look at `openmsmq outgoing` for the state of the connection and its last error.",
    ),
    MessageClass.NACK_RECEIVE_REJECTED: (
        "The receiving application refused the message.",
        "Look for its reason in the log of the application, and repair the message.",
    ),
}
# Sending these again, unchanged, gives the same failure.
_FUTILE: Final = frozenset(
    {
        MessageClass.NACK_MESSAGE_TOO_LARGE,
        MessageClass.NACK_NOT_TRANSACTIONAL_MSG,
        MessageClass.NACK_NOT_TRANSACTIONAL_Q,
        MessageClass.NACK_DELETED,
        MessageClass.NACK_Q_PURGED,
        MessageClass.NACK_BAD_SIGNATURE,
    }
)
# These fail in the same way until the destination, its keys or the route to it is repaired.
_FIX_FIRST: Final = frozenset(
    {
        MessageClass.NACK_BAD_DST_Q,
        MessageClass.NACK_ACCESS_DENIED,
        MessageClass.NACK_HOP_COUNT_EXCEEDED,
        MessageClass.NACK_BAD_ENCRYPTION,
        MessageClass.NACK_COULD_NOT_ENCRYPT,
        MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER,
        MessageClass.NACK_Q_DELETED,
        MessageClass.NACK_RECEIVE_REJECTED,
    }
)
_UNEXPLAINED: Final = (
    "The queue manager that kept it did not say why.",
    "Look for the message id in the log of the queue manager.",
)


def remedy(code: int) -> Remedy:
    """The meaning and the remedy of a class."""
    name = class_name(code)
    status = http_status(code) if code not in MEANINGS else None
    if status:
        cause, action = f"The web server answered with status {status}.", "Look at its log."
        return Remedy(f"the web server refused it ({name})", cause, action, replay=True)
    if code in _CODES:
        entry = explain(_CODES[MessageClass(code)])
        cause, action = entry.cause, entry.remedy
    else:
        cause, action = _OTHERS.get(code, _UNEXPLAINED)  # type: ignore[call-overload]  # any class
    reason = MEANINGS.get(code, "of an unknown class") if code else "without a reason"
    return Remedy(
        f"{reason} ({name})",
        cause,
        action,
        replay=code not in _FUTILE,
        fix_first=code in _FIX_FIRST,
    )
