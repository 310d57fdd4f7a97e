"""Poison messages: those that readers give back too often for the policy of their queue.

Every abort counts, and every read that was handed to a program and given back. After
`receive_retry_count` retries a message rests in the subqueue `retry`; after `max_retry_cycles` of
these rests it is poison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.management.drops import RETRIES_FAILED
from openmsmq.core.model.message import HELD, PositionState
from openmsmq.core.model.queue import QueueRole
from openmsmq.core.model.retry_policy import ReceiveErrorHandling
from openmsmq.core.outbox import ResultOf
from openmsmq.core.queues.creation import make_subqueue
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.tracing import note_messages
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.history_record import Happening
from openmsmq.wire.names.path_name import parse_path_name
from openmsmq.wire.names.queue_name import QueueName, Suffix

from .delete_reasons import ACK_RECEIVE, delete_messages
from .due_times import RETRY
from .positions import changes, give_back, move_now, store_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

POISON: Final = "poison"
_LOCKED: Final = int(PositionState.LOCKED)
_HELD: Final = int(PositionState.HELD)
_REJECTED: Final = int(MessageClass.NACK_RECEIVE_REJECTED)


def count_aborts(state: State, messages: Sequence[Message]) -> list[Message]:
    """Count messages that readers gave back; return those that go back in place.

    The others have failed too often and are handled by the policy.
    """
    returned: list[Message] = []
    for message in messages:
        history = message.make_history()
        history.abort_count += 1
        message.queue.counters.aborted += 1
        if _is_exhausted(state, message):
            _end_cycle(state, message)
        else:
            store_record(state, message)
            returned.append(message)
    return returned


def _is_exhausted(state: State, message: Message) -> bool:
    """Whether a message was retried as often as its queue allows in one cycle."""
    queue, history = message.queue, message.history
    return (
        queue.role is QueueRole.USER
        and queue.policy.active
        and not queue.deleted
        and message.state == _LOCKED
        and message.expires > state.utc
        and history is not None
        and history.abort_count > queue.policy.receive_retry_count
    )


def _end_cycle(state: State, message: Message) -> None:
    queue = message.queue
    policy = queue.policy
    queue.forget_locked(message)
    # Each cycle moved it twice: into the subqueue and back.
    if message.make_history().move_count // 2 < policy.max_retry_cycles:
        _set_aside(state, message, RETRY)
        return
    queue.counters.poisoned += 1
    handling = policy.receive_error_handling
    if handling is ReceiveErrorHandling.MOVE:
        _set_aside(state, message, POISON)
    elif handling is ReceiveErrorHandling.REJECT:
        delete_messages(state, queue, [message], _REJECTED)
    elif handling is ReceiveErrorHandling.HOLD:
        message.state = _HELD
        message.holder = HELD
        queue.locked[message.lookup_id] = message
        store_record(state, message)
    else:
        packet = packet_of(state, message)
        state.outbox.drop("poison message", queue.path, packet, RETRIES_FAILED)
        # As in WCF: the sender sees it as received.
        delete_messages(state, queue, [message], ACK_RECEIVE)


def _set_aside(state: State, message: Message, name: str) -> None:
    queue = message.queue
    target = find_subqueue(state, queue, name)
    moved = move_now(state, queue, message, target)
    note_messages(state, Happening.MOVED, target, (moved,))


def find_subqueue(state: State, queue: Queue, name: str) -> Queue:
    """A subqueue of a queue by its own name; created if missing."""
    own = parse_path_name(queue.properties.pathname).queue_name
    subqueue = QueueName(own.scope, own.name, Suffix.SUBQUEUE, name)
    known = state.paths.get(subqueue.key)
    return known if known is not None else make_subqueue(state, queue, subqueue)


def release_held(state: State, queue: Queue, lookup_ids: Sequence[int] | None) -> ResultOf[int]:
    """Release held messages to readers, with new counts of retries; None is all of them.

    Raises:
        QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one of them is not held; then none is released.
    """
    if lookup_ids is None:
        messages = [message for message in queue.locked.values() if message.state == _HELD]
    else:
        messages = [_find_held(queue, lookup_id) for lookup_id in dict.fromkeys(lookup_ids)]
    for message in messages:
        message.make_history().abort_count = 0
    if messages:
        give_back(state, queue, messages)
    for message in messages:
        store_record(state, message)
    return ResultOf(len(messages), changes(state, messages))


def _find_held(queue: Queue, lookup_id: int) -> Message:
    message = queue.locked.get(lookup_id)
    if message is None or message.state != _HELD:
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue.path}: message {lookup_id} is not held"
        )
    return message
