"""Queues of another machine, opened beside those of a queue manager on this one."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import openmsmq
from openmsmq import aio
from openmsmq.client.machines import machine_of, other_machine
from openmsmq.server.embedded import EmbeddedQueueManager
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.codes.queue_error import AccessDenied
from openmsmq.wire.errors import ConfigError

# A name without a port means 135 and 2103: every process of tests has an address of its own.
ADDRESS = f"127.73.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF or 1}"
QUEUE = r".\private$\orders"
THERE = rf"DIRECT=TCP:{ADDRESS}\private$\orders"
LOGON: dict[str, Any] = {"user": "ada", "password": "secret"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[openmsmq.QueueManager]:
    data = tmp_path / "server"
    data.mkdir(mode=0o700)
    account = AccountFile(data).add("ada", "secret", None)
    with openmsmq.embedded(data, bind=ADDRESS, rpc_port=2103) as manager:
        manager.create_queue(QUEUE)
        manager.grant(QUEUE, str(account.sid), ["full"])
        send(manager, "a", "b", "c")
        yield manager


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a queue manager on this machine that has a queue of the same name."""
    with openmsmq.embedded(tmp_path / "here", name="here") as manager:
        manager.create_queue(QUEUE)
        send(manager, "mine")
        yield manager.address


def send(manager: openmsmq.QueueManager, *labels: str) -> None:
    manager.open_queue(QUEUE, "send").send_many(openmsmq.Message(b"", each) for each in labels)


def labels(messages: list[openmsmq.ReceivedMessage]) -> list[str]:
    return [message.label for message in messages]


def test_queue_of_another_machine_is_read_in_the_name_of_the_caller(
    server: openmsmq.QueueManager, address: str
) -> None:
    with openmsmq.connect(address, **LOGON) as qm:
        with qm.open_queue(THERE) as there:
            assert there.peek().label == "a"
            assert labels(list(there.cursor())) == ["a", "b", "c"]
            assert there.receive().label == "a"
            assert there.move(";retry", [there.peek().lookup_id]) == 1
            there.purge()
        with qm.open_queue(rf"{THERE};retry", "peek") as retry:
            assert retry.peek().label == "b"
        assert qm.open_queue(QUEUE).receive().label == "mine"
    assert server.queue_info(QUEUE)["messages"] == 0


def test_path_name_of_another_machine_is_read_there(
    server: openmsmq.QueueManager, address: str
) -> None:
    with openmsmq.connect(address, **LOGON) as qm:
        assert qm.open_queue(rf"{ADDRESS}\private$\orders", "peek").peek().label == "a"
    assert server.queue_info(QUEUE)["messages"] == 3


@pytest.mark.usefixtures("server")
def test_receives_are_final_after_flush(address: str) -> None:
    with openmsmq.connect(address, **LOGON) as qm:
        queue = qm.open_queue(THERE)
        assert len(queue.receive_many(2)) == 2
        qm.flush()
        with openmsmq.connect(f"msmq://{ADDRESS}", **LOGON) as direct:
            assert labels(list(direct.open_queue(QUEUE, "peek").cursor())) == ["c"]


@pytest.mark.usefixtures("server")
def test_user_and_password_come_from_the_environment(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text("secret\n")
    with openmsmq.connect(address) as qm:
        with pytest.raises(AccessDenied):
            qm.open_queue(THERE, "peek")
        monkeypatch.setenv("OPENMSMQ_RPC_USER", "ada")
        with pytest.raises(ConfigError, match="password"):
            qm.open_queue(r"DIRECT=TCP:127.200.0.1\private$\orders", "peek")
    monkeypatch.setenv("OPENMSMQ_RPC_PASSWORD_FILE", str(tmp_path / "password"))
    with openmsmq.connect(address) as qm:
        assert qm.open_queue(THERE, "peek").peek().label == "a"


def test_names_of_this_machine_stay_here(server: openmsmq.QueueManager) -> None:
    # Without a user, remote read would refuse this.
    for name in (THERE, rf"DIRECT=OS:{server.identity.name}\private$\orders", QUEUE):
        assert server.open_queue(name, "peek").peek().label == "a"


@pytest.mark.usefixtures("server")
def test_what_only_a_queue_manager_can_do_says_so(address: str) -> None:
    with openmsmq.connect(address, **LOGON) as qm, qm.open_queue(THERE) as there:
        with pytest.raises(openmsmq.QueueError, match="messages cannot be sent over remote read"):
            there.send("x")
        # This queue manager has no RPC, by which others could take part in its transactions.
        with qm.transaction() as work, pytest.raises(openmsmq.QueueError, match="DTC_CONNECT"):
            there.receive(transaction=work)


def test_lost_server_is_connected_to_again(address: str, tmp_path: Path) -> None:
    def start() -> EmbeddedQueueManager:
        return openmsmq.embedded(tmp_path, bind=ADDRESS, rpc_port=2103, rpc_minimum_level="none")

    first = start()
    with first.connect() as server:
        server.create_queue(QUEUE)
        server.grant(QUEUE, "anonymous", ["peek"])
        server.open_queue(QUEUE).send_and_wait(openmsmq.Message(b"", "a", delivery="recoverable"))
    with openmsmq.connect(address) as qm:
        queue = qm.open_queue(THERE, "peek")
        assert queue.peek().label == "a"
        first.close()
        with pytest.raises(openmsmq.ConnectionLost):
            queue.peek()
        second = start()
        try:
            assert qm.open_queue(THERE, "peek").peek().label == "a"
        finally:
            second.close()


def test_asynchronous_programs_read_other_machines_too(
    server: openmsmq.QueueManager, address: str
) -> None:
    async def read() -> list[str]:
        async with aio.connect(address, **LOGON) as qm, qm.open_queue(THERE) as there:
            return [(await there.receive()).label, (await there.receive()).label]

    assert asyncio.run(asyncio.wait_for(read(), 30)) == ["a", "b"]
    assert server.queue_info(QUEUE)["messages"] == 1


def test_wrong_arguments_for_other_machines_are_refused_at_once(address: str) -> None:
    with pytest.raises(ConfigError, match="level"):
        openmsmq.connect(address, user="ada", password="secret", level="high")


@pytest.mark.parametrize(
    ("name", "host"),
    [
        (r"DIRECT=TCP:192.0.2.7\private$\orders", "192.0.2.7"),
        (r"DIRECT=OS:server\private$\orders;journal", "server"),
        (r"server\private$\orders", "server"),
        (r".\private$\orders", None),
        (r"DIRECT=OS:.\private$\orders", None),
        (r"DIRECT=HTTP://server/msmq/private$/orders", None),
        (r"DIRECT=nonsense", None),
        (r"PRIVATE=00112233-4455-6677-8899-aabbccddeeff\0000000a", None),
    ],
)
def test_names_say_which_machine_they_are_for(name: str, host: str | None) -> None:
    assert machine_of(name) == host
    assert other_machine(name, {"here"}) == host
    assert other_machine(name, {"192.0.2.7", "server"}) is None
    assert other_machine(name, ()) is None
