"""Cursors, reads by lookup id, and purges."""

import pytest
from tests.core.harness import ORDERS
from tests.protocol.qm2qm.harness import (
    BY_LOOKUP_ID,
    NEW,
    OLD,
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
    RR_NACK,
    Reader,
    World,
)

from openmsmq.core.queues.purging import PURGE_STEP
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.ntstatus import STATUS_INVALID_PARAMETER
from openmsmq.wire.codes.queue_enums import AccessMode
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, Call
from openmsmq.wire.rpc_interfaces import qm2qm

INVALID_HANDLE = int(Hresult.MQ_ERROR_INVALID_HANDLE)
INVALID_PARAMETER = int(Hresult.MQ_ERROR_INVALID_PARAMETER)
NOT_FOUND = int(Hresult.MQ_ERROR_MESSAGE_NOT_FOUND)
PEEK, TAKE = 0x40000010, 0x40000020
CURRENT, NEXT, PREVIOUS = 0, 1, 2
LAST = 0xFFFFFFFFFFFFFFFF
BOTH = pytest.mark.parametrize("call", [OLD, NEW], ids=lambda call: call.name)


@pytest.fixture
def number(world: World, reader: Reader) -> int:
    """A session on a queue with three messages."""
    world.core.send(b"a", b"b", b"c")
    return reader.session()[0]


def ids(world: World) -> list[int]:
    return [message.lookup_id for message in world.core.qm.find_queue(ORDERS).lanes]


# Cursors


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-14", "MQQP-3.1.4.1-15", "MQQP-3.1.4.10-10")
def test_a_cursor_walks_with_peek_next_alone(reader: Reader, number: int, call: Call) -> None:
    cursor = reader.create_cursor(number).ph_cursor
    walk = [PEEK_CURRENT, PEEK_CURRENT, PEEK_NEXT, PEEK_CURRENT, PEEK_NEXT]
    found = [reader.read(number, each, call=call, cursor=cursor).body for each in walk]
    assert found == [b"a", b"a", b"b", b"b", b"c"]
    end = reader.read(number, PEEK_NEXT, call=call, cursor=cursor)
    assert end.result == Hresult.MQ_ERROR_IO_TIMEOUT


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-12")
def test_a_receive_by_cursor_takes_the_message_there(
    world: World, reader: Reader, number: int, call: Call
) -> None:
    cursor = reader.create_cursor(number).ph_cursor
    for action in (PEEK_CURRENT, PEEK_NEXT):
        reader.read(number, action, call=call, cursor=cursor)
    read = reader.read(number, RECEIVE, call=call, cursor=cursor)
    assert read.body == b"b"
    assert reader.end(read.handle) == 0
    assert world.core.contents() == [b"a", b"c"]


@BOTH
@pytest.mark.spec("MQQP-3.1.4.1-16", "MQQP-3.1.4.1-24", "MQQP-3.1.4.10-08")
def test_a_cursor_that_is_not_open_is_refused(reader: Reader, number: int, call: Call) -> None:
    other = reader.session()[0]
    for _ in range(3):
        cursor = reader.create_cursor(other).ph_cursor
    assert reader.read(number, PEEK_NEXT, call=call).result == STATUS_INVALID_PARAMETER
    read = reader.read(number, PEEK_CURRENT, call=call, cursor=cursor)
    assert read.result == STATUS_INVALID_PARAMETER


@pytest.mark.spec("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-03")
def test_a_closed_cursor_is_dead(reader: Reader, number: int) -> None:
    created = reader.create_cursor(number)
    assert created.result == 0
    cursor = created.ph_cursor
    assert reader.ask(qm2qm.REMOTE_QM_CLOSE_CURSOR, number, cursor).result == 0
    assert reader.read(number, PEEK_CURRENT, cursor=cursor).result == STATUS_INVALID_PARAMETER
    assert reader.ask(qm2qm.REMOTE_QM_CLOSE_CURSOR, number, cursor).result == INVALID_HANDLE


@pytest.mark.spec("MQQP-3.1.4.5-02")
def test_only_a_cursor_of_an_open_queue_is_closed(reader: Reader, number: int) -> None:
    cursor = reader.create_cursor(number).ph_cursor
    for queue, each in ((0, cursor), (number + 1, cursor), (number, 0), (number, cursor + 1)):
        response = reader.ask(qm2qm.REMOTE_QM_CLOSE_CURSOR, queue, each)
        assert response.result == INVALID_HANDLE
    assert reader.create_cursor(number + 1) == (0, INVALID_HANDLE)


# Lookups


@pytest.mark.spec("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-03", "MQQP-3.1.4.11-04")
@pytest.mark.parametrize("kind", [PEEK, TAKE])
@pytest.mark.parametrize(
    ("action", "start", "body"),
    [
        (CURRENT, 1, b"b"),
        (NEXT, 1, b"c"),
        (NEXT, None, b"a"),
        (PREVIOUS, 1, b"a"),
        (PREVIOUS, LAST, b"c"),
    ],
)
def test_a_lookup_finds_the_message_in_its_relation(
    world: World,
    reader: Reader,
    number: int,
    kind: int,
    action: int,
    start: int | None,
    body: bytes,
) -> None:
    lookup_id = 0 if start is None else LAST if start == LAST else ids(world)[start]
    assert reader.look_up(number, kind + action, lookup_id).body == body


@pytest.mark.spec("MQQP-3.1.4.11-12", "MQQP-3.1.4.11-16")
def test_a_lookup_receive_has_two_steps(world: World, reader: Reader, number: int) -> None:
    second = ids(world)[1]
    for ack, left in ((RR_NACK, [b"a", b"b", b"c"]), (2, [b"a", b"c"])):
        read = reader.look_up(number, TAKE, second)
        assert read.handle != CONTEXT_HANDLE_NULL
        assert world.core.contents() == [b"a", b"c"]
        assert reader.end(read.handle, ack) == 0
        assert world.core.contents() == left
    assert reader.look_up(number, PEEK + NEXT, 0).handle == CONTEXT_HANDLE_NULL


@pytest.mark.spec("MQQP-3.1.4.11-14", "MQQP-3.1.4.11-15", "MQQP-3.1.4.11-17")
def test_a_lookup_tells_of_the_message_that_it_found(
    world: World, reader: Reader, number: int
) -> None:
    first, second, _ = ids(world)
    read = reader.look_up(number, PEEK + NEXT, first)
    assert read.sequential_id == second & 0x00FFFFFFFFFFFFFF
    assert read.desc.dw_arrive_time == int(world.core.utc)
    assert read.packet.end == len(bytes(read.desc.lp_buffer))
    assert reader.cancel(number) == INVALID_HANDLE


@pytest.mark.spec("MQQP-3.1.4.11-13")
def test_a_lookup_without_a_message_fails(world: World, reader: Reader, number: int) -> None:
    first, *_, last = ids(world)
    for action, lookup_id in (
        (PEEK, last + 1),
        (PEEK, 0),
        (PEEK + NEXT, last),
        (PEEK + PREVIOUS, first),
        (PEEK + PREVIOUS, 0),
        (TAKE + NEXT, last),
    ):
        read = reader.look_up(number, action, lookup_id)
        assert (read.handle, read.result) == (CONTEXT_HANDLE_NULL, NOT_FOUND)


@pytest.mark.spec("MQQP-3.1.4.11-07", "MQQP-3.1.4.11-08", "MQQP-3.1.4.11-09")
def test_a_lookup_takes_no_timeout_no_cursor_and_a_queue(
    world: World, reader: Reader, number: int
) -> None:
    first = ids(world)[0]
    cursor = reader.create_cursor(number).ph_cursor
    assert reader.look_up(number, PEEK, first, timeout=1).result == INVALID_PARAMETER
    assert reader.look_up(number, PEEK, first, cursor=cursor).result == INVALID_PARAMETER
    assert reader.look_up(0, PEEK, first).result == INVALID_PARAMETER
    unclaimed = reader.open_remote().dwp_queue
    assert reader.look_up(unclaimed, PEEK, first).result == INVALID_PARAMETER
    for action in (PEEK_CURRENT, 7):
        assert reader.look_up(number, action, first).result == INVALID_PARAMETER


@pytest.mark.spec("MQQP-3.1.4.11-10")
def test_a_lookup_without_a_description_is_refused(reader: Reader) -> None:
    response = reader.ask(BY_LOOKUP_ID, 5, qm2qm.RemoteReadDesc2(None))
    assert response == (CONTEXT_HANDLE_NULL, (None, 0), INVALID_HANDLE)


# Purges


@pytest.mark.spec("MQQP-3.1.4.7-01", "MQQP-3.1.4.7-02")
def test_a_purge_empties_the_queue_and_what_is_locked_goes_at_its_end(
    world: World, reader: Reader, number: int
) -> None:
    read = reader.read(number)
    assert reader.ask(qm2qm.REMOTE_QM_PURGE_QUEUE, number).result == 0
    assert world.core.contents() == []
    assert reader.end(read.handle, RR_NACK) == 0
    assert world.core.contents() == []


@pytest.mark.spec("MQQP-3.1.4.7-03", "MQQP-3.1.4.7-04")
def test_a_purge_without_a_session_is_thrown_back(world: World, reader: Reader) -> None:
    world.core.send(b"a")
    unclaimed = reader.open_remote().dwp_queue
    assert reader.fault(qm2qm.REMOTE_QM_PURGE_QUEUE, unclaimed) == INVALID_HANDLE
    assert world.core.contents() == [b"a"]


def test_a_session_that_may_only_peek_purges_nothing(world: World, reader: Reader) -> None:
    world.core.send(b"a")
    number, _ = reader.session(access=AccessMode.PEEK)
    status = reader.fault(qm2qm.REMOTE_QM_PURGE_QUEUE, number)
    assert status == Hresult.MQ_ERROR_ACCESS_DENIED
    assert world.core.contents() == [b"a"]


def test_a_long_purge_goes_in_steps(world: World, reader: Reader) -> None:
    world.core.send(*[b"x"] * (PURGE_STEP + 1))
    number, _ = reader.session()
    assert world.server.next_timer() is None
    purging = reader.post(qm2qm.REMOTE_QM_PURGE_QUEUE, (number,))
    assert reader.answer(purging) is None
    steps = 0
    while world.server.next_timer() is not None and steps < 10:
        world.server.handle_timer(now=world.now)
        steps += 1
    assert 1 <= steps < 10
    assert reader.answer(purging).result == 0
    assert world.core.contents() == []
