"""The effects of the reason for which a message leaves its queue ([MS-MQDMPR] 3.1.7.2.1).

The reason is a message class. It determines journal copies, dead letters and acknowledgments.
"""

from collections.abc import Sequence
from typing import Final

from openmsmq.core.events import MessagesDeleted, MessagesLeftUnread
from openmsmq.core.management.counters import reason_name
from openmsmq.core.management.drops import OVER_QUOTA
from openmsmq.core.model.message import (
    NEVER,
    RECOVERABLE,
    TRAITS_ON_DELETION,
    TRANSACTIONAL,
    Message,
    PositionState,
    Traits,
)
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.acceptance import dead_letters_have_room, journal_takes
from openmsmq.core.queues.creation import drop_if_unused
from openmsmq.core.rows.packets import forget_packet, packet_of
from openmsmq.core.state import State
from openmsmq.core.tracing import note_messages
from openmsmq.wire.codes.message_class import NEGATIVE_BIT, RECEIVE_STAGE_BIT, MessageClass
from openmsmq.wire.history_record import Happening
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import source_of

from .positions import count_decided, count_messages, duplicate, reslot

ACK_RECEIVE: Final = int(MessageClass.ACK_RECEIVE)
_DELETED: Final = PositionState.DELETED
_NR: Final = int(Traits.NEGATIVE_RECEIVE)
_NA: Final = int(Traits.NEGATIVE_ARRIVAL)
_PR: Final = int(Traits.POSITIVE_RECEIVE)
_PA: Final = int(Traits.POSITIVE_ARRIVAL)
_NJ: Final = int(Traits.NEGATIVE_JOURNALING)
_PJ: Final = int(Traits.POSITIVE_JOURNALING)
_JOURNALING: Final = _NJ | _PJ
# The kinds of queues that are a final destination; other queues only keep messages.
_DESTINATIONS: Final = frozenset((QueueRole.USER, QueueRole.SUBQUEUE, QueueRole.CONNECTOR))
# Choice: a plain message is a dead letter when its time runs out or the receiver rejects it.
# Purging and deleting a queue make dead letters of transactional messages only, whose source
# is responsible for them until they are received.
_PLAIN_DEAD_LETTERS: Final = frozenset(
    (MessageClass.NACK_RECEIVE_TIMEOUT, MessageClass.NACK_RECEIVE_REJECTED)
)
# [MC-MQSRM] 3.1.5.2.1.1: one that came by SRMP is a dead letter even when it is purged.
_PURGED: Final = frozenset((MessageClass.NACK_DELETED, MessageClass.NACK_Q_PURGED))
_AH: Final = int(UserHeaderFlags.AH)


def delete_messages(
    state: State,
    queue: Queue,
    messages: Sequence[Message],
    reason: int,
    *,
    acknowledged: bool = False,
) -> None:
    """Finish the removal, for `reason`, of messages that are no longer in the lanes or locked.

    With `acknowledged` another queue manager has sent the administration acknowledgments.
    """
    journal = _journal_of(queue) if reason == ACK_RECEIVE else None
    # The destination sends the final acknowledgment.
    decides = queue.role is not QueueRole.OUTGOING
    special: list[Message] = []
    reported: list[Message] = []
    stored: list[int] = []
    size = 0
    for message in messages:
        message.state = _DELETED
        message.holder = None
        size += message.size
        if message.expires != NEVER:
            state.expiry.stop(message)
        traits = message.traits
        deletion_traits = traits & TRAITS_ON_DELETION
        if deletion_traits or journal is not None:
            reported.append(message)
            # A transactional message without a history asks for no final acknowledgment.
            history = message.history if decides else None
            if deletion_traits != TRANSACTIONAL or journal is not None or history is not None:
                special.append(message)
                continue
        if traits & RECOVERABLE:
            stored.append(message.key)
        forget_packet(state, message)
    _count_deleted(state, queue, messages, size, reason)
    if stored:
        state.outbox.batch.delete_many(stored)
    for message in special:
        _delete_special(state, queue, message, reason, journal, acknowledged=acknowledged)
    if queue.role is QueueRole.SUBQUEUE:
        drop_if_unused(state, queue)
    event = MessagesDeleted
    if reason & NEGATIVE_BIT:
        state.counters.deleted_messages.add((reason_name(reason),), len(messages))
        event, reported = MessagesLeftUnread, list(messages)
    if reported:
        depends = state.outbox.changed()
        state.outbox.tell(event(queue=queue, messages=reported, reason=reason, depends=depends))


def _count_deleted(
    state: State, queue: Queue, messages: Sequence[Message], size: int, reason: int
) -> None:
    """Account for messages of `size` bytes that left: totals, counters, timers and the history."""
    if queue.outgoing is not None:
        if state.forwarded.addresses:
            state.forwarded.remove(messages)
        count_decided(state, queue, messages)
    if state.schedule.entries:
        state.schedule.stop_all(messages)
    count_messages(state, queue, -len(messages), -size)
    queue.count_deleted(reason, len(messages))
    if reason == ACK_RECEIVE:
        queue.counters.last_received = state.utc
    note_messages(state, _happening(queue, reason), queue, messages, reason)


def _happening(queue: Queue, reason: int) -> int:
    """The effects of messages leaving a queue for a reason."""
    if reason & NEGATIVE_BIT:
        return Happening.REMOVED
    return Happening.RECEIVED if queue.outgoing is None else Happening.ACKNOWLEDGED


def _journal_of(queue: Queue) -> Queue | None:
    """The journal for received messages, if target journaling is on; subqueues share that of their
    queue."""
    owner = queue.family if queue.role is QueueRole.SUBQUEUE else queue
    return owner.journal if owner.properties.journaling else None


def _delete_special(
    state: State,
    queue: Queue,
    message: Message,
    reason: int,
    journal: Queue | None,
    *,
    acknowledged: bool,
) -> None:
    """Delete one message that asks for copies or acknowledgments."""
    targets: list[tuple[Queue, int]] = []
    if journal is not None and journal_takes(state, journal, message):
        targets.append((journal, 0))
    if queue.role in _DESTINATIONS:
        targets += _at_destination(state, message, reason)
        _acknowledge(state, message, reason)
        if message.traits & TRANSACTIONAL and _wants_final_ack(message):
            state.to_finalize.append((packet_of(state, message), reason))
    elif queue.role is QueueRole.OUTGOING:
        targets += _at_source(state, message, reason)
        if reason & NEGATIVE_BIT and not acknowledged:
            _acknowledge(state, message, reason)
    if not targets:
        if message.traits & RECOVERABLE:
            state.outbox.batch.delete(message.key)
        forget_packet(state, message)
        return
    # Further copies first: they are made from the packet that the first place then takes over.
    for target, message_class in targets[1:]:
        packet = packet_of(state, message)
        duplicate(state, message, packet, target, message_class=message_class)
    target, message_class = targets[0]
    reslot(state, message, target, message_class=message_class)


def _at_destination(state: State, message: Message, reason: int) -> list[tuple[Queue, int]]:
    """Source journaling of messages that were sent on this machine, and dead letters."""
    if not message.traits & _JOURNALING:
        return []
    if message.transactional:
        # [MS-MQQB] 3.1.5.7: the source decides; for others the final acknowledgment reports it.
        if source_of(packet_of(state, message)) != state.identity:
            return []
        return _at_source(state, message, reason)
    if message.traits & _NJ and (
        reason in _PLAIN_DEAD_LETTERS or (reason in _PURGED and _came_by_srmp(state, message))
    ):
        return _dead_letter(state, message, reason)
    return []


def _came_by_srmp(state: State, message: Message) -> bool:
    return bool(UserMessage(packet_of(state, message)).flags & _AH)


def _at_source(state: State, message: Message, reason: int) -> list[tuple[Queue, int]]:
    """The copy that the machine that sent the message keeps."""
    if reason & NEGATIVE_BIT:
        if message.traits & _NJ:
            return _dead_letter(state, message, reason)
    elif message.traits & _PJ:
        journal = state.machine_journal
        if journal_takes(state, journal, message):
            return [(journal, 0)]
    return []


def _dead_letter(state: State, message: Message, reason: int) -> list[tuple[Queue, int]]:
    target = _dead_letter_queue(state, message)
    if dead_letters_have_room(target, message.size):
        state.counters.dead_letters.add((reason_name(reason),))
        return [(target, reason)]
    state.outbox.drop("dead letter", target.path, packet_of(state, message), OVER_QUOTA)
    return []


def _dead_letter_queue(state: State, message: Message) -> Queue:
    """The dead-letter queue of the application if it takes the message, else that of the system."""
    history = message.history
    if history is not None and history.deadletter_queue:
        own = state.paths.get(history.deadletter_queue.casefold())
        if own is not None and own.properties.transactional == message.transactional:
            return own
    return state.xact_deadletter if message.transactional else state.deadletter


def _wants_final_ack(message: Message) -> bool:
    """[MS-MQQB] 3.1.7.2.2: the source keeps a copy until it knows the fate, or asks without one."""
    if message.traits & _JOURNALING:
        return True
    return message.history is not None and message.history.final_ack_required


def _acknowledge(state: State, message: Message, reason: int) -> None:
    """Queue the administration acknowledgment that the message asks for."""
    if reason & NEGATIVE_BIT:
        wanted = _NR if reason & RECEIVE_STAGE_BIT else _NA
    else:
        wanted = _PR if reason == ACK_RECEIVE else _PA
    if message.traits & wanted:
        state.to_acknowledge.append((packet_of(state, message), reason))
