"""Messages that other machines bring: what protocols call for what they receive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.security.caller import sender_caller
from openmsmq.wire.access_rights import QueueRight
from openmsmq.wire.base_header import INFINITE
from openmsmq.wire.message_class import MessageClass
from openmsmq.wire.message_enums import SenderIdType
from openmsmq.wire.queue_error import AccessDenied
from openmsmq.wire.sid import EVERYONE, SID
from openmsmq.wire.user_message import UserMessage

from .acceptance import refusal
from .access import check_queue_right
from .acknowledgments import acknowledge
from .arrivals import arrival, insert, insert_pending, traits_of
from .expiry import expire_now
from .message import Traits
from .queue import Queue, QueueRole
from .quota import EnqueueStatus, check_room
from .settling import settle
from .tables import Table
from .transactions import OperationType, Transaction

if TYPE_CHECKING:
    from .message import Message
    from .state import State
    from .transfer_info import IncomingTransactionalTransferInfo

_ACCEPTED: Final = MessageClass.ACK_REACH_QUEUE
_STATUS_CLASSES: Final = {
    EnqueueStatus.QUEUE_QUOTA: MessageClass.NACK_Q_EXCEED_QUOTA,
    EnqueueStatus.QUEUE_MANAGER_QUOTA: MessageClass.NACK_Q_EXCEED_QUOTA,
    EnqueueStatus.TIMED_OUT: MessageClass.NACK_REACH_QUEUE_TIMEOUT,
}


class Delivered:
    """What became of messages from elsewhere, in their order.

    `classes` has ACK_REACH_QUEUE for each that is in the queue, else the class of the negative
    acknowledgment; say so once batch `depends` is durable.
    """

    __slots__ = ("classes", "depends")

    def __init__(self, classes: list[MessageClass], depends: int) -> None:
        self.classes = classes
        self.depends = depends


class Incoming:
    """What a protocol does with messages for queues of this machine."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def deliver(
        self,
        queue: Queue,
        messages: Sequence[UserMessage],
        streams: Sequence[IncomingTransactionalTransferInfo] = (),
    ) -> Delivered:
        """Put messages in a queue after all checks; those refused get what they asked for.

        Args:
            queue: their destination.
            messages: checked packets, as they came.
            streams: the state of the transactional streams that they belong to, which is stored
                in the same batch.
        """
        state = self._state
        classes = []
        for message in messages:
            found = self._refuse(queue, message)
            if found is None:
                status, _ = enqueue(state, queue, message, None)
                found = _STATUS_CLASSES.get(status, _ACCEPTED)
            if found is not _ACCEPTED:
                self._tell(message, found)
            classes.append(found)
        for stream in streams:
            queue.incoming[stream.key] = stream
            state.batch.set_row(Table.STREAMS, stream.key, stream.serialize())
        settle(state)
        depends = state.batch_number if state.batch else state.sequence.depends()
        return Delivered(classes, depends)

    def reject(self, message: UserMessage, message_class: MessageClass) -> None:
        """Tell the sender of a message that it could not be delivered, if it wants to know."""
        self._tell(message, message_class)
        settle(self._state)

    def enqueue_message(
        self, queue: Queue, message: UserMessage, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        """Enqueue Message ([MS-MQDMPR] 3.1.7.1.9) without the checks of `deliver`."""
        status, _ = enqueue(self._state, queue, message, transaction)
        settle(self._state)
        return status

    def _refuse(self, queue: Queue, message: UserMessage) -> MessageClass | None:
        found = refusal(queue, message, transactional=message.transactional)
        if found is None and queue.role is not QueueRole.INTERNAL:
            try:
                caller = sender_caller(sender_sid(message))
                check_queue_right(queue, caller, QueueRight.WRITE_MESSAGE)
            except AccessDenied:
                return MessageClass.NACK_ACCESS_DENIED
        return found

    def _tell(self, message: UserMessage, message_class: MessageClass) -> None:
        if traits_of(message) & Traits.NEGATIVE_ARRIVAL:
            acknowledge(self._state, message.packet, message_class)


def sender_sid(message: UserMessage) -> SID | None:
    """The SID that a message names as its sender; None when it names none."""
    kind = message.sender_id_type
    if kind == SenderIdType.SID:
        return SID.parse(memoryview(message.security_id))[0]
    # [MS-MQQB] 3.1.5.8.3: a queue manager as sender counts as Everyone.
    return EVERYONE if kind == SenderIdType.QM else None


def enqueue(
    state: State, queue: Queue, message: UserMessage, transaction: Transaction | None
) -> tuple[EnqueueStatus, Message | None]:
    """Put one message in a queue as it is, if there is room and its time is not over."""
    life = message.time_to_reach_queue
    if life != INFINITE and message.sent_time + life < state.utc:
        return EnqueueStatus.TIMED_OUT, None
    status = check_room(state, queue, len(message.packet))
    if status is not EnqueueStatus.OK:
        return status, None
    arrived = [arrival(message, queue)]
    if transaction is not None:
        transaction.require_active()
        inserted = insert_pending(state, queue, arrived, transaction)
        transaction.add(OperationType.ENQUEUE, inserted)
    else:
        inserted = insert(state, queue, arrived)
        expire_now(state, inserted)
    return EnqueueStatus.OK, inserted[0]
