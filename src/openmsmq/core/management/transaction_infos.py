"""Transactions as records."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.transactions.transactions import OperationType

from .queue_infos import guid_text
from .records import TransactionInfo

if TYPE_CHECKING:
    from openmsmq.core.transactions.transactions import Transaction


def transaction_info(
    transaction: Transaction, utc: float, holders: dict[str, str]
) -> TransactionInfo:
    """A transaction, with the number of messages it holds.

    Args:
        transaction: one that is open.
        utc: the current time.
        holders: the holders of transactions, by transaction id.
    """
    counts = dict.fromkeys(OperationType, 0)
    for operation in transaction.operations:
        counts[operation.operation_type] += len(operation.messages)
    begun = transaction.begun
    identifier = guid_text(transaction.identifier)
    return TransactionInfo(
        id=identifier,
        state=transaction.state.value,
        age_seconds=None if begun is None else max(utc - begun, 0.0),
        sent=counts[OperationType.ENQUEUE],
        received=counts[OperationType.DEQUEUE],
        moved=counts[OperationType.MOVE],
        holder=holders.get(identifier, ""),
    )


def unconfirmed_info(identifier: UUID) -> TransactionInfo:
    """A commit that was decided here and that some participants have not confirmed."""
    return TransactionInfo(
        id=guid_text(identifier),
        state="committed",
        age_seconds=None,
        sent=0,
        received=0,
        moved=0,
        holder="",
    )
