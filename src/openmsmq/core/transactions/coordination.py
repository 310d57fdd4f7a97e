"""Coordination: transactions that began here and in which other queue managers take part.

The decision to commit is in the same batch as this queue manager's own part; participants learn it
after that batch is on disk. It is kept until every participant has confirmed it. An abort is
not stored: transactions unknown here were aborted (presumed abort).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from openmsmq.core.outbox import Result
from openmsmq.core.rows.coordination_rows import (
    StoredParticipant,
    forget_decision,
    parse_decision,
    store_decision,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.transactions.coordination import Order, Standing
from openmsmq.wire.transactions.propagation_token import PropagationToken

from .coordination_states import SHARED_STEPS, UNKNOWN, SharedAction, SharedInput, SharedState
from .transactions import TransactionState, abort, commit, find_transaction, prepare

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

PREPARE_SECONDS: Final = 30.0


class Reporter(Protocol):
    """The report of a participant, until it is answered."""

    def ordered(self, order: Order, depends: int) -> None:
        """Answer with the next step of the participant, once batch `depends` is on disk."""

    def superseded(self) -> None:
        """The same participant has sent another report."""


class CommitOwner(Protocol):
    """The program that wants to commit, until it is told the outcome."""

    def done(self, value: None = None, depends: int = 0) -> None:
        """The transaction is committed, once batch `depends` is on disk."""

    def fail(self, error: QueueError) -> None:
        """The transaction is aborted."""


class Participant:
    """A queue manager that takes part in a transaction."""

    __slots__ = ("guid", "prepared", "reporter", "sid")

    def __init__(self, guid: UUID, sid: bytes, *, prepared: bool = False) -> None:
        self.guid: Final = guid
        # The SID of its account: no other account may report for it.
        self.sid: Final = sid
        self.prepared = prepared
        self.reporter: Reporter | None = None

    def order(self, order: Order, depends: int = 0) -> None:
        """Answer its report, if one waits."""
        reporter, self.reporter = self.reporter, None
        if reporter is not None:
            reporter.ordered(order, depends)


class SharedTransaction:
    """A transaction with participants on other machines."""

    __slots__ = ("deadline", "decided", "identifier", "owner", "participants", "state")

    def __init__(self, identifier: UUID) -> None:
        self.identifier: Final = identifier
        self.state = SharedState.ACTIVE
        self.participants: dict[UUID, Participant] = {}
        self.owner: CommitOwner | None = None
        # The deadline for participants to prepare; in monotonic time.
        self.deadline: float | None = None
        # The batch that contains the decision.
        self.decided = 0


class Coordination:
    """The coordinator of the transactions that begin here.

    Attributes:
        url: where participants reach it; None while it cannot be reached.
        prepare_seconds: the time that participants have to prepare.
    """

    __slots__ = ("_shared", "_state", "prepare_seconds", "url")

    def __init__(self, state: State) -> None:
        self._state = state
        state.unconfirmed = self.unconfirmed
        self._shared: dict[UUID, SharedTransaction] = {}
        self.url: CoordinatorUrl | None = None
        self.prepare_seconds = PREPARE_SECONDS

    def recover(self, rows: dict[bytes, bytes]) -> None:
        """Keep telling participants of commits that they have not confirmed."""
        for key, value in rows.items():
            shared = SharedTransaction(UUID(bytes_le=key))
            shared.state = SharedState.COMMITTED
            for guid, sid in parse_decision(value):
                shared.participants[guid] = Participant(guid, sid, prepared=True)
            self._shared[shared.identifier] = shared

    def __contains__(self, identifier: UUID) -> bool:
        return identifier in self._shared

    def __iter__(self) -> Iterator[SharedTransaction]:
        return iter(list(self._shared.values()))

    def unconfirmed(self) -> list[UUID]:
        """The commits that some participants have not confirmed."""
        shared = self._shared.values()
        return [
            transaction.identifier
            for transaction in shared
            if transaction.state is SharedState.COMMITTED
        ]

    # The program

    def token(self, identifier: UUID) -> PropagationToken:
        """The propagation token that a program passes to another queue manager.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, the transaction is over;
                MQ_ERROR_DTC_CONNECT, no other machine can reach this coordinator.
        """
        find_transaction(self._state, identifier).require_active()
        if self.url is None:
            raise QueueError(
                Hresult.MQ_ERROR_DTC_CONNECT,
                "other machines cannot reach this queue manager",
                cause="Transactions across machines need RPC, which is off here.",
                remedy="Set rpc_port in the configuration of the queue manager.",
            )
        manager = self._state.manager
        return PropagationToken(
            guid_tx=identifier,
            contact=manager.identifier,
            host_name=manager.computer_name,
            url=str(self.url),
            description="openmsmq",
        )

    def commit(self, identifier: UUID, owner: CommitOwner) -> None:
        """Commit a transaction that other queue managers take part in; `owner` gets the outcome.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, it is over.
        """
        shared = self._shared[identifier]
        shared.owner = owner
        if self._state.local.throttled:
            self._step(shared, SharedInput.FAILURE, reason="the disk of the coordinator is full")
            return
        self._step(shared, SharedInput.COMMIT)

    def abort(self, identifier: UUID) -> Result:
        """Undo a transaction that other queue managers take part in.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, it is committed.
        """
        self._step(self._shared[identifier], SharedInput.ABORT)
        return Result(self._state.outbox.seen())

    # Participants

    def enlist(self, identifier: UUID, guid: UUID, sid: bytes) -> None:
        """Enlist a queue manager in a transaction.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, the transaction is unknown or over.
        """
        transaction = find_transaction(self._state, identifier)
        shared = self._shared.get(identifier)
        if shared is None:
            transaction.require_active()
            shared = self._shared[identifier] = SharedTransaction(identifier)
        participant = shared.participants.get(guid)
        if participant is None:
            self._step(shared, SharedInput.ENLIST)
            shared.participants[guid] = Participant(guid, sid)
        else:
            _require_account(participant, sid)

    def report(
        self, identifier: UUID, guid: UUID, standing: Standing, sid: bytes, reporter: Reporter
    ) -> None:
        """Handle the reported standing of a participant; `reporter` gets the next step.

        Raises:
            AccessDenied: another account enlisted it.
        """
        shared = self._shared.get(identifier)
        participant = None if shared is None else shared.participants.get(guid)
        if shared is None or participant is None:
            # Presumed abort.
            reporter.ordered(UNKNOWN[standing], self._state.outbox.seen())
            return
        _require_account(participant, sid)
        if participant.reporter is not None:
            participant.reporter.superseded()
        participant.reporter = reporter
        if standing is Standing.ACTIVE:
            self._active(shared, participant)
        elif standing is Standing.PREPARED:
            participant.prepared = True
            missing = any(not other.prepared for other in shared.participants.values())
            self._step(shared, SharedInput.VOTE if missing else SharedInput.LAST_VOTE)
        elif standing is Standing.ABORTED and shared.state is not SharedState.COMMITTED:
            participant.order(Order.FORGET)
            self._step(shared, SharedInput.FAILURE, reason=f"{guid} cannot prepare its part")
        else:
            self._confirm(shared, participant)

    def _active(self, shared: SharedTransaction, participant: Participant) -> None:
        if shared.state is SharedState.PREPARING:
            participant.order(Order.PREPARE)
        elif shared.state is SharedState.COMMITTED:
            # It has lost what it had prepared.
            participant.order(Order.ABORT)

    def _confirm(self, shared: SharedTransaction, participant: Participant) -> None:
        last = len(shared.participants) == 1
        if shared.state is SharedState.COMMITTED:
            del shared.participants[participant.guid]
        self._step(shared, SharedInput.LAST_CONFIRMATION if last else SharedInput.CONFIRMATION)
        participant.order(Order.FORGET, self._state.outbox.seen())

    def lost(self, identifier: UUID, guid: UUID, reporter: Reporter) -> None:
        """The connection of a participant is lost; one that is prepared will connect again."""
        shared = self._shared.get(identifier)
        participant = None if shared is None else shared.participants.get(guid)
        if shared is None or participant is None or participant.reporter is not reporter:
            return
        participant.reporter = None
        if not participant.prepared:
            self._step(shared, SharedInput.FAILURE, reason=f"{guid} cannot be reached any more")

    # Manual decisions

    def forget(self, identifier: UUID) -> Result:
        """Stop telling participants of a commit that they have not confirmed.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, there is no such commit.
        """
        shared = self._shared.get(identifier)
        if shared is None or shared.state is not SharedState.COMMITTED:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, f"{identifier} is not decided here"
            )
        self._step(shared, SharedInput.LAST_CONFIRMATION)
        return Result(self._state.outbox.number)

    # Timers

    def next_timer(self) -> float | None:
        """The next deadline for participants to prepare."""
        deadlines = [
            shared.deadline for shared in self._shared.values() if shared.deadline is not None
        ]
        return min(deadlines, default=None)

    def handle_timer(self, *, now: float) -> None:
        """Abort transactions that participants have not prepared in time."""
        for shared in self:
            if shared.deadline is not None and shared.deadline <= now:
                self._step(
                    shared,
                    SharedInput.FAILURE,
                    reason=f"not prepared within {self.prepare_seconds:g} seconds",
                )

    # The state machine

    def _step(self, shared: SharedTransaction, happened: SharedInput, reason: str = "") -> None:
        action, state = SHARED_STEPS[shared.state, happened]
        if action is SharedAction.REFUSE:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"transaction {shared.identifier} is {shared.state.value}",
            )
        if state is None:
            del self._shared[shared.identifier]
        else:
            shared.state = state
        if action is SharedAction.ASK:
            self._ask(shared)
        elif action is SharedAction.DECIDE:
            self._decide(shared)
        elif action is SharedAction.ABORT:
            self._abort(shared, reason)
        elif action is SharedAction.TELL:
            for participant in shared.participants.values():
                participant.order(Order.COMMIT, shared.decided)
        elif action is SharedAction.NOTE:
            self._store(shared)
        elif action is SharedAction.FORGET:
            forget_decision(self._state, shared.identifier)

    def _ask(self, shared: SharedTransaction) -> None:
        # Only in memory: without the decision a crash aborts this part by itself.
        prepare(self._state, find_transaction(self._state, shared.identifier))
        shared.deadline = self._state.now + self.prepare_seconds
        for participant in shared.participants.values():
            participant.order(Order.PREPARE)

    def _decide(self, shared: SharedTransaction) -> None:
        state = self._state
        shared.deadline = None
        commit(state, find_transaction(state, shared.identifier))
        self._store(shared)
        shared.decided = state.outbox.number
        for participant in shared.participants.values():
            participant.order(Order.COMMIT, shared.decided)
        owner, shared.owner = shared.owner, None
        if owner is not None:
            owner.done(None, shared.decided)

    def _store(self, shared: SharedTransaction) -> None:
        store_decision(
            self._state,
            shared.identifier,
            [
                StoredParticipant(participant.guid, participant.sid)
                for participant in shared.participants.values()
            ],
        )

    def _abort(self, shared: SharedTransaction, reason: str) -> None:
        transaction = find_transaction(self._state, shared.identifier)
        assert transaction.state is not TransactionState.FINISHED, "it is known"  # noqa: S101
        abort(self._state, transaction)
        for participant in shared.participants.values():
            participant.order(Order.ABORT)
        owner, shared.owner = shared.owner, None
        if owner is not None:
            owner.fail(
                QueueError(
                    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                    f"the transaction was aborted: {reason}",
                    cause="A queue manager that takes part in the transaction cannot commit it.",
                    remedy="Everything is as it was before; begin another transaction.",
                )
            )


def _require_account(participant: Participant, sid: bytes) -> None:
    if participant.sid != sid:
        raise AccessDenied(f"{participant.guid} enlisted by another account")
