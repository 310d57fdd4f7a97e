"""Reads with many calls on their way, whatever order the server answers in."""

from collections.abc import Callable

import pytest
from tests.client.remote.fake_server import FakeServer

from openmsmq.client.backend import Read
from openmsmq.client.remote.handle import MAX_WINDOW
from openmsmq.client.remote.messages import header
from openmsmq.client.remote.readings import first_reading, limit_of
from openmsmq.client.remote.reads import ReadJob
from openmsmq.client.remote.snapshot import Header
from openmsmq.protocol.remote_read.client import RemoteMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError

CURSOR = 5


def message(lookup_id: int) -> RemoteMessage:
    return RemoteMessage(b"packet", lookup_id, 7)


def same(error: MsmqError) -> MsmqError:
    return error


def clock() -> float:
    return 0.0


@pytest.fixture
def server() -> FakeServer:
    made = FakeServer()
    made.handle.unread_cursors.add(CURSOR)
    return made


@pytest.fixture
def read(server: FakeServer) -> Callable[[Read], ReadJob[Header]]:
    def start(asked: Read) -> ReadJob[Header]:
        job = ReadJob(
            next(server.numbers),
            server.channel,
            server.protocol,
            server.handle,
            first_reading(server.handle, asked),
            convert=header,
            limit=limit_of(asked),
            clock=clock,
            explain=same,
        )
        job.start()
        return job

    return start


def next_of_cursor(limit: int = 100) -> Read:
    return Read("peek_next", limit, cursor=CURSOR)


def found(server: FakeServer, job: ReadJob[Header]) -> list[int]:
    headers: list[Header] = server.channel.finished[job.number].result()
    return [each.lookup_id for each in headers]


def test_first_read_of_a_cursor_is_alone_and_for_the_message_at_it(
    server: FakeServer, read: Callable[[Read], ReadJob[Header]]
) -> None:
    server.handle.window = 8
    read(next_of_cursor())
    assert [reading.action for reading in server.channel.readings] == [ReceiveAction.PEEK_CURRENT]
    server.channel.answer(message(10))
    assert {reading.action for reading in server.channel.readings} == {ReceiveAction.PEEK_NEXT}
    assert len(server.channel.calls) == 9


def test_answers_in_any_order_are_put_in_the_order_of_the_queue(
    server: FakeServer, read: Callable[[Read], ReadJob[Header]]
) -> None:
    server.handle.unread_cursors.clear()
    server.handle.window = 3
    job = read(next_of_cursor(3))
    for lookup_id in (13, 11, 12):
        server.channel.answer(message(lookup_id), -1)
    assert found(server, job) == [11, 12, 13]


def test_after_the_last_message_the_next_read_is_for_the_message_at_the_cursor(
    server: FakeServer, read: Callable[[Read], ReadJob[Header]]
) -> None:
    server.handle.unread_cursors.clear()
    server.handle.window = 3
    job = read(next_of_cursor())
    # The refusals come before the answer to the call that was run first.
    server.channel.answer(Hresult.MQ_ERROR_IO_TIMEOUT, 1)
    server.channel.answer(Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION, 1)
    server.channel.answer(message(11))
    assert server.channel.calls == []
    assert found(server, job) == [11]
    again = read(next_of_cursor())
    assert [reading.action for reading in server.channel.readings] == [ReceiveAction.PEEK_CURRENT]
    server.channel.answer(Hresult.MQ_ERROR_IO_TIMEOUT)
    with pytest.raises(QueueError, match="MQ_ERROR_IO_TIMEOUT"):
        found(server, again)
    assert CURSOR in server.handle.unread_cursors


def test_one_call_at_a_time_where_the_server_tells_no_order(
    server: FakeServer, read: Callable[[Read], ReadJob[Header]]
) -> None:
    server.protocol.tells_order = False
    job = read(next_of_cursor(3))
    for lookup_id in (3, 2, 1):
        assert len(server.channel.calls) == 1
        server.channel.answer(message(lookup_id))
    assert found(server, job) == [3, 2, 1]


def test_calls_on_their_way_grow_to_a_limit(
    server: FakeServer, read: Callable[[Read], ReadJob[Header]]
) -> None:
    read(next_of_cursor(1000))
    most = 0
    for lookup_id in range(1, 300):
        server.channel.answer(message(lookup_id))
        most = max(most, len(server.channel.calls))
    assert most == MAX_WINDOW


def test_a_read_of_a_cursor_that_waits_makes_one_call(
    server: FakeServer, read: Callable[[Read], ReadJob[Header]]
) -> None:
    server.handle.unread_cursors.clear()
    server.handle.window = 8
    read(Read("peek_next", 100, timeout=5.0, cursor=CURSOR))
    assert len(server.channel.calls) == 1
