"""Requests that move and purge messages."""

import pytest
from tests.protocol.local.harness import (
    ADMINISTRATOR,
    ORDERS,
    OTHER,
    STRANGER,
    Client,
    bodies,
    packet,
)

from openmsmq.protocol.local import messages as local


def test_messages_move_to_a_subqueue_and_back(client: Client) -> None:
    client.send(b"one", b"two", b"three")
    handle = client.open()
    ids = client.call(local.Receive, handle, action="peek", count=3).lookup_ids
    target = client.open("move", ORDERS + ";later")
    (new,) = client.value(local.Move, handle, target, ids[1:2])["lookup_ids"]
    assert new > ids[2]
    assert client.value(local.Move, handle, target, None, 1, dry_run=True) == {
        "count": 1,
        "lookup_ids": [],
    }
    assert client.value(local.Move, handle, target, None, 1)["count"] == 1
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


def test_what_a_transaction_received_is_rejected_with_it(client: Client) -> None:
    client.create(OTHER, transactional=True)
    client.send(b"one", name=OTHER, transaction=-1)
    handle = client.open(name=OTHER)
    number = client.begin()
    (lookup_id,) = client.call(local.Receive, handle, transaction=number).lookup_ids
    assert client.refusal(local.Reject, handle, 0, [lookup_id]) == "MQ_ERROR_TRANSACTION_USAGE"
    assert client.refusal(local.Reject, handle, number, [4711]) == "MQ_ERROR_MESSAGE_NOT_FOUND"
    assert client.value(local.Reject, handle, number, [lookup_id]) is None
    client.value(local.EndTransaction, number, True)
    assert client.refusal(local.Receive, handle, action="peek") == "MQ_ERROR_IO_TIMEOUT"
