"""Reading by lookup id ([MS-MQDMPR] 3.1.7.1.13, 3.1.7.3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.cursor import START
from openmsmq.core.model.open_queue import MAY_PEEK, MAY_RECEIVE
from openmsmq.core.model.read import MessageSeekAction, Read
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import SEQUENCE_BITS

from .reading import queue_to_read
from .taking import check_transaction, show, take

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transactions.transactions import Transaction

# Greater than every lookup id.
_END: Final = 8 << SEQUENCE_BITS


def read_by_lookup_id(
    state: State,
    descriptor: OpenQueueDescriptor,
    lookup_id: int,
    action: MessageSeekAction,
    *,
    receive: bool,
    transaction: Transaction | None,
    two_phase: bool,
    allow_peek: bool,
) -> Read:
    """Read the message in this relation to a lookup id; never waits.

    With `allow_peek` a message that this receive locks stays visible to peeks.

    Raises:
        QueueError: the status codes of Read Message By Lookup Identifier.
    """
    queue = queue_to_read(state, descriptor, MAY_RECEIVE if receive else MAY_PEEK)
    if transaction is not None and not receive:
        raise QueueError(Hresult.MQ_ERROR_TRANSACTION_USAGE, "a peek takes no transaction")
    check_transaction(queue, transaction)
    message = seek(queue, lookup_id, action, peek=not receive)
    if not receive:
        return show(state, [message])
    queue.lanes.remove(message)
    result = take(state, descriptor, queue, [message], transaction, two_phase=two_phase)
    if allow_peek and (transaction is not None or two_phase):
        message.make_history().allow_peek_when_locked = True
        queue.peekable[message.lookup_id] = message
    return result


def seek(queue: Queue, lookup_id: int, action: MessageSeekAction, *, peek: bool) -> Message:
    """The message that a peek or a receive finds.

    Raises:
        QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, ..._ALREADY_RECEIVED or ..._TRANSACTION_USAGE.
    """
    if action is MessageSeekAction.CURRENT:
        message = queue.lanes.get(lookup_id)
        return message if message is not None else _absent(queue, lookup_id, peek=peek)
    if action is MessageSeekAction.FIRST:
        candidate = queue.after(START, peek=peek)
    elif action is MessageSeekAction.LAST:
        candidate = queue.before(_END, peek=peek)
    elif not _is_known(queue, lookup_id):
        candidate = None
    elif action is MessageSeekAction.NEXT:
        candidate = queue.after(lookup_id, peek=peek)
    else:
        candidate = queue.before(lookup_id, peek=peek)
    if candidate is None:
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
            f"{queue.path}: no message {action.value} of {lookup_id}",
        )
    return candidate


def _absent(queue: Queue, lookup_id: int, *, peek: bool) -> Message:
    """A message that is not in the lanes: locked, deleted, or never there."""
    if peek:
        if lookup_id in queue.peekable:
            return queue.peekable[lookup_id]
        if lookup_id in queue.locked:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE,
                f"{queue.path}: message {lookup_id} is being received",
            )
        if _is_stood_on(queue, lookup_id):
            raise QueueError(
                Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
                f"{queue.path}: message {lookup_id} is no longer there",
            )
    raise QueueError(Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue.path}: no message {lookup_id}")


def _is_known(queue: Queue, lookup_id: int) -> bool:
    """Whether the id is that of a message in the queue, or of one that a cursor still stands on."""
    return (
        queue.lanes.get(lookup_id) is not None
        or lookup_id in queue.locked
        or _is_stood_on(queue, lookup_id)
    )


def _is_stood_on(queue: Queue, lookup_id: int) -> bool:
    return any(
        cursor.position == lookup_id
        for descriptor in queue.descriptors.values()
        for cursor in descriptor.cursors.values()
    )
