"""Requests about messages: every handler, and every refusal with its code."""

from typing import Any

import pytest
from tests.protocol.local.harness import (
    ADMINISTRATOR,
    ORDERS,
    STRANGER,
    USER,
    Client,
    World,
    bodies,
    packet,
)

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.session import MAX_OPEN, MAX_TRANSACTIONS, MAX_WAITING
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.message_enums import SenderIdType
from openmsmq.wire.queue_error import QueueError
from openmsmq.wire.security_header import SecurityHeader
from openmsmq.wire.user_message import UserMessage

OTHER = r".\private$\other"


@pytest.fixture
def client() -> Client:
    """A client with a queue of its own."""
    client = World().client()
    client.create()
    return client


def transactional() -> Client:
    client = World().client()
    client.create(transactional=True)
    return client


# Open and close


def test_an_open_queue_tells_its_names_and_kind(client: Client) -> None:
    opened = client.value(local.OpenQueue, ORDERS, "send")
    assert opened == {
        "handle": opened["handle"],
        "format_name": r"DIRECT=OS:QM\private$\orders",
        "destinations": [r"DIRECT=OS:QM\private$\orders"],
        "transactional": False,
    }


def test_several_queues_open_together_for_sending(client: Client) -> None:
    client.create(OTHER)
    names = r"DIRECT=OS:QM\private$\orders,DIRECT=OS:QM\private$\other"
    opened = client.value(local.OpenQueue, names, "send")
    assert opened["destinations"] == names.split(",")
    assert opened["transactional"] is None
    client.value(local.Send, opened["handle"], [packet(b"both")])
    for name in (ORDERS, OTHER):
        assert bodies(client.call(local.Receive, client.open(name=name))) == [b"both"]


def test_nobody_knows_whether_a_queue_elsewhere_is_transactional(client: Client) -> None:
    opened = client.value(local.OpenQueue, r"DIRECT=TCP:10.0.0.1\private$\x", "send")
    assert opened["transactional"] is None


def test_an_open_that_makes_a_queue_is_answered_when_that_is_on_disk(client: Client) -> None:
    client.world.core.flush()
    request = client.make(local.OpenQueue, r"DIRECT=TCP:10.0.0.1\private$\x", "send")
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ((ORDERS, "write"), "MQ_ERROR_UNSUPPORTED_ACCESS_MODE"),
        ((ORDERS, "receive", "deny_all"), "MQ_ERROR_UNSUPPORTED_ACCESS_MODE"),
        ((r".\private$\none", "receive"), "MQ_ERROR_QUEUE_NOT_FOUND"),
        (("nonsense", "receive"), "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (("", "receive"), "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (("DIRECT=", "receive"), "MQ_ERROR_ILLEGAL_FORMATNAME"),
        ((r"DIRECT=TCP:10.0.0.1\private$\x", "receive"), "MQ_ERROR_QUEUE_NOT_FOUND"),
        ((ORDERS + ";journal", "send"), "MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION"),
    ],
)
def test_an_open_is_refused_with_its_reason(
    client: Client, fields: tuple[str, ...], code: str
) -> None:
    assert client.refusal(local.OpenQueue, *fields) == code


def test_a_reader_can_shut_out_others(client: Client) -> None:
    client.value(local.OpenQueue, ORDERS, "receive", "deny_receive")
    other = client.world.client()
    assert other.refusal(local.OpenQueue, ORDERS, "receive") == "MQ_ERROR_SHARING_VIOLATION"
    client.session.close()
    assert other.value(local.OpenQueue, ORDERS, "receive")


def test_a_stranger_may_send_but_not_read(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.OpenQueue, ORDERS, "receive") == "MQ_ERROR_ACCESS_DENIED"
    assert stranger.refusal(local.OpenQueue, ORDERS, "peek") == "MQ_ERROR_ACCESS_DENIED"
    stranger.send(b"hello")
    assert bodies(client.call(local.Receive, client.open())) == [b"hello"]


def test_a_closed_queue_gives_back_what_was_locked(client: Client) -> None:
    client.send(b"one", b"two")
    handle = client.open()
    assert bodies(client.call(local.Receive, handle, count=2, two_phase=True)) == [b"one", b"two"]
    client.value(local.CloseQueue, handle)
    assert client.refusal(local.Receive, handle) == "MQ_ERROR_INVALID_HANDLE"
    assert bodies(client.call(local.Receive, client.open(), count=2)) == [b"one", b"two"]


def test_a_closed_queue_takes_its_cursors_along(client: Client) -> None:
    first, second = client.open(), client.open()
    gone = client.value(local.OpenCursor, first)
    kept = client.value(local.OpenCursor, second)
    client.value(local.CloseQueue, first)
    assert client.refusal(local.CloseCursor, first, gone) == "MQ_ERROR_INVALID_HANDLE"
    client.value(local.CloseCursor, second, kept)


def test_a_handle_of_another_client_is_none(client: Client) -> None:
    handle = client.open()
    other = client.world.client()
    assert other.refusal(local.Receive, handle) == "MQ_ERROR_INVALID_HANDLE"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (local.CloseQueue, (9,)),
        (local.OpenCursor, (9,)),
        (local.CloseCursor, (1, 9)),
        (local.Send, (9, [])),
        (local.Receive, (9,)),
        (local.Lookup, (9, 1)),
        (local.EndReceive, (9, [1], True)),
        (local.Move, (9, 9)),
        (local.Purge, (9,)),
        (local.RangeInfo, (9,)),
        (local.PlanRange, (9, 0)),
        (local.SplitRange, (9, 0, 1, 1)),
        (local.PeekRange, (9, 0, 1)),
        (local.AcknowledgeRange, (9, 0, 1)),
        (local.Lease, (9, "c", 1, 1, 1)),
        (local.Release, (9, "c", 1)),
        (local.Pin, (9, 0, 1)),
    ],
)
def test_a_wrong_handle_is_refused(client: Client, kind: Any, fields: tuple[Any, ...]) -> None:
    assert client.refusal(kind, *fields) == "MQ_ERROR_INVALID_HANDLE"


@pytest.mark.parametrize(
    ("held", "limit", "kind", "fields"),
    [
        ("open", MAX_OPEN, local.OpenQueue, (ORDERS, "receive")),
        ("cursors", MAX_OPEN, local.OpenCursor, (1,)),
        ("transactions", MAX_TRANSACTIONS, local.BeginTransaction, ()),
        ("waiting", MAX_WAITING, local.Receive, (1, "receive", 1, 100, 5.0)),
    ],
)
def test_what_a_client_may_hold_is_bounded(
    client: Client, held: str, limit: int, kind: Any, fields: tuple[Any, ...]
) -> None:
    client.open()
    holding = getattr(client.session, held)
    filled = dict.fromkeys(range(1 << 20, (1 << 20) + limit - 1 - len(holding)))
    holding.update(filled)
    client.post(client.make(kind, *fields))
    assert len(holding) == limit
    assert client.refusal(kind, *fields) == "MQ_ERROR_INSUFFICIENT_RESOURCES"


def test_a_deleted_queue_cannot_be_used(client: Client) -> None:
    handle = client.open()
    client.value(local.DeleteQueue, ORDERS)
    assert client.refusal(local.Receive, handle) == "MQ_ERROR_QUEUE_NOT_AVAILABLE"
    assert client.refusal(local.OpenCursor, handle) == "MQ_ERROR_QUEUE_NOT_AVAILABLE"


# Send


def test_a_recoverable_message_is_acknowledged_when_it_is_on_disk(client: Client) -> None:
    handle = client.open("send")
    client.world.core.flush()
    request = client.make(local.Send, handle, [packet(b"kept")])
    client.post(request)
    assert client.replies(request, flush=False) == []
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Done)


def test_an_express_message_waits_for_no_disk(client: Client) -> None:
    handle = client.open("send")
    client.world.core.flush()
    request = client.make(local.Send, handle, [packet(b"quick", delivery_mode=0)])
    client.post(request)
    assert len(client.replies(request, flush=False)) == 1


def test_the_answer_tells_the_first_ordinal(client: Client) -> None:
    first = client.send(b"one", b"two")
    second = client.send(b"three")
    assert second == first + 2
    reply = client.call(local.Receive, client.open(), count=3)
    ordinals = [UserMessage(each).identifier.ordinal for each in reply.packets]
    assert ordinals == [first, first + 1, second]


def test_no_message_at_all_is_fine(client: Client) -> None:
    client.value(local.Send, client.open("send"), [])
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0


@pytest.mark.parametrize(
    ("packets", "code"),
    [
        ([b""], "MQ_ERROR_INVALID_PARAMETER"),
        ([b"junk" * 100], "MQ_ERROR_INVALID_PARAMETER"),
        ([packet()[:-4]], "MQ_ERROR_INVALID_PARAMETER"),
        ([packet(b"good"), b"bad"], "MQ_ERROR_INVALID_PARAMETER"),
        ([bytes(5 << 20)], "MQ_ERROR_INSUFFICIENT_RESOURCES"),
        (
            [
                packet(
                    security_header=SecurityHeader(
                        SenderIdType.SID, security_id=STRANGER.sid.serialize()
                    )
                )
            ],
            "MQ_ERROR_ACCESS_DENIED",
        ),
    ],
)
def test_a_send_is_refused_whole(client: Client, packets: list[bytes], code: str) -> None:
    assert client.refusal(local.Send, client.open("send"), packets) == code
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0


def test_a_message_may_name_its_own_sender(client: Client) -> None:
    header = SecurityHeader(SenderIdType.SID, security_id=USER.sid.serialize())
    client.send(b"mine", security_header=header)
    assert bodies(client.call(local.Receive, client.open())) == [b"mine"]


def test_a_send_through_a_reader_is_refused(client: Client) -> None:
    assert client.refusal(local.Send, client.open("peek"), [packet()]) == "MQ_ERROR_ACCESS_DENIED"


def test_a_full_queue_refuses(client: Client) -> None:
    client.value(local.SetQueue, ORDERS, {"quota": 1})
    code = client.refusal(local.Send, client.open("send"), [packet(bytes(2000))])
    assert code == "MQ_ERROR_INSUFFICIENT_RESOURCES"


def test_a_transactional_queue_needs_a_transaction() -> None:
    client = transactional()
    handle = client.open("send")
    assert client.refusal(local.Send, handle, [packet()]) == "MQ_ERROR_TRANSACTION_USAGE"
    client.value(local.Send, handle, [packet(b"one")], -1)
    assert bodies(client.call(local.Receive, client.open())) == [b"one"]


def test_a_transaction_for_one_request_is_gone_when_it_is_refused() -> None:
    client = transactional()
    handle = client.open("send")
    assert client.refusal(local.Send, handle, [b"junk"], -1) == "MQ_ERROR_INVALID_PARAMETER"
    assert not client.world.core.qm.state.transactions


@pytest.mark.parametrize("number", [-2, 77, 1 << 62])
def test_an_unknown_transaction_is_refused(client: Client, number: int) -> None:
    handle = client.open("send")
    code = client.refusal(local.Send, handle, [packet()], number)
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"


# Transactions


def test_a_transaction_takes_effect_whole() -> None:
    client = transactional()
    transaction = client.begin()
    client.send(b"one", transaction=transaction)
    client.send(b"two", transaction=transaction)
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0
    request = client.make(local.EndTransaction, transaction, True)
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1
    assert bodies(client.call(local.Receive, client.open(), count=9)) == [b"one", b"two"]


def test_an_aborted_transaction_leaves_nothing() -> None:
    client = transactional()
    client.send(b"old", transaction=-1)
    transaction = client.begin()
    client.send(b"new", transaction=transaction)
    handle = client.open()
    assert bodies(client.call(local.Receive, handle, transaction=transaction)) == [b"old"]
    client.end(transaction, commit=False)
    assert bodies(client.call(local.Receive, handle, count=9)) == [b"old"]


def test_a_refused_send_aborts_its_transaction() -> None:
    client = transactional()
    transaction = client.begin()
    client.send(b"one", transaction=transaction)
    client.refusal(local.Send, client.open("send"), [b"junk"], transaction)
    code = client.refusal(local.EndTransaction, transaction, True)
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0


@pytest.mark.parametrize("number", [0, 5, -1])
def test_only_an_open_transaction_can_end(client: Client, number: int) -> None:
    code = client.refusal(local.EndTransaction, number, True)
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"


def test_the_number_of_a_transaction_is_used_once(client: Client) -> None:
    request = local.BeginTransaction(500)
    client.post(request)
    client.post(request)
    assert [type(reply) for reply in client.replies(request)] == [local.Done, local.Failed]
    bad = local.BeginTransaction(0)
    client.post(bad)
    (reply,) = client.replies(bad)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE


def test_a_transaction_of_another_client_is_none() -> None:
    client = transactional()
    transaction = client.begin()
    other = client.world.client()
    code = other.refusal(local.EndTransaction, transaction, True)
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"


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
    assert not client.session.waiting


def test_a_waiting_read_without_end_gets_the_next_message(client: Client) -> None:
    request = client.make(local.Receive, client.open(), timeout=None)
    client.post(request)
    client.world.advance(1e6)
    assert client.replies(request) == []
    client.send(b"late")
    (reply,) = client.replies(request)
    assert bodies(reply) == [b"late"]
    assert not client.session.waiting


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
    slow.session.pause()
    client.send(b"one")
    client.send(b"two")
    assert bodies(quick.replies(requests[quick])[0]) == [b"one"]
    assert slow.replies(requests[slow]) == []
    slow.session.resume()
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


# Move and purge


def test_messages_move_to_a_subqueue_and_back(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    ids = client.call(local.Receive, handle, action="peek", count=3).lookup_ids
    target = client.open("move", ORDERS + ";later")
    assert client.value(local.Move, handle, target, ids[1:2]) == 1
    assert client.value(local.Move, handle, target, None, 1) == 1
    assert bodies(client.call(local.Receive, client.open(name=ORDERS + ";later"), count=9)) == [
        b"two",
        b"one",
    ]


@pytest.mark.parametrize(
    ("target", "ids", "code"),
    [
        (ORDERS, None, "MQ_ERROR_INVALID_PARAMETER"),
        (OTHER, None, "MQ_ERROR_ILLEGAL_OPERATION"),
        (ORDERS + ";later", [4711], "MQ_ERROR_MESSAGE_NOT_FOUND"),
    ],
)
def test_a_move_is_refused_with_its_reason(
    client: Client, target: str, ids: list[int] | None, code: str
) -> None:
    client.create(OTHER)
    client.send(b"one")
    assert client.refusal(local.Move, client.open(), client.open("move", target), ids) == code


def test_a_purge_goes_in_steps(client: Client) -> None:
    handle = client.open("send")
    for _ in range(3):
        client.value(local.Send, handle, [packet()] * 4000)
    reader = client.open()
    first = client.value(local.Purge, reader)
    assert (first["count"], first["done"]) == (10_000, False)
    client.value(local.Send, handle, [packet(b"new")])
    second = client.value(local.Purge, reader, first["upto"])
    assert (second["count"], second["done"]) == (2000, True)
    assert bodies(client.call(local.Receive, reader, count=5)) == [b"new"]


def test_a_purge_needs_the_right_to_receive(client: Client) -> None:
    assert client.refusal(local.Purge, client.open("peek")) == "MQ_ERROR_ACCESS_DENIED"
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.Purge, stranger.open("send")) == "MQ_ERROR_ACCESS_DENIED"


def test_an_administrator_is_nobody_special_to_a_queue(client: Client) -> None:
    administrator = client.world.client(ADMINISTRATOR)
    assert administrator.refusal(local.OpenQueue, ORDERS, "receive") == "MQ_ERROR_ACCESS_DENIED"
