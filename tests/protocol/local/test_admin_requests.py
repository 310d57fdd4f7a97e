"""Requests about the queue manager: status, outgoing queues, backup."""

import pytest
from tests.protocol.local.harness import ADMINISTRATOR, STRANGER, Client, World

from openmsmq.core.model.outgoing_queue import ConnectionHistoryEntry
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.errors import StoreError

AWAY = r"DIRECT=TCP:10.0.0.1\private$\away"


@pytest.fixture
def client() -> Client:
    client = World().client(ADMINISTRATOR)
    client.send(b"one", b"two", name=AWAY)
    return client


def test_the_status_comes_from_the_service(client: Client) -> None:
    assert client.value(local.GetStatus) == {"state": "Ready"}


def test_outgoing_queues_are_shown(client: Client) -> None:
    (shown,) = client.value(local.ListOutgoing)
    assert shown["destination"] == AWAY
    assert (shown["messages"], shown["state"], shown["next_hop"]) == (2, "INACTIVE", "")
    assert shown["bytes"] > 0
    # What no transport has said about it.
    untold = {"unacknowledged": 0, "last_error": "", "retry_in_seconds": None, "reason": ""}
    assert {name: shown[name] for name in untold} == untold
    assert shown["history"] == []


def test_the_history_of_an_outgoing_queue_is_shown(client: Client) -> None:
    client.world.service.transfers[AWAY] = {"last_error": "connection refused"}
    manager = client.world.core.qm
    entry = ConnectionHistoryEntry(
        ConnectionStatus.CONNECT_SOCKET_FAILURE, 5, 0xC00E0013, ("10.0.0.1",)
    )
    manager.outgoing.add_history(manager.outgoing.find(AWAY), entry)
    (shown,) = client.value(local.ListOutgoing)
    assert shown["last_error"] == "connection refused"
    assert shown["history"] == [
        {
            "status": "CONNECT_SOCKET_FAILURE",
            "time": "1970-01-01T00:00:05+00:00",
            "error": "MQ_ERROR_NO_DS",
            "addresses": ["10.0.0.1"],
        }
    ]


def test_the_age_of_the_oldest_outgoing_message_is_shown(client: Client) -> None:
    client.world.advance(30)
    (shown,) = client.value(local.ListOutgoing)
    assert shown["oldest_message_age_seconds"] == 30
    outgoing = client.world.core.qm.outgoing
    queue = outgoing.find(AWAY)
    outgoing.lock_front(queue, 2, "a session")
    (shown,) = client.value(local.ListOutgoing)
    assert shown["oldest_message_age_seconds"] == 30
    outgoing.finish(queue, list(queue.locked.values()), 2)
    (shown,) = client.value(local.ListOutgoing)
    assert shown["oldest_message_age_seconds"] is None


def test_an_outgoing_queue_is_paused_and_resumed(client: Client) -> None:
    assert client.value(local.HoldOutgoing, AWAY, True)["state"] == "ONHOLD"
    assert client.value(local.HoldOutgoing, AWAY, False)["state"] == "INACTIVE"


def test_a_pause_is_answered_when_it_is_on_disk(client: Client) -> None:
    client.world.core.flush()
    request = client.make(local.HoldOutgoing, AWAY, True)
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1


@pytest.mark.parametrize(
    ("destination", "code"),
    [
        (r"DIRECT=TCP:10.0.0.2\private$\away", "MQ_ERROR_QUEUE_NOT_FOUND"),
        ("nonsense", "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
    ],
)
def test_what_is_not_outgoing_cannot_be_paused(client: Client, destination: str, code: str) -> None:
    assert client.refusal(local.HoldOutgoing, destination, True) == code


def test_outgoing_queues_are_shown_to_those_who_may_see_dead_letters(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    reply = stranger.call(local.ListOutgoing)
    assert isinstance(reply, local.Failed)
    assert reply.text == "user:bob needs the right peek-deadletter on the queue manager"


def test_a_stranger_may_not_pause(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.HoldOutgoing, AWAY, True) == "MQ_ERROR_ACCESS_DENIED"


# Backup


def test_a_backup_is_answered_when_it_is_written(client: Client) -> None:
    request = client.make(local.Backup, "/backups/today")
    client.post(request)
    assert client.replies(request) == []
    ((file, done),) = client.world.service.backups
    assert file == "/backups/today"
    done({"bytes": 5})
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Done)
    assert reply.value == {"bytes": 5}


def test_a_backup_that_fails_is_refused(client: Client) -> None:
    request = client.make(local.Backup, "/backups/today")
    client.post(request)
    ((_, done),) = client.world.service.backups
    done(StoreError("no space"))
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED
    assert reply.text == "no space"


def test_only_an_administrator_backs_up(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.Backup, "/backups/today") == "MQ_ERROR_ACCESS_DENIED"


def test_the_file_of_a_backup_is_named_from_the_root(client: Client) -> None:
    assert client.refusal(local.Backup, "backup") == "MQ_ERROR_INVALID_PARAMETER"
