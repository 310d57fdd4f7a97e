"""Prepared transactions as state rows, so that a crash before the decision loses nothing."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from openmsmq.core.model.message import RECOVERABLE

from .tables import Table

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.core.transactions.transactions import Transaction

_KEY: Final = Struct(">Q")
_IDENTIFIER: Final = Struct("<16s")
# Operation type, reason, number of the target queue, how many message keys follow.
_OPERATION: Final = Struct("<BHII")


class StoredOperation(NamedTuple):
    operation_type: int
    reason: int
    target: int
    keys: tuple[int, ...]


class StoredTransaction(NamedTuple):
    number: int
    identifier: UUID
    operations: list[StoredOperation]


def store_transaction(state: State, transaction: Transaction) -> None:
    """Store a prepared transaction; express messages are not part of it."""
    parts = [_IDENTIFIER.pack(transaction.identifier.bytes_le)]
    for operation in transaction.operations:
        keys = [message.key for message in operation.messages if message.traits & RECOVERABLE]
        target = operation.target.number if operation.target is not None else 0
        parts.append(_OPERATION.pack(operation.operation_type, operation.reason, target, len(keys)))
        parts.append(Struct(f"<{len(keys)}Q").pack(*keys))
    state.outbox.batch.set_row(Table.TRANSACTIONS, _KEY.pack(transaction.number), b"".join(parts))


def forget_transaction(state: State, transaction: Transaction) -> None:
    """Delete the row of a decided transaction."""
    state.outbox.batch.delete_row(Table.TRANSACTIONS, _KEY.pack(transaction.number))


def parse_transaction(key: bytes, value: bytes) -> StoredTransaction:
    number: int = _KEY.unpack(key)[0]
    identifier = UUID(bytes_le=_IDENTIFIER.unpack_from(value)[0])
    at = _IDENTIFIER.size
    operations = []
    while at < len(value):
        operation_type, reason, target, count = _OPERATION.unpack_from(value, at)
        at += _OPERATION.size
        keys = Struct(f"<{count}Q").unpack_from(value, at)
        at += 8 * count
        operations.append(StoredOperation(operation_type, reason, target, keys))
    return StoredTransaction(number, identifier, operations)
