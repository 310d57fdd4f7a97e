"""Transactions that a coordinator decides ([MS-MQDMPR] 3.1.3, 3.1.4.6-11)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.outbox import ResultOf
from openmsmq.wire.codes.queue_error import QueueError

from .transactions import TransactionState, abort, commit, find_transaction, prepare

if TYPE_CHECKING:
    from openmsmq.core.state import State


class EnlistmentAnswer(StrEnum):
    """TXUSER_ENLISTMENT_MTAG_*: the answers of the queue manager to the coordinator."""

    PREPARE_REQ_DONE = "TXUSER_ENLISTMENT_MTAG_PREPAREREQDONE"
    COMMIT_REQ_DONE = "TXUSER_ENLISTMENT_MTAG_COMMITREQDONE"
    ABORT_REQ_DONE = "TXUSER_ENLISTMENT_MTAG_ABORTREQDONE"


class Enlistments:
    """Answers to a coordinator; each with the batch that must be durable before it is sent."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def in_doubt(self) -> list[UUID]:
        """The transactions that are prepared and wait for the decision of the coordinator."""
        return [
            transaction.identifier
            for transaction in self._state.transactions.values()
            if transaction.state is TransactionState.PREPARED and not transaction.single_phase
        ]

    def prepare_request(
        self, identifier: UUID, *, single_phase: bool
    ) -> ResultOf[EnlistmentAnswer]:
        """DTC Prepare: promise to commit, or commit at once in a single phase; abort on failure."""
        state = self._state
        try:
            transaction = find_transaction(state, identifier)
            promise = prepare(state, transaction, single_phase=False)
        except QueueError:
            return self.abort_request(identifier)
        if single_phase:
            return self.commit_request(identifier)
        return ResultOf(EnlistmentAnswer.PREPARE_REQ_DONE, promise.depends)

    def commit_request(self, identifier: UUID) -> ResultOf[EnlistmentAnswer]:
        """DTC Commit."""
        result = commit(self._state, find_transaction(self._state, identifier))
        return ResultOf(EnlistmentAnswer.COMMIT_REQ_DONE, result.depends)

    def abort_request(self, identifier: UUID) -> ResultOf[EnlistmentAnswer]:
        """DTC Abort; a transaction unknown here needs no work."""
        transaction = self._state.transactions.get(identifier)
        depends = 0 if transaction is None else abort(self._state, transaction).depends
        return ResultOf(EnlistmentAnswer.ABORT_REQ_DONE, depends)
