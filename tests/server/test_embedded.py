"""Queue managers inside the process."""

import sys
from pathlib import Path

import pytest
from tests.core.forgery import forged
from tests.server.raw_client import RawClient

import openmsmq
from openmsmq import Message, QueueError
from openmsmq.server.embedded import embedded
from openmsmq.store.file_store import FileStore
from openmsmq.wire.errors import ConfigError, StoreError

ORDERS = r".\private$\orders"
SIGNED = r".\private$\signed"


def test_an_embedded_queue_manager_keeps_nothing_without_a_directory() -> None:
    with embedded() as manager:
        folder = Path(manager.address).parent
        assert folder.is_dir()
        manager.create_queue(ORDERS).send(Message("x", delivery="recoverable"))
    assert not folder.exists()
    with embedded() as manager:
        assert manager.queues() == []


def test_an_embedded_queue_manager_keeps_what_is_in_its_directory(tmp_path: Path) -> None:
    with embedded(tmp_path) as manager:
        manager.create_queue(ORDERS).send(Message("x", delivery="recoverable"))
    with embedded(str(tmp_path)) as manager:
        assert manager.open_queue(ORDERS).receive(timeout=0).body == "x"


def test_a_directory_has_one_queue_manager(tmp_path: Path) -> None:
    with embedded(tmp_path), pytest.raises(StoreError):
        embedded(tmp_path)


def test_a_long_path_gets_its_socket_elsewhere(tmp_path: Path) -> None:
    data = tmp_path / ("x" * 120)
    with embedded(data) as manager:
        socket = Path(manager.address)
        assert data.is_dir()
        assert socket.parent != data
    assert not socket.exists()


def test_a_setting_that_cannot_be_used_is_named() -> None:
    with pytest.raises(ConfigError, match="colour"):
        embedded(colour="red")


def test_settings_are_those_of_serve() -> None:
    with embedded(name="beta") as manager:
        assert manager.identity.name == "beta"


def test_more_connections_can_be_made_and_are_closed_with_it() -> None:
    running = embedded()
    first, second = running.connect(), running.connect()
    first.create_queue(ORDERS)
    assert second.queue_info(ORDERS)["messages"] == 0
    assert running.address in repr(running)
    assert running.endpoints["local"] == running.address
    running.close()
    running.close()
    with pytest.raises(openmsmq.ConnectionLost):
        second.status()
    for connection in (first, second):
        connection.close()


def test_connections_of_other_blocks_end_with_it() -> None:
    running = embedded()
    with running as manager:
        other = running.connect()
        manager.create_queue(ORDERS)
        other.send(ORDERS, Message("x"))
    with pytest.raises(openmsmq.ConnectionLost):
        other.status()


def test_without_the_fast_event_loop_it_runs_on_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    with embedded() as manager:
        assert manager.status()["state"] == "Ready"


def test_a_store_that_fails_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = embedded(tmp_path)
    manager = running.connect()

    def fail(*_: object) -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(FileStore, "write", fail)
    with pytest.raises(openmsmq.ConnectionLost):
        manager.create_queue(ORDERS)
    manager.close()
    with pytest.raises(StoreError, match="the disk is gone"):
        running.close()
    running.close()


@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_a_client_that_speaks_the_protocol_itself_cannot_vouch_for_its_messages(
    tmp_path: Path, delivery_mode: int
) -> None:
    with embedded(tmp_path) as manager:
        manager.create_queue(ORDERS)
        manager.create_queue(SIGNED, authenticate=True)
        with RawClient.connect(Path(manager.address)) as client:
            packet = forged(delivery_mode=delivery_mode)
            client.send(client.open(ORDERS, "send"), packet, packet)
            with pytest.raises(QueueError, match="MQ_ERROR_MESSAGE_NOT_AUTHENTICATED"):
                client.send(client.open(SIGNED, "send"), packet)
        messages = list(manager.open_queue(ORDERS).cursor())
        assert [message.authenticated for message in messages] == [False, False]
        assert [message.to_dict()["authenticated"] for message in messages] == [False, False]
        assert manager.queue_info(SIGNED)["messages"] == 0
