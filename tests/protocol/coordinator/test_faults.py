"""Coordinators that are slow or change their mind, participants that repeat or vanish, clocks."""

from types import SimpleNamespace
from uuid import UUID

import pytest
from tests.core.harness import refused
from tests.protocol.coordinator.test_participant import (
    PAY,
    SID,
    TRANSACTION,
    Call,
    Home,
    Side,
    orders,
)

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.transactions.coordination import Order, Standing
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl
from openmsmq.wire.transactions.propagation_token import PropagationToken

DAY = 86_400.0


def prepared(side: Side) -> int:
    """The report of a part that is prepared, on disk."""
    side.order(side.join(), Order.PREPARE)
    side.harness.flush()
    return side.take()[0]


@pytest.mark.parametrize("first", [Order.COMMIT, Order.ABORT])
@pytest.mark.parametrize("second", [Order.COMMIT, Order.ABORT, Order.PREPARE])
def test_a_coordinator_that_decides_again_changes_nothing(first: Order, second: Order) -> None:
    side = Side()
    side.order(prepared(side), first)
    side.harness.flush()
    left = [b"2"] if first is Order.COMMIT else [b"1", b"2"]
    assert side.harness.contents(PAY) == left
    for _ in range(3):
        requests = side.participant.take_requests()
        if not requests:
            # What is aborted is over as soon as it is told.
            break
        side.order(requests[0].number, second)
        side.harness.flush()
        side.harness.advance(60.0)
        side.participant.handle_timer(now=side.harness.now)
    assert side.harness.contents(PAY) == left
    side.harness.restart()
    assert side.harness.contents(PAY) == left


def test_a_slow_coordinator_enlists_nothing_by_halves() -> None:
    side = Side()
    owner = side.enlist()
    number = side.take()[0]
    side.harness.advance(299.0)
    # Nobody takes part before it has answered.
    assert (owner.outcome, side.standing()) == (None, None)
    assert side.harness.qm.state.transactions == {}
    side.participant.answered(number, SimpleNamespace(result=0))
    assert (owner.outcome, side.standing()) == ("enlisted", Standing.ACTIVE)
    side.order(side.take()[0], Order.ABORT)
    assert (side.standing(), side.harness.qm.state.transactions) == (None, {})


def test_a_slow_decision_finds_everything_as_it_was() -> None:
    side = Side()
    number = prepared(side)
    side.harness.advance(30 * DAY)
    assert side.harness.contents(PAY) == [b"2"]
    side.order(number, Order.COMMIT)
    assert side.harness.contents(PAY) == [b"2"]
    assert side.standing() is Standing.COMMITTED


def test_a_coordinator_that_never_answers_leaves_it_in_doubt_over_restarts() -> None:
    side = Side()
    side.participant.failed(prepared(side), "nobody")
    for _ in range(3):
        side.harness.restart()
        assert side.harness.contents(PAY) == [b"2"]
        assert side.harness.qm.enlistments.in_doubt == [TRANSACTION]
    side.harness.qm.enlisted.resolve(TRANSACTION, commit=False)
    assert side.harness.contents(PAY) == [b"1", b"2"]


@pytest.mark.parametrize("jump", [-DAY, -1.0, 0.5, DAY])
def test_a_clock_that_jumps_neither_loses_a_report_nor_decides(jump: float) -> None:
    side = Side(retry_seconds=1.0, max_retry_seconds=4.0)
    side.participant.failed(prepared(side), "nobody")
    assert side.participant.take_requests() == []
    due = side.participant.next_timer()
    assert due is not None
    side.participant.handle_timer(now=side.harness.now + jump)
    asked = side.participant.take_requests()
    assert bool(asked) is (jump >= 1.0)
    assert side.standing() is Standing.PREPARED
    if not asked:
        assert side.participant.next_timer() == due
        side.participant.handle_timer(now=due)
        asked = side.participant.take_requests()
    side.order(asked[0].number, Order.COMMIT)
    assert side.harness.contents(PAY) == [b"2"]


@pytest.mark.parametrize("jump", [-DAY, 29.0])
def test_a_clock_that_jumps_back_aborts_no_transaction_of_the_coordinator(jump: float) -> None:
    home = Home()
    home.enlist(1)
    owner = home.commit()
    home.server.handle_timer(now=home.harness.now + jump)
    assert owner.outcome is None
    assert orders(home.report(Standing.ACTIVE, 1)) == [Order.PREPARE]
    assert orders(home.report(Standing.PREPARED, 1)) == [Order.COMMIT]
    assert owner.outcome == "committed"


def test_a_clock_that_jumps_far_ahead_aborts_and_stays_with_it() -> None:
    home = Home()
    home.enlist(1)
    owner = home.commit()
    home.report(Standing.ACTIVE, 1)
    home.server.handle_timer(now=home.harness.now + DAY)
    assert owner.outcome == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    # The vote that comes now is too late.
    assert orders(home.report(Standing.PREPARED, 1)) == [Order.ABORT]
    assert home.harness.qm.coordination.unconfirmed() == []


def test_a_participant_that_prepares_twice_votes_once() -> None:
    home = Home()
    home.enlist(1)
    home.enlist(2)
    owner = home.commit()
    first = home.report(Standing.PREPARED, 1)
    again = home.report(Standing.PREPARED, 1)
    # The second vote of one is not that of the other.
    assert owner.outcome is None
    assert orders(first) == [Hresult.MQ_ERROR_OPERATION_CANCELLED]
    assert orders(again) == []
    home.report(Standing.PREPARED, 2)
    assert orders(again) == [Order.COMMIT]
    assert owner.outcome == "committed"


def test_a_participant_that_confirms_twice_is_forgotten_once() -> None:
    home = Home()
    home.enlist(1)
    home.enlist(2)
    home.commit()
    for participant in (1, 2):
        home.report(Standing.PREPARED, participant)
    for _ in range(2):
        assert orders(home.report(Standing.COMMITTED, 1)) == [Order.FORGET]
        assert home.harness.qm.coordination.unconfirmed() == [TRANSACTION]
    assert orders(home.report(Standing.COMMITTED, 2)) == [Order.FORGET]
    assert home.harness.qm.coordination.unconfirmed() == []


def vanish(call: Call) -> None:
    assert call.on_cancel is not None
    call.on_cancel(call)


@pytest.mark.parametrize(
    "step", ["enlisted", "active", "asked to prepare", "prepared", "told", "confirmed"]
)
def test_a_participant_that_vanishes_at_a_step(step: str) -> None:
    """Before its vote everything is undone; after it, its part waits for the decision."""
    home = Home()
    home.enlist(1)
    steps = ["enlisted", "active", "asked to prepare", "prepared", "told", "confirmed"]
    reached = steps.index(step)
    owner = None
    if reached >= 1:
        report = home.report(Standing.ACTIVE, 1)
        if reached == 1:
            vanish(report)
            assert home.harness.qm.state.transactions == {}
    if reached != 1:
        owner = home.commit()
    if reached == 0 or reached == 2:
        # It does not come back: the coordinator waits no longer than it was told to.
        home.server.handle_timer(now=home.harness.now + 30.0)
        assert owner is not None
        assert owner.outcome == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    if reached >= 3:
        assert orders(home.report(Standing.PREPARED, 1)) == [Order.COMMIT]
        assert owner is not None
        assert owner.outcome == "committed"
        assert home.harness.qm.coordination.unconfirmed() == [TRANSACTION]
        # Back again, it asks as one who has prepared, as often as it likes.
        for _ in range(reached - 2):
            assert orders(home.report(Standing.PREPARED, 1)) == [Order.COMMIT]
        assert orders(home.report(Standing.COMMITTED, 1)) == [Order.FORGET]
        assert home.harness.qm.coordination.unconfirmed() == []


def test_a_commit_that_is_decided_needs_no_room_on_a_full_disk() -> None:
    side = Side()
    number = prepared(side)
    side.harness.qm.outgoing.set_throttled(throttled=True)
    side.order(number, Order.COMMIT)
    assert side.standing() is Standing.COMMITTED
    assert side.harness.contents(PAY) == [b"2"]


def test_another_transaction_cannot_be_enlisted_under_a_known_identifier() -> None:
    side = Side()
    side.join()
    # The same transaction, as another client names it.
    owner = SimpleNamespace(enlisted=lambda: pytest.fail("enlisted"), refused=lambda _: None)
    url = "openmsmq://10.0.0.7:99/"
    raw = PropagationToken(TRANSACTION, UUID(int=2), "QM", url).serialize()
    with pytest.raises(QueueError):
        side.participant.enlist(
            TRANSACTION, raw, address="10.0.0.7", caller=b"another", owner=owner
        )
    assert side.harness.qm.enlisted.transaction(TRANSACTION, SID) is not None


def test_only_an_active_transaction_has_a_token() -> None:
    home = Home()
    coordination = home.harness.qm.coordination
    coordination.url = CoordinatorUrl("10.0.0.7", 99)
    assert coordination.token(TRANSACTION).guid_tx == TRANSACTION
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        coordination.token(UUID(int=99))
    home.harness.qm.traffic.abort(TRANSACTION)
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        coordination.token(TRANSACTION)


def test_a_part_that_was_aborted_by_hand_ends_a_commit() -> None:
    home = Home()
    home.enlist(1)
    home.commit()
    home.report(Standing.PREPARED, 1)
    assert home.harness.qm.coordination.unconfirmed() == [TRANSACTION]
    assert orders(home.report(Standing.ABORTED, 1)) == [Order.FORGET]
    assert home.harness.qm.coordination.unconfirmed() == []
