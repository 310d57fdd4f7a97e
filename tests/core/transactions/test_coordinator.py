"""Transactions that a coordinator decides ([MS-MQDMPR] 3.1.3, 3.1.4.6-11)."""

from uuid import UUID

import pytest
from tests.core.harness import MOVE, RECEIVE, Harness, refused

from openmsmq.core.model.message import PositionState
from openmsmq.core.transactions.coordinator import EnlistmentAnswer
from openmsmq.core.transactions.enlisted import Enlistment
from openmsmq.core.transactions.transactions import TransactionState, prepare
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.transactions.coordination import Order, Standing
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

SPEC = pytest.mark.spec
PAY = r".\private$\pay"
LATER = PAY + ";later"


COORDINATOR = UUID(int=7)
URL = CoordinatorUrl("10.0.0.7", 2103)


@pytest.fixture
def identifier(harness: Harness) -> UUID:
    """A transaction that receives 1, moves 2 and sends 4, beside 3."""
    harness.create(PAY, transactional=True)
    sending = harness.qm.traffic.begin(harness.guid())
    harness.send(b"1", b"2", b"3", name=PAY, transaction=sending)
    harness.qm.traffic.commit(sending.identifier)
    identifier = harness.guid()
    harness.qm.enlisted.begin(identifier, COORDINATOR, URL, b"sid")
    transaction = harness.qm.traffic.find_transaction(identifier)
    descriptor = harness.open(RECEIVE, PAY)
    harness.qm.traffic.dequeue_many(descriptor, transaction=transaction)
    harness.qm.traffic.move_many(
        descriptor, harness.open(MOVE, LATER), max_count=1, transaction=transaction
    )
    harness.send(b"4", name=PAY, transaction=transaction)
    harness.flush()
    return transaction.identifier


def everything(harness: Harness) -> tuple[list[bytes], list[bytes]]:
    subqueues = harness.qm.find_queue(PAY).subqueues
    return harness.contents(PAY), harness.contents(LATER) if subqueues else []


Contents = tuple[list[bytes], list[bytes]]
COMMITTED: Contents = ([b"3", b"4"], [b"2"])
UNDECIDED: Contents = ([b"3"], [])
ABORTED: Contents = ([b"1", b"2", b"3"], [])


@SPEC("MQDMPR-3.1.4.6-01", "MQDMPR-3.1.4.6-02")
def test_a_prepare_request_is_answered_when_everything_is_stored(
    harness: Harness, identifier: UUID
) -> None:
    result = harness.qm.enlistments.prepare_request(identifier, single_phase=False)
    answer, depends = result.value, result.depends
    assert answer == "TXUSER_ENLISTMENT_MTAG_PREPAREREQDONE"
    assert depends == harness.qm.state.outbox.number
    transaction = harness.qm.traffic.find_transaction(identifier)
    assert (transaction.single_phase, transaction.state) == (False, TransactionState.PREPARED)
    assert harness.qm.enlistments.in_doubt == [identifier]


@SPEC("MQDMPR-3.1.4.6-03")
def test_a_prepare_in_a_single_phase_commits(harness: Harness, identifier: UUID) -> None:
    answer = harness.qm.enlistments.prepare_request(identifier, single_phase=True).value
    assert answer is EnlistmentAnswer.COMMIT_REQ_DONE
    assert everything(harness) == COMMITTED
    harness.restart()
    assert everything(harness) == COMMITTED
    assert harness.qm.enlistments.in_doubt == []


@SPEC("MQDMPR-3.1.4.6-04")
def test_a_prepare_that_fails_aborts(harness: Harness, identifier: UUID) -> None:
    prepare(harness.qm.state, harness.qm.traffic.find_transaction(identifier))
    answer = harness.qm.enlistments.prepare_request(identifier, single_phase=False).value
    assert answer is EnlistmentAnswer.ABORT_REQ_DONE
    assert everything(harness) == ABORTED
    answer = harness.qm.enlistments.prepare_request(identifier, single_phase=False).value
    assert answer is EnlistmentAnswer.ABORT_REQ_DONE


@SPEC("MQDMPR-3.1.4.7-01")
def test_a_commit_request_commits(harness: Harness, identifier: UUID) -> None:
    harness.qm.enlistments.prepare_request(identifier, single_phase=False)
    result = harness.qm.enlistments.commit_request(identifier)
    answer, depends = result.value, result.depends
    assert answer == "TXUSER_ENLISTMENT_MTAG_COMMITREQDONE"
    assert depends == harness.qm.state.outbox.number
    assert everything(harness) == COMMITTED
    with refused("MQ_ERROR_TRANSACTION_SEQUENCE"):
        harness.qm.enlistments.commit_request(identifier)


@SPEC("MQDMPR-3.1.4.8-01")
def test_an_abort_request_aborts(harness: Harness, identifier: UUID) -> None:
    harness.qm.enlistments.prepare_request(identifier, single_phase=False)
    answer = harness.qm.enlistments.abort_request(identifier).value
    assert answer == "TXUSER_ENLISTMENT_MTAG_ABORTREQDONE"
    assert everything(harness) == ABORTED
    harness.restart()
    assert everything(harness) == ABORTED


@SPEC("MQDMPR-3.1.4.3-05", "MQDMPR-3.1.1.1-23", "MQDMPR-3.1.1.14-01")
def test_a_prepared_transaction_survives_a_crash_as_it_was(
    harness: Harness, identifier: UUID
) -> None:
    harness.qm.enlistments.prepare_request(identifier, single_phase=False)
    harness.flush()
    for _ in range(2):
        harness.crash()
        transaction = harness.qm.traffic.find_transaction(identifier)
        assert (transaction.single_phase, transaction.state) == (
            False,
            TransactionState.PREPARED,
        )
        assert everything(harness) == UNDECIDED
        queue = harness.qm.find_queue(PAY)
        assert {each.state for each in queue.locked.values()} == {PositionState.LOCKED}
        assert (len(queue.locked), len(queue.pending)) == (2, 1)
        reasons = [(each.operation_type, each.reason) for each in transaction.operations]
        assert reasons == [(1, MessageClass.ACK_RECEIVE), (2, 0), (0, 0)]
        assert transaction.operations[1].target is harness.qm.find_queue(LATER)


def crash_in_doubt(harness: Harness, identifier: UUID) -> Enlistment:
    """Prepare, crash, and return what the coordinator is asked about."""
    enlistment = harness.qm.enlisted.get(identifier)
    assert enlistment is not None
    harness.qm.enlisted.ordered(enlistment, Order.PREPARE)
    harness.restart()
    (report,) = harness.qm.enlisted.reports
    assert (report.enlistment.transaction, report.standing) == (identifier, Standing.PREPARED)
    assert (report.enlistment.coordinator, report.enlistment.url) == (COORDINATOR, URL)
    return report.enlistment


@SPEC("MQDMPR-3.1.3-18", "MQDMPR-3.1.4.9-01")
@pytest.mark.parametrize(("order", "expected"), [(Order.COMMIT, COMMITTED), (Order.ABORT, ABORTED)])
def test_the_coordinator_decides_after_a_crash(
    harness: Harness, identifier: UUID, order: Order, expected: Contents
) -> None:
    enlistment = crash_in_doubt(harness, identifier)
    harness.qm.enlisted.ordered(enlistment, order)
    assert everything(harness) == expected
    harness.restart()
    assert everything(harness) == expected
    assert harness.qm.state.transactions == {}


@SPEC("MQDMPR-3.1.4.11-01", "MQDMPR-3.1.3-18")
def test_without_an_answer_the_transaction_stays_undecided(
    harness: Harness, identifier: UUID
) -> None:
    enlistment = crash_in_doubt(harness, identifier)
    harness.qm.enlisted.ordered(enlistment, None)
    assert harness.qm.enlistments.in_doubt == [identifier]
    assert everything(harness) == UNDECIDED
    # It is asked again later.
    assert harness.qm.enlisted.reports[-1].later


@SPEC("MQDMPR-3.1.3-19")
@pytest.mark.parametrize("prepared", [True, False])
def test_a_single_phase_transaction_is_aborted_by_a_crash(
    harness: Harness, identifier: UUID, *, prepared: bool
) -> None:
    if prepared:
        prepare(harness.qm.state, harness.qm.traffic.find_transaction(identifier))
    harness.restart()
    assert harness.qm.state.transactions == {}
    assert harness.contents(PAY) == ABORTED[0]


@SPEC("MQDMPR-3.1.3-21")
def test_a_read_that_a_crash_interrupted_gives_its_message_back(harness: Harness) -> None:
    harness.send(b"1", b"2")
    harness.flush()
    harness.qm.traffic.dequeue_many(harness.open(RECEIVE), two_phase=True)
    harness.restart()
    assert harness.contents() == [b"1", b"2"]
