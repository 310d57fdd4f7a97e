"""Requests that send, and transactions."""

import msgspec
import pytest
from tests.protocol.local.harness import (
    ORDERS,
    OTHER,
    STRANGER,
    USER,
    Client,
    bodies,
    packet,
    transactional,
)

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local import session
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.security.security_header import SecurityHeader

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
    shown = client.value(local.ShowQueue, ORDERS)
    assert shown["refused"] == {code: 1}
    assert shown["last_refused_time"] == client.world.core.utc


def test_messages_that_fit_are_accepted_and_counted(client: Client) -> None:
    client.value(local.SetQueue, ORDERS, {"quota": 2})
    handle = client.open("send")
    client.world.core.flush()
    request = client.make(local.Send, handle, [packet(bytes(700)) for _ in range(5)])
    client.post(request)
    # It tells of messages that must be on disk.
    assert client.replies(request, flush=False) == []
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Failed)
    assert (reply.code, reply.accepted) == (Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES, 2)
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 2
    assert client.world.service.refusals[-1][2] == 3
    assert client.value(local.ShowQueue, ORDERS)["refused"] == {
        "MQ_ERROR_INSUFFICIENT_RESOURCES": 3
    }


def test_nothing_is_accepted_behind_a_refusal_in_the_same_chain(client: Client) -> None:
    client.value(local.SetQueue, ORDERS, {"quota": 1})
    handle = client.open("send")
    small = [packet(b"small")]
    client.world.core.flush()
    requests = [
        client.make(local.Send, handle, [packet(bytes(500)), packet(bytes(500))], 0, 7),
        client.make(local.Send, handle, small, 0, 7),
        client.make(local.Send, handle, small, 0, 8),
        client.make(local.Send, handle, small),
    ]
    for request in requests:
        client.post(request)
    # The second refusal does not come before the first, which waits for the disk.
    assert client.replies(requests[1], flush=False) == []
    replies = [client.replies(request)[0] for request in requests]
    assert [type(reply) for reply in replies] == [
        local.Failed,
        local.Failed,
        local.Done,
        local.Done,
    ]
    assert replies[1] == msgspec.structs.replace(replies[0], id=requests[1].id, accepted=0)
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 3


@pytest.mark.interpreted
def test_chains_that_were_broken_are_not_remembered_for_ever(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session.MAX_BROKEN == local.MAX_MESSAGES
    monkeypatch.setattr(session, "MAX_BROKEN", 5)
    handle = client.open("send")
    for chain in range(1, 7):
        client.refusal(local.Send, handle, [b"junk"], 0, chain)
    client.value(local.Send, handle, [packet()], 0, 1)
    assert client.refusal(local.Send, handle, [packet()], 0, 2) == "MQ_ERROR_INVALID_PARAMETER"


def test_messages_for_several_queues_come_in_one_request(client: Client) -> None:
    client.create(OTHER)
    orders, other = client.open("send"), client.open("send", OTHER)
    packets = [packet(body) for body in (b"1", b"2", b"3", b"4")]
    request = client.make(local.SendEach, [orders, other, other, orders], packets)
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert client.replies(request) == [local.Done(request.id)]
    assert client.world.core.contents() == [b"1", b"4"]
    assert client.world.core.contents(OTHER) == [b"2", b"3"]


def test_one_of_several_queues_refuses(client: Client) -> None:
    client.create(OTHER, quota=1)
    orders, other = client.open("send"), client.open("send", OTHER)
    packets = [packet(b"x" * 600), packet(b"y" * 600), packet(b"z")]
    value = client.value(local.SendEach, [other, other, orders], packets)
    ((handle, messages, code, _, _, remedy),) = value
    assert (handle, messages) == (other, 1)
    assert code == Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES
    assert "quota" in remedy
    assert client.world.service.refusals[-1][:3] == (
        "SendEach",
        r"DIRECT=OS:QM\private$\other",
        1,
    )
    # Nothing behind it is accepted, neither among others nor alone.
    small = packet(b"small")
    handles = [other, orders, other]
    ((handle, messages, *_),) = client.value(local.SendEach, handles, [small] * 3)
    assert (handle, messages) == (other, 2)
    assert client.refusal(local.Send, other, [small], 0, other) == "MQ_ERROR_INSUFFICIENT_RESOURCES"
    assert client.world.core.contents() == [b"z", b"small"]
    assert client.world.core.contents(OTHER) == [b"x" * 600]
    assert client.value(local.ShowQueue, OTHER)["refused"] == {"MQ_ERROR_INSUFFICIENT_RESOURCES": 4}
    assert client.value(local.ShowQueue, ORDERS)["refused"] == {}


def test_an_unknown_handle_among_others_is_refused(client: Client) -> None:
    orders = client.open("send")
    value = client.value(local.SendEach, [99, orders], [packet(b"1"), packet(b"2")])
    assert [(handle, code) for handle, _, code, *_ in value] == [
        (99, Hresult.MQ_ERROR_INVALID_HANDLE)
    ]
    assert client.world.core.contents() == [b"2"]


def test_every_packet_needs_a_handle(client: Client) -> None:
    handle = client.open("send")
    assert client.refusal(local.SendEach, [handle], []) == "MQ_ERROR_INVALID_PARAMETER"


def test_an_invalid_packet_among_others_refuses_the_request_and_all_that_follows(
    client: Client,
) -> None:
    client.create(OTHER)
    orders, other = client.open("send"), client.open("send", OTHER)
    handles, packets = [orders, other, orders], [packet(b"1"), b"junk", packet(b"3")]
    assert client.refusal(local.SendEach, handles, packets) == "MQ_ERROR_INVALID_PARAMETER"
    assert client.world.service.refusals[-1][:3] == ("SendEach", "", 3)
    for handle in (orders, other):
        ((refused, messages, code, *_),) = client.value(local.SendEach, [handle], [packet(b"4")])
        assert (refused, messages, code) == (handle, 1, Hresult.MQ_ERROR_INVALID_PARAMETER)
    assert client.world.core.contents() == client.world.core.contents(OTHER) == []


def test_the_first_refusal_of_a_handle_counts_all_that_follow_in_the_request(
    client: Client,
) -> None:
    reader, orders = client.open("peek"), client.open("send")
    handles = [reader, orders, reader, reader]
    value = client.value(local.SendEach, handles, [packet()] * 4)
    assert [each[:3] for each in value] == [[reader, 3, Hresult.MQ_ERROR_ACCESS_DENIED]]
    assert len(client.world.core.contents()) == 1


# Queues that are opened on the way


def test_messages_can_follow_the_opening_of_their_queues_at_once(client: Client) -> None:
    client.create(OTHER)
    opening = client.make(local.OpenToSend, [-1, -2], [ORDERS, OTHER])
    packets = [packet(body, destination_queue=None) for body in (b"1", b"2", b"3")]
    sending = client.make(local.SendEach, [-2, -1, -2], packets)
    client.post(opening)
    client.post(sending)
    assert client.replies(opening) == [local.Done(opening.id)]
    assert client.replies(sending) == [local.Done(sending.id)]
    assert client.world.core.contents(OTHER) == [b"1", b"3"]
    (received,) = client.call(local.Receive, client.open()).packets
    destination = UserMessage(received).destination_queue
    assert destination == direct_address(r"OS:QM\private$\orders")
    client.value(local.Send, -1, [packet(b"4")])
    assert client.world.core.contents() == [b"4"]
    client.value(local.CloseQueue, -1)
    assert client.refusal(local.Send, -1, [packet()]) == "MQ_ERROR_INVALID_HANDLE"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (r".\private$\missing", "MQ_ERROR_QUEUE_NOT_FOUND"),
        ("nonsense", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r".\private$\orders;journal", "MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION"),
    ],
)
def test_the_messages_for_a_queue_that_cannot_be_opened_say_why(
    client: Client, name: str, code: str
) -> None:
    client.value(local.OpenToSend, [-1, -2], [name, ORDERS])
    value = client.value(local.SendEach, [-1, -2, -1], [packet(b"x")] * 3)
    ((handle, messages, number, *_),) = value
    assert (handle, messages, Hresult(number).name) == (-1, 2, code)
    assert client.world.core.contents() == [b"x"]
    assert client.refusal(local.Send, -1, [packet()]) == code
    assert client.refusal(local.Send, -1, []) == code
    assert client.refusal(local.Send, -1, [packet()], -1) == code
    assert client.refusal(local.Send, -1, [packet()], 0, 5) == code
    # Closing it is no fault of the client, but only once.
    client.value(local.CloseQueue, -1)
    assert client.refusal(local.CloseQueue, -1) == "MQ_ERROR_INVALID_HANDLE"
    assert client.refusal(local.Send, -1, [packet()]) == "MQ_ERROR_INVALID_HANDLE"


def test_a_right_is_needed_for_each_queue_that_is_opened_on_the_way(client: Client) -> None:
    client.create(OTHER)
    client.value(local.Grant, OTHER, "everyone", ["send"], deny=True)
    client.value(local.OpenToSend, [-1, -2], [ORDERS, OTHER])
    value = client.value(local.SendEach, [-1, -2], [packet()] * 2)
    assert [each[:3] for each in value] == [[-2, 1, Hresult.MQ_ERROR_ACCESS_DENIED]]


def test_a_handle_of_the_client_is_below_0_and_used_once(client: Client) -> None:
    orders = client.open("send")
    client.value(local.OpenToSend, [-1, -1, orders, 99], [ORDERS] * 4)
    for handle in (-1, orders, 99):
        ((refused, _, code, *_),) = client.value(local.SendEach, [handle], [packet()])
        assert (refused, code) == (handle, Hresult.MQ_ERROR_INVALID_HANDLE)
    client.value(local.CloseQueue, orders)
    assert client.refusal(local.CloseQueue, orders) == "MQ_ERROR_INVALID_HANDLE"


def test_every_name_needs_a_handle(client: Client) -> None:
    assert client.refusal(local.OpenToSend, [-1], []) == "MQ_ERROR_INVALID_PARAMETER"


def test_a_transaction_is_aborted_if_a_queue_of_it_cannot_be_opened() -> None:
    client = transactional()
    transaction = client.begin()
    client.send(b"one", transaction=transaction)
    client.value(local.OpenToSend, [-1], [r".\private$\missing"])
    assert client.refusal(local.Send, -1, [packet()], transaction) == "MQ_ERROR_QUEUE_NOT_FOUND"
    code = client.refusal(local.EndTransaction, transaction, True)
    assert code == "MQ_ERROR_TRANSACTION_SEQUENCE"
    assert client.value(local.ShowQueue, ORDERS)["messages"] == 0


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
