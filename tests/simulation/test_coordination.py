"""Transactions across machines in a storm; four ways to get them wrong must be noticed."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.simulation.coordination_storm import ORDERS, Storm, first_violation

from openmsmq.core.model.queue import Queue
from openmsmq.core.rows.coordination_rows import forget_decision
from openmsmq.core.transactions import coordination, coordination_states
from openmsmq.core.transactions.coordination import Coordination, Participant
from openmsmq.core.transactions.transactions import Transaction
from openmsmq.wire.transactions.coordination import Order, Standing

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_nothing_is_lost_or_twice_or_in_doubt(start: int) -> None:
    assert first_violation(range(start, start + 20)) is None


@pytest.mark.soak
def test_nothing_is_lost_or_twice_or_in_doubt_with_many_seeds() -> None:
    assert first_violation(range(1000, 2000)) is None


def test_transactions_commit_in_the_storm() -> None:
    committed = 0
    for seed in range(20):
        storm = Storm(seed)
        storm.run()
        committed += len(storm.home.contents(ORDERS))
    assert committed > 4


def commit_is_told_before_it_is_on_disk(patch: Patch) -> None:
    order = Participant.order
    patch.setattr(Participant, "order", lambda self, what, _depends=0: order(self, what))


def decision_is_forgotten_before_all_have_confirmed(patch: Patch) -> None:
    decide = Coordination._decide

    def decide_and_forget(self: Coordination, shared: Any) -> None:
        decide(self, shared)
        forget_decision(self._state, shared.identifier)
        del self._shared[shared.identifier]

    patch.setattr(Coordination, "_decide", decide_and_forget)


def unknown_transaction_is_taken_for_committed(patch: Patch) -> None:
    unknown = {**coordination_states.UNKNOWN, Standing.PREPARED: Order.COMMIT}
    patch.setattr(coordination, "UNKNOWN", unknown)


def prepared_message_is_given_out_again(patch: Patch) -> None:
    lock = Queue.lock

    def lock_unless_prepared(self: Queue, message: Any, holder: Any) -> None:
        if not isinstance(holder, Transaction) or holder.single_phase:
            lock(self, message, holder)

    patch.setattr(Queue, "lock", lock_unless_prepared)


@pytest.mark.parametrize(
    "mutation",
    [
        commit_is_told_before_it_is_on_disk,
        decision_is_forgotten_before_all_have_confirmed,
        unknown_transaction_is_taken_for_committed,
        prepared_message_is_given_out_again,
    ],
)
def test_a_mistake_is_noticed(monkeypatch: Patch, mutation: Callable[[Patch], None]) -> None:
    mutation(monkeypatch)
    try:
        found = first_violation(range(120))
    except Exception as exc:  # noqa: BLE001 - an invariant that breaks is noticed, too
        found = -1, repr(exc)
    assert found is not None
