"""Enlisted: transactions of other machines in which this queue manager takes part.

All prepared operations are on disk before the coordinator is told, together with the address of
the coordinator, so that after a crash it can be asked for its decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from openmsmq.core.rows.coordination_rows import (
    StoredEnlistment,
    forget_enlistment,
    parse_enlistment,
    store_enlistment,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.transactions.coordination import Order, Standing

from .coordination_states import ENLISTED_STEPS, EnlistedAction
from .coordinator import EnlistmentAnswer, Enlistments
from .transactions import Transaction, create_transaction

if TYPE_CHECKING:
    from openmsmq.core.outbox import Result
    from openmsmq.core.state import State
    from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl


class Enlistment:
    """A transaction here that a coordinator on another machine decides.

    Attributes:
        coordinator: the contact identifier of the coordinator.
        url: where the coordinator listens.
        owner: the SID of the client that enlisted it; None after a restart.
        attempts: consecutive reports that the coordinator did not answer.
    """

    __slots__ = ("attempts", "coordinator", "owner", "standing", "stored", "transaction", "url")

    def __init__(
        self,
        transaction: UUID,
        coordinator: UUID,
        url: CoordinatorUrl,
        *,
        owner: bytes | None,
        standing: Standing = Standing.ACTIVE,
    ) -> None:
        self.transaction: Final = transaction
        self.coordinator: Final = coordinator
        self.url: Final = url
        self.owner: Final = owner
        self.standing = standing
        self.attempts = 0
        # Whether it has a row.
        self.stored = standing is not Standing.ACTIVE


class DueReport(NamedTuple):
    """A report to the coordinator, to be sent once batch `depends` is on disk.

    Attributes:
        later: to be sent after a delay, because the coordinator did not answer before.
    """

    enlistment: Enlistment
    standing: Standing
    depends: int
    later: bool = False


class Enlisted:
    """The transactions that coordinators on other machines decide.

    Attributes:
        reports: the reports to send to coordinators; the sender empties the list.
    """

    __slots__ = ("_enlistments", "_state", "_transactions", "reports")

    def __init__(self, state: State, transactions: Enlistments) -> None:
        self._state = state
        self._transactions = transactions
        self._enlistments: dict[UUID, Enlistment] = {}
        self.reports: list[DueReport] = []

    def recover(self, rows: dict[bytes, bytes]) -> None:
        """[MS-MQDMPR] 3.1.3: ask the coordinators about transactions prepared before a crash."""
        for key, value in rows.items():
            stored = parse_enlistment(key, value)
            enlistment = Enlistment(
                stored.transaction,
                stored.coordinator,
                stored.url,
                owner=None,
                standing=stored.standing,
            )
            self._enlistments[stored.transaction] = enlistment
            self.reports.append(DueReport(enlistment, enlistment.standing, 0))

    def __iter__(self) -> Iterator[Enlistment]:
        return iter(list(self._enlistments.values()))

    def __len__(self) -> int:
        return len(self._enlistments)

    def get(self, identifier: UUID) -> Enlistment | None:
        """The enlistment in a transaction."""
        return self._enlistments.get(identifier)

    def begin(
        self, identifier: UUID, coordinator: UUID, url: CoordinatorUrl, owner: bytes
    ) -> Enlistment:
        """Begin the local transaction: the coordinator has accepted this queue manager.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, there is one with this identifier.
        """
        create_transaction(self._state, identifier)
        enlistment = Enlistment(identifier, coordinator, url, owner=owner)
        self._enlistments[identifier] = enlistment
        self.reports.append(DueReport(enlistment, enlistment.standing, 0))
        return enlistment

    def transaction(self, identifier: UUID, owner: bytes) -> Transaction:
        """The transaction that a client has enlisted.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, this client has enlisted no such
            transaction.
        """
        enlistment = self._enlistments.get(identifier)
        transaction = self._state.transactions.get(identifier)
        if enlistment is None or transaction is None or enlistment.owner != owner:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "the transaction is not enlisted"
            )
        return transaction

    # Orders of coordinators

    def ordered(self, enlistment: Enlistment, order: Order | None) -> None:
        """Carry out the order of the coordinator; None when it did not answer.

        An answer to a report from before a change of the standing has no effect.
        """
        if self._enlistments.get(enlistment.transaction) is not enlistment:
            return
        action, standing = ENLISTED_STEPS[enlistment.standing, order]
        identifier = enlistment.transaction
        enlistment.attempts = enlistment.attempts + 1 if order is None else 0
        if action is EnlistedAction.PREPARE:
            self._prepare(enlistment)
        elif action is EnlistedAction.COMMIT:
            result = self._transactions.commit_request(identifier)
            self._stand(enlistment, Standing.COMMITTED)
            self.reports.append(
                DueReport(
                    enlistment, enlistment.standing, max(result.depends, self._state.outbox.number)
                )
            )
        elif action is EnlistedAction.ABORT:
            self._transactions.abort_request(identifier)
            self._forget(enlistment)
        elif action is EnlistedAction.BREAK:
            self._break(enlistment)
        elif action is EnlistedAction.FORGET:
            self._forget(enlistment)
        else:
            later = action is EnlistedAction.ASK_LATER
            self.reports.append(DueReport(enlistment, enlistment.standing, 0, later=later))
        assert standing is not None or identifier not in self._enlistments  # noqa: S101

    def _prepare(self, enlistment: Enlistment) -> None:
        identifier = enlistment.transaction
        transaction = self._state.transactions.get(identifier)
        refused = transaction is None or transaction.unended > 0 or self._state.local.throttled
        if not refused:
            promise = self._transactions.prepare_request(identifier, single_phase=False)
            if promise.value is EnlistmentAnswer.PREPARE_REQ_DONE:
                self._stand(enlistment, Standing.PREPARED)
                self.reports.append(
                    DueReport(enlistment, enlistment.standing, self._state.outbox.number)
                )
                return
        self._break(enlistment)

    def _break(self, enlistment: Enlistment) -> None:
        """Abort here, and tell the coordinator."""
        self._transactions.abort_request(enlistment.transaction)
        enlistment.standing = Standing.ABORTED
        self.reports.append(DueReport(enlistment, enlistment.standing, 0))

    def _stand(self, enlistment: Enlistment, standing: Standing) -> None:
        enlistment.standing = standing
        enlistment.stored = True
        store_enlistment(
            self._state,
            StoredEnlistment(
                enlistment.transaction, standing, enlistment.coordinator, enlistment.url
            ),
        )

    def _forget(self, enlistment: Enlistment) -> None:
        del self._enlistments[enlistment.transaction]
        if enlistment.stored:
            forget_enlistment(self._state, enlistment.transaction)

    # Manual decisions

    def check_in_doubt(self, identifier: UUID) -> None:
        """Refuse to end manually a transaction that has a program or a coordinator.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, it is not in doubt.
        """
        if identifier not in self._transactions.in_doubt:
            if identifier in self._state.transactions:
                raise QueueError(
                    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                    f"transaction {identifier} is active, and not in doubt",
                    cause="Its program still works in it, or waits for its commit.",
                    remedy="Wait, or end the program: a transaction whose program is gone before "
                    "all have prepared is aborted.",
                )
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"there is no transaction {identifier}, or it is over",
                cause="It has ended meanwhile, or it is a transaction of another queue manager.",
                remedy="See `openmsmq transaction list`.",
            )

    def resolve(self, identifier: UUID, *, commit: bool) -> Result:
        """End a transaction in doubt without its coordinator, which is told the outcome.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, it is not in doubt.
        """
        self.check_in_doubt(identifier)
        transactions = self._transactions
        result = (
            transactions.commit_request(identifier)
            if commit
            else transactions.abort_request(identifier)
        )
        enlistment = self._enlistments.get(identifier)
        if enlistment is not None:
            self._stand(enlistment, Standing.COMMITTED if commit else Standing.ABORTED)
            self.reports.append(
                DueReport(enlistment, enlistment.standing, self._state.outbox.number)
            )
        return result
