"""Requests that open and close queues, and what a client may hold."""

from typing import Any

import pytest
from tests.protocol.local.harness import (
    ORDERS,
    OTHER,
    STRANGER,
    Client,
    bodies,
    packet,
)

from openmsmq.core.holder import DEFAULT_LIMITS
from openmsmq.protocol.local import messages as local


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


def test_a_refusal_names_who_asked_and_the_command_that_grants(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    reply = stranger.call(local.OpenQueue, ORDERS, "receive")
    assert isinstance(reply, local.Failed)
    assert reply.text == r"user:bob needs the right receive on private$\orders"
    assert reply.cause == "The right has not been granted."
    assert r"openmsmq queue grant '.\private$\orders' user:bob receive" in reply.remedy


def test_a_queue_that_is_open_for_something_else_is_to_be_opened_again(client: Client) -> None:
    reply = client.call(local.Send, client.open("peek"), [packet()])
    assert isinstance(reply, local.Failed)
    assert reply.remedy == "Open the queue for send."


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
        (local.Reject, (9, 1, [1])),
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
        ("open", DEFAULT_LIMITS.queues, local.OpenQueue, (ORDERS, "receive")),
        ("cursors", DEFAULT_LIMITS.cursors, local.OpenCursor, (1,)),
        ("transactions", DEFAULT_LIMITS.transactions, local.BeginTransaction, ()),
        ("waiting", DEFAULT_LIMITS.waiting_reads, local.Receive, (1, "receive", 1, 100, 5.0)),
    ],
)
def test_what_a_client_may_hold_is_bounded(
    client: Client, held: str, limit: int, kind: Any, fields: tuple[Any, ...]
) -> None:
    client.open()
    holding = getattr(client.session.holder, held)
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
