"""R_StartReceive that waits, and R_CancelReceive ([MS-MQRR] 3.1.4.7, 3.1.4.8)."""

import pytest
from tests.core.harness import ORDERS, RECEIVE
from tests.protocol.remote_read.harness import (
    CANCELLED,
    FOR_EVER,
    INVALID_HANDLE,
    OK,
    PEEK_CURRENT,
    RR_ACK,
    TAKE,
    TIMED_OUT,
    body_of,
    opened_with,
)

from openmsmq.core.events import ReadSatisfied
from openmsmq.wire.codes.ntstatus import STATUS_NOT_FOUND

# Waits


@pytest.mark.spec("MQRR-3.1.4.7-05", "MQRR-2.2.4.1-01", "MQRR-3.1.4.7-39")
def test_a_read_waits_while_other_calls_are_served() -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(ul_timeout=60_000)
    assert opened.reader.answer(waits) is None
    assert opened.cursor()
    assert opened.failure(PEEK_CURRENT, dw_request_id=2) == TIMED_OUT
    case.send(b"x")
    assert body_of(opened.reader.answer(waits)) == b"x"
    assert opened.end() == OK


@pytest.mark.spec("MQRR-3.1.4.7-06", "MQRR-3.1.2.1-03")
@pytest.mark.parametrize("action", [TAKE, PEEK_CURRENT])
def test_a_wait_ends_after_so_many_milliseconds(action: int) -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(action, ul_timeout=2500)
    longer = opened.begin(action, ul_timeout=FOR_EVER - 1, dw_request_id=2)
    for_ever = opened.begin(action, ul_timeout=FOR_EVER, dw_request_id=3)
    case.advance(2.4)
    assert opened.reader.answer(waits) is None
    case.advance(0.2)
    assert opened.reader.answer(waits).result == TIMED_OUT
    case.advance(10_000_000)
    assert opened.reader.answer(longer).result == TIMED_OUT
    assert opened.reader.answer(for_ever) is None
    assert len(case.remote.pending) == 0
    assert opened.end() == INVALID_HANDLE


@pytest.mark.spec("MQRR-3.1.4.7-07")
@pytest.mark.parametrize("action", [TAKE, PEEK_CURRENT])
def test_without_a_time_out_nothing_waits(action: int) -> None:
    _, opened, _ = opened_with()
    assert opened.failure(action, ul_timeout=0) == TIMED_OUT


def test_readers_are_served_first_come_first_served_with_local_ones() -> None:
    case, opened, _ = opened_with()
    first = opened.begin(ul_timeout=FOR_EVER)
    local = case.core.open(RECEIVE, ORDERS)
    got: list[ReadSatisfied] = []
    case.core.engine.listen(ReadSatisfied, got.append)
    waiting = case.qm.traffic.dequeue_many(local)
    third = opened.begin(ul_timeout=FOR_EVER, dw_request_id=2)
    case.send(b"1", b"2", b"3")
    assert body_of(opened.reader.answer(first)) == b"1"
    assert body_of(opened.reader.answer(third)) == b"3"
    (event,) = [event for event in got if event.read is waiting]
    assert event.messages[0].queue is case.queue


def test_a_peek_that_waits_leaves_the_message_to_the_next_reader() -> None:
    case, opened, _ = opened_with()
    peek = opened.begin(PEEK_CURRENT, ul_timeout=FOR_EVER)
    take = opened.begin(TAKE, ul_timeout=FOR_EVER, dw_request_id=2)
    case.send(b"x")
    assert body_of(opened.reader.answer(peek)) == b"x"
    assert body_of(opened.reader.answer(take)) == b"x"


# Cancels


@pytest.mark.spec("MQRR-3.1.4.8-02", "MQRR-3.1.4.8-03", "MQRR-3.1.4.8-05")
@pytest.mark.parametrize("action", [TAKE, PEEK_CURRENT])
def test_a_waiting_read_is_cancelled(action: int) -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(action, ul_timeout=FOR_EVER, dw_request_id=5)
    other = opened.begin(action, ul_timeout=FOR_EVER, dw_request_id=6)
    assert opened.cancel(5) == OK
    assert opened.reader.answer(waits).result == CANCELLED
    assert opened.reader.answer(other) is None
    assert opened.end(RR_ACK, 5) == INVALID_HANDLE
    case.send(b"x")
    assert body_of(opened.reader.answer(other)) == b"x"


@pytest.mark.spec("MQRR-3.1.4.8-04")
def test_nothing_is_cancelled_that_does_not_wait() -> None:
    case, opened, _ = opened_with(b"x")
    assert opened.cancel(1) == STATUS_NOT_FOUND
    opened.start()
    assert opened.cancel(1) == STATUS_NOT_FOUND
    assert len(case.remote.pending) == 1
    assert opened.end() == OK


def test_a_read_of_another_handle_is_not_cancelled() -> None:
    _, opened, _ = opened_with()
    waits = opened.begin(ul_timeout=FOR_EVER)
    assert opened.reader.open().cancel(1) == STATUS_NOT_FOUND
    assert opened.reader.answer(waits) is None


def test_a_read_is_cancelled_over_a_second_connection() -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(ul_timeout=FOR_EVER)
    second = case.reader(group=opened.reader.connection.assoc_group_id)
    assert opened.on(second).cancel() == OK
    assert opened.reader.answer(waits).result == CANCELLED


def test_a_read_is_cancelled_by_the_runtime_of_the_client() -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(ul_timeout=FOR_EVER)
    opened.reader.connection.cancel(waits)
    assert opened.reader.answer(waits).result == CANCELLED
    assert not case.queue.waiting


def test_a_read_that_the_client_has_forgotten_takes_nothing() -> None:
    case, opened, _ = opened_with()
    waits = opened.begin(ul_timeout=FOR_EVER)
    opened.reader.connection.orphan(waits)
    opened.reader.move()
    assert not case.queue.waiting
    case.send(b"x")
    assert case.bodies() == [b"x"]
