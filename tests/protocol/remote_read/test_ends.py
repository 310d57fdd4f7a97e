"""R_EndReceive, the second step of a receive ([MS-MQRR] 3.1.4.9)."""

import pytest
from tests.core.harness import USER
from tests.protocol.remote_read.harness import (
    CANCELLED,
    FOR_EVER,
    INVALID_HANDLE,
    INVALID_PARAMETER,
    NOT_FOUND,
    OK,
    PEEK_CURRENT,
    RR_ACK,
    RR_NACK,
    TIMED_OUT,
    body_of,
    opened_with,
)

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.ndr import CONTEXT_HANDLE, U32, Call, Stub
from openmsmq.wire.rpc.status import RPC_X_BAD_STUB_DATA
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.rpc_interfaces.common import RESULT


@pytest.mark.spec("MQRR-3.1.4.9-03", "MQRR-3.1.4.9-04")
def test_an_end_deletes_or_puts_back_in_place() -> None:
    case, opened, _ = opened_with(b"1", b"2", b"3")
    assert opened.body() == b"1"
    assert opened.body(dw_request_id=2) == b"2"
    assert opened.end(RR_NACK, 2) == OK
    assert opened.end(RR_NACK, 1) == OK
    assert case.bodies() == [b"1", b"2", b"3"]
    assert opened.body() == b"1"
    assert opened.end(RR_ACK) == OK
    assert case.bodies() == [b"2", b"3"]
    case.core.restart()
    assert case.core.contents() == [b"2", b"3"]


@pytest.mark.spec("MQRR-3.1.4.9-05", "MQRR-3.1.4.9-06", "MQRR-3.1.4.9-07")
def test_an_end_without_its_receive_is_refused() -> None:
    case, opened, _ = opened_with(b"1", b"2")
    assert opened.end() == INVALID_HANDLE
    opened.start()
    opened.start(dw_request_id=2)
    assert opened.end(RR_ACK, 3) == INVALID_PARAMETER
    assert opened.end(RR_ACK, 1) == OK
    assert opened.end(RR_ACK, 1) == INVALID_PARAMETER
    assert opened.end(RR_ACK, 2) == OK
    assert opened.end(RR_ACK, 2) == INVALID_HANDLE
    assert len(case.remote.pending) == 0


@pytest.mark.spec("MQRR-3.1.1.3-01")
def test_the_same_request_id_on_two_handles_does_not_clash() -> None:
    case, opened, _ = opened_with(b"1", b"2")
    other = opened.reader.open()
    assert opened.body() == b"1"
    assert other.body() == b"2"
    assert opened.end(RR_NACK) == OK
    assert other.end(RR_ACK) == OK
    assert case.bodies() == [b"1"]


def test_a_request_id_is_used_again_once_it_is_free() -> None:
    _, opened, _ = opened_with(b"1", b"2")
    assert opened.body() == b"1"
    assert opened.failure() == INVALID_PARAMETER
    # A peek is not ended, so it may have any number.
    assert opened.body(PEEK_CURRENT) == b"2"
    assert opened.end() == OK
    assert opened.body() == b"2"
    opened.end()
    waits = opened.begin(ul_timeout=FOR_EVER)
    assert opened.failure() == INVALID_PARAMETER
    assert opened.failure(PEEK_CURRENT) == INVALID_PARAMETER
    opened.cancel()
    assert opened.reader.answer(waits).result == CANCELLED
    assert opened.failure() == TIMED_OUT


@pytest.mark.spec("MQRR-3.1.4.9-02", "MQRR-3.1.4-01", "MQRR-3.1.4.15-01")
@pytest.mark.parametrize("opnum", [9, 15])
@pytest.mark.parametrize("ack", [0, 3, 0xFFFFFFFF])
def test_another_ack_is_a_fault(opnum: int, ack: int) -> None:
    case, opened, _ = opened_with(b"1")
    opened.start()
    call = Call(opnum, "loose", Stub(rr.EndReceiveRequest, CONTEXT_HANDLE, U32, U32), RESULT)
    request = rr.EndReceiveRequest(opened.handle, ack, 1)
    assert opened.reader.fault(call, request) == RPC_X_BAD_STUB_DATA
    assert len(case.remote.pending) == 1


@pytest.mark.parametrize("call", [call for opnum, call in rr.CALLS.items() if opnum])
def test_a_request_that_is_cut_off_is_a_fault(call: Call) -> None:
    case, opened, _ = opened_with(b"1")
    short = Call(call.opnum, "short", Stub(rr.HandleRequest, U32), RESULT)
    assert opened.reader.fault(short, rr.HandleRequest(0)) == RPC_X_BAD_STUB_DATA  # type: ignore[arg-type]
    assert opened.body() == b"1"
    assert len(case.remote.pending) == 1


# What takes too long


@pytest.mark.spec("MQRR-3.1.2.2-01", "MQRR-3.1.2.2-02", "MQRR-3.1.5.1-01")
def test_what_is_not_ended_in_time_goes_to_others() -> None:
    case, opened, _ = opened_with(b"1", b"2")
    other = case.reader().open()
    assert opened.body() == b"1"
    case.advance(200)
    assert opened.body(dw_request_id=2) == b"2"
    waits = other.begin(ul_timeout=FOR_EVER)
    case.advance(99)
    assert other.reader.answer(waits) is None
    case.advance(1)
    assert body_of(other.reader.answer(waits)) == b"1"
    assert opened.end(RR_ACK, 1) == INVALID_PARAMETER
    assert opened.end(RR_ACK, 2) == OK
    assert other.end(RR_NACK) == OK
    assert case.bodies() == [b"1"]
    assert case.server.next_timer() is None


def test_the_time_begins_when_the_message_is_handed_out() -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(ul_timeout=FOR_EVER)
    case.advance(1000)
    case.send(b"x")
    assert body_of(opened.reader.answer(waits)) == b"x"
    case.advance(299)
    assert opened.end() == OK


@pytest.mark.spec("MQRR-3.1.4.9-08")
def test_a_message_that_is_gone_is_not_found() -> None:
    case, opened, _ = opened_with(b"x")
    opened.start()
    case.qm.delete_queue(case.queue, caller=USER)
    case.turn()
    assert opened.end() == NOT_FOUND
    assert opened.end() == INVALID_HANDLE


@pytest.mark.spec("MQRR-3.1.4.9-09")
@pytest.mark.parametrize("ack", [RR_ACK, RR_NACK])
def test_a_message_that_is_not_locked_any_more_is_not_ended(ack: int) -> None:
    case, opened, ids = opened_with(b"1", b"2")
    assert opened.body() == b"1"
    assert opened.body(dw_request_id=2) == b"2"
    (descriptor,) = case.queue.descriptors.values()
    case.qm.traffic.end_many(descriptor, [ids[0]], delete=False)
    assert opened.end(ack) == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    assert case.bodies() == [b"1"]
    assert opened.end(ack, 2) == OK
    assert case.bodies() == ([b"1"] if ack == RR_ACK else [b"1", b"2"])


# The disk


def test_nothing_is_said_before_it_is_on_disk() -> None:
    case, opened, _ = opened_with()
    case.durable = False
    case.core.send(b"x")
    peek = opened.begin(PEEK_CURRENT)
    assert opened.reader.answer(peek) is None
    case.core.flush()
    assert body_of(opened.reader.answer(peek)) == b"x"
    take = opened.begin()
    case.core.flush()
    assert body_of(opened.reader.answer(take)) == b"x"
    end = opened.reader.begin(rr.R_END_RECEIVE, rr.EndReceiveRequest(opened.handle, RR_ACK, 1))
    assert opened.reader.answer(end) is None
    case.core.flush()
    assert opened.reader.answer(end).result == OK


def test_a_purge_is_answered_when_it_is_on_disk() -> None:
    case, opened, _ = opened_with(b"x")
    case.durable = False
    purge = opened.reader.begin(rr.R_PURGE_QUEUE, rr.HandleRequest(opened.handle))
    assert opened.reader.answer(purge) is None
    case.core.flush()
    assert opened.reader.answer(purge).result == OK
