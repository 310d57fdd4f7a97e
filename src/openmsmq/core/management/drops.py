"""The reasons for dropped messages, copies and acknowledgments, as counted."""

from typing import Final

from openmsmq.wire.codes.message_class import NEGATIVE_BIT, MessageClass

NEGATIVE_CLASSES: Final = tuple(
    message_class.name for message_class in MessageClass if message_class & NEGATIVE_BIT
)
OVER_QUOTA: Final = "over the quota"
LOOP: Final = "it has been forwarded before"
TOO_MANY_OUTGOING: Final = "too many outgoing queues"
IS_TRANSACTIONAL: Final = "the queue is transactional"
NO_QUEUE_URL: Final = "not the URL of a queue"
HOST_NOT_ALLOWED: Final = "the host is not in srmp_receipt_hosts"
RETRIES_FAILED: Final = "every retry has failed"
CANCELLED: Final = "cancelled"
_SYSTEM_MESSAGES: Final = (
    "acknowledgment",
    "final acknowledgment",
    "order acknowledgment",
    "report",
    "stream receipt",
    "final stream receipt",
)
_RECEIPTS: Final = ("acknowledgment", "stream receipt", "final stream receipt")
DROPS: Final = (
    *(("message", reason) for reason in NEGATIVE_CLASSES),
    ("message", OVER_QUOTA),
    ("message", LOOP),
    ("journal copy", OVER_QUOTA),
    ("dead letter", OVER_QUOTA),
    ("poison message", RETRIES_FAILED),
    ("delayed message", CANCELLED),
    *(
        (what, reason)
        for what in _SYSTEM_MESSAGES
        for reason in (OVER_QUOTA, TOO_MANY_OUTGOING, IS_TRANSACTIONAL)
    ),
    *((what, reason) for what in _RECEIPTS for reason in (NO_QUEUE_URL, HOST_NOT_ALLOWED)),
)
"""All known combinations of object and reason."""
