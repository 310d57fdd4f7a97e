"""Requests about the queue manager: status, outgoing queues, backup."""

from array import array
from dataclasses import fields
from datetime import UTC, datetime
from uuid import UUID

import pytest
from tests.core.directory_harness import ENTERPRISE
from tests.core.harness import Harness
from tests.directory.memory_file import directory_of
from tests.protocol.local.fake_service import PROCESS
from tests.protocol.local.harness import ADMINISTRATOR, ORDERS, STRANGER, USER, Client, World
from tests.security.encryption.keys import AES, Owner

from openmsmq.core.management.records import ClientInfo, SessionInfo, Status, TransferInfo
from openmsmq.core.management.sources import Traffic
from openmsmq.core.model.queue import Queue
from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.directory.objects import ElementType, QueueManagerObject
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.definitions.model import Definitions, QueueDefinition
from openmsmq.wire.errors import StoreError


class FakePeers:
    """Sessions of a protocol."""

    protocol = "fake"
    session_count = 2
    waiting_bytes = 70

    def hang_up(self, number: int) -> bool:
        return number == 2

    def sessions(self) -> list[SessionInfo]:
        return [
            SessionInfo(
                id=number,
                protocol="fake",
                direction="incoming",
                peer=f"{{{number}}}",
                address="10.0.0.1",
                state="OPEN",
                queues=0,
                unacknowledged=0,
                waiting_bytes=0,
            )
            for number in (1, 2)
        ]

    def traffic(self) -> list[Traffic]:
        return [Traffic(number, 10 * number, 20, 30, 40) for number in (1, 2)]


class FakeClients:
    """Clients of a protocol."""

    client_count = 2
    protocol = "fake"

    def hang_up(self, number: int) -> bool:
        return number == 1

    def clients(self) -> list[ClientInfo]:
        return [
            ClientInfo(
                id=number,
                protocol="fake",
                principal=principal,
                sid=sid,
                address="",
                queues=0,
                cursors=0,
                waiting_reads=0,
                transactions=(),
                unread_bytes=0,
            )
            for number, principal, sid in (
                (1, "user:alice", str(USER.sid)),
                (2, "user:bob", str(STRANGER.sid)),
            )
        ]

    def traffic(self) -> list[Traffic]:
        return []


AWAY = r"DIRECT=TCP:10.0.0.1\private$\away"


@pytest.fixture
def client() -> Client:
    client = World().client(ADMINISTRATOR)
    client.send(b"one", b"two", name=AWAY)
    return client


# Status


def test_the_status_has_what_the_queue_manager_and_its_process_know(client: Client) -> None:
    status = client.value(local.GetStatus)
    assert list(status) == [field.name for field in fields(Status)]
    assert {name: status[name] for name in ("name", "state", "outgoing_messages", "pid")} == {
        "name": "QM",
        "state": "Ready",
        "outgoing_messages": 2,
        "pid": PROCESS.pid,
    }


def test_everybody_sees_the_status_until_it_is_denied(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    assert stranger.value(local.GetStatus)["state"] == "Ready"
    client.value(local.GrantMachine, "user:bob", ["get-properties"], deny=True)
    reply = stranger.call(local.GetStatus)
    assert isinstance(reply, local.Failed)
    assert reply.text == "user:bob needs the right get-properties on the queue manager"


# Outgoing queues


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
    manager = client.world.core.qm
    transfer = TransferInfo(messages=2, last_error="connection refused")
    away = manager.outgoing.find(AWAY)
    nothing: dict[Queue, TransferInfo] = {}
    manager.management.add_transfers(lambda queue: nothing.get(queue))
    manager.management.add_transfers(lambda queue: {away: transfer}.get(queue))
    manager.outgoing.change(
        away,
        OutgoingInput.FAILED,
        status=ConnectionStatus.CONNECT_SOCKET_FAILURE,
        reason="nothing accepts connections at 10.0.0.1:80",
        address="10.0.0.1",
    )
    noted = datetime.fromtimestamp(int(manager.utc), UTC).isoformat()
    (shown,) = client.value(local.ListOutgoing)
    assert shown["last_error"] == "connection refused"
    assert shown["history"] == [
        {
            "status": "CONNECT_SOCKET_FAILURE",
            "time": noted,
            "error": "MQ_ERROR",
            "addresses": ["10.0.0.1"],
            "reason": "nothing accepts connections at 10.0.0.1:80",
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


# Sessions, clients, transactions


def test_sessions_clients_and_transactions_are_listed(client: Client) -> None:
    management = client.world.core.qm.management
    management.add_sessions(FakePeers())
    management.add_clients(FakeClients())
    client.begin()
    assert [each["peer"] for each in client.value(local.ListSessions)] == ["{1}", "{2}"]
    assert [each["principal"] for each in client.value(local.ListClients)] == [
        "user:alice",
        "user:bob",
    ]
    client.world.advance(5)
    (transaction,) = client.value(local.ListTransactions)
    assert (transaction["state"], transaction["age_seconds"]) == ("active", 5)
    status = client.value(local.GetStatus)
    assert (status["sessions"], status["clients"], status["transactions"]) == ({"fake": 2}, 2, 1)
    assert status["waiting_bytes"] == 70


def test_a_stranger_sees_no_sessions_and_only_its_own_clients(client: Client) -> None:
    client.world.core.qm.management.add_clients(FakeClients())
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.ListSessions) == "MQ_ERROR_ACCESS_DENIED"
    assert stranger.refusal(local.ListTransactions) == "MQ_ERROR_ACCESS_DENIED"
    assert [each["principal"] for each in stranger.value(local.ListClients)] == ["user:bob"]


# Rights of the queue manager


def test_rights_of_the_queue_manager_are_granted_and_revoked(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    entries = client.value(local.GrantMachine, "user:bob", ["peek-deadletter"])
    assert {"principal": "user:bob", "allow": True, "rights": ["peek-deadletter"]}.items() <= (
        next(entry for entry in entries if entry["principal"] == "user:bob").items()
    )
    assert len(stranger.value(local.ListOutgoing)) == 1
    client.value(local.GrantMachine, "user:bob", ["peek-deadletter"], revoke=True)
    assert stranger.refusal(local.ListOutgoing) == "MQ_ERROR_ACCESS_DENIED"
    assert stranger.value(local.MachineRights) == client.value(local.MachineRights)


def test_only_who_may_change_permissions_grants(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    refused = stranger.refusal(local.GrantMachine, "user:bob", ["full"])
    assert refused == "MQ_ERROR_ACCESS_DENIED"


def test_only_who_may_change_settings_takes_the_queue_manager_offline(client: Client) -> None:
    outgoing = client.world.core.qm.outgoing
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.SetOnline, False) == "MQ_ERROR_ACCESS_DENIED"
    assert outgoing.online
    client.value(local.SetOnline, False)
    assert not outgoing.online
    client.value(local.SetOnline, True)
    assert outgoing.online


@pytest.mark.parametrize(
    ("principal", "rights"), [("nobody knows", ["full"]), ("user:bob", ["fly"]), ("user:bob", [])]
)
def test_wrong_words_are_refused(client: Client, principal: str, rights: list[str]) -> None:
    refused = client.refusal(local.GrantMachine, principal, rights)
    assert refused == "MQ_ERROR_INVALID_PARAMETER"


def test_a_grant_is_answered_when_it_is_on_disk_and_survives(client: Client) -> None:
    client.world.core.flush()
    request = client.make(local.GrantMachine, "user:bob", ["peek-deadletter"])
    client.post(request)
    assert client.replies(request, flush=False) == []
    assert len(client.replies(request)) == 1
    entries = client.value(local.MachineRights)
    client.world.core.restart()
    again = World(client.world.core).client(ADMINISTRATOR)
    assert again.value(local.MachineRights) == entries


# Backup


def test_a_backup_is_answered_when_it_is_written(client: Client) -> None:
    request = client.make(local.Backup, "/backups/today")
    client.post(request)
    assert client.replies(request) == []
    ((file, answer),) = client.world.service.backups
    assert file == "/backups/today"
    answer.done({"bytes": 5})
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Done)
    assert reply.value == {"bytes": 5}


def test_a_backup_that_fails_is_refused(client: Client) -> None:
    request = client.make(local.Backup, "/backups/today")
    client.post(request)
    ((_, answer),) = client.world.service.backups
    answer.fail(StoreError("no space"))
    (reply,) = client.replies(request)
    assert isinstance(reply, local.Failed)
    assert reply.code == Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED
    assert reply.text == "no space"


def test_only_an_administrator_backs_up(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.Backup, "/backups/today") == "MQ_ERROR_ACCESS_DENIED"


def test_the_file_of_a_backup_is_named_from_the_root(client: Client) -> None:
    assert client.refusal(local.Backup, "backup") == "MQ_ERROR_INVALID_PARAMETER"


def test_one_outgoing_queue_is_shown_to_those_who_may_see_it(client: Client) -> None:
    (listed,) = client.value(local.ListOutgoing)
    assert client.value(local.ShowOutgoing, AWAY) == listed
    assert client.refusal(local.ShowOutgoing, r"DIRECT=OS:x\q") == "MQ_ERROR_QUEUE_NOT_FOUND"
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.ShowOutgoing, AWAY) == "MQ_ERROR_ACCESS_DENIED"


def test_a_route_is_explained_to_those_who_may_see_the_queue_manager(client: Client) -> None:
    assert client.value(local.ExplainRoute, AWAY)["found"]
    assert client.refusal(local.ExplainRoute, "nonsense=") == "MQ_ERROR_ILLEGAL_FORMATNAME"


def test_an_outgoing_queue_is_deleted_when_it_is_empty(client: Client) -> None:
    assert client.refusal(local.DeleteOutgoing, AWAY) == "MQ_ERROR_ILLEGAL_OPERATION"
    outgoing = client.world.core.qm.outgoing
    queue = outgoing.find(AWAY)
    outgoing.finish(queue, list(queue.lanes), 2)
    for descriptor in list(queue.descriptors.values()):
        client.world.core.qm.close_queue(descriptor)
    assert client.value(local.DeleteOutgoing, AWAY) is None
    assert client.value(local.ListOutgoing) == []


def test_redirections_are_added_listed_and_removed(client: Client) -> None:
    url, to = "http://www.example.com/msmq/private$/orders", "http://beta/msmq/private$/orders"
    added = client.value(local.ChangeRedirection, "inbound", url, to, False)
    assert (added["kind"], added["url"], added["to"]) == ("inbound", url, to)
    assert client.value(local.ListRedirections) == [added]
    assert client.value(local.ChangeRedirection, "inbound", url, "", True) is None
    assert client.value(local.ListRedirections) == []


def test_only_an_administrator_redirects(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    refused = stranger.refusal(local.ChangeRedirection, "forward", "*", "", False)
    assert refused == "MQ_ERROR_ACCESS_DENIED"


def test_definitions_are_exported_compared_and_applied(client: Client) -> None:
    before = client.value(local.ExportDefinitions)
    wanted = Definitions(queues=(QueueDefinition(path=r"private$\new"),))
    planned = client.value(local.ApplyDefinitions, wanted, True, False, False, False, False)
    assert [change["action"] for change in planned if change["name"] == r"private$\new"] == [
        "create"
    ]
    compared = client.value(local.ApplyDefinitions, wanted, False, False, False, False, True)
    assert compared == planned
    assert client.value(local.ExportDefinitions) == before
    applied = client.value(local.ApplyDefinitions, wanted, False, False, False, False, False)
    assert applied == planned
    after = client.value(local.ExportDefinitions)
    assert r"private$\new" in [queue["path"] for queue in after["queues"]]


def test_definitions_of_a_stranger_are_refused(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    assert stranger.refusal(local.ExportDefinitions) == "MQ_ERROR_ACCESS_DENIED"


def test_keys_of_the_queue_manager_are_for_administrators(client: Client) -> None:
    assert client.value(local.MachineKeys, "list") == [{"bits": 2048}]
    assert client.value(local.MachineKeys, "rotate") == [{"bits": 1024}]
    assert client.value(local.MachineKeys, "export") == {"guid": "g"}
    stranger = client.world.client(STRANGER)
    for action in ("list", "rotate", "export"):
        assert stranger.refusal(local.MachineKeys, action) == "MQ_ERROR_ACCESS_DENIED"
    keys = ("{00000000-0000-0000-0000-000000000005}", "other", b"")
    assert stranger.refusal(local.ImportMachineKeys, *keys) == "MQ_ERROR_ACCESS_DENIED"
    assert client.refusal(local.ImportMachineKeys, *keys) == "MQ_ERROR_INVALID_PARAMETER"
    assert client.refusal(local.ImportMachineKeys, "x", "other", b"") == (
        "MQ_ERROR_INVALID_PARAMETER"
    )


def test_keys_of_another_queue_manager_get_into_the_directory() -> None:
    directory, _ = directory_of(ENTERPRISE)
    client = World(Harness(directory=directory)).client(ADMINISTRATOR)
    guid, keys = "{00000000-0000-0000-0000-000000000005}", Owner(AES).key_list
    imported = client.value(local.ImportMachineKeys, guid, "other", keys)
    assert (imported["name"], imported["keys"]) == ("other", keys)
    found = directory.read(ElementType.QUEUE_MANAGER, by_identifier(UUID(guid)))
    assert isinstance(found.directory_object, QueueManagerObject)
    assert found.directory_object.public_encryption_key_list == keys


def test_a_message_is_traced_by_who_may_see_dead_letters() -> None:
    world = World()
    administrator = world.client(ADMINISTRATOR)
    value = administrator.value(local.TraceMessage, bytes(20))
    assert value == {"kept": True, "since": 1.0, "events": [{"place": "00" * 20}]}
    stranger = world.client(STRANGER)
    assert stranger.refusal(local.TraceMessage, bytes(20)) == "MQ_ERROR_ACCESS_DENIED"


# Watching


def test_a_sample_is_streamed_to_administrators_only() -> None:
    world = World()
    client = world.client(caller=ADMINISTRATOR)
    client.create()
    request = client.make(local.Sample)
    client.post(request)
    replies = client.replies(request)
    values = [value for reply in replies if isinstance(reply, local.Part) for value in reply.values]
    assert values[0]["part"] == "head"
    assert {value["part"] for value in values} == {"head", "queues", "dead letters"}
    assert world.client().call(local.Sample).code == Hresult.MQ_ERROR_ACCESS_DENIED


def test_a_sample_has_the_counts_of_sessions_and_clients(client: Client) -> None:
    management = client.world.core.qm.management
    management.add_sessions(FakePeers())
    management.add_clients(FakeClients())
    parts = [part for part in client.value(local.Sample) if part["part"] == "traffic"]
    (columns,) = [part["columns"] for part in parts if part["protocol"] == "fake"]
    rows = zip(*(array("Q", columns[name]) for name in Traffic._fields), strict=True)
    assert list(rows) == [(1, 10, 20, 30, 40), (2, 20, 20, 30, 40)]


def test_a_session_counts_the_messages_of_its_client(client: Client) -> None:
    client.create()
    client.send(b"1", b"2")
    client.call(local.Receive, client.open(), timeout=0)
    session = client.session
    # Two more were sent to another machine.
    assert (session.incoming_messages, session.outgoing_messages) == (4, 1)


def test_administrators_hang_up_on_sessions_and_clients() -> None:
    world = World()
    management = world.core.qm.management
    management.add_sessions(FakePeers())
    management.add_clients(FakeClients())
    client = world.client(caller=ADMINISTRATOR)
    assert client.value(local.HangUp, "fake", 1) is None
    assert client.value(local.HangUp, "fake", 2) is None
    for protocol, number in (("fake", 3), ("other", 1)):
        refusal = client.call(local.HangUp, protocol, number)
        assert refusal.code == Hresult.MQ_ERROR_INVALID_PARAMETER
    assert world.client().call(local.HangUp, "fake", 1).code == Hresult.MQ_ERROR_ACCESS_DENIED


def test_readers_of_a_queue_and_their_waiting_reads_are_listed() -> None:
    client = World().client()
    client.create()
    handle = client.open()
    client.post(client.make(local.Receive, handle, timeout=None))
    request = client.make(local.ListReaders, ORDERS)
    client.post(request)
    part = client.replies(request)[0]
    assert isinstance(part, local.Part)
    (reader,) = part.values
    assert (reader["access"], reader["waiting_reads"], reader["exclusive"]) == ("receive", 1, False)
    assert reader["sid"] == str(USER.sid)


def test_what_a_principal_may_do_is_explained_right_by_right() -> None:
    world = World()
    client = world.client()
    client.create()
    client.value(local.Grant, ORDERS, "uid:4711", ["send"])
    of_queue = client.value(local.ExplainAccess, ORDERS, "uid:4711")
    answers = {answer["right"]: answer for answer in of_queue}
    assert answers["send"]["allowed"]
    assert not answers["receive"]["allowed"]
    assert answers["receive"]["reason"] == "No entry grants it."
    administrator = world.client(caller=ADMINISTRATOR)
    of_machine = administrator.value(local.ExplainAccess, "", "uid:4711")
    assert {answer["right"] for answer in of_machine} >= {"create-queue", "peek-deadletter"}
    denied = (str(STRANGER.sid), ["get-permissions"], True)
    client.value(local.Grant, ORDERS, *denied)
    administrator.value(local.GrantMachine, *denied)
    stranger = world.client(caller=STRANGER)
    for path in (ORDERS, ""):
        refused = stranger.call(local.ExplainAccess, path, "everyone")
        assert refused.code == Hresult.MQ_ERROR_ACCESS_DENIED
    assert client.call(local.ExplainAccess, ORDERS, "nobody").code == (
        Hresult.MQ_ERROR_INVALID_PARAMETER
    )


def test_a_watch_is_answered_later_and_can_be_cancelled() -> None:
    world = World()
    client = world.client(caller=ADMINISTRATOR)
    watch = client.make(local.Watch, 5)
    client.post(watch)
    ((after, answer),) = world.service.watchers
    assert after == 5
    answer.done({"last": 6})
    assert client.replies(watch)[0] == local.Done(watch.id, {"last": 6})
    again = client.make(local.Watch, 6)
    client.post(again)
    assert client.value(local.Cancel, again.id)
    assert world.service.watchers == []
    assert world.client().call(local.Watch, 0).code == Hresult.MQ_ERROR_ACCESS_DENIED


def test_a_reload_says_what_was_read() -> None:
    world = World()
    told = world.client(caller=ADMINISTRATOR).value(local.Reload)
    assert told == {"reloaded": ["local_tokens"], "failed": {}}
    assert world.client().call(local.Reload).code == Hresult.MQ_ERROR_ACCESS_DENIED
