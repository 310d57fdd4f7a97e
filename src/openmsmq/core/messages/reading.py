"""Reading messages: dequeue, peek and peek next ([MS-MQDMPR] 3.1.7.1.10-12, 14-15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.cursor import START, CursorInput, CursorOutcome
from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import MAY_PEEK, MAY_RECEIVE
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.core.outbox import Result
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.transactions.transactions import OperationType, return_locked, withdraw
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError

from .delete_reasons import delete_messages
from .positions import changes
from .waits import start_wait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.model.cursor import Cursor
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.model.read_request import ReadOwner
    from openmsmq.core.state import State
    from openmsmq.core.transactions.transactions import Transaction

ACK_RECEIVE: Final = int(MessageClass.ACK_RECEIVE)
_PURGED: Final = int(MessageClass.NACK_Q_PURGED)
_REJECTED: Final = int(MessageClass.NACK_RECEIVE_REJECTED)
_PURGE_PENDING: Final = int(PositionState.PURGE_PENDING)
# Choice: how many bytes one read returns unless the caller wants fewer or more.
DEFAULT_MAX_BYTES: Final = 4 * 1024 * 1024


class Read(Result):
    """Messages that a read returned; show them once batch `depends` is durable."""

    __slots__ = ("messages", "packets")

    def __init__(self, messages: list[Message], packets: list[bytes], depends: int) -> None:
        self.messages = messages
        self.packets = packets
        super().__init__(depends)


def dequeue_many(
    state: State,
    descriptor: OpenQueueDescriptor,
    *,
    max_count: int,
    max_bytes: int,
    timeout: float | None,
    cursor: Cursor | None,
    transaction: Transaction | None,
    two_phase: bool,
    tag: ReadOwner | None,
) -> Read | ReadRequest:
    """Take messages from the front of the queue, or the one that the cursor says.

    Raises:
        QueueError: the status codes of Dequeue Message.
    """
    queue = descriptor.require(MAY_RECEIVE)
    check_transaction(queue, transaction)
    read = ReadRequest(
        descriptor,
        destructive=True,
        tag=tag,
        cursor=cursor,
        max_count=max_count,
        max_bytes=max_bytes,
        transaction=transaction,
        two_phase=two_phase,
    )
    if cursor is not None:
        return _dequeue_by_cursor(state, queue, cursor, read, timeout)
    messages = queue.lanes.take(max_count, max_bytes)
    if messages:
        return finish_taking(state, queue, messages, read)
    return _wait(state, queue, read, timeout)


def check_transaction(queue: Queue, transaction: Transaction | None) -> None:
    """Refuse a transaction that is over, or on a queue that knows none.

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_SEQUENCE or MQ_ERROR_TRANSACTION_USAGE.
    """
    if transaction is not None:
        transaction.require_active()
        if not queue.properties.transactional:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE, f"{queue.path} is not transactional"
            )


def _dequeue_by_cursor(
    state: State, queue: Queue, cursor: Cursor, read: ReadRequest, timeout: float | None
) -> Read | ReadRequest:
    outcome, message = cursor.operate(queue, CursorInput.RECEIVE)
    if message is not None:
        queue.lanes.remove(message)
        return finish_taking(state, queue, [message], read)
    if outcome is CursorOutcome.ALREADY_RECEIVED:
        raise QueueError(Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, queue.path)
    if timeout is not None and not timeout > 0:
        cursor.not_found()
        raise QueueError(Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, f"{queue.path}: nothing behind")
    return _wait(state, queue, read, timeout)


def _wait(state: State, queue: Queue, read: ReadRequest, timeout: float | None) -> ReadRequest:
    """Wait For New Message ([MS-MQDMPR] 3.1.7.3.1)."""
    # Written so that what is not a number does not wait.
    if timeout is not None and not timeout > 0:
        if read.cursor is not None:
            read.cursor.expired(state.sequence.last)
        raise QueueError(Hresult.MQ_ERROR_IO_TIMEOUT, f"{queue.path}: no message")
    start_wait(state, queue, read, timeout)
    return read


def finish_taking(state: State, queue: Queue, messages: list[Message], read: ReadRequest) -> Read:
    """Messages were taken out of the lanes: lock them or delete them, as the read says."""
    try:
        packets = packets_of(state, messages)
    except StoreError:
        # What cannot be shown is not received.
        for message in messages:
            queue.lanes.insert(message)
        raise
    transaction = read.transaction
    if transaction is not None:
        for message in messages:
            queue.hold(message, transaction)
        transaction.add(OperationType.DEQUEUE, messages, reason=ACK_RECEIVE)
        return Read(messages, packets, _shown_by(state, messages))
    if read.two_phase:
        descriptor = read.descriptor
        for message in messages:
            queue.hold(message, descriptor)
            descriptor.locked[message.lookup_id] = message
        return Read(messages, packets, _shown_by(state, messages))
    delete_messages(state, queue, messages, ACK_RECEIVE)
    return Read(messages, packets, max(changes(state, messages), _numbered_by(state)))


def end_many(
    state: State,
    descriptor: OpenQueueDescriptor,
    lookup_ids: Sequence[int],
    *,
    delete: bool,
    reason: int = ACK_RECEIVE,
    transactional: bool = False,
) -> int:
    """Dequeue Message End for several messages; return the batch that stores it.

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, a message is not being received here; then none
            of them is changed.
    """
    queue = descriptor.require(MAY_RECEIVE)
    # A message that a transaction holds is left to the transaction.
    held = queue.locked if transactional else descriptor.locked
    messages = []
    for lookup_id in dict.fromkeys(lookup_ids):
        message = held.get(lookup_id)
        if message is None:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"{queue.path}: message {lookup_id} is not being received here",
            )
        messages.append(message)
    if transactional:
        return 0
    for message in messages:
        del held[message.lookup_id]
    if not delete:
        return_locked(state, messages)
        return 0
    purged = [message for message in messages if message.state == _PURGE_PENDING]
    for message in messages:
        queue.forget_locked(message)
    received = messages
    if purged:
        received = [message for message in messages if message.state != _PURGE_PENDING]
        delete_messages(state, queue, purged, _PURGED)
    if received:
        delete_messages(state, queue, received, reason)
    return changes(state, messages)


def reject_many(
    state: State, transaction: Transaction, queue: Queue, lookup_ids: Sequence[int]
) -> None:
    """Have messages that a transaction received leave as rejected when it commits.

    Raises:
        QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, the transaction did not receive one of them.
    """
    transaction.require_active()
    messages = []
    for lookup_id in dict.fromkeys(lookup_ids):
        message = queue.locked.get(lookup_id)
        if message is None or message.holder is not transaction:
            raise QueueError(
                Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
                f"{queue.path}: message {lookup_id} was not received in this transaction",
            )
        messages.append(message)
    withdraw(state, transaction, messages)
    transaction.add(OperationType.DEQUEUE, messages, reason=_REJECTED)


def peek_many(
    state: State,
    descriptor: OpenQueueDescriptor,
    *,
    max_count: int,
    max_bytes: int,
    timeout: float | None,
    cursor: Cursor | None,
    next_message: bool,
    tag: ReadOwner | None,
) -> Read | ReadRequest:
    """Look at the first messages, or at the one that the cursor says, without taking them.

    Raises:
        QueueError: the status codes of Peek Message and Peek Next Message.
    """
    queue = descriptor.require(MAY_PEEK)
    read = ReadRequest(
        descriptor,
        destructive=False,
        tag=tag,
        cursor=cursor,
        max_count=max_count,
        max_bytes=max_bytes,
        transaction=None,
        two_phase=False,
    )
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
        messages = first_visible(queue, max_count, max_bytes)
        if messages:
            return show(state, messages)
    return _wait(state, queue, read, timeout)


def first_visible(queue: Queue, max_count: int, max_bytes: int) -> list[Message]:
    """The first messages that a peek may see: up to `max_count` and `max_bytes`, at least one."""
    messages: list[Message] = []
    message = queue.after(START, peek=True)
    while message is not None and len(messages) < max_count:
        max_bytes -= message.size
        if max_bytes < 0 and messages:
            break
        messages.append(message)
        message = queue.after(message.lookup_id, peek=True)
    return messages


def show(state: State, messages: list[Message]) -> Read:
    """The result of a peek; it depends on the batch that stored what it shows."""
    return Read(messages, packets_of(state, messages), _shown_by(state, messages))


def _shown_by(state: State, messages: list[Message]) -> int:
    """The batch that must be durable before the messages are shown to anybody."""
    stored = state.outbox.pending(max([message.stored for message in messages]))
    return max(stored, _numbered_by(state))


def _numbered_by(state: State) -> int:
    """The batch that must be durable before numbers are seen: none may be given out again."""
    return max(state.sequence.depends(), state.ordinals.depends())
