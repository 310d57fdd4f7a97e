"""Requests about messages that readers do not see: delayed, and held as poison."""

from typing import Any

import pytest
from tests.core.harness import ADMINISTRATOR, STRANGER, packet
from tests.protocol.local.harness import ORDERS, OTHER, Client, bodies

from openmsmq.protocol.local import messages as local
from openmsmq.wire.names.queue_address import direct_address

FAR = r"DIRECT=TCP:10.0.0.9\private$\orders"
SINGLE = -1


def delay(
    client: Client, *contents: bytes, name: str = ORDERS, seconds: float = 60, **rest: Any
) -> Any:
    handle = client.open("send", name)
    if name == FAR:
        rest["destination_queue"] = direct_address(FAR.removeprefix("DIRECT="))
    packets = [packet(body, **rest) for body in contents]
    deliver_at = client.world.core.utc + seconds
    return client.value(local.Send, handle, packets, 0, 0, deliver_at)


def listed(client: Client, name: str = "") -> list[str]:
    return [info["label"] for info in client.value(local.ListDelayed, name)]


def test_delayed_messages_are_listed_by_their_time(client: Client) -> None:
    delay(client, b"1", label="first", seconds=60)
    delay(client, b"22", label="second", seconds=30.5, priority=5)
    delay(client, b"3", label="far", name=FAR, delivery_mode=0)
    assert listed(client, ORDERS) == ["second", "first"]
    second = client.value(local.ListDelayed, ORDERS)[0]
    assert second["queue"] == r"QM\private$\orders"
    assert second["deliver_at"] == "2023-11-14T22:13:50.500000+00:00"
    assert (second["body_size"], second["priority"]) == (2, 5)
    assert (second["delivery"], second["transactional"]) == ("recoverable", False)
    assert second["id"].startswith("{11111111-")
    administrator = client.world.client(ADMINISTRATOR)
    (far,) = administrator.value(local.ListDelayed, FAR)
    assert (far["queue"], far["label"], far["delivery"]) == (FAR, "far", "express")
    assert set(listed(administrator)) >= {"far"}
    assert client.value(local.ShowQueue, ORDERS)["delayed_messages"] == 2


def test_a_list_of_many_comes_in_parts(client: Client) -> None:
    delay(client, *[b"%d" % each for each in range(450)])
    assert len(listed(client, ORDERS)) == 450


def test_delayed_messages_are_delivered_and_cancelled(client: Client) -> None:
    delay(client, b"1", b"2", b"3")
    first, second, third = (info["lookup_id"] for info in client.value(local.ListDelayed, ORDERS))
    assert client.value(local.DecideSetAside, ORDERS, "deliver", [second]) == 1
    assert client.value(local.DecideSetAside, ORDERS, "cancel", [first]) == 1
    assert client.refusal(local.DecideSetAside, ORDERS, "cancel", [first]) == (
        "MQ_ERROR_MESSAGE_NOT_FOUND"
    )
    handle = client.open()
    assert bodies(client.call(local.Receive, handle)) == [b"2"]
    client.world.advance(60)
    reply = client.call(local.Receive, handle)
    assert bodies(reply) == [b"3"]
    assert reply.lookup_ids != [third]
    delay(client, b"4", b"5")
    assert client.value(local.DecideSetAside, ORDERS, "deliver") == 2


def test_others_may_not_decide(client: Client) -> None:
    delay(client, b"1")
    delay(client, b"2", name=FAR)
    stranger = client.world.client(STRANGER)
    for action in ("deliver", "cancel", "release"):
        for name in (ORDERS, FAR):
            assert stranger.refusal(local.DecideSetAside, name, action) == "MQ_ERROR_ACCESS_DENIED"
    assert stranger.refusal(local.ListDelayed, ORDERS) == "MQ_ERROR_ACCESS_DENIED"
    assert listed(stranger) == []


@pytest.mark.parametrize("name", [OTHER, "DL=00000000-0000-0000-0000-000000000001"])
def test_an_unknown_queue_is_refused(client: Client, name: str) -> None:
    assert client.refusal(local.ListDelayed, name) == "MQ_ERROR_QUEUE_NOT_FOUND"


def test_an_unknown_action_is_refused(client: Client) -> None:
    assert client.refusal(local.DecideSetAside, ORDERS, "eat") == "MQ_ERROR_INVALID_PARAMETER"


def test_a_message_of_a_transaction_of_its_own_is_delayed(client: Client) -> None:
    client.create(OTHER, transactional=True)
    handle = client.open("send", OTHER)
    deliver_at = client.world.core.utc + 5
    client.value(local.Send, handle, [packet(b"1")], SINGLE, 0, deliver_at)
    reader = client.open("receive", OTHER)
    assert client.refusal(local.Receive, reader) == "MQ_ERROR_IO_TIMEOUT"
    client.world.advance(5)
    assert bodies(client.call(local.Receive, reader)) == [b"1"]


def test_a_read_that_a_program_gives_back_counts_and_a_held_message_is_released(
    client: Client,
) -> None:
    client.value(
        local.SetQueue,
        ORDERS,
        {"receive_retry_count": 0, "max_retry_cycles": 0, "receive_error_handling": "hold"},
    )
    client.send(b"1", b"2")
    handle = client.open()
    reply = client.call(local.Receive, handle, count=2, two_phase=True)
    first, second = reply.lookup_ids
    client.value(local.EndReceive, handle, [first, second], False, (first,))
    info = client.value(local.ShowQueue, ORDERS)
    assert (info["held_messages"], info["aborted_messages"], info["poisoned_messages"]) == (1, 1, 1)
    assert bodies(client.call(local.Receive, handle)) == [b"2"]
    assert client.value(local.DecideSetAside, ORDERS, "release", [first]) == 1
    assert bodies(client.call(local.Receive, handle)) == [b"1"]
