"""The machines of transactions across machines: every state with every input."""

from itertools import product

import pytest

from openmsmq.core.transactions.coordination_states import (
    ENLISTED_STEPS,
    SHARED_STEPS,
    UNKNOWN,
    EnlistedAction,
    SharedAction,
    SharedInput,
    SharedState,
)
from openmsmq.wire.transactions.coordination import Order, Standing

ORDERS = (*Order, None)


def test_every_state_of_the_coordinator_has_a_step_for_every_input() -> None:
    assert set(SHARED_STEPS) == set(product(SharedState, SharedInput))


def test_every_standing_of_a_participant_has_a_step_for_every_order() -> None:
    assert set(ENLISTED_STEPS) == set(product(Standing, ORDERS))
    assert set(UNKNOWN) == set(Standing)


def test_a_decision_is_never_taken_back() -> None:
    for happened in SharedInput:
        step = SHARED_STEPS[SharedState.COMMITTED, happened]
        assert step.action is not SharedAction.ABORT
        forgotten = step.state is None
        assert forgotten == (happened is SharedInput.LAST_CONFIRMATION)


def test_only_the_last_vote_decides() -> None:
    deciding = [key for key, step in SHARED_STEPS.items() if step.action is SharedAction.DECIDE]
    assert deciding == [(SharedState.PREPARING, SharedInput.LAST_VOTE)]


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_prepared_ends_only_as_the_coordinator_says(order: Order | None) -> None:
    step = ENLISTED_STEPS[Standing.PREPARED, order]
    assert (step.action is EnlistedAction.COMMIT) == (order is Order.COMMIT)
    assert (step.action is EnlistedAction.ABORT) == (order is Order.ABORT)


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_not_prepared_is_never_committed(order: Order | None) -> None:
    assert ENLISTED_STEPS[Standing.ACTIVE, order].action is not EnlistedAction.COMMIT


@pytest.mark.parametrize("standing", [Standing.COMMITTED, Standing.ABORTED])
@pytest.mark.parametrize("order", ORDERS)
def test_an_outcome_is_reported_until_the_coordinator_forgets(
    standing: Standing, order: Order | None
) -> None:
    action = EnlistedAction.FORGET if order is Order.FORGET else EnlistedAction.ASK_LATER
    assert ENLISTED_STEPS[standing, order].action is action
