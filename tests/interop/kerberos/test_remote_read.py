"""Remote read by ticket, our client and our server: Python, the shell, Spark's connection."""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.cli.running import PROGRAM, SECONDS, Manager, run
from tests.interop.kerberos.kdc import (
    ALICE,
    BOB,
    PASSWORD,
    REALM,
    SERVER,
    Realm,
    needs_gssapi,
    needs_kdc,
)
from tests.interop.kerberos.relay import forget_header_signing, relayed
from tests.interop.loopback import new_address

import openmsmq
from openmsmq import aio
from openmsmq.service.account_file import AccountFile
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.connection import ConnectionOptions
from openmsmq.wire.codes.queue_error import AccessDenied

pytestmark = [needs_gssapi, needs_kdc]

QUEUE: Final = r".\private$\orders"
LEVELS: Final = ("connect", "packet", "integrity", "privacy")


class Server:
    """A queue manager with one queue that only Alice may read."""

    def __init__(self, folder: Path, manager: openmsmq.QueueManager) -> None:
        self.manager = manager
        AccountFile(folder).add("alice", None, None, ALICE)
        self.queue = manager.create_queue(QUEUE)
        manager.grant(QUEUE, "alice", ["full"])
        self.port = int(manager.status()["endpoints"]["rpc"].rpartition(":")[2])
        self.address = f"msmq://{SERVER}:{self.port}"

    def fill(self, *labels: str) -> None:
        self.queue.send_many([openmsmq.Message(body="text", label=label) for label in labels])


@pytest.fixture
def server(realm: Realm, tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "data"
    with openmsmq.embedded(
        folder,
        rpc_port=0,
        rpc_minimum_level="connect",
        rpc_keytab=realm.keytab,
        names=(SERVER,),
    ) as manager:
        yield Server(folder, manager)


def has_ticket(realm: Realm, monkeypatch: pytest.MonkeyPatch, principal: str = ALICE) -> None:
    monkeypatch.setenv("KRB5CCNAME", realm.ticket(principal))


@pytest.mark.spec("MQRR-1.7-03")
@pytest.mark.parametrize("level", LEVELS)
def test_a_queue_is_read_by_ticket_at_every_level(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    has_ticket(realm, monkeypatch)
    server.fill(*"abcde")
    with (
        openmsmq.connect(server.address, auth="kerberos", level=level, timeout=30) as remote,
        remote.open_queue(QUEUE, "receive") as queue,
    ):
        messages = queue.receive_many(5, timeout=SECONDS)
    assert [message.label for message in messages] == list("abcde")


@pytest.mark.parametrize("signing", [True, False])
@pytest.mark.parametrize("level", ["connect", "integrity", "privacy"])
def test_headers_are_signed_or_not(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch, level: str, *, signing: bool
) -> None:
    has_ticket(realm, monkeypatch)
    if not signing:
        forget_header_signing(monkeypatch)
    server.fill(*"abc")
    with relayed(server.port) as relay:
        address = f"msmq://{SERVER}:{relay.port}"
        with (
            openmsmq.connect(address, auth="kerberos", level=level, timeout=30) as remote,
            remote.open_queue(QUEUE, "receive") as queue,
        ):
            messages = queue.receive_many(3, timeout=SECONDS)
    assert [message.label for message in messages] == list("abc")
    protects = level != "connect"
    assert (set(relay.offers), set(relay.agreed)) == ({protects}, {protects and signing})


@pytest.mark.parametrize("level", ["integrity", "privacy"])
def test_an_offer_to_sign_headers_that_is_removed_on_its_way_is_noticed(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    has_ticket(realm, monkeypatch)
    with relayed(server.port, removes_offers=True) as relay:
        address = f"msmq://{SERVER}:{relay.port}"
        with (
            openmsmq.connect(address, auth="kerberos", level=level, timeout=30) as remote,
            pytest.raises(AccessDenied),
        ):
            remote.open_queue(QUEUE, "receive").receive(timeout=SECONDS)
    assert set(relay.agreed) == {False}


@pytest.mark.spec("MQRR-1.7-04")
def test_who_names_no_user_is_known_by_ticket(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fill("mine")
    with pytest.raises(AccessDenied), openmsmq.connect(server.address, timeout=30) as remote:
        remote.open_queue(QUEUE, "receive").receive()
    has_ticket(realm, monkeypatch)
    with openmsmq.connect(server.address, timeout=30) as remote:
        assert remote.open_queue(QUEUE, "receive").receive(timeout=SECONDS).label == "mine"


def test_an_asynchronous_client_reads_by_ticket(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_ticket(realm, monkeypatch)
    server.fill("mine")

    async def read() -> str:
        async with await aio.connect(server.address, auth="kerberos", timeout=30) as remote:
            queue = await remote.open_queue(QUEUE, "receive")
            return (await queue.receive(timeout=SECONDS)).label

    assert asyncio.run(read()) == "mine"


def test_a_password_of_the_realm_needs_no_ticket(realm: Realm, server: Server) -> None:
    server.fill("mine")
    with openmsmq.connect(
        server.address, auth="kerberos", user=ALICE, password=PASSWORD, timeout=30
    ) as remote:
        assert remote.open_queue(QUEUE, "receive").receive(timeout=SECONDS).label == "mine"


def test_a_ticket_of_nobody_here_is_refused(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_ticket(realm, monkeypatch, BOB)
    with pytest.raises(AccessDenied, match="refuses the ticket of the user") as refused:
        openmsmq.connect(server.address, auth="kerberos", timeout=30).open_queue(QUEUE, "receive")
    assert "openmsmq user add NAME --principal" in str(refused.value.known_remedy)


@pytest.mark.parametrize("is_async", [False, True])
def test_without_a_ticket_the_error_says_what_to_do(
    realm: Realm, server: Server, *, is_async: bool
) -> None:
    async def connect() -> None:
        await aio.connect(server.address, auth="kerberos", timeout=30)

    def connect_blocking() -> None:
        openmsmq.connect(server.address, auth="kerberos", timeout=30)

    def connect_in_a_loop() -> None:
        asyncio.run(connect())

    attempt = connect_in_a_loop if is_async else connect_blocking
    with pytest.raises(AccessDenied, match=r"(?i)credential") as refused:
        attempt()
    assert "kinit" in str(refused.value.known_remedy)


def test_a_server_that_the_kdc_does_not_know_is_told(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_ticket(realm, monkeypatch)
    with pytest.raises(AccessDenied, match=r"(?i)server.*not found") as refused:
        openmsmq.connect(f"msmq://127.0.0.1:{server.port}", auth="kerberos", timeout=30)
    assert "host/127.0.0.1" in str(refused.value.known_remedy)


def test_spark_reads_by_ticket(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_ticket(realm, monkeypatch)
    server.fill("mine")
    values = {"endpoint": server.address, "auth.kerberos": True, "auth.level": "integrity"}
    with open_connection(ConnectionOptions.from_values(values)) as remote:
        assert remote.open_queue(QUEUE, "peek").peek(timeout=SECONDS).label == "mine"


def test_a_shell_reads_by_ticket(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = new_address()
    keytab = tmp_path / "server.keytab"
    realm.add_service(f"host/{address}@{REALM}", keytab)
    monkeypatch.setenv("OPENMSMQ_RPC_KEYTAB", str(keytab))
    manager = Manager(tmp_path / "server", "--bind", address, "--rpc-port", "2103")
    source = rf"DIRECT=TCP:{address}\private$\orders"
    try:
        user = ["user", "add", "alice", "--principal", ALICE, "--data", str(manager.data)]
        assert run(user).code == 0
        assert manager.run("queue", "create", QUEUE).code == 0
        assert manager.run("queue", "grant", QUEUE, "alice", "full").code == 0
        assert manager.run("send", QUEUE, "--body", "hello").code == 0
        words = [PROGRAM, "receive", source, "--auth", "kerberos", "--timeout", "30"]
        environment = {
            **os.environ,
            "KRB5CCNAME": realm.ticket(),
            "OPENMSMQ_SOCKET": str(tmp_path / "no.sock"),
        }
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert (done.returncode, done.stdout.strip()[-5:]) == (0, "hello"), done.stderr
    finally:
        manager.stop()


def test_queue_managers_prove_by_keytab_who_they_are(realm: Realm, tmp_path: Path) -> None:
    """A transaction across machines whose queue managers have no passwords."""
    addresses = {"home": new_address(), "far": new_address()}
    services = {name: f"host/{address}@{REALM}" for name, address in addresses.items()}
    managers = {}
    for name, address in addresses.items():
        keytab, data = tmp_path / f"{name}.keytab", tmp_path / name
        realm.add_service(services[name], keytab)
        data.mkdir(mode=0o700)
        AccountFile(data).add("alice", None, None, ALICE)
        for other, service in services.items():
            if other != name:
                AccountFile(data).add(other, None, None, service)
        managers[name] = openmsmq.embedded(
            data,
            bind=address,
            rpc_port=2103,
            rpc_keytab=keytab,
            coordinator_hosts=tuple(addresses.values()),
        )
    orders = rf"DIRECT=TCP:{addresses['far']}\private$\orders"
    with managers["home"] as home, managers["far"] as far:
        far.create_queue(QUEUE, transactional=True)
        far.grant(QUEUE, "alice", ["full"])
        far.send(QUEUE, openmsmq.Message(body="order"), transaction="single")
        results = home.create_queue(r".\private$\results", transactional=True)
        with openmsmq.connect(
            home.address, auth="kerberos", user=ALICE, password=PASSWORD
        ) as program:
            with program.open_queue(orders) as queue, program.transaction() as transaction:
                assert queue.receive(SECONDS, transaction).body == "order"
                results_there = program.open_queue(r".\private$\results", "send")
                results_there.send(openmsmq.Message(body="done"), transaction=transaction)
            deadline = time.monotonic() + SECONDS
            while far.transactions() or home.transactions():
                assert time.monotonic() < deadline
                time.sleep(0.02)
        assert far.queue_info(QUEUE)["messages"] == 0
        assert results.info()["messages"] == 1
