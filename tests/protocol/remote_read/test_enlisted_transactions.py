"""Opnums 10 and 12 to 15 in transactions that a coordinator elsewhere decides."""

from types import SimpleNamespace
from uuid import UUID

import pytest
from tests.core.harness import RECEIVE, USER, refused
from tests.protocol.remote_read.harness import (
    CANCELLED,
    DIRECT,
    FOR_EVER,
    INVALID_HANDLE,
    OK,
    RR_ACK,
    RR_NACK,
    TIMED_OUT,
    TRANSACTION,
    TRANSACTION_SEQUENCE,
    TRANSACTION_USAGE,
    Opened,
    RemoteCase,
    body_of,
    open_request,
)
from tests.protocol.remote_read.test_moves import LEDGER, LEDGER_DIRECT

from openmsmq.protocol.coordinator import Participant, ParticipantSettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.transactions.coordination import Order
from openmsmq.wire.transactions.propagation_token import PropagationToken

IDENTIFIER = UUID(bytes_le=TRANSACTION)
REJECTED = 0xC004


class EnlistedCase(RemoteCase):
    """A server with three messages in a transactional queue, and a coordinator by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.participant = Participant(
            self.qm, self.core.engine.gate, ParticipantSettings(hosts=("10.0.0.7",))
        )
        self.remote.transactional._participant = self.participant
        self.core.create(LEDGER, transactional=True)
        transaction = self.qm.traffic.begin(self.core.guid())
        address = direct_address(r"OS:qm\private$\ledger")
        self.core.send(
            b"1", b"2", b"3", name=LEDGER, transaction=transaction, destination_queue=address
        )
        self.qm.traffic.commit(transaction.identifier)
        self.turn()
        self.remote_client = self.reader()
        self.opened: Opened = self.remote_client.open(LEDGER_DIRECT)
        self.report = 0

    def enlist(self) -> None:
        """Have the client enlist the server."""
        assert self.ask(OK) == OK
        (report,) = self.participant.take_requests()
        self.report = report.number

    def ask(self, result: int) -> int:
        """The client wants to enlist the server, and the coordinator answers with a result."""
        token = PropagationToken(IDENTIFIER, UUID(int=3), "QM", "openmsmq://10.0.0.7:99/")
        queue_format = open_request(DIRECT).p_queue_format
        call = self.remote_client.begin(
            rr.R_QM_ENLIST_REMOTE_TRANSACTION,
            rr.QMEnlistRemoteTransactionRequest(TRANSACTION, token.serialize(), queue_format),
        )
        (request,) = self.participant.take_requests()
        self.participant.answered(request.number, SimpleNamespace(result=result))
        self.turn()
        answered: int = self.remote_client.answer(call).result
        return answered

    def wait(self) -> int:
        """Have the client wait for a message in the transaction; return the number of the call."""
        for number in range(10, 13):
            self.opened.transactional(dw_request_id=number)
            assert self.opened.end_transactional(RR_ACK, number) == OK
        request = rr.StartTransactionalReceiveRequest(
            *self.opened.request(0, ul_timeout=FOR_EVER), TRANSACTION
        )
        return self.remote_client.begin(rr.R_START_TRANSACTIONAL_RECEIVE, request)

    def send_new(self) -> None:
        """A message arrives; nobody has been told yet."""
        transaction = self.qm.traffic.begin(self.core.guid())
        self.core.send(b"new", name=LEDGER, transaction=transaction)
        self.qm.traffic.commit(transaction.identifier)

    def order(self, order: Order) -> None:
        """What the coordinator says."""
        self.participant.answered(self.report, SimpleNamespace(result=OK, order=order))
        self.turn()
        for request in self.participant.take_requests():
            self.report = request.number

    def commit(self) -> None:
        self.order(Order.PREPARE)
        self.order(Order.COMMIT)
        self.order(Order.FORGET)


@pytest.fixture
def case() -> EnlistedCase:
    case = EnlistedCase()
    case.enlist()
    return case


@pytest.mark.spec("MQRR-3.1.4.13-05", "MQRR-3.1.4.15-02", "MQRR-3.1.4.12-05")
def test_a_commit_deletes_what_was_received(case: EnlistedCase) -> None:
    assert body_of(case.opened.transactional()) == b"1"
    assert case.opened.end_transactional(RR_ACK) == OK
    assert case.bodies(LEDGER) == [b"2", b"3"]
    case.commit()
    assert case.bodies(LEDGER) == [b"2", b"3"]
    assert case.qm.state.transactions == {}


@pytest.mark.spec("MQRR-3.1.4.15-03")
def test_one_receive_is_taken_out_of_the_transaction(case: EnlistedCase) -> None:
    for request_id in (1, 2):
        case.opened.transactional(dw_request_id=request_id)
    assert case.opened.end_transactional(RR_NACK, 1) == OK
    assert case.opened.end_transactional(RR_ACK, 2) == OK
    assert case.bodies(LEDGER) == [b"1", b"3"]
    case.commit()
    assert case.bodies(LEDGER) == [b"1", b"3"]


@pytest.mark.spec("MQRR-3.1.4.14-02")
def test_a_rejected_message_leaves_with_the_commit(case: EnlistedCase) -> None:
    lookup_id = next(iter(case.qm.find_queue(LEDGER).lanes)).lookup_id
    case.opened.transactional()
    case.opened.end_transactional(RR_ACK)
    assert case.opened.set_class(lookup_id, REJECTED) == OK
    operation = case.qm.traffic.find_transaction(IDENTIFIER).operations[0]
    assert operation.reason == REJECTED
    case.commit()
    assert case.bodies(LEDGER) == [b"2", b"3"]


@pytest.mark.spec("MQRR-3.1.4.10-12", "MQRR-3.1.4.10-09")
@pytest.mark.parametrize("commit", [True, False])
def test_a_move_is_provisional(case: EnlistedCase, *, commit: bool) -> None:
    lookup_id = next(iter(case.qm.find_queue(LEDGER).lanes)).lookup_id
    number, _ = case.remote_client.open_for_move(LEDGER_DIRECT + ";a")
    assert case.opened.move(number, lookup_id, TRANSACTION) == OK
    assert (case.bodies(LEDGER), case.bodies(LEDGER + ";a")) == ([b"2", b"3"], [])
    assert case.opened.move(number, lookup_id) == Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION
    if commit:
        case.commit()
    else:
        case.order(Order.ABORT)
    assert case.bodies(LEDGER + ";a") == ([b"1"] if commit else [])
    assert case.bodies(LEDGER) == ([b"2", b"3"] if commit else [b"1", b"2", b"3"])


def test_a_receive_that_is_not_ended_keeps_the_server_from_preparing(case: EnlistedCase) -> None:
    case.opened.transactional()
    case.order(Order.PREPARE)
    assert case.bodies(LEDGER) == [b"1", b"2", b"3"]
    assert case.opened.end_transactional(RR_ACK) == TRANSACTION_SEQUENCE


def test_an_end_without_a_transaction_takes_the_receive_out(case: EnlistedCase) -> None:
    case.opened.transactional()
    assert case.opened.end(RR_ACK) == TRANSACTION_SEQUENCE
    assert case.bodies(LEDGER) == [b"1", b"2", b"3"]
    assert case.opened.end_transactional(RR_ACK) == INVALID_HANDLE


def test_a_client_that_takes_too_long_or_closes_gives_up_its_receives(case: EnlistedCase) -> None:
    case.opened.transactional()
    case.remote.handle_timer(now=case.now + 301.0)
    assert case.bodies(LEDGER) == [b"1", b"2", b"3"]
    case.opened.transactional()
    case.opened.close()
    case.turn()
    assert case.bodies(LEDGER) == [b"1", b"2", b"3"]
    case.commit()
    assert case.bodies(LEDGER) == [b"1", b"2", b"3"]


def test_a_receive_by_lookup_id_and_one_that_waits(case: EnlistedCase) -> None:
    queue = case.qm.find_queue(LEDGER)
    for number, message in enumerate(list(queue.lanes)):
        response = case.opened.transactional(
            0x40000020, lookup_id=message.lookup_id, dw_request_id=number + 10
        )
        assert response.result == OK
        assert case.opened.end_transactional(RR_ACK, number + 10) == OK
    assert case.opened.transactional().result == TIMED_OUT
    request = rr.StartTransactionalReceiveRequest(
        *case.opened.request(0, ul_timeout=FOR_EVER), TRANSACTION
    )
    waiting = case.remote_client.begin(rr.R_START_TRANSACTIONAL_RECEIVE, request)
    assert case.opened.cancel() == OK
    assert case.remote_client.answer(waiting).result == CANCELLED
    case.commit()
    assert case.bodies(LEDGER) == []


def test_a_transaction_that_was_aborted_receives_nothing(case: EnlistedCase) -> None:
    case.opened.transactional()
    case.order(Order.ABORT)
    assert case.opened.transactional(dw_request_id=2).result == TRANSACTION_SEQUENCE


def test_a_coordinator_that_refuses_is_told_to_the_client() -> None:
    case = EnlistedCase()
    assert case.ask(Hresult.MQ_ERROR) == Hresult.MQ_ERROR_TRANSACTION_ENLIST
    assert case.opened.transactional().result == TRANSACTION_SEQUENCE


def test_a_message_for_a_transaction_that_ends_in_the_same_turn_stays(case: EnlistedCase) -> None:
    waiting = case.wait()
    case.send_new()
    # The next read has those served first who wait.
    with refused("MQ_ERROR_IO_TIMEOUT"):
        case.qm.traffic.dequeue_many(case.core.open(RECEIVE, LEDGER), timeout=0.0, two_phase=True)
    case.order(Order.ABORT)
    assert case.remote_client.answer(waiting).result == CANCELLED
    assert case.bodies(LEDGER) == [b"1", b"2", b"3", b"new"]
    assert len(case.remote.pending) == 0


def test_a_message_for_a_client_that_is_gone_leaves_the_transaction(case: EnlistedCase) -> None:
    second = case.reader(group=case.remote_client.connection.assoc_group_id)
    case.wait()
    case.send_new()
    # The read is over when the connection goes, but the handle and the transaction are not.
    case.remote_client.link.lose()
    assert case.bodies(LEDGER) == [b"new"]
    assert case.opened.on(second).end_transactional(RR_ACK) == INVALID_HANDLE
    case.commit()
    assert case.bodies(LEDGER) == [b"new"]


def test_a_receive_from_a_queue_that_is_deleted_ends_with_the_handle(case: EnlistedCase) -> None:
    case.opened.transactional()
    case.qm.delete_queue(case.qm.find_queue(LEDGER), caller=USER)
    assert case.opened.close().result == OK
    assert len(case.remote.pending) == 0
    assert case.qm.traffic.find_transaction(IDENTIFIER).unended == 0
    case.commit()
    assert case.qm.state.transactions == {}


def test_only_what_the_transaction_has_received_is_rejected(case: EnlistedCase) -> None:
    first, second, _ = (message.lookup_id for message in case.qm.find_queue(LEDGER).lanes)
    # Locked, but in no transaction; and not received at all.
    assert body_of(case.opened.start()) == b"1"
    for lookup_id in (first, second):
        assert case.opened.set_class(lookup_id, REJECTED) == TRANSACTION_USAGE
    assert case.opened.end(RR_NACK) == OK
    case.commit()
    assert case.bodies(LEDGER) == [b"1", b"2", b"3"]
