"""Messages enter and leave queues: their places, byte counts and records in the store."""

from collections.abc import Iterable, Sequence

from openmsmq.core.events import OutgoingAvailable
from openmsmq.core.model.message import (
    NEVER,
    RECOVERABLE,
    Message,
    PositionState,
    is_awaiting_final_ack,
    record_of,
)
from openmsmq.core.model.queue import JOURNALS, Queue
from openmsmq.core.state import State
from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK

from .due_times import schedule


def next_lookup_id(state: State, priority: int) -> int:
    """A new SequentialID as a lookup id that sorts by priority, then by arrival."""
    sequence = state.sequence.take(1, state.outbox) + 1
    return (7 - priority) << SEQUENCE_BITS | sequence


def renew_lookup_ids(state: State, messages: Sequence[Message]) -> None:
    """Let messages that are in no lane arrive again, in this order."""
    sequence = state.sequence.take(len(messages), state.outbox)
    for message in messages:
        sequence += 1
        message.lookup_id = message.lookup_id & ~SEQUENCE_MASK | sequence


def changes(state: State, messages: Iterable[Message]) -> int:
    """The batch that stores a change of these messages; 0 if none of them is stored."""
    for message in messages:
        if message.traits & RECOVERABLE:
            return state.outbox.number
    return 0


def count_messages(state: State, queue: Queue, count: int, size: int) -> None:
    """Add the count and size of messages to the totals of the queue; negative: were removed."""
    totals = state.totals
    totals.messages += count
    totals.bytes += size
    queue.total_bytes += size
    state.marks.note(queue)
    if count > 0:
        queue.counters.arrived_messages += count
        queue.counters.arrived_bytes += size
    assert totals.bytes >= queue.total_bytes >= 0, "more bytes left than came"  # noqa: S101
    if queue.outgoing is not None:
        totals.outgoing_messages += count
    elif queue.role in JOURNALS:
        totals.journal_bytes += size


def count_decided(state: State, queue: Queue, messages: Iterable[Message]) -> None:
    """Account for messages that leave an outgoing queue; some may await a final acknowledgment."""
    totals = state.totals
    if totals.awaiting_final_ack and queue.outgoing is not None:
        for message in messages:
            if is_awaiting_final_ack(message):
                totals.awaiting_final_ack -= 1


def touch(state: State, queue: Queue, messages: Sequence[Message]) -> None:
    """Messages became visible: wake readers, or start a transfer."""
    if queue.waiting:
        state.touched.setdefault(queue, []).extend(messages)
    if queue.outgoing is not None:
        depends = max(message.stored for message in messages)
        state.outbox.tell(OutgoingAvailable(queue=queue, depends=depends))


def store_record(state: State, message: Message) -> None:
    """Store the changed record of a stored message."""
    if message.traits & RECOVERABLE:
        state.outbox.batch.update(message.key, record_of(message))
        message.stored = state.outbox.number


def reslot(
    state: State,
    message: Message,
    target: Queue,
    *,
    message_class: int = 0,
    arrived: float | None = None,
    expires: int = NEVER,
    wake: bool = True,
) -> Message:
    """Give a message that left its queue a new place in another one; the packet stays as it is.

    Args:
        arrived: when it arrived, unless that is now.

    Returns:
        The message in its new place. The old record is unchanged since the message left.
    """
    state.forwarded.remove((message,))
    moved = Message(
        message.key,
        next_lookup_id(state, message.priority),
        target,
        message.packet,
        message.size,
        message.traits,
        state.utc if arrived is None else arrived,
        expires,
        PositionState.AVAILABLE,
        0,
    )
    if expires != NEVER:
        state.expiry.start(moved, expires)
    if message.history is not None:
        moved.history = message.history.copy()
    if message_class:
        moved.make_history().message_class = message_class
    store_record(state, moved)
    _settle_in(state, moved, target, wake=wake)
    return moved


def move_now(
    state: State, queue: Queue, message: Message, target: Queue, *, arrived: float | None = None
) -> Message:
    """Move a message that is already hidden from readers into another queue.

    Args:
        arrived: when it arrived there, unless that is now.
    """
    message.state = PositionState.DELETED
    message.holder = None
    state.schedule.stop(message)
    count_messages(state, queue, -1, -message.size)
    queue.counters.moved += 1
    history = message.make_history()
    history.move_count += 1
    history.last_move_time = int(state.utc)
    # [MS-MQRR] 2.2.5.3: it counts the reads and moves that failed in a row.
    history.abort_count = 0
    expires = message.expires
    if expires != NEVER:
        state.expiry.stop(message)
    moved = reslot(state, message, target, arrived=arrived, expires=expires)
    schedule(state, moved)
    return moved


def duplicate(
    state: State, message: Message, packet: bytes, target: Queue, *, message_class: int = 0
) -> Message:
    """Put a copy of a message in another queue."""
    lookup_id = next_lookup_id(state, message.priority)
    copy = Message(
        state.sequence.last,
        lookup_id,
        target,
        packet,
        message.size,
        message.traits,
        state.utc,
        NEVER,
        PositionState.AVAILABLE,
        0,
    )
    if message_class:
        copy.make_history().message_class = message_class
    if copy.traits & RECOVERABLE:
        state.outbox.batch.put(copy.key, record_of(copy), packet)
        copy.stored = state.outbox.number
    state.memory += copy.size
    _settle_in(state, copy, target, wake=True)
    return copy


def _settle_in(state: State, message: Message, queue: Queue, *, wake: bool) -> None:
    queue.lanes.extend([message], [message.lookup_id])
    count_messages(state, queue, 1, message.size)
    if wake:
        touch(state, queue, (message,))


def give_back(state: State, queue: Queue, messages: Sequence[Message]) -> None:
    """Make locked messages visible again, each in its old place."""
    for message in messages:
        queue.unlock(message)
    touch(state, queue, messages)
