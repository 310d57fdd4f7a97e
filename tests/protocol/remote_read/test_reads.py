"""R_StartReceive: parameters, cursors and lookups ([MS-MQRR] 3.1.4.7)."""

from itertools import product

import pytest
from tests.core.harness import START_UTC
from tests.protocol.remote_read.harness import (
    ACCESS_DENIED,
    DIRECT,
    FOR_EVER,
    INVALID_HANDLE,
    INVALID_PARAMETER,
    NOT_FOUND,
    OK,
    PEEK,
    PEEK_CURRENT,
    RR_ACK,
    RR_NACK,
    TAKE,
    TIMED_OUT,
    RemoteCase,
    opened_with,
)

from openmsmq.protocol.remote_read.settings import RemoteReadSettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_HANDLE
from openmsmq.wire.rpc_interfaces import remote_read as rr

PEEK_NEXT = 0x80000001
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
