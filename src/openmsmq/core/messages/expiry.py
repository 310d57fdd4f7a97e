"""Messages whose time is over ([MS-MQDMPR] 3.1.2.4, 3.1.7.2.7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from openmsmq.core.model.message import NEVER, Message, PositionState, is_awaiting_final_ack
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.state import State
from openmsmq.core.transactions.transactions import OperationType, Transaction
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import INFINITE

from .delete_reasons import delete_messages

_AVAILABLE: Final = int(PositionState.AVAILABLE)
_LOCKED: Final = int(PositionState.LOCKED)
_HELD: Final = int(PositionState.HELD)
_TIMED_OUT: Final = int(MessageClass.NACK_RECEIVE_TIMEOUT)
_TIMED_OUT_AT_SENDER: Final = int(MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER)
_NOT_REACHED: Final = int(MessageClass.NACK_REACH_QUEUE_TIMEOUT)


def expire_now(state: State, messages: Iterable[Message]) -> None:
    """Expire the messages whose time is over already."""
    utc = state.utc
    due = [message for message in messages if message.expires != NEVER and message.expires <= utc]
    if due:
        expire(state, due)


def expire_due(state: State, limit: int) -> int:
    """Expire up to `limit` messages whose timer has run out; return the count."""
    due = state.expiry.due(state.utc, limit)
    expire(state, due)
    return len(due)


def expire(state: State, messages: Iterable[Message]) -> None:
    """Time To Be Received Timer Expired for each of the messages."""
    groups: dict[tuple[Queue, int], list[Message]] = {}
    undecided: dict[Queue, list[Message]] = {}
    for message in messages:
        queue = message.queue
        if queue.deleted:
            # It is removed with the queue.
            continue
        if message.state == _AVAILABLE:
            if _is_pinned(state, queue, message):
                continue
            queue.lanes.remove(message)
            groups.setdefault((queue, _reason(state, queue, message)), []).append(message)
        elif message.state == _HELD:
            queue.forget_locked(message)
            groups.setdefault((queue, _TIMED_OUT), []).append(message)
        elif message.state == _LOCKED and is_awaiting_final_ack(message):
            queue.forget_locked(message)
            undecided.setdefault(queue, []).append(message)
        elif message.lookup_id in queue.pending and isinstance(message.holder, Transaction):
            # The send is not committed: the removal waits for the commit, too.
            reason = _reason(state, queue, message)
            message.holder.add(OperationType.DEQUEUE, [message], reason=reason)
        # A message that a receiver holds is removed only when the receiver gives it back.
    for (queue, reason), group in groups.items():
        delete_messages(state, queue, group, reason)
    for queue, group in undecided.items():
        # [MC-MQSRM] figure 6. They reached their queue, whose queue manager sends acknowledgments.
        delete_messages(state, queue, group, _TIMED_OUT, acknowledged=True)


def _reason(state: State, queue: Queue, message: Message) -> int:
    if queue.role is not QueueRole.OUTGOING:
        return _TIMED_OUT
    view = UserMessage(packet_of(state, message))
    life = view.time_to_be_received
    if life != INFINITE and life <= view.time_to_reach_queue:
        return _TIMED_OUT_AT_SENDER
    return _NOT_REACHED


def _is_pinned(state: State, queue: Queue, message: Message) -> bool:
    """Whether a planned range keeps the message; then it expires when the pin ends."""
    if not queue.pins:
        return False
    queue.pins = [pin for pin in queue.pins if pin.until > state.utc]
    ends = [pin.until for pin in queue.pins if pin.base < message.sequence <= pin.upto]
    if not ends:
        return False
    state.expiry.postpone(message, int(max(ends)) + 1)
    return True
