"""Requests about queues: every handler, and every refusal with its code."""

from typing import Any

import pytest
from tests.protocol.local.harness import ADMINISTRATOR, ORDERS, STRANGER, Client, World, packet

from openmsmq.core.management import management
from openmsmq.protocol.local import dispatch
from openmsmq.protocol.local import messages as local

LIST_STEP = 40


@pytest.fixture
def client() -> Client:
    return World().client()


# Create


def test_a_new_queue_is_described(client: Client) -> None:
    shown = client.create(
        transactional=True,
        label="orders of today",
        journal=True,
        quota=100,
        journal_quota=50,
        authenticate=True,
        privacy="body",
        base_priority=-3,
        multicast="234.1.1.1:8001",
        type="11111111-2222-3333-4444-555555555555",
        receive_retry_count=7,
        retry_cycle_delay=60,
        max_retry_cycles=3,
        receive_error_handling="hold",
    )
    assert shown["path"] == r"QM\private$\orders"
    assert shown["format_name"] == r"DIRECT=OS:QM\private$\orders"
    expected = {
        "kind": "queue",
        "scope": "private",
        "transactional": True,
        "label": "orders of today",
        "journal": True,
        "quota": 100,
        "journal_quota": 50,
        "authenticate": True,
        "privacy": "body",
        "base_priority": -3,
        "multicast": "234.1.1.1:8001",
        "type": "{11111111-2222-3333-4444-555555555555}",
        "receive_retry_count": 7,
        "retry_cycle_delay": 60,
        "max_retry_cycles": 3,
        "receive_error_handling": "hold",
        "created_time": int(client.world.core.utc),
        "modified_time": int(client.world.core.utc),
        "messages": 0,
        "bytes": 0,
        "locked_messages": 0,
        "held_messages": 0,
        "delayed_messages": 0,
        "journal_messages": 0,
        "journal_bytes": 0,
        "oldest_message_age_seconds": None,
        "subqueues": [],
        "readers": 0,
        "waiting_reads": 0,
        "arrived_messages": 0,
        "arrived_bytes": 0,
        "aborted_messages": 0,
        "poisoned_messages": 0,
        "deleted": {},
        "refused": {},
        "last_refused_time": None,
    }
    assert {name: shown[name] for name in expected} == expected
    names = {"path", "format_name", "routed_format_name", "guid"}
    assert set(shown) == {*expected, *names}


def test_a_new_queue_is_told_of_when_it_is_on_disk(client: Client) -> None:
    client.world.core.flush()
    request = client.make(local.CreateQueue, ORDERS, {})
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1


@pytest.mark.parametrize(
    ("path", "properties", "code"),
    [
        ("", {}, "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r".\private$\a;journal", {}, "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (r".\private$\order_queue$", {}, "MQ_ERROR_QUEUE_EXISTS"),
        (r".\private$\taken", {}, "MQ_ERROR_QUEUE_EXISTS"),
        (ORDERS, {"colour": "red"}, "MQ_ERROR_PROPERTY_NOTALLOWED"),
        (ORDERS, {"security": "x"}, "MQ_ERROR_PROPERTY_NOTALLOWED"),
        (ORDERS, {"label": 5}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"label": "x" * 125}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"journal": 1}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"quota": -1}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"quota": 1 << 32}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"quota": True}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"journal_quota": "much"}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"authenticate": None}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"privacy": "some"}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"privacy": 1}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"base_priority": 1 << 15}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"multicast": "no address"}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"transactional": "yes"}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"type": "no guid"}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (ORDERS, {"type": 1}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
    ],
)
def test_a_queue_is_refused_with_its_reason(
    client: Client, path: str, properties: dict[str, Any], code: str
) -> None:
    client.create(r".\private$\taken")
    before = len(client.world.core.qm.queues)
    assert client.refusal(local.CreateQueue, path, properties) == code
    assert len(client.world.core.qm.queues) == before


# Change and delete


def test_properties_are_changed(client: Client) -> None:
    client.create()
    client.value(local.SetQueue, ORDERS, {"label": "new", "quota": 7})
    shown = client.value(local.ShowQueue, ORDERS)
    assert (shown["label"], shown["quota"]) == ("new", 7)


@pytest.mark.parametrize(
    ("path", "properties", "code"),
    [
        (r".\private$\none", {}, "MQ_ERROR_QUEUE_NOT_FOUND"),
        (ORDERS, {"transactional": True}, "MQ_ERROR_PROPERTY_NOTALLOWED"),
        (ORDERS, {"label": 5}, "MQ_ERROR_ILLEGAL_PROPERTY_VALUE"),
        (r".\private$\order_queue$", {"label": "x"}, "MQ_ERROR_ILLEGAL_OPERATION"),
    ],
)
def test_a_change_is_refused_with_its_reason(
    client: Client, path: str, properties: dict[str, Any], code: str
) -> None:
    client.create()
    assert client.refusal(local.SetQueue, path, properties) == code


def test_a_deleted_queue_is_gone(client: Client) -> None:
    client.create()
    client.send(b"one")
    client.value(local.DeleteQueue, ORDERS)
    assert client.refusal(local.ShowQueue, ORDERS) == "MQ_ERROR_QUEUE_NOT_FOUND"
    assert client.refusal(local.DeleteQueue, ORDERS) == "MQ_ERROR_QUEUE_NOT_FOUND"


def test_a_queue_of_the_system_cannot_be_deleted(client: Client) -> None:
    code = client.refusal(local.DeleteQueue, r".\private$\order_queue$")
    assert code == "MQ_ERROR_ILLEGAL_OPERATION"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (local.SetQueue, ({"label": "x"},)),
        (local.DeleteQueue, ()),
        (local.Grant, ("everyone", ["receive"])),
    ],
)
def test_a_stranger_may_not_change_a_queue(
    client: Client, kind: Any, fields: tuple[Any, ...]
) -> None:
    client.create()
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(kind, ORDERS, *fields) == "MQ_ERROR_ACCESS_DENIED"


# Show and list


def test_a_queue_is_shown_with_its_counts(client: Client) -> None:
    client.create(journal=True)
    client.send(b"one", priority=3)
    client.world.advance(5)
    client.send(b"two", priority=7)
    handle = client.open()
    client.open("peek")
    shown = client.value(local.ShowQueue, ORDERS)
    assert shown["messages"] == 2
    assert shown["bytes"] > 0
    assert shown["oldest_message_age_seconds"] == 5
    assert shown["readers"] == 2
    client.call(local.Receive, handle)
    client.call(local.Receive, handle, two_phase=True)
    shown = client.value(local.ShowQueue, ORDERS)
    assert (shown["messages"], shown["locked_messages"]) == (1, 1)
    assert (shown["journal_messages"], shown["journal_bytes"] > 0) == (1, True)
    assert shown["deleted"] == {"MQMSG_CLASS_ACK_RECEIVE": 1}
    waiting = client.make(local.Receive, handle, timeout=60.0)
    client.post(waiting)
    assert client.value(local.ShowQueue, ORDERS)["waiting_reads"] == 1


def test_a_queue_of_the_system_is_shown_without_permissions_of_its_own(client: Client) -> None:
    shown = client.value(local.ShowQueue, ";deadletter")
    assert shown["path"] == r"QM\system$;DEADLETTER"
    assert shown["permissions"] == []


def test_what_is_not_on_disk_is_not_shown_yet(client: Client) -> None:
    client.create()
    handle = client.open("send")
    client.world.core.flush()
    client.post(client.make(local.Send, handle, [packet()]))
    request = client.make(local.ShowQueue, ORDERS)
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1


def test_queues_are_listed_as_far_as_they_may_be_seen(client: Client) -> None:
    client.create()
    client.create(r".\private$\hidden")
    client.value(local.Grant, r".\private$\hidden", "everyone", ["get-properties"], revoke=True)
    stranger = client.world.client(STRANGER)
    assert [each["path"] for each in stranger.value(local.ListQueues)] == [r"QM\private$\orders"]


def test_system_queues_are_listed_on_request(client: Client) -> None:
    client.create()
    client.open("send", r"DIRECT=TCP:10.0.0.1\private$\x")
    kinds = {each["kind"] for each in client.value(local.ListQueues, include_system=True)}
    assert {"queue", "journal", "deadletter", "xact_deadletter"} <= kinds
    assert "outgoing" not in kinds


def test_a_long_list_is_made_in_steps(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(management, "LIST_STEP", LIST_STEP)
    for number in range(2 * LIST_STEP):
        client.create(rf".\private$\q{number}")
    request = client.make(local.ListQueues)
    dispatch.receive(client.session, local.encode(request))
    steps = 0
    while client.session.long:
        dispatch.step(client.session)
        steps += 1
    replies = client.replies(request)
    assert all(isinstance(reply, local.Part) for reply in replies)
    sizes = [len(reply.values) for reply in replies if isinstance(reply, local.Part)]
    assert max(sizes) <= LIST_STEP
    assert sum(sizes) == 2 * LIST_STEP
    assert steps >= 3
    assert [reply.last for reply in replies if isinstance(reply, local.Part)].count(True) == 1


# Permissions


def rights_of(entries: list[dict[str, Any]], principal: str) -> set[tuple[str, bool]]:
    return {
        (right, entry["allow"])
        for entry in entries
        if entry["principal"] == principal
        for right in entry["rights"]
    }


def test_rights_are_granted_denied_and_revoked_in_words(client: Client) -> None:
    client.create()
    entries = client.value(local.Grant, ORDERS, "user:bob", ["receive"])
    assert ("receive", True) in rights_of(entries, "user:bob")
    stranger = client.world.client(STRANGER)
    assert stranger.value(local.OpenQueue, ORDERS, "receive")
    client.value(local.Grant, ORDERS, "user:bob", ["receive"], deny=True)
    assert stranger.refusal(local.OpenQueue, ORDERS, "receive") == "MQ_ERROR_ACCESS_DENIED"
    entries = client.value(local.Grant, ORDERS, "user:bob", ["receive"], revoke=True)
    assert not any(right == "receive" for right, _ in rights_of(entries, "user:bob"))
    assert entries == client.value(local.ShowQueue, ORDERS)["permissions"]


@pytest.mark.parametrize(
    ("path", "principal", "rights", "code"),
    [
        (r".\private$\none", "everyone", ["send"], "MQ_ERROR_QUEUE_NOT_FOUND"),
        (ORDERS, "nobody", ["send"], "MQ_ERROR_INVALID_PARAMETER"),
        (ORDERS, "user:carol", ["send"], "MQ_ERROR_INVALID_PARAMETER"),
        (ORDERS, "everyone", ["fly"], "MQ_ERROR_INVALID_PARAMETER"),
    ],
)
def test_a_grant_is_refused_with_its_reason(
    client: Client, path: str, principal: str, rights: list[str], code: str
) -> None:
    client.create()
    assert client.refusal(local.Grant, path, principal, rights) == code


def test_an_administrator_can_repair_permissions(client: Client) -> None:
    client.create()
    administrator = client.world.client(ADMINISTRATOR)
    administrator.value(local.Grant, ORDERS, "administrators", ["receive"])
    assert administrator.value(local.OpenQueue, ORDERS, "receive")


def test_a_step_that_found_nothing_sends_nothing(client: Client) -> None:
    request = client.make(local.ListQueues)
    client.post(request)
    (reply,) = client.replies(request)
    assert reply == local.Part(request.id, last=True, values=[])
