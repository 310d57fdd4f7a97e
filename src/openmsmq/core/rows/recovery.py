"""Recovery of a queue manager from its store: queues, messages, transactions in doubt."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from struct import Struct
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.core.management.counters import QueueCounters
from openmsmq.core.messages.delayed import set_aside
from openmsmq.core.messages.due_times import schedule
from openmsmq.core.messages.positions import count_messages
from openmsmq.core.model.local_queue_manager import ROW_KEY, LocalQueueManager
from openmsmq.core.model.message import (
    AWAITING_FINAL_ACK,
    HELD,
    NEVER,
    RECORD_SIZE,
    STAGED,
    Message,
    PositionState,
    is_awaiting_final_ack,
    parse_history,
    unpack_record,
)
from openmsmq.core.model.queue import QueueRole
from openmsmq.core.outbox import Reservation
from openmsmq.core.pipelines.leases import parse_lease
from openmsmq.core.pipelines.staging import recover_producers
from openmsmq.core.queues.creation import drop_if_unused, list_queue
from openmsmq.core.queues.system_queues import ensure_system_queues
from openmsmq.core.state import ORDINAL_BLOCK, SEQUENCE_BLOCK
from openmsmq.core.transactions.transactions import OperationType, Transaction, TransactionState
from openmsmq.core.transfer.incoming.streams import recover_streams
from openmsmq.core.transfer.outgoing.receipt_tokens import recover_secret
from openmsmq.core.transfer.outgoing.redirections import recover_redirections
from openmsmq.core.transfer.outgoing.sequences import recover_sequences, renumber_restored
from openmsmq.wire.errors import StoreError
from openmsmq.wire.scalars import guid

from .queue_rows import parse_queue, queue_number
from .tables import Table
from .transaction_rows import StoredTransaction, parse_transaction

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

# The distance by which a restored copy skips numbers that the original may have used meanwhile.
RESTORED_SEQUENCES: Final = 1 << 40
RESTORED_ORDINALS: Final = 1 << 28
_UNCHECKED_KEY: Final = b"unchecked"
_UNCHECKED: Final = Struct("<Q")
_AVAILABLE: Final = PositionState.AVAILABLE
_LOCKED: Final = PositionState.LOCKED
_HELD: Final = PositionState.HELD
_DELAYED: Final = PositionState.DELAYED
_KEPT_STATES: Final = frozenset((_HELD, _DELAYED))
# Queues in which messages may be held, and from which they may have to leave.
_TIMED: Final = frozenset((QueueRole.USER, QueueRole.SUBQUEUE))

Rows = dict[int, dict[bytes, bytes]]


class Recovery(Protocol):
    """The contents of a store at a start."""

    @property
    def messages(self) -> Iterable[tuple[int, bytes, int]]: ...

    @property
    def rows(self) -> Iterable[tuple[int, bytes, bytes]]: ...

    @property
    def restored(self) -> bool: ...


def read_rows(recovery: Recovery) -> Rows:
    """The state rows by table."""
    rows: Rows = {table: {} for table in Table}
    for table, key, value in recovery.rows:
        rows.setdefault(table, {})[key] = value
    return rows


def recover_local(rows: Rows) -> LocalQueueManager | None:
    """The attributes of the queue manager, if the store has been used before."""
    row = rows[Table.MANAGER].get(ROW_KEY)
    return LocalQueueManager.restore(row) if row is not None else None


def recover(state: State, recovery: Recovery, rows: Rows) -> None:
    """Fill an empty state from the store.

    Raises:
        StoreError: rows and messages do not fit together.
    """
    manager = rows[Table.MANAGER]
    state.sequence = Reservation(b"sequence", SEQUENCE_BLOCK, manager.get(b"sequence"))
    state.ordinals = Reservation(b"ordinal", ORDINAL_BLOCK, manager.get(b"ordinal"))
    _recover_unchecked(state, manager.get(_UNCHECKED_KEY))
    if recovery.restored:
        state.sequence.skip(RESTORED_SEQUENCES)
        state.ordinals.skip(RESTORED_ORDINALS)
        state.outbox.batch.clear_restored()
    _recover_queues(state, rows[Table.QUEUES])
    ensure_system_queues(state)
    # New transactional sequences for a restored copy: the original may continue its own.
    recover_sequences(state, rows[Table.SEQUENCES], restored=recovery.restored)
    state.message_history.recover(rows[Table.HISTORY])
    state.srmp_history.recover(rows[Table.SRMP_HISTORY])
    recover_secret(state, rows[Table.SRMP])
    recover_redirections(state, rows[Table.SRMP])
    for key, value in rows[Table.ADDRESSES].items():
        state.addresses[guid(key)] = value.decode()
    recover_streams(state, rows[Table.STREAMS], rows[Table.STREAMS_OF_0_1_0])
    for key, value in rows[Table.LEASES].items():
        lease = parse_lease(key, value)
        state.leases[lease.queue, lease.consumer] = lease
    recover_producers(state, rows[Table.PRODUCERS])
    transactions = [
        parse_transaction(key, value) for key, value in sorted(rows[Table.TRANSACTIONS].items())
    ]
    involved = _recover_messages(state, recovery, transactions)
    if recovery.restored:
        renumber_restored(state)
    for stored in transactions:
        _recover_transaction(state, stored, involved)
    # Subqueues that were open but empty when the queue manager stopped.
    for queue in list(state.queues.values()):
        drop_if_unused(state, queue)
    # Reserve now, so that the first messages need not wait for it.
    state.sequence.take(0, state.outbox)
    state.ordinals.take(0, state.outbox)


def _recover_unchecked(state: State, row: bytes | None) -> None:
    """Find the messages whose authentication bits were stored as their senders had set them.

    A store without the row was used only by versions that did not clear these bits on arrival.
    """
    if row is None:
        row = _UNCHECKED.pack(state.sequence.last)
        state.outbox.batch.set_row(Table.MANAGER, _UNCHECKED_KEY, row)
    state.unchecked = _UNCHECKED.unpack(row)[0]


def _recover_queues(state: State, rows: dict[bytes, bytes]) -> None:
    # A queue has a smaller number than the subqueues and the journal that belong to it.
    for key in sorted(rows):
        number = queue_number(key)
        queue = parse_queue(number, rows[key], state.queues)
        if queue.deleted:
            state.deleted[number] = queue
        else:
            list_queue(state, queue)
        state.last_queue_number = max(state.last_queue_number, number)


def _recover_messages(
    state: State, recovery: Recovery, transactions: list[StoredTransaction]
) -> dict[int, Message]:
    """Put all messages in their places; return those named by a transaction, by key."""
    wanted = {
        key
        for transaction in transactions
        for operation in transaction.operations
        for key in operation.keys
    }
    involved: dict[int, Message] = {}
    queues = state.queues | state.deleted
    by_queue: dict[int, list[Message]] = {number: [] for number in queues}
    for key, record, size in recovery.messages:
        number, lookup_id, position_state, traits, arrived, expires = unpack_record(record)
        if position_state == STAGED:
            # No producer can publish it any more.
            state.outbox.batch.delete(key)
            continue
        queue = queues.get(number)
        if queue is None:
            raise StoreError(f"message {key} is in queue {number}, which does not exist")
        message = Message(
            key, lookup_id, queue, None, size, traits, arrived, expires, _AVAILABLE, 0
        )
        if position_state in _KEPT_STATES and not queue.deleted:
            message.state = position_state
        if len(record) > RECORD_SIZE:
            message.history = parse_history(record)
        if expires != NEVER:
            state.expiry.start(message, expires)
        if key in wanted:
            involved[key] = message
            if message.history is not None and message.history.transaction:
                continue
        by_queue[number].append(message)
    for number, messages in by_queue.items():
        if messages:
            _place(state, queues[number], messages)
    return involved


def _place(state: State, queue: Queue, messages: list[Message]) -> None:
    messages.sort(key=attrgetter("lookup_id"))
    delayed = [message for message in messages if message.state == _DELAYED]
    if delayed:
        set_aside(state, queue, delayed)
        messages = [message for message in messages if message.state != _DELAYED]
    size = sum([message.size for message in messages])
    count_messages(state, queue, len(messages), size)
    # They arrived before this start.
    queue.counters = QueueCounters()
    if queue.outgoing is not None:
        for message in messages:
            if is_awaiting_final_ack(message):
                queue.hold(message, AWAITING_FINAL_ACK)
                state.totals.awaiting_final_ack += 1
        messages = [message for message in messages if message.state == _AVAILABLE]
    if queue.role in _TIMED:
        for message in messages:
            schedule(state, message)
            if message.state == _HELD:
                message.holder = HELD
                queue.locked[message.lookup_id] = message
        messages = [message for message in messages if message.state == _AVAILABLE]
    if messages:
        queue.lanes.extend(messages, [message.lookup_id for message in messages])


def _recover_transaction(
    state: State, stored: StoredTransaction, involved: dict[int, Message]
) -> None:
    """Restore a prepared transaction: its operations are pending, and the coordinator decides."""
    transaction = Transaction(stored.identifier, stored.number)
    transaction.single_phase = False
    transaction.state = TransactionState.PREPARED
    state.transactions[stored.identifier] = transaction
    state.totals.in_doubt += 1
    for operation in stored.operations:
        messages = [involved[key] for key in operation.keys if key in involved]
        operation_type = OperationType(operation.operation_type)
        for message in messages:
            if operation_type is OperationType.ENQUEUE:
                if message.state != _DELAYED:
                    message.state = _LOCKED
                message.holder = transaction
                message.queue.pending[message.lookup_id] = message
                message.queue.reserved_bytes += message.size
            elif message.state == _AVAILABLE and not message.queue.deleted:
                message.queue.lock(message, transaction)
        target = state.queues.get(operation.target)
        if target is not None:
            target.expected += len(messages)
        transaction.add(operation_type, messages, reason=operation.reason, target=target)
