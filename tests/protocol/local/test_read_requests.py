"""Requests that read: waiting, cursors, two phases, lookup ids."""

import pytest
from tests.protocol.local.harness import (
    ADMINISTRATOR,
    ORDERS,
    Client,
    bodies,
    packet,
    transactional,
)

from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

# Read


def test_messages_come_with_what_the_queue_manager_knows(client: Client) -> None:
    client.send(b"one", b"two")
    reply = client.call(local.Receive, client.open(), action="peek", count=2)
    assert reply.lookup_ids == sorted(reply.lookup_ids)
    assert reply.arrived_times == [client.world.core.utc] * 2
    assert reply.counters == []


def test_aborted_messages_come_with_their_counters() -> None:
    client = transactional()
    client.send(b"one", b"two", transaction=-1)
    handle = client.open()
    transaction = client.begin()
    client.call(local.Receive, handle, transaction=transaction)
    client.end(transaction, commit=False)
    reply = client.call(local.Receive, handle, count=2)
    assert reply.counters == [(0, 1, 0, 0.0)]


def test_a_message_with_another_history_has_no_counters(client: Client) -> None:
    client.send(b"late", negative_journaling=True, time_to_be_received=1)
    client.world.advance(2)
    administrator = client.world.client(ADMINISTRATOR)
    handle = administrator.open(name=r"DIRECT=OS:qm\system$;DEADLETTER")
    reply = administrator.call(local.Receive, handle)
    assert bodies(reply) == [b"late"]
    assert reply.counters == []


def test_count_and_bytes_bound_a_read(client: Client) -> None:
    client.send(*[bytes(1000)] * 5)
    handle = client.open()
    assert len(client.call(local.Receive, handle, action="peek", count=3).packets) == 3
    few = client.call(local.Receive, handle, action="peek", count=9, max_bytes=2500)
    assert len(few.packets) == 2
    assert len(client.call(local.Receive, handle, action="peek", count=0).packets) == 1
    assert len(client.call(local.Receive, handle, count=1 << 62, max_bytes=-5).packets) == 1
    assert len(client.call(local.Receive, handle, count=9, max_bytes=1 << 62).packets) == 4


def test_an_empty_queue_times_out_at_once(client: Client) -> None:
    assert client.refusal(local.Receive, client.open()) == "MQ_ERROR_IO_TIMEOUT"


def test_a_waiting_read_times_out_later(client: Client) -> None:
    request = client.make(local.Receive, client.open(), timeout=5.0)
    client.post(request)
    client.world.advance(4.9)
    assert client.replies(request) == []
    client.world.advance(0.2)
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_IO_TIMEOUT
    assert not client.session.holder.waiting


def test_a_waiting_read_without_end_gets_the_next_message(client: Client) -> None:
    request = client.make(local.Receive, client.open(), timeout=None)
    client.post(request)
    client.world.advance(1e6)
    assert client.replies(request) == []
    client.send(b"late")
    (reply,) = client.replies(request)
    assert bodies(reply) == [b"late"]
    assert not client.session.holder.waiting


def test_waiting_readers_are_served_first_come_first_served(client: Client) -> None:
    readers = [client.world.client() for _ in range(3)]
    requests = []
    for reader in readers:
        request = reader.make(local.Receive, reader.open(), timeout=60.0)
        reader.post(request)
        requests.append(request)
    client.send(b"one")
    client.send(b"two")
    got = [reader.replies(each) for reader, each in zip(readers, requests, strict=True)]
    assert [bodies(reply) for found in got for reply in found] == [[b"one"], [b"two"]]
    assert got[2] == []


def test_what_a_waiting_read_gets_is_shown_when_it_is_on_disk(client: Client) -> None:
    reader = client.world.client()
    request = reader.make(local.Receive, reader.open(), timeout=60.0)
    reader.post(request)
    handle = client.open("send")
    client.world.core.flush()
    client.post(client.make(local.Send, handle, [packet(b"kept")]))
    assert reader.replies(request, flush=False) == []
    assert len(reader.replies(request)) == 1


def test_reads_of_a_client_that_does_not_read_give_way_to_others(client: Client) -> None:
    slow, quick = client.world.client(), client.world.client()
    requests = {}
    for reader in (slow, quick):
        requests[reader] = reader.make(local.Receive, reader.open(), timeout=60.0)
        reader.post(requests[reader])
    slow.session.holder.pause()
    client.send(b"one")
    client.send(b"two")
    assert bodies(quick.replies(requests[quick])[0]) == [b"one"]
    assert slow.replies(requests[slow]) == []
    slow.session.holder.resume()
    client.world.turn()
    assert bodies(slow.replies(requests[slow])[0]) == [b"two"]


@pytest.mark.parametrize("timeout", [-1.0, float("nan"), float("-inf")])
def test_a_timeout_that_is_none_is_refused(client: Client, timeout: float) -> None:
    code = client.refusal(local.Receive, client.open(), timeout=timeout)
    assert code == "MQ_ERROR_INVALID_PARAMETER"


def test_the_id_of_a_waiting_read_is_not_used_twice(client: Client) -> None:
    request = client.make(local.Receive, client.open(), timeout=60.0)
    client.post(request)
    client.post(request)
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_INVALID_PARAMETER


def test_an_unknown_action_is_refused(client: Client) -> None:
    code = client.refusal(local.Receive, client.open(), action="steal")
    assert code == "MQ_ERROR_INVALID_PARAMETER"


def test_peek_next_needs_a_cursor(client: Client) -> None:
    code = client.refusal(local.Receive, client.open(), action="peek_next")
    assert code == "MQ_ERROR_ILLEGAL_CURSOR_ACTION"


def test_a_receive_through_a_peek_handle_is_refused(client: Client) -> None:
    assert client.refusal(local.Receive, client.open("peek")) == "MQ_ERROR_ACCESS_DENIED"


def test_a_transactional_read_of_a_plain_queue_is_refused(client: Client) -> None:
    transaction = client.begin()
    code = client.refusal(local.Receive, client.open(), transaction=transaction)
    assert code == "MQ_ERROR_TRANSACTION_USAGE"


def test_a_cursor_walks_the_queue(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    cursor = client.value(local.OpenCursor, handle)

    def read(action: str) -> list[bytes]:
        return bodies(client.call(local.Receive, handle, action=action, cursor=cursor))

    assert read("peek") == [b"one"]
    assert read("peek_next") == [b"two"]
    assert read("receive") == [b"two"]
    assert read("peek") == [b"three"]
    with pytest.raises(QueueError, match="MQ_ERROR_IO_TIMEOUT"):
        read("peek_next")
    client.value(local.CloseCursor, handle, cursor)
    code = client.refusal(local.Receive, handle, action="peek", cursor=cursor)
    assert code == "MQ_ERROR_INVALID_HANDLE"


def test_cursor_zero_is_none_and_closes_as_such(client: Client) -> None:
    client.value(local.CloseCursor, client.open(), 0)


def test_a_cancelled_read_ends(client: Client) -> None:
    handle = client.open()
    request = client.make(local.Receive, handle, timeout=60.0)
    client.post(request)
    assert client.value(local.Cancel, request.id) is True
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_OPERATION_CANCELLED
    assert client.value(local.Cancel, request.id) is False
    client.send(b"for nobody")
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 1


def test_a_read_is_cancelled_only_by_its_client(client: Client) -> None:
    request = client.make(local.Receive, client.open(), timeout=60.0)
    client.post(request)
    other = client.world.client()
    assert other.value(local.Cancel, request.id) is False
    client.send(b"here")
    assert len(client.replies(request)) == 1


def test_a_read_that_has_messages_already_is_not_cancelled(client: Client) -> None:
    request = client.make(local.Receive, client.open(), timeout=60.0)
    client.post(request)
    # Another client sends, and nothing has been handed out yet.
    client.world.core.send(b"here")
    assert client.value(local.Cancel, request.id) is False
    assert bodies(client.replies(request)[0]) == [b"here"]


# Two phases


def test_a_two_phase_read_ends_with_removal_or_return(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    reply = client.call(local.Receive, handle, count=3, two_phase=True)
    first, second, third = reply.lookup_ids
    assert client.value(local.EndReceive, handle, [first], True) == 1
    assert client.value(local.EndReceive, handle, [second, third], False) == 2
    assert bodies(client.call(local.Receive, handle, count=9)) == [b"two", b"three"]


def test_only_what_was_read_here_can_be_ended(client: Client) -> None:
    client.send(b"one", b"two")
    handle = client.open()
    reply = client.call(local.Receive, handle, two_phase=True)
    code = client.refusal(local.EndReceive, handle, [*reply.lookup_ids, 12345], True)
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"
    assert client.value(local.EndReceive, handle, reply.lookup_ids, True) == 1


def test_the_removal_is_answered_when_it_is_on_disk(client: Client) -> None:
    client.send(b"one")
    handle = client.open()
    reply = client.call(local.Receive, handle, two_phase=True)
    request = client.make(local.EndReceive, handle, reply.lookup_ids, True)
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1


def test_a_client_that_goes_gives_everything_back() -> None:
    client = transactional()
    client.send(b"one", b"two", b"three", transaction=-1)
    leaver = client.world.client()
    handle = leaver.open()
    leaver.call(local.Receive, handle, two_phase=True)
    transaction = leaver.begin()
    leaver.call(local.Receive, handle, transaction=transaction)
    leaver.send(b"never", transaction=transaction)
    waiting = leaver.make(local.Receive, leaver.open(name=ORDERS + ";sub"), timeout=60.0)
    leaver.post(waiting)
    leaver.session.close()
    leaver.session.close()
    client.world.turn()
    assert leaver.replies(waiting) == []
    assert not client.world.core.qm.state.transactions
    assert bodies(client.call(local.Receive, client.open(), count=9)) == [b"one", b"two", b"three"]


def test_what_a_dead_client_held_does_not_go_to_a_read_of_its_own() -> None:
    client = transactional()
    client.send(b"one", b"two", transaction=-1)
    handle, other = client.open(), client.open()
    transaction = client.begin()
    assert bodies(client.call(local.Receive, handle, transaction=transaction)) == [b"one"]
    assert bodies(client.call(local.Receive, handle, two_phase=True)) == [b"two"]
    client.post(client.make(local.Receive, handle, timeout=None))
    client.post(client.make(local.Receive, other, count=2, timeout=60.0))
    cursor = client.value(local.OpenCursor, other)
    client.post(client.make(local.Receive, other, timeout=60.0, cursor=cursor))
    client.session.close()
    client.world.turn()
    next_client = client.world.client()
    reply = next_client.call(local.Receive, next_client.open(), count=10)
    assert bodies(reply) == [b"one", b"two"]


def test_a_client_that_is_about_to_be_cut_off_takes_nothing_more(client: Client) -> None:
    handle = client.open()
    cursor = client.value(local.OpenCursor, handle)
    requests = [
        client.make(local.Receive, handle, timeout=60.0),
        client.make(local.Receive, handle, timeout=60.0, cursor=cursor),
    ]
    for request in requests:
        client.post(request)
    client.session.holder.stop()
    other = client.world.client()
    other.send(b"here")
    client.session.holder.resume()
    client.world.turn()
    assert [client.replies(request) for request in requests] == [[], []]
    client.session.close()
    assert bodies(other.call(local.Receive, other.open())) == [b"here"]


# Look up


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("current", b"two"),
        ("next", b"three"),
        ("previous", b"one"),
        ("first", b"one"),
        ("last", b"three"),
    ],
)
def test_a_message_is_found_in_every_relation(
    client: Client, relation: str, expected: bytes
) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    middle = client.call(local.Receive, handle, action="peek", count=3).lookup_ids[1]
    assert bodies(client.call(local.Lookup, handle, middle, relation)) == [expected]


def test_a_message_is_received_by_its_lookup_id(client: Client) -> None:
    client.send(b"one", b"two")
    handle = client.open()
    second = client.call(local.Receive, handle, action="peek", count=2).lookup_ids[1]
    assert bodies(client.call(local.Lookup, handle, second, receive=True)) == [b"two"]
    assert client.refusal(local.Lookup, handle, second) == "MQ_ERROR_MESSAGE_NOT_FOUND"


def test_a_message_is_received_by_its_lookup_id_in_two_phases(client: Client) -> None:
    client.send(b"one")
    handle = client.open()
    (only,) = client.call(local.Receive, handle, action="peek").lookup_ids
    client.call(local.Lookup, handle, only, receive=True, two_phase=True)
    assert client.value(local.EndReceive, handle, [only], False) == 1
    assert client.value(local.ShowQueue, ORDERS)["locked_messages"] == 0


@pytest.mark.parametrize("number", [-1, 0, 1 << 63, (1 << 64) - 1])
def test_a_lookup_id_that_is_none_finds_nothing(client: Client, number: int) -> None:
    client.send(b"one")
    assert client.refusal(local.Lookup, client.open(), number) == "MQ_ERROR_MESSAGE_NOT_FOUND"


def test_an_unknown_relation_is_refused(client: Client) -> None:
    code = client.refusal(local.Lookup, client.open(), 1, "beside")
    assert code == "MQ_ERROR_ILLEGAL_RELATION"
