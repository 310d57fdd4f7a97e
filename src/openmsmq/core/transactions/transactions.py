"""Transactions: operations that take effect together ([MS-MQDMPR] 3.1.1.13-14, 3.1.4.3-5)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.messages.arrivals import announce, put
from openmsmq.core.messages.delayed import appear, set_aside
from openmsmq.core.messages.delete_reasons import delete_messages
from openmsmq.core.messages.poison import count_aborts
from openmsmq.core.messages.positions import (
    count_messages,
    give_back,
    move_now,
    renew_lookup_ids,
    store_record,
)
from openmsmq.core.model.message import RECOVERABLE, Message, PositionState
from openmsmq.core.outbox import Result
from openmsmq.core.queues.creation import drop_if_unused
from openmsmq.core.rows.packets import forget_packet, packet_of
from openmsmq.core.rows.transaction_rows import forget_transaction, store_transaction
from openmsmq.core.tracing import note_messages
from openmsmq.core.transfer.outgoing.sequences import number_messages
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.history_record import Happening
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_transaction

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_AVAILABLE: Final = int(PositionState.AVAILABLE)
_LOCKED: Final = int(PositionState.LOCKED)
_DELETED: Final = int(PositionState.DELETED)
_DELAYED: Final = int(PositionState.DELAYED)
_PURGE_PENDING: Final = int(PositionState.PURGE_PENDING)
_PURGED: Final = int(MessageClass.NACK_Q_PURGED)
_TIMED_OUT: Final = int(MessageClass.NACK_RECEIVE_TIMEOUT)
_QUEUE_DELETED: Final = int(MessageClass.NACK_Q_DELETED)


class OperationType(IntEnum):
    ENQUEUE = 0
    DEQUEUE = 1
    MOVE = 2


class TransactionState(Enum):
    ACTIVE = "active"
    PREPARED = "prepared"
    FINISHED = "finished"


class TransactionalOperation:
    """The operations of one call in a transaction; consecutive messages are one record."""

    __slots__ = ("messages", "operation_type", "reason", "target")

    def __init__(
        self,
        operation_type: OperationType,
        messages: list[Message],
        *,
        reason: int = 0,
        target: Queue | None = None,
    ) -> None:
        self.operation_type = operation_type
        self.messages = messages
        # The reason why dequeued messages leave, a message class.
        self.reason = reason
        # The target of moved messages.
        self.target = target


class Transaction:
    """Operations in the order in which they were issued, and the state of the outcome."""

    __slots__ = (
        "begun",
        "identifier",
        "number",
        "operations",
        "single_phase",
        "state",
        "unended",
    )

    def __init__(self, identifier: UUID, number: int) -> None:
        self.identifier = identifier
        # Identifies the transaction in the store; its low bits mark the messages that it sends.
        self.number = number
        self.operations: list[TransactionalOperation] = []
        # In seconds since 1970; None when that was before the last start.
        self.begun: float | None = None
        # False: the transaction coordinator decides.
        self.single_phase = True
        self.state = TransactionState.ACTIVE
        # Receives of remote clients that have not confirmed the message yet.
        self.unended = 0

    def add(
        self,
        operation_type: OperationType,
        messages: list[Message],
        *,
        reason: int = 0,
        target: Queue | None = None,
    ) -> None:
        self.operations.append(
            TransactionalOperation(operation_type, messages, reason=reason, target=target)
        )

    def require_active(self) -> None:
        """Refuse operations once the outcome is being decided.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE.
        """
        if self.state is not TransactionState.ACTIVE:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"transaction {self.identifier} is {self.state.value}",
            )


def withdraw(state: State, transaction: Transaction, messages: Iterable[Message]) -> None:
    """Undo receives or moves of a transaction; the messages stay locked by it."""
    outstanding = set(messages)
    # Mostly it received them last.
    for operation in reversed(transaction.operations):
        if not outstanding:
            break
        if operation.operation_type is OperationType.ENQUEUE:
            continue
        remaining = [message for message in operation.messages if message not in outstanding]
        outstanding.difference_update(operation.messages)
        target = operation.target
        if target is not None:
            target.expected -= len(operation.messages) - len(remaining)
            drop_if_unused(state, target)
        operation.messages = remaining
    transaction.operations = [
        operation for operation in transaction.operations if operation.messages
    ]


def create_transaction(state: State, identifier: UUID) -> Transaction:
    """Create Transaction ([MS-MQDMPR] 3.1.7.1.8)."""
    if identifier in state.transactions:
        raise QueueError(
            Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, f"transaction {identifier} exists already"
        )
    number = state.sequence.take(1, state.outbox) + 1
    transaction = state.transactions[identifier] = Transaction(identifier, number)
    transaction.begun = state.utc
    return transaction


def find_transaction(state: State, identifier: UUID) -> Transaction:
    """The transaction with this identifier.

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_SEQUENCE.
    """
    transaction = state.transactions.get(identifier)
    if transaction is None:
        raise QueueError(
            Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, f"there is no transaction {identifier}"
        )
    return transaction


def prepare(state: State, transaction: Transaction, *, single_phase: bool = True) -> Result:
    """Promise to be able to commit.

    Only a transaction of the coordinator is stored: a single-phase one that a crash
    interrupts is aborted, like all that are not stored.
    """
    transaction.require_active()
    transaction.single_phase = single_phase
    transaction.state = TransactionState.PREPARED
    _mark_boundaries(transaction)
    if single_phase:
        return Result(0)
    state.totals.in_doubt += 1
    # Its packets are stored now and can leave memory.
    state.memory_overdraft = 0
    for operation in transaction.operations:
        if operation.operation_type is OperationType.ENQUEUE:
            live = [message for message in operation.messages if message.state != _DELETED]
            for message in live:
                message.make_history().transaction = transaction.number
                message.stored = state.outbox.number
            put(state, live)
    store_transaction(state, transaction)
    return Result(state.outbox.number)


def _mark_boundaries(transaction: Transaction) -> None:
    """Mark the first and the last message that the transaction sends to each queue.

    Messages that appear together count together.
    """
    first: dict[tuple[Queue, float], Message] = {}
    last: dict[tuple[Queue, float], Message] = {}
    for operation in transaction.operations:
        if operation.operation_type is OperationType.ENQUEUE:
            for message in operation.messages:
                time = message.arrived if message.state == _DELAYED else 0.0
                first.setdefault((message.queue, time), message)
                last[message.queue, time] = message
    for message in first.values():
        _mark(message, first=True, last=None)
    for message in last.values():
        _mark(message, first=None, last=True)


def _mark(message: Message, *, first: bool | None, last: bool | None) -> None:
    if message.packet is not None:
        message.packet = patch_transaction(
            UserMessage(message.packet), first_in_transaction=first, last_in_transaction=last
        )


def mark_staged(state: State, messages: list[Message]) -> None:
    """Mark the first and the last of the messages of a batch for one queue.

    A packet in the store never changes: these two are stored anew.
    """
    first, last = messages[0], messages[-1]
    for message in dict.fromkeys((first, last)):
        packet = patch_transaction(
            UserMessage(packet_of(state, message)),
            first_in_transaction=message is first or None,
            last_in_transaction=message is last or None,
        )
        forget_packet(state, message)
        state.outbox.batch.delete(message.key)
        message.key = state.sequence.take(1, state.outbox) + 1
        message.packet = packet
        state.memory += message.size
        put(state, [message])


def commit(state: State, transaction: Transaction) -> Result:
    """Make all operations take effect, in their order."""
    if transaction.state is TransactionState.ACTIVE:
        prepare(state, transaction)
    stored = not transaction.single_phase
    _finish(state, transaction)
    state.memory_overdraft = 0
    state.totals.committed += 1
    touched_store = stored
    for operation in transaction.operations:
        touched_store |= any(message.traits & RECOVERABLE for message in operation.messages)
        if operation.operation_type is OperationType.ENQUEUE:
            _commit_enqueue(state, operation.messages, stored=stored)
        elif operation.operation_type is OperationType.DEQUEUE:
            _commit_dequeue(state, operation.messages, operation.reason)
        else:
            _commit_move(state, operation.messages, operation.target)
    return Result(state.outbox.number if touched_store else 0)


def _finish(state: State, transaction: Transaction) -> None:
    transaction.state = TransactionState.FINISHED
    del state.transactions[transaction.identifier]
    if not transaction.single_phase:
        state.totals.in_doubt -= 1
        forget_transaction(state, transaction)
    for operation in transaction.operations:
        if operation.target is not None:
            operation.target.expected -= len(operation.messages)


def _commit_enqueue(state: State, messages: list[Message], *, stored: bool) -> None:
    for queue, group in _by_queue(messages):
        if queue.deleted:
            _send_to_nowhere(state, queue, group, stored=stored)
            continue
        delayed = [message for message in group if message.state == _DELAYED]
        if delayed:
            _commit_delayed(state, queue, delayed, stored=stored)
            group = [message for message in group if message not in delayed]
        if not group:
            continue
        for message in group:
            _leave_pending(queue, message)
            message.state = _AVAILABLE
            message.stored = state.outbox.number
        if queue.outgoing is not None:
            # Messages leave in the order of the commits.
            renew_lookup_ids(state, group)
        number_messages(state, queue, group)
        if stored:
            for message in group:
                message.make_history().transaction = 0
                store_record(state, message)
        else:
            put(state, group)
        queue.lanes.insert_many(group)
        announce(state, queue, group)


def _commit_delayed(state: State, queue: Queue, messages: list[Message], *, stored: bool) -> None:
    """Begin the wait of delayed messages; those that are due appear at once."""
    for message in messages:
        _leave_pending(queue, message)
        message.stored = state.outbox.number
        if stored:
            message.make_history().transaction = 0
            store_record(state, message)
    if not stored:
        put(state, messages)
    set_aside(state, queue, messages)
    due = [message for message in messages if message.arrived <= state.utc]
    if due:
        appear(state, queue, due)


def _send_to_nowhere(state: State, queue: Queue, messages: list[Message], *, stored: bool) -> None:
    """The queue was deleted between send and commit: the messages arrive and are deleted."""
    for message in messages:
        _leave_pending(queue, message)
    if not stored:
        put(state, messages)
    size = sum([message.size for message in messages])
    count_messages(state, queue, len(messages), size)
    delete_messages(state, queue, messages, _QUEUE_DELETED)


def _leave_pending(queue: Queue, message: Message) -> None:
    del queue.pending[message.lookup_id]
    queue.reserved_bytes -= message.size
    message.holder = None


def _commit_dequeue(state: State, messages: list[Message], reason: int) -> None:
    for queue, group in _by_queue(messages):
        if queue.deleted:
            # They leave with the queue, as it was deleted before.
            continue
        live = [message for message in group if message.state != _DELETED]
        for message in live:
            if message.state == _AVAILABLE:
                # It expired while its own send was uncommitted; the send was applied just before.
                queue.lanes.remove(message)
            else:
                queue.forget_locked(message)
        if live:
            delete_messages(state, queue, live, reason)


def _commit_move(state: State, messages: list[Message], target: Queue | None) -> None:
    live = [message for message in messages if message.state != _DELETED]
    if target is None or target.deleted:
        # The target was deleted meanwhile: the messages stay where they are.
        return_locked(state, live)
        return
    for queue, group in _by_queue(live):
        if queue.deleted:
            continue
        for message in group:
            queue.forget_locked(message)
            move_now(state, queue, message, target)
        note_messages(state, Happening.MOVED, target, group)
        drop_if_unused(state, queue)


def abort(state: State, transaction: Transaction) -> Result:
    """Undo all operations."""
    stored = not transaction.single_phase
    _finish(state, transaction)
    state.totals.aborted += 1
    touched_store = stored
    for operation in transaction.operations:
        if operation.operation_type is OperationType.ENQUEUE:
            _abort_enqueue(state, operation.messages, stored=stored)
        else:
            returned = [
                message
                for message in operation.messages
                if message.holder is transaction and not message.queue.deleted
            ]
            touched_store |= any(message.traits & RECOVERABLE for message in returned)
            for queue, group in _by_queue(returned):
                note_messages(state, Happening.ABORTED, queue, group)
            return_locked(state, count_aborts(state, returned))
            if operation.target is not None:
                drop_if_unused(state, operation.target)
    return Result(state.outbox.number if touched_store else 0)


def _abort_enqueue(state: State, messages: Iterable[Message], *, stored: bool) -> None:
    # [MS-MQDMPR] 3.1.4.5: no Message Position Deleted event for a send that never took effect.
    for message in messages:
        if message.lookup_id in message.queue.pending:
            _leave_pending(message.queue, message)
        message.state = _DELETED
        state.expiry.stop(message)
        forget_packet(state, message)
        if stored:
            state.outbox.batch.delete(message.key)


def return_locked(state: State, messages: list[Message]) -> None:
    """Release messages that were locked: back in place, unless their time is over."""
    for queue, group in _by_queue(messages):
        if queue.deleted:
            continue
        purged = [message for message in group if message.state == _PURGE_PENDING]
        live = [message for message in group if message.state == _LOCKED]
        expired = [message for message in live if message.expires <= state.utc]
        for reason, deleted in ((_PURGED, purged), (_TIMED_OUT, expired)):
            if deleted:
                for message in deleted:
                    queue.forget_locked(message)
                delete_messages(state, queue, deleted, reason)
        back = [message for message in live if message.expires > state.utc]
        if back:
            give_back(state, queue, back)


def _by_queue(messages: list[Message]) -> list[tuple[Queue, list[Message]]]:
    """Group the messages by queue, in their order."""
    groups: dict[Queue, list[Message]] = {}
    for message in messages:
        groups.setdefault(message.queue, []).append(message)
    return list(groups.items())
