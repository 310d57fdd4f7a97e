"""The effect of a read on its messages: show, lock or delete them.

Dequeue Message End follows for those that a two-phase read locked ([MS-MQDMPR] 3.1.7.1.10-15).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.model.message import PositionState
from openmsmq.core.model.open_queue import MAY_RECEIVE
from openmsmq.core.model.read import Read
from openmsmq.core.outbox import Result
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.tracing import note_messages
from openmsmq.core.transactions.transactions import (
    OperationType,
    TransactionState,
    return_locked,
    withdraw,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError
from openmsmq.wire.history_record import Happening

from .delete_reasons import delete_messages
from .poison import count_aborts
from .positions import changes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from openmsmq.core.model.message import Message
    from openmsmq.core.model.open_queue import OpenQueueDescriptor
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transactions.transactions import Transaction

ACK_RECEIVE: Final = int(MessageClass.ACK_RECEIVE)
_PURGED: Final = int(MessageClass.NACK_Q_PURGED)
_REJECTED: Final = int(MessageClass.NACK_RECEIVE_REJECTED)
_PURGE_PENDING: Final = int(PositionState.PURGE_PENDING)


def check_transaction(queue: Queue, transaction: Transaction | None) -> None:
    """Refuse a transaction that is over, or on a queue that is not transactional.

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_SEQUENCE or MQ_ERROR_TRANSACTION_USAGE.
    """
    if transaction is not None:
        transaction.require_active()
        if not queue.properties.transactional:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_USAGE, f"{queue.path} is not transactional"
            )


def take(
    state: State,
    descriptor: OpenQueueDescriptor,
    queue: Queue,
    messages: list[Message],
    transaction: Transaction | None,
    *,
    two_phase: bool,
) -> Read:
    """Lock or delete messages that were taken out of the lanes."""
    try:
        packets = packets_of(state, messages)
    except StoreError:
        # A message that cannot be read back is not received.
        for message in messages:
            queue.lanes.insert(message)
        raise
    if transaction is not None:
        for message in messages:
            queue.hold(message, transaction)
        transaction.add(OperationType.DEQUEUE, messages, reason=ACK_RECEIVE)
        return Read(messages, packets, _shown_by(state, messages))
    if two_phase:
        for message in messages:
            queue.hold(message, descriptor)
            descriptor.locked[message.lookup_id] = message
        return Read(messages, packets, _shown_by(state, messages))
    delete_messages(state, queue, messages, ACK_RECEIVE)
    return Read(messages, packets, max(changes(state, messages), _numbered_by(state)))


def show(state: State, messages: list[Message]) -> Read:
    """The result of a peek; it depends on the batch that stored the messages."""
    return Read(messages, packets_of(state, messages), _shown_by(state, messages))


def _shown_by(state: State, messages: list[Message]) -> int:
    """The batch that must be durable before the messages are shown."""
    stored = state.outbox.pending(max([message.stored for message in messages]))
    return max(stored, _numbered_by(state))


def _numbered_by(state: State) -> int:
    """The batch that must be durable before numbers are seen: none may be assigned again."""
    return max(state.sequence.depends(), state.ordinals.depends())


def end_many(
    state: State,
    descriptor: OpenQueueDescriptor,
    lookup_ids: Sequence[int],
    reason: int,
    *,
    transactional: bool,
    handed: Collection[int] = (),
) -> Result:
    """Dequeue Message End for several messages: they leave for `reason`; 0 gives them back.

    Args:
        handed: messages among those given back that a program has seen: its read has failed.

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, a message is not being received here; then
        none of them is changed.
    """
    queue = descriptor.require(MAY_RECEIVE)
    # A message that a transaction holds is left to the transaction.
    locked = queue.locked if transactional else descriptor.locked
    messages = _held_messages(queue, locked, lookup_ids)
    if transactional:
        return Result(0)
    for message in messages:
        del locked[message.lookup_id]
    if not reason:
        failed = [message for message in messages if message.lookup_id in handed]
        unseen = [message for message in messages if message.lookup_id not in handed]
        note_messages(state, Happening.ABORTED, queue, failed)
        return_locked(state, unseen + count_aborts(state, failed))
        return Result(changes(state, failed))
    purged = [message for message in messages if message.state == _PURGE_PENDING]
    for message in messages:
        queue.forget_locked(message)
    received = messages
    if purged:
        received = [message for message in messages if message.state != _PURGE_PENDING]
        delete_messages(state, queue, purged, _PURGED)
    if received:
        delete_messages(state, queue, received, reason)
    return Result(changes(state, messages))


def check_held(descriptor: OpenQueueDescriptor, lookup_ids: Sequence[int]) -> None:
    """Refuse what `end_many` would refuse.

    Raises:
        QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, a message is not being received here.
    """
    _held_messages(descriptor.require(MAY_RECEIVE), descriptor.locked, lookup_ids)


def _held_messages(
    queue: Queue, locked: Mapping[int, Message], lookup_ids: Sequence[int]
) -> list[Message]:
    messages = []
    for lookup_id in dict.fromkeys(lookup_ids):
        message = locked.get(lookup_id)
        if message is None:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"{queue.path}: message {lookup_id} is not being received here",
            )
        messages.append(message)
    return messages


def take_out_many(
    state: State, transaction: Transaction, queue: Queue, lookup_ids: Sequence[int]
) -> None:
    """Undo the receives of a transaction: the messages go back in place, and it stays open.

    A message that the transaction does not hold, or can no longer give up, is unchanged.
    """
    if transaction.state is not TransactionState.ACTIVE:
        return
    messages = [
        message
        for lookup_id in lookup_ids
        if (message := queue.locked.get(lookup_id)) is not None and message.holder is transaction
    ]
    withdraw(state, transaction, messages)
    return_locked(state, messages)


def reject_many(
    state: State, transaction: Transaction, queue: Queue, lookup_ids: Sequence[int]
) -> None:
    """Mark messages that a transaction received as rejected, for when it commits.

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
