"""Enqueue Message ([MS-MQDMPR] 3.1.7.1.9): messages arrive in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import (
    ACKNOWLEDGMENT_SHIFT,
    NEVER,
    RECOVERABLE,
    STAGED,
    TRANSACTIONAL,
    Message,
    PositionState,
    Traits,
    pack_record,
    record_of,
)
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.acceptance import journal_takes
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.state import State
from openmsmq.core.tracing import note_arrivals
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK
from openmsmq.wire.message.user_header import DELIVERY_MODE_MASK, UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import source_of
from openmsmq.wire.packets.base_header import INFINITE

from .positions import count_messages, duplicate, touch

if TYPE_CHECKING:
    from openmsmq.core.transactions.transactions import Transaction

_AVAILABLE: Final = PositionState.AVAILABLE
_LOCKED: Final = PositionState.LOCKED
_TH: Final = int(UserHeaderFlags.TH)
# A transactional message is recoverable, whatever its delivery mode says.
_DELIVERY_OR_TH: Final = DELIVERY_MODE_MASK | _TH
_ADMIN_MASK: Final = 0x0000E000
# JN and JP of the UserHeader are these bits of the traits when shifted down.
_JOURNALING: Final = int(Traits.NEGATIVE_JOURNALING | Traits.POSITIVE_JOURNALING)
_JOURNALING_SHIFT: Final = 6
_ON_ARRIVAL: Final = int(Traits.POSITIVE_ARRIVAL | Traits.POSITIVE_JOURNALING)
_TOP: Final = tuple((7 - priority) << SEQUENCE_BITS for priority in range(8))
# The queues in which the time to be received counts.
_EXPIRING: Final = frozenset((QueueRole.USER, QueueRole.CONNECTOR, QueueRole.OUTGOING))


# A message to be put into a queue: packet, traits, priority, expiry.
Arrival = tuple[bytes, int, int, int]


def traits_of(message: UserMessage) -> int:
    """The traits of a message: what it asks of the queue manager."""
    flags = message.flags
    traits = flags >> _JOURNALING_SHIFT & _JOURNALING
    if flags & _DELIVERY_OR_TH:
        traits |= RECOVERABLE if not flags & _TH else RECOVERABLE | TRANSACTIONAL
    # Without an administration queue a report has no destination.
    if flags & _ADMIN_MASK:
        traits |= (message.acknowledgments & 0x0F) << ACKNOWLEDGMENT_SHIFT
    return traits


def arrival(message: UserMessage, queue: Queue) -> Arrival:
    """The facts that the queue needs of a packet."""
    expires = expiry(
        queue, message.sent_time, message.time_to_be_received, message.time_to_reach_queue
    )
    return message.packet, traits_of(message), message.priority, expires


def expiry(queue: Queue, sent_time: int, to_be_received: int, to_reach_queue: int) -> int:
    """The second in which a message expires in this queue.

    [MS-MQDMPR] 3.1.1.12 counts from SentTime, 3.1.2.4 from the insertion; we take SentTime.
    """
    if queue.outgoing is not None and to_reach_queue < to_be_received:
        to_be_received = to_reach_queue
    if to_be_received == INFINITE or queue.role not in _EXPIRING:
        return NEVER
    return min(sent_time + to_be_received, NEVER - 1)


def received_until(packet: bytes) -> int:
    """The second in which the time of a message to be received ends, wherever it is."""
    message = UserMessage(packet)
    life = message.time_to_be_received
    return NEVER if life == INFINITE else min(message.sent_time + life, NEVER - 1)


def insert(
    state: State, queue: Queue, arrivals: list[Arrival], deadletter_queue: str = ""
) -> list[Message]:
    """Put messages at the end of their lanes, visible at once."""
    messages, ids = make_messages(state, queue, arrivals, _AVAILABLE)
    if deadletter_queue:
        name_deadletter_queue(messages, deadletter_queue)
    put(state, messages)
    publish(state, queue, messages, ids)
    return messages


def insert_pending(
    state: State,
    queue: Queue,
    arrivals: list[Arrival],
    transaction: Transaction,
    deadletter_queue: str = "",
) -> list[Message]:
    """Hold messages back until the transaction that sends them is decided."""
    messages, _ = make_messages(state, queue, arrivals, _LOCKED)
    if deadletter_queue:
        name_deadletter_queue(messages, deadletter_queue)
    for message in messages:
        message.holder = transaction
        message.stored = 0
        queue.pending[message.lookup_id] = message
        queue.reserved_bytes += message.size
    return messages


def insert_staged(state: State, queue: Queue, arrivals: list[Arrival]) -> list[Message]:
    """Store messages that belong to no queue yet."""
    messages, _ = make_messages(state, queue, arrivals, STAGED)
    put(state, messages)
    return messages


def publish_staged(state: State, queue: Queue, messages: list[Message]) -> None:
    """Staged messages arrive in a queue, in this order; their packets are not written again."""
    sequence = state.sequence.take(len(messages), state.outbox)
    ids = []
    for message in messages:
        sequence += 1
        message.queue = queue
        message.lookup_id = message.lookup_id & ~SEQUENCE_MASK | sequence
        message.state = _AVAILABLE
        message.arrived = state.utc
        if message.traits & RECOVERABLE:
            message.stored = state.outbox.number
        if message.expires != NEVER:
            state.expiry.start(message, message.expires)
        ids.append(message.lookup_id)
    stored = [message for message in messages if message.traits & RECOVERABLE]
    state.outbox.batch.update_many([message.key for message in stored], map(record_of, stored))
    publish(state, queue, messages, ids)


def name_deadletter_queue(messages: list[Message], deadletter_queue: str) -> None:
    """Give messages a dead-letter queue of their own."""
    for message in messages:
        message.make_history().deadletter_queue = deadletter_queue


def make_messages(
    state: State, queue: Queue, arrivals: list[Arrival], position_state: int
) -> tuple[list[Message], list[int]]:
    """New messages with the next lookup ids, not yet in a queue; also these ids."""
    sequence = state.sequence.take(len(arrivals), state.outbox)
    utc = state.utc
    stored = state.outbox.number
    timers = state.expiry
    messages = []
    ids = []
    memory = 0
    for packet, traits, priority, expires in arrivals:
        sequence += 1
        lookup_id = _TOP[priority] | sequence
        size = len(packet)
        message = Message(
            sequence,
            lookup_id,
            queue,
            packet,
            size,
            traits,
            utc,
            expires,
            position_state,
            stored if traits & RECOVERABLE else 0,
        )
        if expires != NEVER and position_state != STAGED:
            timers.start(message, expires)
        memory += size
        ids.append(lookup_id)
        messages.append(message)
    state.memory += memory
    return messages, ids


def put(state: State, messages: list[Message]) -> None:
    """Store new messages that are recoverable."""
    stored = [message for message in messages if message.traits & RECOVERABLE]
    if stored:
        number = stored[0].queue.number
        state.outbox.batch.put_many(
            [message.key for message in stored],
            [
                pack_record(
                    number,
                    message.lookup_id,
                    message.state,
                    message.traits,
                    message.arrived,
                    message.expires,
                )
                if message.history is None
                else record_of(message)
                for message in stored
            ],
            # Every message that is put has its packet in memory.
            [message.packet for message in stored if message.packet is not None],
        )


def publish(state: State, queue: Queue, messages: list[Message], ids: list[int]) -> None:
    """Messages with new lookup ids become visible at the end of their lanes."""
    queue.lanes.extend(messages, ids)
    announce(state, queue, messages)


def announce(state: State, queue: Queue, messages: list[Message]) -> None:
    """Messages are in the lanes: count them, wake readers, acknowledge their arrival."""
    size = 0
    wanted = 0
    for message in messages:
        size += message.size
        wanted |= message.traits
    count_messages(state, queue, len(messages), size)
    note_arrivals(state, queue, messages)
    touch(state, queue, messages)
    if wanted & _ON_ARRIVAL and queue.role is QueueRole.USER:
        for message in messages:
            if message.traits & _ON_ARRIVAL:
                _arrived(state, message)


def _arrived(state: State, message: Message) -> None:
    """A message is at its destination: acknowledge it, and keep the copy of a local sender."""
    packet = message.packet
    if packet is None:
        packet = packet_of(state, message)
    if message.traits & Traits.POSITIVE_ARRIVAL:
        state.to_acknowledge.append((packet, int(MessageClass.ACK_REACH_QUEUE)))
    # A plain message is delivered now, a transactional one when it is received.
    if (
        message.traits & Traits.POSITIVE_JOURNALING
        and not message.traits & TRANSACTIONAL
        and source_of(packet) == state.identity
        and journal_takes(state, state.machine_journal, message)
    ):
        duplicate(state, message, packet, state.machine_journal)
