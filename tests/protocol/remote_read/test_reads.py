"""R_StartReceive, R_CancelReceive and R_EndReceive ([MS-MQRR] 3.1.4.7 to 3.1.4.9)."""

from itertools import product

import pytest
from tests.core.harness import ORDERS, RECEIVE, START_UTC, USER
from tests.protocol.remote_read.harness import (
    ACCESS_DENIED,
    CANCELLED,
    DIRECT,
    FOR_EVER,
    INVALID_HANDLE,
    INVALID_PARAMETER,
    NOT_FOUND,
    OK,
    PEEK,
    RR_ACK,
    RR_NACK,
    TIMED_OUT,
    Opened,
    RemoteCase,
    body_of,
)

from openmsmq.core.events import ReadSatisfied
from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_HANDLE, STATUS_NOT_FOUND
from openmsmq.wire.ndr import CONTEXT_HANDLE, U32, Call, Stub
from openmsmq.wire.rpc.status import RPC_X_BAD_STUB_DATA
from openmsmq.wire.rpc_interfaces import remote_read as rr
from openmsmq.wire.rpc_interfaces.common import RESULT

TAKE, PEEK_CURRENT, PEEK_NEXT = 0, 0x80000000, 0x80000001
LOOKUP_PEEK, LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV = 0x40000010, 0x40000011, 0x40000012
LOOKUP_TAKE, LOOKUP_TAKE_NEXT, LOOKUP_TAKE_PREV = 0x40000020, 0x40000021, 0x40000022
CURRENT_ACTIONS = (TAKE, PEEK_CURRENT)
LOOKUP_ACTIONS = (
    LOOKUP_PEEK,
    LOOKUP_PEEK_NEXT,
    LOOKUP_PEEK_PREV,
    LOOKUP_TAKE,
    LOOKUP_TAKE_NEXT,
    LOOKUP_TAKE_PREV,
)
PEEKS = (PEEK_CURRENT, PEEK_NEXT, LOOKUP_PEEK, LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV)
ACTIONS = (*CURRENT_ACTIONS, PEEK_NEXT, *LOOKUP_ACTIONS)


def opened_with(*contents: bytes, access: int = 1) -> tuple[RemoteCase, Opened, list[int]]:
    """A queue with messages that a client has open, and their lookup ids."""
    case = RemoteCase()
    ids = case.send(*contents) if contents else []
    return case, case.reader().open(access=access), ids


# Parameters


def is_valid(action: int, lookup_id: int, cursor: int, timeout: int) -> bool:
    """The table of the actions, said once more."""
    if action in LOOKUP_ACTIONS:
        return bool(lookup_id) and not cursor and not timeout
    if action == PEEK_NEXT:
        return bool(cursor) and not lookup_id
    return not lookup_id


@pytest.mark.spec("MQRR-3.1.4.7-16", "MQRR-3.1.4.7-17", "MQRR-3.1.4.7-18")
def test_every_combination_of_parameters() -> None:
    case, opened, ids = opened_with(b"1", b"2", b"3")
    values = product(ACTIONS, (0, ids[1]), (False, True), (0, 10))
    for request_id, (action, lookup_id, by_cursor, timeout) in enumerate(values):
        at = 0
        if by_cursor:
            at = opened.cursor()
            opened.start(PEEK_CURRENT, h_cursor=at, dw_request_id=1000)
        response = opened.start(
            action, lookup_id=lookup_id, h_cursor=at, ul_timeout=timeout, dw_request_id=request_id
        )
        if is_valid(action, lookup_id, at, timeout):
            assert response.result == OK, (hex(action), lookup_id, at, timeout)
            if action not in PEEKS:
                assert opened.end(RR_NACK, request_id) == OK
        else:
            assert response.result == INVALID_PARAMETER, (hex(action), lookup_id, at, timeout)
    assert case.bodies() == [b"1", b"2", b"3"]


@pytest.mark.spec("MQRR-3.1.4.7-15")
@pytest.mark.parametrize("action", LOOKUP_ACTIONS)
def test_a_lookup_needs_a_lookup_id(action: int) -> None:
    _, opened, _ = opened_with(b"1")
    assert opened.failure(action, lookup_id=0) == INVALID_PARAMETER


@pytest.mark.spec("MQRR-3.1.4.7-19")
@pytest.mark.parametrize(
    "action", [1, 0x80000002, 0x40000013, 0x40000014, 0x40000018, 0x40000120, 0xFFFFFFFF]
)
def test_other_actions_do_not_exist(action: int) -> None:
    _, opened, ids = opened_with(b"1")
    assert opened.failure(action) == INVALID_PARAMETER
    assert opened.failure(action, lookup_id=ids[0]) == INVALID_PARAMETER


@pytest.mark.spec("MQRR-3.1.4.7-20", "MQRR-3.1.4.7-21")
def test_a_cursor_is_looked_for_after_the_parameters_were_checked() -> None:
    _, opened, ids = opened_with(b"1")
    cursor = opened.cursor()
    opened.close_cursor(cursor)
    for unknown in (cursor, 777):
        assert opened.failure(h_cursor=unknown) == STATUS_INVALID_HANDLE
        assert opened.failure(PEEK_NEXT, h_cursor=unknown) == STATUS_INVALID_HANDLE
        assert opened.failure(LOOKUP_PEEK, h_cursor=unknown, lookup_id=ids[0]) == INVALID_PARAMETER


# The three actions at the front or at a cursor


@pytest.mark.spec("MQRR-3.1.4.7-03", "MQRR-3.1.4.7-11", "MQRR-3.1.4.2-11")
def test_a_peek_leaves_the_message_and_nothing_to_end() -> None:
    case, opened, _ = opened_with(b"1", b"2")
    assert opened.body(PEEK_CURRENT) == b"1"
    assert opened.body(PEEK_CURRENT) == b"1"
    assert opened.end() == INVALID_HANDLE
    assert not case.queue.locked
    assert len(case.remote.pending) == 0


@pytest.mark.spec("MQRR-3.1.4.7-08", "MQRR-3.1.4.7-09", "MQRR-3.1.4.7-25")
def test_what_was_received_is_locked_until_it_is_ended() -> None:
    case, opened, ids = opened_with(b"1", b"2")
    other = case.reader().open()
    assert opened.body(dw_request_id=7) == b"1"
    assert other.body(PEEK_CURRENT) == b"2"
    assert other.body() == b"2"
    assert other.failure(dw_request_id=2) == TIMED_OUT
    assert other.failure(LOOKUP_TAKE, lookup_id=ids[0], dw_request_id=2) == NOT_FOUND
    assert opened.end(RR_ACK, 7) == OK
    assert other.end(RR_NACK) == OK
    assert case.bodies() == [b"2"]


@pytest.mark.spec("MQRR-3.1.4.7-10", "MQRR-3.1.4.7-12")
def test_a_cursor_goes_through_the_queue() -> None:
    case, opened, _ = opened_with(b"1", b"2", b"3")
    cursor = opened.cursor()
    assert opened.body(PEEK_CURRENT, h_cursor=cursor) == b"1"
    assert opened.body(PEEK_CURRENT, h_cursor=cursor) == b"1"
    assert opened.body(PEEK_NEXT, h_cursor=cursor) == b"2"
    assert opened.body(TAKE, h_cursor=cursor) == b"2"
    assert opened.body(PEEK_CURRENT, h_cursor=cursor) == b"3"
    assert opened.failure(PEEK_NEXT, h_cursor=cursor) == TIMED_OUT
    assert opened.end() == OK
    assert case.bodies() == [b"1", b"3"]


def test_a_cursor_that_stands_nowhere_has_no_next_message() -> None:
    _, opened, _ = opened_with(b"1", b"2")
    code = opened.failure(PEEK_NEXT, h_cursor=opened.cursor())
    assert code == Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION


@pytest.mark.spec("MQRR-3.1.4.4-02", "MQRR-3.1.4.4-05")
def test_each_cursor_has_a_place_of_its_own() -> None:
    _, opened, _ = opened_with(b"1", b"2", b"3")
    first, second = opened.cursor(), opened.cursor()
    assert 0 < first < second
    assert opened.body(PEEK_CURRENT, h_cursor=first) == b"1"
    assert opened.body(PEEK_NEXT, h_cursor=first) == b"2"
    assert opened.body(PEEK_CURRENT, h_cursor=second) == b"1"
    assert opened.body(PEEK_CURRENT, h_cursor=first) == b"2"


@pytest.mark.spec("MQRR-3.1.4.7-24")
def test_a_cursor_whose_message_was_received_says_so() -> None:
    case, opened, _ = opened_with(b"1", b"2")
    cursor = opened.cursor()
    assert opened.body(PEEK_CURRENT, h_cursor=cursor) == b"1"
    other = case.reader().open()
    assert other.body() == b"1"
    other.end()
    already = Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
    assert opened.failure(PEEK_CURRENT, h_cursor=cursor) == already
    assert opened.failure(TAKE, h_cursor=cursor) == already
    assert opened.body(PEEK_NEXT, h_cursor=cursor) == b"2"


@pytest.mark.spec("MQRR-3.1.4.5-02", "MQRR-3.1.4.5-03")
def test_a_cursor_is_closed_on_its_handle_once() -> None:
    case, opened, _ = opened_with(b"1")
    cursor = opened.cursor()
    other = case.reader().open()
    other.cursor()
    assert other.close_cursor(cursor + 1) == INVALID_HANDLE
    assert opened.close_cursor(0) == INVALID_HANDLE
    assert opened.close_cursor(cursor) == OK
    assert opened.close_cursor(cursor) == INVALID_HANDLE
    assert opened.failure(PEEK_CURRENT, h_cursor=cursor) == STATUS_INVALID_HANDLE


def test_a_client_has_so_many_cursors_at_a_time() -> None:
    case = RemoteCase(RemoteReadSettings(max_cursors=2))
    opened = case.reader().open()
    opened.cursor()
    last = opened.cursor()
    request = rr.HandleRequest(opened.handle)
    response = opened.reader.do(rr.R_CREATE_CURSOR, request)
    assert response == (0, Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES)
    opened.close_cursor(last)
    opened.cursor()


def test_a_client_has_so_many_reads_at_a_time() -> None:
    case = RemoteCase(RemoteReadSettings(max_waiting_reads=2))
    opened = case.reader().open()
    case.send(b"1")
    opened.start()
    waits = opened.begin(ul_timeout=FOR_EVER, dw_request_id=2)
    busy = Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
    assert opened.failure(ul_timeout=FOR_EVER, dw_request_id=3) == busy
    opened.begin(PEEK_CURRENT, ul_timeout=FOR_EVER, dw_request_id=3)
    assert opened.failure(PEEK_CURRENT, ul_timeout=FOR_EVER, dw_request_id=4) == busy
    assert opened.end(RR_ACK, 1) == OK
    assert opened.reader.answer(waits) is None


# Lookups


@pytest.mark.spec("MQRR-3.1.4.7-13")
@pytest.mark.parametrize(
    ("action", "body"),
    [(LOOKUP_PEEK, b"2"), (LOOKUP_PEEK_NEXT, b"3"), (LOOKUP_PEEK_PREV, b"1")],
)
def test_a_lookup_peeks_in_relation_to_a_message(action: int, body: bytes) -> None:
    case, opened, ids = opened_with(b"1", b"2", b"3", access=PEEK)
    assert opened.body(action, lookup_id=ids[1]) == body
    assert not case.queue.locked


@pytest.mark.spec("MQRR-3.1.4.7-14", "MQRR-3.1.4.7-26")
@pytest.mark.parametrize(
    ("action", "body", "left"),
    [
        (LOOKUP_TAKE, b"2", [b"1", b"3"]),
        (LOOKUP_TAKE_NEXT, b"3", [b"1", b"2"]),
        (LOOKUP_TAKE_PREV, b"1", [b"2", b"3"]),
    ],
)
def test_a_lookup_receives_in_two_steps(action: int, body: bytes, left: list[bytes]) -> None:
    case, opened, ids = opened_with(b"1", b"2", b"3")
    assert opened.body(action, lookup_id=ids[1]) == body
    assert opened.end(RR_NACK) == OK
    assert case.bodies() == [b"1", b"2", b"3"]
    assert opened.body(action, lookup_id=ids[1]) == body
    assert len(case.remote.pending) == 1
    assert opened.end(RR_ACK) == OK
    assert case.bodies() == left
    assert len(case.remote.pending) == 0


@pytest.mark.spec("MQRR-3.1.4.7-23")
def test_a_lookup_beyond_the_ends_finds_nothing() -> None:
    _, opened, ids = opened_with(b"1", b"2")
    for action, lookup_id in (
        (LOOKUP_PEEK, 12345),
        (LOOKUP_TAKE, 12345),
        (LOOKUP_PEEK_NEXT, ids[1]),
        (LOOKUP_TAKE_NEXT, ids[1]),
        (LOOKUP_PEEK_PREV, ids[0]),
        (LOOKUP_TAKE_PREV, ids[0]),
    ):
        assert opened.failure(action, lookup_id=lookup_id) == NOT_FOUND


@pytest.mark.spec("MQRR-3.1.4.7-41", "MQRR-3.1.4.2-10")
@pytest.mark.parametrize("action", [TAKE, LOOKUP_TAKE, LOOKUP_TAKE_NEXT, LOOKUP_TAKE_PREV])
def test_a_handle_for_peeks_receives_nothing(action: int) -> None:
    case, opened, ids = opened_with(b"1", b"2", b"3", access=PEEK)
    lookup_id = 0 if action == TAKE else ids[1]
    for timeout in (0, FOR_EVER) if action == TAKE else (0,):
        code = opened.failure(action, lookup_id=lookup_id, ul_timeout=timeout)
        assert code == ACCESS_DENIED
    # What is wrong with the parameters is said first.
    wrong = STATUS_INVALID_HANDLE if action == TAKE else INVALID_PARAMETER
    assert opened.failure(action, h_cursor=99) == wrong
    assert not case.queue.locked
    assert opened.body(PEEK_CURRENT) == b"1"


def test_a_handle_for_moves_reads_nothing() -> None:
    case, _, _ = opened_with(b"1")
    _, target = case.reader().open_for_move(DIRECT)
    assert target.failure() == ACCESS_DENIED
    assert target.failure(PEEK_CURRENT) == ACCESS_DENIED


# What comes with a message


@pytest.mark.spec("MQRR-3.1.4.7-28", "MQRR-3.1.4.7-29")
@pytest.mark.parametrize("action", [TAKE, PEEK_CURRENT])
def test_time_of_arrival_and_sequence(action: int) -> None:
    case, opened, _ = opened_with()
    case.advance(100)
    (lookup_id,) = case.send(b"x", priority=0)
    case.advance(50)
    assert lookup_id >> 56 == 7
    response = opened.start(action)
    assert response.pdw_arrive_time == int(START_UTC) + 100
    assert response.p_sequence_id == lookup_id & 0x00FFFFFFFFFFFFFF


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


# The second step


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
