"""Delayed messages: stored and hidden until they are due; a local extension, never on the wire.

A delayed message is in `Queue.delayed` of its destination queue, local or outgoing. Its record
has the time of delivery in place of the arrival. When it is due it arrives like a message that is
sent at that time: its limits count from then, and an outgoing one gets its sequence number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.management.drops import CANCELLED
from openmsmq.core.model.message import NEVER, RECOVERABLE, PositionState
from openmsmq.core.outbox import ResultOf
from openmsmq.core.rows.packets import forget_packet, packets_of
from openmsmq.core.transfer.outgoing.sequences import number_messages
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch

from .arrivals import Arrival, expiry, make_messages, name_deadletter_queue, publish, put
from .positions import changes, count_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

MAX_DELAY_SECONDS: Final = 366 * 24 * 3600
_AVAILABLE: Final = int(PositionState.AVAILABLE)
_DELAYED: Final = int(PositionState.DELAYED)
_DELETED: Final = int(PositionState.DELETED)


def check_delivery_time(state: State, deliver_at: float) -> None:
    """Refuse a time that is invalid or too far away.

    Raises:
        QueueError: MQ_ERROR_INVALID_PARAMETER.
    """
    if not 0 <= deliver_at <= state.utc + MAX_DELAY_SECONDS:
        days, wanted = MAX_DELAY_SECONDS // 86400, (deliver_at - state.utc) / 86400
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"a message can be delayed for up to {days} days, not for {wanted:.1f}",
        )


def insert_delayed(
    state: State, queue: Queue, arrivals: list[Arrival], deliver_at: float, deadletter_queue: str
) -> list[Message]:
    """Store messages without limits that appear in a queue later."""
    messages, _ = make_messages(state, queue, arrivals, _DELAYED)
    if deadletter_queue:
        name_deadletter_queue(messages, deadletter_queue)
    for message in messages:
        message.arrived = deliver_at
    put(state, messages)
    set_aside(state, queue, messages)
    return messages


def unlimited(arrivals: list[Arrival]) -> list[Arrival]:
    """The messages without their time limits, which do not count yet."""
    return [(packet, traits, priority, NEVER) for packet, traits, priority, _ in arrivals]


def delay_pending(messages: Sequence[Message], deliver_at: float) -> None:
    """Delay messages of a transaction; they appear after its commit, not before."""
    for message in messages:
        message.state = _DELAYED
        message.arrived = deliver_at


def set_aside(state: State, queue: Queue, messages: Sequence[Message]) -> None:
    """Keep messages until they are due."""
    state.marks.note(queue)
    for message in messages:
        queue.delayed[message.lookup_id] = message
        queue.reserved_bytes += message.size
        state.totals.delayed_messages += 1
        state.totals.delayed_bytes += message.size
        state.schedule.start(message, message.arrived)


def _take_back(state: State, queue: Queue, message: Message) -> None:
    """A message is no longer delayed."""
    state.marks.note(queue)
    del queue.delayed[message.lookup_id]
    queue.reserved_bytes -= message.size
    state.totals.delayed_messages -= 1
    state.totals.delayed_bytes -= message.size
    state.schedule.stop(message)


def appear(state: State, queue: Queue, messages: Sequence[Message]) -> list[Message]:
    """Let delayed messages arrive now, in this order; return them in their new places."""
    if not messages:
        return []
    sent_time = int(state.utc)
    arrivals: list[Arrival] = []
    for message, packet in zip(messages, packets_of(state, messages), strict=True):
        view = UserMessage(patch(UserMessage(packet), sent_time=sent_time))
        expires = expiry(queue, sent_time, view.time_to_be_received, view.time_to_reach_queue)
        arrivals.append((view.packet, message.traits, message.priority, expires))
        _take_back(state, queue, message)
        _forget(state, message)
    arrived, ids = make_messages(state, queue, arrivals, _AVAILABLE)
    for message, before in zip(arrived, messages, strict=True):
        message.history = before.history.copy() if before.history is not None else None
    number_messages(state, queue, arrived)
    put(state, arrived)
    publish(state, queue, arrived, ids)
    return arrived


def _forget(state: State, message: Message) -> None:
    message.state = _DELETED
    forget_packet(state, message)
    # A packet in the store never changes, so the message is stored again.
    if message.traits & RECOVERABLE:
        state.outbox.batch.delete(message.key)


def deliver_now(state: State, queue: Queue, lookup_ids: Sequence[int] | None) -> ResultOf[int]:
    """Deliver delayed messages now; None is all of the queue.

    Raises:
        QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one of them is not delayed; then none is
        delivered.
    """
    messages = _select(queue, lookup_ids)
    depends = changes(state, appear(state, queue, messages))
    return ResultOf(len(messages), depends)


def cancel(state: State, queue: Queue, lookup_ids: Sequence[int] | None, who: str) -> ResultOf[int]:
    """Cancel the delivery of delayed messages.

    Args:
        who: the user who decided it, for the log.

    Raises:
        QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one of them is not delayed; then none is
        cancelled.
    """
    messages = _select(queue, lookup_ids)
    depends = changes(state, messages)
    for message, packet in zip(messages, packets_of(state, messages), strict=True):
        state.outbox.drop("delayed message", queue.path, packet, CANCELLED, f"by {who}")
        _take_back(state, queue, message)
        _forget(state, message)
    return ResultOf(len(messages), depends)


def _select(queue: Queue, lookup_ids: Sequence[int] | None) -> list[Message]:
    if lookup_ids is None:
        return sorted(queue.delayed.values(), key=_time)
    messages: list[Message] = []
    for lookup_id in dict.fromkeys(lookup_ids):
        message = queue.delayed.get(lookup_id)
        if message is None:
            raise QueueError(
                Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
                f"{queue.path}: no delayed message {lookup_id}",
            )
        messages.append(message)
    return messages


def _time(message: Message) -> float:
    return message.arrived


def leave_with_queue(state: State, queue: Queue) -> None:
    """Delete the delayed messages of a deleted queue, like all others."""
    for message in list(queue.delayed.values()):
        _take_back(state, queue, message)
        message.state = _AVAILABLE
        queue.lanes.insert(message)
        count_messages(state, queue, 1, message.size)
