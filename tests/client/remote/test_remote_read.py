"""Our client of remote read against our server: embedded, over real sockets on loopback."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import openmsmq
from openmsmq import aio
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.remote.address import RpcAddress, parse_rpc_address
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.errors import ConfigError

QUEUE = r".\private$\orders"


class Server:
    """A queue manager with one queue that anonymous clients may read."""

    def __init__(self, manager: openmsmq.QueueManager) -> None:
        self.manager = manager
        self.queue = manager.create_queue(QUEUE)
        manager.grant(QUEUE, "Anonymous Logon", ["full"])
        self.port = int(manager.status()["endpoints"]["rpc"].rpartition(":")[2])
        self.address = f"msmq://127.0.0.1:{self.port}"

    def fill(self, count: int) -> None:
        self.queue.send_many([openmsmq.Message(body=f"{n}", label=f"{n}") for n in range(count)])

    @property
    def messages(self) -> int:
        return int(self.queue.info()["messages"])


@pytest.fixture
def server() -> Iterator[Server]:
    with openmsmq.embedded(rpc_port=0, rpc_minimum_level="none") as manager:
        yield Server(manager)


@pytest.fixture
def reader(server: Server) -> Iterator[openmsmq.Queue]:
    with (
        openmsmq.connect(server.address, timeout=10) as remote,
        remote.open_queue(QUEUE, "receive") as queue,
    ):
        yield queue


def labels(messages: list[openmsmq.ReceivedMessage]) -> list[str]:
    return [message.label for message in messages]


@pytest.mark.spec("MQRR-3.2.4.4-01")
def test_received_message_is_the_one_that_was_sent_and_leaves_its_queue(
    server: Server, reader: openmsmq.Queue
) -> None:
    server.fill(2)
    local = server.queue.peek()
    message = reader.receive(timeout=5)
    assert (message.lookup_id, message.id, message.body) == (local.lookup_id, local.id, "0")
    assert message.arrived_time == local.arrived_time.replace(microsecond=0)
    assert message.time_to_reach_queue == local.time_to_reach_queue
    reader.close()
    assert server.messages == 1


def test_many_messages_come_in_queue_order(server: Server, reader: openmsmq.Queue) -> None:
    server.fill(300)
    found = reader.receive_many(250, timeout=5)
    assert labels(found) == [str(n) for n in range(250)]
    assert labels(reader.receive_many(250, timeout=5)) == [str(n) for n in range(250, 300)]
    assert reader.receive_many(10, timeout=0) == []


def test_iteration_takes_every_message_once_and_gives_back_what_was_read_ahead(
    server: Server, reader: openmsmq.Queue
) -> None:
    server.fill(100)
    with reader.messages(timeout=5, prefetch=40) as messages:
        taken = [next(messages).label for _ in range(30)]
    assert taken == [str(n) for n in range(30)]
    assert server.messages == 70
    rest = [message.label for message in reader.messages(timeout=0.1)]
    assert rest == [str(n) for n in range(30, 100)]


def test_time_out_ends_a_read_without_a_message(reader: openmsmq.Queue) -> None:
    begin = time.monotonic()
    with pytest.raises(openmsmq.ReceiveTimeout):
        reader.receive(timeout=0.2)
    assert time.monotonic() - begin >= 0.2


def test_waiting_read_gets_the_message_that_comes(server: Server, reader: openmsmq.Queue) -> None:
    sender = threading.Timer(0.2, server.fill, [1])
    sender.start()
    assert reader.receive(timeout=10).label == "0"
    sender.join()


def test_cursor_and_lookups_leave_the_messages(server: Server, reader: openmsmq.Queue) -> None:
    server.fill(5)
    found = list(reader.cursor())
    assert labels(found) == list("01234")
    first, last = found[0].lookup_id, found[-1].lookup_id
    assert reader.peek_by_lookup_id(first, relation="next").label == "1"
    assert reader.peek_by_lookup_id(last, relation="previous").label == "3"
    assert reader.peek_by_lookup_id(last).label == "4"
    assert reader.receive_by_lookup_id(first).label == "0"
    with pytest.raises(openmsmq.QueueError):
        reader.peek_by_lookup_id(first)


def test_cursor_shows_every_message_in_queue_order(server: Server, reader: openmsmq.Queue) -> None:
    server.queue.send_many([openmsmq.Message(label=f"{n}", priority=n * 7 % 8) for n in range(500)])
    found = labels(list(reader.cursor()))
    assert len(found) == 500
    assert found == labels(list(server.queue.cursor()))


def test_cursor_goes_on_with_messages_that_come_later(
    server: Server, reader: openmsmq.Queue
) -> None:
    server.fill(20)
    found: list[str] = []
    for message in reader.cursor(timeout=10):
        found.append(message.label)
        if len(found) in (20, 21, 50):
            server.fill(30)
        if len(found) == 110:
            break
    later = [str(n) for n in range(30)]
    assert found == [str(n) for n in range(20)] + later * 3


def test_what_a_queue_holds_is_known_without_bodies(server: Server, reader: openmsmq.Queue) -> None:
    server.queue.send_many([openmsmq.Message(body=bytes(4000)) for _ in range(30)])
    info, local = reader.ranges.info(), server.queue.ranges.info()
    assert (info.first, info.last, info.count) == (local.first, local.last, local.count)
    assert info.bytes >= 30 * 4000
    plan = reader.ranges.plan(0, max_rows=7)
    expected = server.queue.ranges.plan(0, max_rows=7)
    assert (plan.end, plan.count, plan.digest) == (expected.end, expected.count, expected.digest)
    blocks = list(reader.ranges.peek(0, plan.end, block_rows=3))
    assert [len(block.ends) for block in blocks] == [3, 3, 1]
    assert [each for block in blocks for each in block.lookup_ids] == list(plan.lookup_ids)
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_UNSUPPORTED_OPERATION"):
        reader.ranges.acknowledge(0, plan.end)


def test_range_may_be_left_before_its_end(server: Server, reader: openmsmq.Queue) -> None:
    server.fill(100)
    last = reader.ranges.info().last
    for block in reader.ranges.peek(0, last, block_rows=5):
        assert len(block.ends) == 5
        break
    assert reader.receive().label == "0"


def test_rebinding_to_the_port_that_the_server_tells_is_a_setting(server: Server) -> None:
    server.fill(1)
    with openmsmq.connect(server.address, rebind=True) as remote:
        assert remote.open_queue(QUEUE, "peek").peek().label == "0"
    assert parse_rpc_address("msmq://host", rebind=True).rebinds
    assert not parse_rpc_address("msmq://host").rebinds


def test_held_message_goes_back_after_an_error(server: Server, reader: openmsmq.Queue) -> None:
    server.fill(1)
    number = reader.peek().lookup_id

    class Broken(Exception):
        pass

    with pytest.raises(Broken), reader.hold_by_lookup_id(number):
        raise Broken
    with reader.hold_by_lookup_id(number) as message:
        assert message.label == "0"
    assert server.messages == 0


def test_move_to_a_subqueue_and_purge(server: Server, reader: openmsmq.Queue) -> None:
    server.fill(3)
    number = reader.peek().lookup_id
    assert reader.move(";retry", [number]) == 1
    assert labels(list(server.manager.open_queue(f"{QUEUE};retry", "peek").cursor())) == ["0"]
    assert reader.move(";retry") == 2
    assert labels(list(server.manager.open_queue(f"{QUEUE};retry", "peek").cursor())) == list("012")
    server.fill(3)
    assert reader.move(";retry", count=2) == 2
    reader.purge()
    assert server.messages == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda remote: remote.send(QUEUE, openmsmq.Message(body="x")),
        lambda remote: remote.create_queue(QUEUE),
        lambda remote: remote.transaction().__enter__(),
        lambda remote: remote.status(),
    ],
)
def test_what_only_a_queue_manager_can_do_says_so(
    server: Server, call: Callable[[openmsmq.QueueManager], object]
) -> None:
    with (
        openmsmq.connect(server.address) as remote,
        pytest.raises(openmsmq.QueueError, match="over remote read") as refused,
    ):
        call(remote)
    assert "queue manager" in refused.value.remedy


def test_unknown_queue_is_refused_with_its_code(server: Server) -> None:
    with openmsmq.connect(server.address) as remote, pytest.raises(openmsmq.QueueError) as refused:
        remote.open_queue(r".\private$\nothing", "receive")
    assert refused.value.name == "MQ_ERROR_QUEUE_NOT_FOUND"


def test_closed_port_says_that_no_server_answers() -> None:
    with pytest.raises(ConnectionLost, match="no server of remote read"):
        openmsmq.connect("msmq://127.0.0.1:1", timeout=5)


def test_loss_of_the_server_is_told() -> None:
    with openmsmq.embedded(rpc_port=0, rpc_minimum_level="none") as manager:
        server = Server(manager)
        remote = openmsmq.connect(server.address)
        queue = remote.open_queue(QUEUE, "receive")
    with pytest.raises(ConnectionLost):
        queue.receive(timeout=5)
    remote.close()


def test_asynchronous_client_reads_and_cancels(server: Server) -> None:
    async def read() -> None:
        async with (
            aio.connect(server.address) as remote,
            remote.open_queue(QUEUE, "receive") as queue,
        ):
            waiting = asyncio.create_task(queue.receive(timeout=None))
            await asyncio.sleep(0.1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await asyncio.to_thread(server.fill, 3)
            found = [m.label async for m in queue.messages(timeout=0.2)]
            assert found == ["0", "1", "2"]

    asyncio.run(asyncio.wait_for(read(), 30))


# Authentication


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[str]:
    """A server that asks for packet privacy, with one account."""
    account = AccountFile(tmp_path).add("ada", "secret", None)
    with openmsmq.embedded(tmp_path, rpc_port=0) as manager:
        queue = manager.create_queue(QUEUE)
        manager.grant(QUEUE, str(account.sid), ["full"])
        queue.send(openmsmq.Message(body="sealed", label="0"))
        manager.flush()
        port = manager.status()["endpoints"]["rpc"].rpartition(":")[2]
        yield f"msmq://127.0.0.1:{port}"


def test_ntlm_at_packet_privacy_reads(guarded: str) -> None:
    with (
        openmsmq.connect(guarded, user="ada", password="secret") as remote,
        remote.open_queue(QUEUE, "receive") as queue,
    ):
        assert queue.receive(timeout=5).body == "sealed"


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({}, "--user"),
        ({"user": "ada", "password": "wrong"}, "Check both"),
        ({"user": "ada", "password": "secret", "level": "connect"}, "privacy"),
    ],
)
def test_refusal_says_which_level_and_credentials_would_help(
    guarded: str, options: dict[str, str], hint: str
) -> None:
    with (
        openmsmq.connect(guarded, **options) as remote,  # type: ignore[arg-type]
        pytest.raises(openmsmq.QueueError) as refused,
    ):
        remote.open_queue(QUEUE, "receive")
    assert refused.value.name == "MQ_ERROR_ACCESS_DENIED"
    assert hint in refused.value.remedy


# Addresses


def test_addresses_of_servers() -> None:
    assert parse_rpc_address("msmq://host") == RpcAddress("host")
    assert parse_rpc_address("msmq://[::1]:4000/") == RpcAddress("::1", 4000)
    assert str(RpcAddress("::1", 4000)) == "msmq://[::1]:4000"
    found = parse_rpc_address("msmq://host", user="ada", password="secret")
    assert (found.level, found.who) == ("privacy", "ada at level privacy")
    assert "secret" not in repr(found)


def test_credentials_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "password"
    file.write_text("secret\n")
    monkeypatch.setenv("OPENMSMQ_RPC_USER", "ada")
    monkeypatch.setenv("OPENMSMQ_RPC_PASSWORD_FILE", str(file))
    found = parse_rpc_address("msmq://host")
    assert (found.user, found.password) == ("ada", "secret")
    assert parse_rpc_address("msmq://host", auth="none").user == ""


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("msmq://", {}),
        ("msmq://host:0", {}),
        ("msmq://host:70000", {}),
        ("msmq://host:x", {}),
        ("msmq://host", {"auth": "basic"}),
        ("msmq://host", {"level": "high"}),
        ("msmq://host", {"auth": "none", "user": "ada"}),
        ("msmq://host", {"auth": "ntlm"}),
        ("msmq://host", {"user": "ada", "password": "x", "level": "none"}),
        ("msmq://host", {"user": "ada"}),
        ("msmq://host", {"token": "x"}),
        ("/a/socket", {"user": "ada"}),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(
    address: str, options: dict[str, str]
) -> None:
    with pytest.raises(ConfigError):
        openmsmq.connect(address, **options)  # type: ignore[arg-type]
