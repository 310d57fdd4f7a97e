"""A queue manager as a whole, over its socket: start, stop, restart, faults, backup, directory."""

import json
import logging
import os
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.server.raw_client import RawClient, bodies, packet
from tests.server.threaded import threaded
from tests.service.fake_store import FakeStore

from openmsmq.core.events import MessagesLeftUnread
from openmsmq.core.transactions.transactions import TransactionState
from openmsmq.protocol.local import messages as local
from openmsmq.server.common_config import default_name
from openmsmq.service.logs import TextFormatter
from openmsmq.store.backup import restore_backup
from openmsmq.store.files import RealFiles
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError, StoreError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.security.key_blobs import MQDSPublicKeys, PublicKeyBlob

ORDERS = r".\private$\orders"


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "openmsmq")


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.event for record in caplog.records if hasattr(record, "event")]


def fill(client: RawClient, *contents: bytes, **rest: Any) -> None:
    client.send(client.open(ORDERS, "send"), *[packet(body, **rest) for body in contents])


# Start and stop


def test_recoverable_messages_survive_a_restart_and_express_ones_do_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path) as running, running.connect() as client:
        client.create(ORDERS)
        fill(client, b"kept", b"kept too")
        fill(client, b"lost", express=True)
        guid = client.identity["guid"]
        assert client.count(ORDERS) == 3
    assert "M0033" in events(caplog)
    with threaded(tmp_path) as running, running.connect() as client:
        assert client.identity["guid"] == guid
        assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"kept", b"kept too"]


def test_the_start_and_the_stop_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path):
        pass
    assert events(caplog) == ["M0004", "M0001", "M0002", "M0003"]


def test_the_ready_file_is_there_while_it_serves(tmp_path: Path) -> None:
    file = tmp_path / "ready.json"
    with threaded(tmp_path / "data", ready_file=file) as running:
        assert json.loads(file.read_text()) == {"local": str(running.config.socket_path)}
    assert not file.exists()
    assert not running.config.socket_path.exists()


def test_the_name_is_kept_unless_another_is_given(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path, name="ALPHA"):
        pass
    with threaded(tmp_path, name=None) as running, running.connect() as client:
        assert client.identity["name"] == "ALPHA"
    with threaded(tmp_path, name="alpha"):
        pass
    assert "M0018" not in events(caplog)
    with threaded(tmp_path, name="GAMMA") as running, running.connect() as client:
        assert client.identity["name"] == "GAMMA"
    (told,) = [record for record in caplog.records if getattr(record, "event", "") == "M0018"]
    fields = getattr(told, "fields")  # noqa: B009 - no such type
    assert (fields["before"], fields["now"]) == ("alpha", "GAMMA")
    assert 'names = ["alpha"]' in fields["remedy"]


def test_the_host_name_is_the_first_name(tmp_path: Path) -> None:
    with threaded(tmp_path, name=None) as running, running.connect() as client:
        assert client.identity["name"] == default_name()


def test_the_guid_is_logged_as_it_is_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path) as running:
        guid = f"{{{str(running.process.manager.identifier).upper()}}}"
    (ready,) = [record for record in caplog.records if getattr(record, "event", "") == "M0001"]
    assert f"guid={guid}" in TextFormatter().format(ready)


def test_a_ready_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="ready_file: "),
        threaded(tmp_path, ready_file=tmp_path / "none" / "ready"),
    ):
        pass
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        pytest.raises(ConfigError, match="it is not a regular file"),
        threaded(tmp_path, ready_file=pipe),
    ):
        pass
    assert pipe.is_fifo()
    with threaded(tmp_path):
        pass


def test_one_process_has_a_data_directory_at_a_time(tmp_path: Path) -> None:
    with (
        threaded(tmp_path),
        pytest.raises(StoreError, match="is in use by process"),
        threaded(tmp_path),
    ):
        pass


def test_two_queue_managers_do_not_share_a_socket(tmp_path: Path) -> None:
    sock = tmp_path / "sock"
    with threaded(tmp_path / "a", socket=sock) as first:
        with (
            pytest.raises(ConfigError, match="another process listens there"),
            threaded(tmp_path / "b", socket=sock),
        ):
            pass
        with first.connect() as client:
            assert client.identity["name"] == "ALPHA"


def test_a_stop_answers_what_is_on_its_way_to_the_disk(tmp_path: Path) -> None:
    store = FakeStore()
    with threaded(tmp_path, store=store) as running, running.connect() as client:
        client.create(ORDERS)
        handle = client.open(ORDERS, "send")
        store.slow = True
        request = local.Send(client.next_id(), handle, [packet(b"last")])
        client.post(request)
        store.entered.acquire()
        while store.entered.acquire(blocking=False):
            pass
        running.call(running.process.request_stop)
        time.sleep(0.05)
        store.slow = False
        for _ in range(5):
            store.let_go()
        assert isinstance(client.wait(request), local.Done)


def test_a_stop_aborts_open_transactions_and_ends_waiting_reads(tmp_path: Path) -> None:
    with threaded(tmp_path) as running:
        client = running.connect()
        client.create(ORDERS, transactional=True)
        transaction = client.begin()
        client.send(client.open(ORDERS, "send"), packet(b"never"), transaction=transaction)
        client.post(local.Receive(client.next_id(), client.open(ORDERS), timeout=None))
    assert client.hung_up()
    client.sock.close()
    with threaded(tmp_path) as running, running.connect() as client:
        assert client.count(ORDERS) == 0


def test_a_stop_does_not_wait_for_a_client_that_does_not_read(tmp_path: Path) -> None:
    with threaded(tmp_path) as running:
        client = running.connect()
        client.create(ORDERS)
        fill(client, *[bytes(1 << 20)] * 8)
        handle = client.open(ORDERS)
        for _ in range(4):
            client.post(
                local.Receive(client.next_id(), handle, action="peek", count=9, max_bytes=1 << 24)
            )
        started = time.monotonic()
        running.stop()
        assert time.monotonic() - started < 10
    client.sock.close()


# Faults


@pytest.mark.parametrize("where", ["write", "write!", "finish"])
def test_a_fault_of_the_store_stops_the_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    store = FakeStore()
    with threaded(tmp_path, store=store) as running, running.connect() as client:
        client.create(ORDERS)
        handle = client.open(ORDERS, "send")
        store.fail_in = where
        request = local.Send(client.next_id(), handle, [packet(b"never said")])
        client.post(request)
        with pytest.raises(ConnectionError):
            client.wait(request)
        running.wait_until_failed()
        assert isinstance(running.failure, StoreError)
    assert "M0007" in events(caplog)


def test_a_transaction_in_doubt_is_logged_at_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path) as running, running.connect() as client:
        client.create(ORDERS, transactional=True)
        number = client.begin()
        client.send(client.open(ORDERS, "send"), packet(b"in doubt"), transaction=number)

        def prepare() -> None:
            (transaction,) = running.process.manager.state.transactions.values()
            running.process.manager.enlistments.prepare_request(
                transaction.identifier, single_phase=False
            )
            assert transaction.state is TransactionState.PREPARED
            running.process.host.wake()

        running.call(prepare)
        running.wait_for(running.process.host.drain)
        # As a crash would leave it: the client's end aborts nothing.
        running.call(lambda: running.process.manager.state.transactions.clear())
    with threaded(tmp_path) as running, running.connect() as client:
        assert client.value(local.GetStatus(client.next_id()))["in_doubt_transactions"] == 1
        assert client.count(ORDERS) == 0
    assert "M0011" in events(caplog)


def copy_of(folder: Path, target: Path) -> Path:
    """The store as a crash at this moment leaves it; returns its first segment."""
    (target / "store").mkdir(parents=True)
    for file in (folder / "store").iterdir():
        (target / "store" / file.name).write_bytes(file.read_bytes())
    return target / "store" / "segment-00000001.log"


def test_a_torn_tail_is_reported_and_nothing_acknowledged_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path / "data") as running, running.connect() as client:
        client.create(ORDERS)
        fill(client, b"kept")
        before = len(copy_of(tmp_path / "data", tmp_path / "a").read_bytes().rstrip(b"\0"))
        fill(client, bytes(range(256)) * 400)
        segment = copy_of(tmp_path / "data", tmp_path / "b")
    raw = segment.read_bytes()
    torn = before + 4096
    segment.write_bytes(raw[:torn] + bytes(len(raw) - torn))
    with threaded(tmp_path / "b") as running, running.connect() as client:
        assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"kept"]
    assert "M0005" in events(caplog)


# Status


def test_the_status_has_state_identity_and_totals(tmp_path: Path) -> None:
    with threaded(tmp_path) as running, running.connect() as client:
        client.create(ORDERS)
        fill(client, b"one", b"two")
        with pytest.raises(QueueError):
            client.open(r".\private$\none")
        client.value(local.Purge(client.next_id(), client.open(ORDERS)))
        fill(client, b"three")
        status = client.value(local.GetStatus(client.next_id()))
    expected = {
        "name": "ALPHA",
        "state": "Ready",
        "pid": os.getpid(),
        "endpoints": {"local": str(tmp_path / "openmsmq.sock")},
        "data": str(tmp_path),
        "queues": 1,
        "messages": 1,
        "outgoing_queues": 0,
        "stored_messages": 1,
        "throttled": False,
        "transactions": 0,
        "in_doubt_transactions": 0,
        "clients": 1,
        "client_counters": {"connected": 1},
        "deleted_messages": {"NACK_Q_PURGED": 2},
        "refused_requests": {"MQ_ERROR_QUEUE_NOT_FOUND": 1},
    }
    assert {key: status[key] for key in expected} == expected
    for key in ("uptime_seconds", "bytes", "memory_bytes", "disk_bytes", "flushes"):
        assert status[key] > 0


def test_expired_messages_are_logged_with_id_and_queue(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path) as running, running.connect() as client:
        client.create(ORDERS)
        gone: list[MessagesLeftUnread] = []
        running.call(lambda: running.process.host.engine.listen(MessagesLeftUnread, gone.append))
        fill(client, b"short", time_to_be_received=1)
        deadline = time.monotonic() + 10
        while client.count(ORDERS) and time.monotonic() < deadline:
            time.sleep(0.05)
        (event,) = gone
        identifier = UserMessage(event.messages[0].packet or b"").identifier
    line = next(each for each in caplog.records if getattr(each, "event", "") == "M0030")
    assert line.fields["id"] == str(identifier)  # type: ignore[attr-defined]
    assert line.fields["reason"] == "NACK_RECEIVE_TIMEOUT"  # type: ignore[attr-defined]


# Backup


def test_a_backup_made_under_load_is_restored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backup = tmp_path / "backup"
    with threaded(tmp_path / "a") as running, running.connect() as client:
        client.create(ORDERS)
        fill(client, *[b"before %d" % number for number in range(500)])
        request = local.Backup(client.next_id(), str(backup))
        client.post(request)
        fill(client, *[b"after %d" % number for number in range(500)])
        reply = client.wait(request)
        assert isinstance(reply, local.Done)
        assert reply.value["bytes"] > 0
        assert client.count(ORDERS) == 1000
        ids = client.receive(client.open(ORDERS), action="peek", count=1000).lookup_ids
    restore_backup(RealFiles(), backup, tmp_path / "b" / "store")
    with threaded(tmp_path / "b") as running, running.connect() as client:
        found = bodies(client.receive(client.open(ORDERS), count=1000))
        assert found[:500] == [b"before %d" % number for number in range(500)]
        fill(client, b"new")
        (new,) = client.receive(client.open(ORDERS)).lookup_ids
        assert new > max(ids)
    assert "M0010" in events(caplog)
    assert "M0013" in events(caplog)


def test_a_backup_that_cannot_be_written_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with threaded(tmp_path / "data") as running, running.connect() as client:
        request = local.Backup(client.next_id(), str(tmp_path / "none" / "backup"))
        with pytest.raises(QueueError, match="MQ_ERROR_MESSAGE_STORAGE_FAILED"):
            client.value(request)
    assert "M0014" in events(caplog)


def test_a_stop_abandons_a_backup(tmp_path: Path) -> None:
    with threaded(tmp_path / "data") as running, running.connect() as client:
        client.create(ORDERS)
        for _ in range(20):
            fill(client, *[bytes(1 << 16)] * 16)
        client.post(local.Backup(client.next_id(), str(tmp_path / "backup")))
        time.sleep(0.02)
    assert not (tmp_path / "backup").exists() or (tmp_path / "backup").stat().st_size > 1 << 20


# Directory


@pytest.mark.spec("MQQB-3.1.7.1.5-04")
def test_keys_of_old_providers_are_published_when_they_are_used(tmp_path: Path) -> None:
    directory = tmp_path / "directory.json"
    with threaded(tmp_path / "data", directory=directory, encryption_key_bits=1024):
        pass
    with threaded(tmp_path / "data", directory=directory, legacy_encryption=True) as running:
        raw = running.process.manager.state.manager.public_encryption_key_list
        keys, _ = MQDSPublicKeys.parse(raw)
        lengths = [PublicKeyBlob.parse(key.key)[0].bit_len for key in keys.public_keys]
        assert lengths == [512, 1024, 1024]
        assert [key.provider_name for key in keys.public_keys] == [
            provider.name for provider in PROVIDERS.values()
        ]
    document = json.loads(directory.read_text())
    assert b64encode(raw).decode() in json.dumps(document)


def test_the_first_start_with_a_directory_joins_it_and_makes_keys(tmp_path: Path) -> None:
    directory = tmp_path / "directory.json"
    with threaded(tmp_path / "data", directory=directory) as running:
        published = running.process.manager.state.manager
        assert published.public_encryption_key_list
        assert published.public_signing_key_list
        with running.connect() as client:
            client.create(r".\public")
    keys = sorted(file.name for file in (tmp_path / "data" / "keys").iterdir())
    assert len(keys) == 2
    assert directory.exists()
    with threaded(tmp_path / "data", directory=directory) as running, running.connect() as client:
        assert client.open(r".\public", "send")
    with pytest.raises(ConfigError, match="directory: "), threaded(tmp_path / "data"):
        pass


def test_names_of_the_configuration_mean_this_machine(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"names": ("outside.example",), "addresses": ("192.0.2.7",)}
    with threaded(tmp_path, **settings) as running, running.connect() as client:
        client.create(ORDERS)
        for name in ("OS:outside.example", "TCP:192.0.2.7", "TCP:127.0.0.1", "OS:alpha"):
            client.open(rf"DIRECT={name}\private$\orders")


def test_quotas_of_the_configuration_hold(tmp_path: Path) -> None:
    with threaded(tmp_path, quota_kilobytes=10) as running, running.connect() as client:
        client.create(ORDERS)
        with pytest.raises(MsmqError, match="MQ_ERROR_INSUFFICIENT_RESOURCES"):
            fill(client, bytes(11_000))


def test_in_hardened_mode_neither_the_binary_port_nor_rpc_is_open(tmp_path: Path) -> None:
    ports: Any = dict.fromkeys(("binary_port", "ping_port", "rpc_port", "qm2qm_port"), 0)
    with (
        threaded(tmp_path, hardened_security=True, **ports) as running,
        running.connect() as client,
    ):
        endpoints = client.value(local.GetStatus(client.next_id()))["endpoints"]
        assert {"binary", "ping", "rpc", "qm2qm"}.isdisjoint(endpoints)
        client.send(client.open(r"DIRECT=OS:far\private$\q", "send"), packet(b"1"))
        shown = local.ShowOutgoing(client.next_id(), r"DIRECT=OS:far\private$\q")
        assert client.value(shown)["state"] == "LOCKED"
    with threaded(tmp_path, **ports) as running, running.connect() as client:
        endpoints = client.value(local.GetStatus(client.next_id()))["endpoints"]
        assert {"binary", "ping", "rpc", "qm2qm"} <= set(endpoints)
