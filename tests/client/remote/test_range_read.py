"""The messages of a range by lookup id, whatever order the server answers in."""

from typing import Any

import pytest
from tests.client.local.peer import packet
from tests.client.remote.fake_server import FakeServer

from openmsmq.client.remote.range_read import RangeRead
from openmsmq.protocol.remote_read.client import RemoteMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.lookup_id import SEQUENCE_BITS

LOW = 7 << SEQUENCE_BITS
PACKET = packet(1)


def message(lookup_id: int) -> RemoteMessage:
    return RemoteMessage(PACKET, lookup_id, 7, (1, 2, 3) if lookup_id == 2 else (0, 0, 0))


def same(error: MsmqError) -> MsmqError:
    return error


def make(server: FakeServer, lookup_ids: list[int], rows: int = 100) -> RangeRead:
    server.handle.window = 64
    return RangeRead(
        server.channel,
        server.protocol,
        server.handle,
        lookup_ids,
        rows=rows,
        size=1 << 20,
        explain=same,
    )


def block(server: FakeServer, read: RangeRead) -> Any:
    return server.run(read.next_block(9))


def test_answers_in_any_order_become_blocks_in_the_order_of_arrival() -> None:
    server = FakeServer()
    # A higher priority comes first in the queue; it arrived as the third.
    read = make(server, [3, LOW | 1, LOW | 2, LOW | 4], rows=3)
    waiting = read.next_block(9)
    wait = next(waiting)
    asked = [reading.lookup_id for reading in server.channel.readings]
    assert asked == [LOW | 1, LOW | 2, 3]
    for lookup_id in (3, LOW | 1, LOW | 2):
        server.channel.answer(message(lookup_id), asked.index(lookup_id))
        asked.remove(lookup_id)
    with pytest.raises(StopIteration) as end:
        waiting.send(server.channel.finished.pop(wait.request))
    first = end.value.value
    assert list(first.lookup_ids) == [LOW | 1, LOW | 2, 3]
    assert list(first.arrived_times) == [7.0, 7.0, 7.0]
    assert first.blob == PACKET * 3
    server.channel.answer(message(LOW | 4))
    assert list(block(server, read).lookup_ids) == [LOW | 4]
    assert block(server, read) is None
    assert not server.handle.jobs


@pytest.mark.parametrize(
    "code",
    [
        Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
        Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
        Hresult.MQ_ERROR_TRANSACTION_USAGE,
    ],
)
def test_messages_that_are_not_there_are_left_out(code: Hresult) -> None:
    server = FakeServer()
    read = make(server, [1, 2, 3])
    waiting = read.next_block(9)
    wait = next(waiting)
    server.channel.answer(message(1))
    server.channel.answer(code)
    server.channel.answer(message(3))
    with pytest.raises(StopIteration) as end:
        waiting.send(server.channel.finished.pop(wait.request))
    assert list(end.value.value.lookup_ids) == [1, 3]


def test_counters_of_a_message_are_told() -> None:
    server = FakeServer()
    read = make(server, [1, 2])
    waiting = read.next_block(9)
    wait = next(waiting)
    server.channel.answer(message(1))
    server.channel.answer(message(2))
    with pytest.raises(StopIteration) as end:
        waiting.send(server.channel.finished.pop(wait.request))
    assert end.value.value.counters == [(1, 1, 2, 3.0)]


def test_another_failure_ends_the_range() -> None:
    server = FakeServer()
    read = make(server, [1, 2, 3])
    waiting = read.next_block(9)
    wait = next(waiting)
    server.channel.answer(Hresult.MQ_ERROR_STALE_HANDLE)
    with pytest.raises(QueueError, match="MQ_ERROR_STALE_HANDLE"):
        waiting.send(server.channel.finished.pop(wait.request))


def test_calls_pause_until_blocks_are_taken() -> None:
    server = FakeServer()
    read = make(server, list(range(1, 101)), rows=10)
    waiting = read.next_block(9)
    next(waiting)
    for lookup_id in range(1, 11):
        server.channel.answer(message(lookup_id))
    # Ten rows are a block; as many more are on their way.
    assert len(server.channel.calls) == 10
    for lookup_id in range(11, 21):
        server.channel.answer(message(lookup_id))
    assert server.channel.calls == []


def test_a_range_that_is_dropped_makes_no_more_calls() -> None:
    server = FakeServer()
    read = make(server, list(range(1, 101)), rows=100)
    next(read.next_block(9))
    read.cancel()
    before = len(server.channel.calls)
    server.channel.answer(message(1))
    assert len(server.channel.calls) == before - 1
    while server.channel.calls:
        server.channel.answer(message(2))
    assert not server.handle.jobs


def test_a_server_that_does_not_answer_is_lost() -> None:
    server = FakeServer()
    waiting = make(server, [1]).next_block(9)
    next(waiting)
    with pytest.raises(MsmqError, match="has not answered"):
        waiting.send(None)
