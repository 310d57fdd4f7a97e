"""The table of an outgoing queue on its way to its host."""

from itertools import product

import pytest

from openmsmq.protocol.transfer_states import (
    STEPS,
    TransferAction,
    TransferInput,
    TransferState,
    step,
)

S, In, Do = TransferState, TransferInput, TransferAction


@pytest.mark.parametrize(("state", "what"), list(product(S, In)))
def test_what_is_not_in_the_table_changes_nothing(
    state: TransferState, what: TransferInput
) -> None:
    if (state, what) in STEPS:
        assert step(state, what) == STEPS[state, what]
    else:
        assert step(state, what) == (Do.NOTHING, state)


@pytest.mark.parametrize("state", [state for state in S if state is not S.HELD])
def test_every_state_can_be_held(state: TransferState) -> None:
    assert step(state, In.HOLD).state is S.HELD


def test_requests_are_sent_over_an_open_way_only() -> None:
    assert {state for (state, _), found in STEPS.items() if found.action is Do.SEND} == {
        S.OPENING,
        S.OPEN,
    }
    assert all(found.state is S.OPEN for found in STEPS.values() if found.action is Do.SEND)


def test_a_failure_always_starts_the_retransmission_timer() -> None:
    for state in (S.OPENING, S.OPEN):
        assert step(state, In.FAILED) == (Do.RETRY_LATER, S.WAITING)
    assert step(S.WAITING, In.WORK) == (Do.NOTHING, S.WAITING)
