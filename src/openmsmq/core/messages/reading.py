"""Reading messages: dequeue, peek and peek next ([MS-MQDMPR] 3.1.7.1.10-12, 14-15).

A read that finds nothing waits (3.1.7.3.1). Readers of a queue are served first come, first served
when messages appear (3.1.7.2.2): a peek leaves the message for the next reader, a receive takes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Final

from openmsmq.core.events import ReadEnded, ReadSatisfied
from openmsmq.core.model.cursor import START, CursorInput, CursorOutcome
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import MAY_PEEK, MAY_RECEIVE
from openmsmq.core.model.read import Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.core.transactions.transactions import TransactionState
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_NOT_FOUND
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError

from .taking import check_transaction, show, take

if TYPE_CHECKING:
    from openmsmq.core.model.cursor import Cursor
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.model.read_request import ReadOwner
    from openmsmq.core.state import State

# Choice: the bytes that one read returns unless the caller sets another limit.
DEFAULT_MAX_BYTES: Final = 4 * 1024 * 1024
_AVAILABLE: Final = int(PositionState.AVAILABLE)


def queue_to_read(
    state: State, descriptor: OpenQueueDescriptor, access: frozenset[QueueAccessType]
) -> Queue:
    """The open queue, after the waiting readers were served the messages that appeared.

    Raises:
        QueueError: the descriptor is closed, its queue was deleted, or it is for something else.
    """
    queue = descriptor.require(access)
    _serve_first(state, queue)
    return queue


def _serve_first(state: State, queue: Queue) -> None:
    """Serve waiting readers the messages that appeared in this turn."""
    if queue in state.touched:
        serve(state, queue, state.touched.pop(queue))


def dequeue_many(state: State, read: ReadRequest, timeout: float | None) -> Read | ReadRequest:
    """Take messages from the front of the queue, or the message at the cursor.

    Raises:
        QueueError: the status codes of Dequeue Message.
    """
    queue = queue_to_read(state, read.descriptor, MAY_RECEIVE)
    check_transaction(queue, read.transaction)
    cursor = read.cursor
    if cursor is not None:
        return _dequeue_by_cursor(state, queue, cursor, read, timeout)
    messages = queue.lanes.take(read.max_count, read.max_bytes)
    if messages:
        return _take(state, queue, messages, read)
    return _wait(state, queue, read, timeout)


def _take(state: State, queue: Queue, messages: list[Message], read: ReadRequest) -> Read:
    return take(state, read.descriptor, queue, messages, read.transaction, two_phase=read.two_phase)


def _dequeue_by_cursor(
    state: State, queue: Queue, cursor: Cursor, read: ReadRequest, timeout: float | None
) -> Read | ReadRequest:
    outcome, message = cursor.operate(queue, CursorInput.RECEIVE)
    if message is not None:
        queue.lanes.remove(message)
        return _take(state, queue, [message], read)
    if outcome is CursorOutcome.ALREADY_RECEIVED:
        raise QueueError(Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, queue.path)
    if timeout is not None and not timeout > 0:
        cursor.not_found()
        raise QueueError(Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue.path}: nothing behind")
    return _wait(state, queue, read, timeout)


def peek_many(
    state: State, read: ReadRequest, timeout: float | None, *, next_message: bool
) -> Read | ReadRequest:
    """Return the first messages, or the message at the cursor, without taking them.

    Raises:
        QueueError: the status codes of Peek Message and Peek Next Message.
    """
    queue = queue_to_read(state, read.descriptor, MAY_PEEK)
    cursor = read.cursor
    if cursor is not None:
        operation = CursorInput.PEEK_NEXT if next_message else CursorInput.PEEK_CURRENT
        outcome, message = cursor.operate(queue, operation)
        if message is not None:
            return show(state, [message])
        if outcome is CursorOutcome.ALREADY_RECEIVED:
            raise QueueError(Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, queue.path)
    elif next_message:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION, "peek next needs a cursor")
    else:
        messages = first_visible(queue, read.max_count, read.max_bytes)
        if messages:
            return show(state, messages)
    return _wait(state, queue, read, timeout)


def first_visible(queue: Queue, max_count: int, max_bytes: int) -> list[Message]:
    """The first messages visible to a peek: up to `max_count` and `max_bytes`, at least one."""
    messages: list[Message] = []
    message = queue.after(START, peek=True)
    while message is not None and len(messages) < max_count:
        max_bytes -= message.size
        if max_bytes < 0 and messages:
            break
        messages.append(message)
        message = queue.after(message.lookup_id, peek=True)
    return messages


# Waiting reads


def _wait(state: State, queue: Queue, read: ReadRequest, timeout: float | None) -> ReadRequest:
    """Wait For New Message ([MS-MQDMPR] 3.1.7.3.1): up to `timeout` seconds, None is for ever."""
    # Written so that NaN does not wait.
    if timeout is not None and not timeout > 0:
        if read.cursor is not None:
            read.cursor.expired(state.sequence.last)
        raise QueueError(Hresult.MQ_ERROR_IO_TIMEOUT, f"{queue.path}: no message")
    read.waiting = True
    queue.waiting.append(read)
    if timeout is not None and timeout != inf:
        state.waits.start(read, state.now + timeout)
    return read


def end_reads(state: State, queue: Queue, reads: Iterable[ReadRequest], code: int) -> None:
    """End waiting reads without a message; each returns the code to its caller."""
    for read in reads:
        queue.waiting.remove(read)
        _end_read(state, read, code)


def _end_read(state: State, read: ReadRequest, code: int) -> None:
    """End a read that is no longer registered, without a message."""
    read.waiting = False
    if read.cursor is not None:
        read.cursor.expired(state.sequence.last)
    state.outbox.tell(ReadEnded(read=read, code=code))


def pause_reads(reads: Iterable[ReadRequest]) -> None:
    """Pass reads over until `resume_reads`; others are served in their place.

    Reads through a cursor go on: they get exactly one message, the next that arrives.
    """
    for read in reads:
        read.paused = read.cursor is None


def resume_reads(state: State, reads: Iterable[ReadRequest]) -> None:
    """Serve paused reads again, as soon as there is a message for them."""
    for read in reads:
        read.paused = False
        queue = read.descriptor.queue
        if queue is not None and queue.waiting:
            state.touched.setdefault(queue, [])


def expire_waits(state: State) -> None:
    """Waiting Message Read Timer Expired ([MS-MQDMPR] 3.1.6.3)."""
    for read in state.waits.due(state.now):
        queue = read.descriptor.queue
        if queue is not None:
            end_reads(state, queue, (read,), Hresult.MQ_ERROR_IO_TIMEOUT)


def cancel(state: State, queue: Queue, tag: ReadOwner | None, code: int) -> int:
    """Cancel Waiting Message Read Request; return MQ_OK or STATUS_NOT_FOUND."""
    _serve_first(state, queue)
    for read in queue.waiting:
        if read.tag is not None and read.tag == tag:
            end_reads(state, queue, (read,), code)
            return Hresult.MQ_OK
    return STATUS_NOT_FOUND


# Serving waiting reads


def serve(state: State, queue: Queue, arrived: list[Message]) -> None:
    """Serve the readers of a queue in which messages appeared."""
    unserved: deque[ReadRequest] = deque()
    while queue.waiting and (queue.lanes.count or queue.peekable):
        read = queue.waiting.popleft()
        if read.paused:
            unserved.append(read)
            continue
        transaction = read.transaction
        if transaction is not None and transaction.state is not TransactionState.ACTIVE:
            _end_read(state, read, Hresult.MQ_ERROR_TRANSACTION_SEQUENCE)
            continue
        try:
            result = _serve_one(state, queue, read, arrived)
        except StoreError:
            # A message that cannot be read back stays in place; its sender is not to blame.
            _end_read(state, read, Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED)
            continue
        if result is None:
            unserved.append(read)
            continue
        read.waiting = False
        state.outbox.tell(
            ReadSatisfied(
                read=read,
                messages=result.messages,
                packets=result.packets,
                depends=result.depends,
            )
        )
    unserved.extend(queue.waiting)
    queue.waiting = unserved


def _serve_one(
    state: State, queue: Queue, read: ReadRequest, arrived: list[Message]
) -> Read | None:
    cursor = read.cursor
    if cursor is not None:
        message = _first_available(queue, arrived)
        if message is None:
            return None
        cursor.arrived(message)
        if not read.destructive:
            return show(state, [message])
        queue.lanes.remove(message)
        return _take(state, queue, [message], read)
    if read.destructive:
        messages = queue.lanes.take(read.max_count, read.max_bytes)
        return _take(state, queue, messages, read) if messages else None
    messages = first_visible(queue, read.max_count, read.max_bytes)
    return show(state, messages) if messages else None


def _first_available(queue: Queue, arrived: list[Message]) -> Message | None:
    """The first of the new messages that is still available."""
    here = [
        message for message in arrived if message.state == _AVAILABLE and message.queue is queue
    ]
    return min(here, key=lambda message: message.lookup_id, default=None)
