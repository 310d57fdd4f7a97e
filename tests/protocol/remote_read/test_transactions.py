"""Opnums 12 to 15 without transactions across machines ([MS-MQRR] 3.1.4.12 to 3.1.4.15)."""

import pytest
from tests.protocol.remote_read.harness import (
    CANCELLED,
    DIRECT,
    FOR_EVER,
    INVALID_HANDLE,
    INVALID_PARAMETER,
    NO_TRANSACTION,
    NOT_FOUND,
    OK,
    PEEK,
    RR_ACK,
    RR_NACK,
    TIMED_OUT,
    TRANSACTION,
    TRANSACTION_SEQUENCE,
    TRANSACTION_USAGE,
    RemoteCase,
    body_of,
    open_request,
)
from tests.protocol.remote_read.test_moves import LEDGER, LEDGER_DIRECT, ledger

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_HANDLE
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.rpc_interfaces import remote_read as rr

PEEKS = (0x80000000, 0x80000001, 0x40000010, 0x40000011, 0x40000012)
REJECTED = 0xC004


@pytest.mark.spec("MQRR-3.1.4.12-06", "MQRR-3.1.4.12-07")
@pytest.mark.parametrize("token", [b"", b"token", bytes(131_072)])
@pytest.mark.parametrize("queue_format", [open_request(DIRECT).p_queue_format, QueueFormat(0)])
def test_an_enlistment_is_refused(token: bytes, queue_format: QueueFormat) -> None:
    case = RemoteCase()
    request = rr.QMEnlistRemoteTransactionRequest(TRANSACTION, token, queue_format)
    code = case.reader().result(rr.R_QM_ENLIST_REMOTE_TRANSACTION, request)
    assert code == Hresult.MQ_ERROR_DTC_CONNECT
    assert not case.qm.state.transactions


@pytest.mark.spec("MQRR-3.1.4.13-02", "MQRR-3.1.4.13-11", "MQRR-3.1.4.13-09")
def test_without_a_transaction_it_is_a_receive() -> None:
    case = RemoteCase()
    opened = case.reader().open()
    assert opened.transactional(0, NO_TRANSACTION).result == TIMED_OUT
    (lookup_id,) = case.send(b"x")
    response = opened.transactional(0, NO_TRANSACTION)
    assert body_of(response) == b"x"
    assert response.p_sequence_id == lookup_id & 0x00FFFFFFFFFFFFFF
    assert opened.end(RR_ACK) == OK
    request = rr.StartTransactionalReceiveRequest(
        *opened.request(ul_timeout=FOR_EVER), NO_TRANSACTION
    )
    waits = opened.reader.begin(rr.R_START_TRANSACTIONAL_RECEIVE, request)
    assert opened.cancel() == OK
    assert opened.reader.answer(waits).result == CANCELLED


@pytest.mark.spec("MQRR-3.1.4.13-03")
def test_a_transaction_does_not_go_with_a_queue_that_is_not_transactional() -> None:
    case = RemoteCase()
    case.send(b"x")
    opened = case.reader().open()
    assert opened.transactional().result == TRANSACTION_USAGE
    assert not case.queue.locked


@pytest.mark.spec("MQRR-3.1.4.13-04")
@pytest.mark.parametrize("action", PEEKS)
def test_a_transaction_does_not_go_with_a_peek(action: int) -> None:
    case, lookup_id = ledger()
    opened = case.reader().open(LEDGER_DIRECT)
    cursor = opened.cursor() if action == 0x80000001 else 0
    lookup_id = lookup_id if action & 0x40000000 else 0
    response = opened.transactional(action, h_cursor=cursor, lookup_id=lookup_id)
    assert response.result == TRANSACTION_USAGE


@pytest.mark.spec("MQRR-3.1.4.13-07", "MQRR-3.1.4.13-08")
def test_parameters_are_checked_first_and_cursors_next() -> None:
    case = RemoteCase()
    opened = case.reader().open()
    assert opened.transactional(1).result == INVALID_PARAMETER
    assert opened.transactional(0x40000020).result == INVALID_PARAMETER
    assert opened.transactional(0, h_cursor=9).result == STATUS_INVALID_HANDLE
    peeks = case.reader().open(access=PEEK)
    assert peeks.transactional().result == Hresult.MQ_ERROR_ACCESS_DENIED


def test_a_transaction_that_is_not_enlisted_receives_nothing() -> None:
    case, lookup_id = ledger()
    opened = case.reader().open(LEDGER_DIRECT)
    assert opened.transactional().result == TRANSACTION_SEQUENCE
    response = opened.transactional(0x40000020, lookup_id=lookup_id)
    assert response.result == TRANSACTION_SEQUENCE
    assert case.bodies(LEDGER) == [b"x"]
    assert not case.qm.find_queue(LEDGER).locked


@pytest.mark.spec("MQRR-3.1.4.15-02", "MQRR-3.1.4.15-05", "MQRR-3.1.4.13-10")
def test_the_end_of_a_transactional_receive_deletes_nothing() -> None:
    case = RemoteCase()
    case.send(b"x")
    opened = case.reader().open()
    assert opened.transactional(0, NO_TRANSACTION).result == OK
    assert len(case.remote.pending) == 1
    assert opened.end_transactional(RR_ACK) == TRANSACTION_SEQUENCE
    assert len(case.remote.pending) == 0
    assert case.bodies() == [b"x"]
    assert opened.end_transactional(RR_ACK) == INVALID_HANDLE


@pytest.mark.spec("MQRR-3.1.4.15-03", "MQRR-3.1.4.15-04")
def test_a_transactional_receive_is_given_back() -> None:
    case = RemoteCase()
    case.send(b"x")
    opened = case.reader().open()
    assert opened.end_transactional(RR_NACK) == INVALID_HANDLE
    opened.transactional(0, NO_TRANSACTION)
    assert opened.end_transactional(RR_NACK, 2) == INVALID_PARAMETER
    assert opened.end_transactional(RR_NACK) == OK
    assert opened.body() == b"x"


@pytest.mark.spec("MQRR-3.1.4.14-03", "MQRR-3.1.4.14-04", "MQRR-3.1.4.14-05")
def test_only_what_a_transaction_received_is_rejected() -> None:
    case = RemoteCase()
    first, second = case.send(b"1", b"2")
    opened = case.reader().open()
    assert opened.set_class(12345, 0) == OK
    assert opened.set_class(12345, REJECTED) == NOT_FOUND
    assert opened.body() == b"1"
    for lookup_id in (first, second):
        assert opened.set_class(lookup_id, REJECTED) == TRANSACTION_USAGE
    assert opened.set_class(first, 0x8000) == INVALID_PARAMETER
    peeks = case.reader().open(access=PEEK)
    assert peeks.set_class(second, REJECTED) == Hresult.MQ_ERROR_ACCESS_DENIED
    assert opened.end(RR_ACK) == OK
    assert case.bodies() == [b"2"]
