"""Acceptance of messages by queues: their kind, and the room left by quotas."""

from enum import IntEnum
from typing import Final

from openmsmq.core.management.drops import OVER_QUOTA
from openmsmq.core.model.message import Message
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.state import State
from openmsmq.directory.objects import UNLIMITED
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage

# The unit of every quota. [MS-MQDMPR] 3.1.1.1 says bytes for QueueManagerQuota, the management
# tools of Windows show the same number in kilobytes.
QUOTA_UNIT: Final = 1024
DISK_FULL: Final = "the disk with the data directory is full"
_CODES: Final = {
    MessageClass.NACK_NOT_TRANSACTIONAL_Q: Hresult.MQ_ERROR_TRANSACTION_USAGE,
    MessageClass.NACK_NOT_TRANSACTIONAL_MSG: Hresult.MQ_ERROR_TRANSACTION_USAGE,
    MessageClass.NACK_BAD_SIGNATURE: Hresult.MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,
    MessageClass.NACK_BAD_ENCRYPTION: Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED,
}
_REASONS: Final = {
    MessageClass.NACK_NOT_TRANSACTIONAL_Q: "the queue takes messages without a transaction only",
    MessageClass.NACK_NOT_TRANSACTIONAL_MSG: "the queue takes messages in a transaction only",
    MessageClass.NACK_BAD_SIGNATURE: "the queue takes authenticated messages only",
    MessageClass.NACK_BAD_ENCRYPTION: "its privacy level or encryption is not accepted",
}


class EnqueueStatus(IntEnum):
    """What Enqueue Message returns ([MS-MQDMPR] 3.1.7.1.9)."""

    OK = 0
    QUEUE_QUOTA = 1
    QUEUE_MANAGER_QUOTA = 2
    TIMED_OUT = 3


# Members of enumerations take long to look up, so often used ones are constants.
_ROOM: Final = EnqueueStatus.OK
_CONNECTOR: Final = QueueRole.CONNECTOR
_PRIVATE_ONLY: Final = QueuePrivacyLevel.BODY
_ANY_PRIVACY: Final = QueuePrivacyLevel.OPTIONAL


def refusal(queue: Queue, message: UserMessage, *, transactional: bool) -> MessageClass | None:
    """Why the queue does not take the message, as the class of a negative acknowledgment."""
    properties = queue.properties
    if transactional != properties.transactional:
        if transactional:
            return MessageClass.NACK_NOT_TRANSACTIONAL_Q
        return MessageClass.NACK_NOT_TRANSACTIONAL_MSG
    if queue.role is _CONNECTOR:
        # Signatures and encryption for a foreign computer are checked by that computer.
        return None
    # [MS-MQQB] 3.1.5.8.3: a message that was not decrypted is rejected.
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


def exceeds(quota: int, used_bytes: int, size: int) -> bool:
    """Whether `size` bytes more would exceed the quota."""
    return quota != UNLIMITED and used_bytes + size > quota * QUOTA_UNIT


def quota_used_up(state: State) -> bool:
    """Whether less than one unit of the quota of the queue manager is left.

    Choice: some shorter messages would still fit, but few programs send only such messages.
    """
    return exceeds(state.manager.queue_manager_quota, _counted_bytes(state), QUOTA_UNIT)


def _counted_bytes(state: State) -> int:
    """The size that counts against the quota of the queue manager."""
    return state.totals.bytes + state.totals.delayed_bytes


def check_room(state: State, queue: Queue, size: int) -> EnqueueStatus:
    """Check the room for messages of `size` bytes; the quota of the queue manager comes first."""
    return check_growth(state, queue, size, size)


def check_growth(state: State, queue: Queue, size: int, manager_size: int) -> EnqueueStatus:
    """Like `check_room`, with different sizes for the queue and the queue manager."""
    if state.local.throttled or exceeds(
        state.manager.queue_manager_quota, _counted_bytes(state), manager_size
    ):
        return EnqueueStatus.QUEUE_MANAGER_QUOTA
    used_bytes = queue.total_bytes + queue.reserved_bytes
    if exceeds(queue.properties.quota, used_bytes, size):
        return EnqueueStatus.QUEUE_QUOTA
    return _ROOM


def no_room(state: State, queue: Queue, size: int, status: EnqueueStatus) -> QueueError:
    """The refusal of messages that a queue does not take."""
    code = Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
    if state.local.throttled:
        return QueueError(
            code,
            DISK_FULL,
            cause="What is left on the disk is kept for receiving and deleting.",
            remedy="Free space on the disk, or receive messages; then messages are accepted again.",
        )
    if status is EnqueueStatus.QUEUE_QUOTA:
        return QueueError(
            code,
            f"{size} bytes more are over the quota of the queue",
            remedy=(
                "Receive or purge messages, or raise the quota with "
                f"`openmsmq queue set '.\\{queue.path}' --quota KB`."
            ),
        )
    return QueueError(
        code,
        f"{size} bytes more are over the quota of the queue manager",
        remedy="Receive or purge messages, or raise quota_kilobytes in the configuration.",
    )


def count_refused(state: State, queue: Queue, reason: str, count: int) -> None:
    """Count refused messages for a queue; `reason` is the one told to the sender."""
    counters = queue.counters
    counters.refused[reason] = counters.refused.get(reason, 0) + count
    counters.last_refused = state.utc
    state.marks.note(queue)


def journal_takes(state: State, journal: Queue, message: Message) -> bool:
    """Whether a journal takes a copy: its own quota and that of all journals together.

    [MS-MQDMPR] 3.1.1.12: over the quota the copy is discarded, the delivery stands.
    """
    owner = journal.parent
    quota = owner.properties.journal_quota if owner is not None else journal.properties.quota
    if exceeds(quota, journal.total_bytes, message.size) or exceeds(
        state.manager.journal_quota, state.totals.journal_bytes, message.size
    ):
        packet = packet_of(state, message)
        state.outbox.drop("journal copy", journal.path, packet, OVER_QUOTA)
        return False
    return True


def dead_letters_have_room(dead_letters: Queue, size: int) -> bool:
    """Whether a dead-letter queue takes a message."""
    return not exceeds(dead_letters.properties.quota, dead_letters.total_bytes, size)
