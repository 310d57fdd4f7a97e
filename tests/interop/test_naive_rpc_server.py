"""Our client of remote read against a server that knows nothing but the byte layouts."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.interop.loopback import new_address
from tests.interop.naive_remote_read import (
    MQQP_ONLY,
    QM2QM,
    QMCOMM,
    REMOTE_READ,
    WINDOWS_7,
    WINDOWS_2000,
    WINDOWS_2003,
    Kind,
    NaiveCalls,
)
from tests.interop.naive_rpc_server import NaiveRpcServer, endpoint_mapper, listen

import openmsmq
from openmsmq.wire.codes.hresult import Hresult

QUEUE = r".\private$\orders"
ASIDE = r".\private$\orders;aside"
SECONDS = 20
NACK, ACK = 1, 2
KINDS = pytest.mark.parametrize(
    "kind",
    [WINDOWS_7, WINDOWS_2003, MQQP_ONLY, WINDOWS_2000],
    ids=["MQRR", "2003", "MQQP only", "2000"],
)


class Server:
    """A server with the queue `orders`, at a loopback address of its own."""

    def __init__(self, kind: Kind) -> None:
        self.address = new_address()
        self.calls = NaiveCalls(kind)
        self.calls.create("orders")
        self.rpc = NaiveRpcServer(self.address, [0, 0], self.calls.interfaces(), self.calls.rundown)
        self.calls.ports = self.rpc.ports
        self.url = f"msmq://{self.address}:{self.rpc.ports[0]}"

    def wait_for(self, counts: tuple[int, int]) -> None:
        end = time.monotonic() + SECONDS
        while self.calls.counts("orders") != counts:
            assert time.monotonic() < end, self.calls.counts("orders")
            time.sleep(0.005)


@contextmanager
def serving(kind: Kind) -> Iterator[Server]:
    server = Server(kind)
    with server.rpc:
        yield server


@contextmanager
def reading(url: str, *, reconnect: bool = False) -> Iterator[openmsmq.Queue]:
    with (
        openmsmq.connect(url, timeout=SECONDS, reconnect=reconnect) as remote,
        remote.open_queue(QUEUE, "receive") as queue,
    ):
        yield queue


def bodies(first: int, last: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, last)]


@KINDS
def test_messages_are_peeked_received_and_acknowledged(kind: Kind) -> None:
    large = bytes(range(256)) * 80
    with serving(kind) as server, reading(server.url) as queue:
        server.calls.put("orders", b"first", large)
        message = queue.peek(timeout=SECONDS)
        assert (message.body_bytes, message.arrived_time.timestamp()) == (b"first", 1_700_000_001)
        assert server.calls.counts("orders") == (2, 0)
        assert queue.receive(timeout=SECONDS).body_bytes == b"first"
        server.wait_for((1, 0))
        assert queue.receive(timeout=SECONDS).body_bytes == large
        server.wait_for((0, 0))
        assert server.calls.ends == [ACK, ACK]
        with pytest.raises(openmsmq.ReceiveTimeout):
            queue.receive(timeout=0.05)


@KINDS
def test_what_was_read_ahead_is_given_back_in_place(kind: Kind) -> None:
    with serving(kind) as server, reading(server.url) as queue:
        server.calls.put("orders", *bodies(0, 60))
        with queue.messages(timeout=SECONDS, prefetch=20) as messages:
            taken = [next(messages).body_bytes for _ in range(25)]
        assert taken == bodies(0, 25)
        server.wait_for((35, 0))
        assert server.calls.ends.count(ACK) == 25
        assert NACK in server.calls.ends
        found = queue.receive_many(100, timeout=SECONDS)
        assert [message.body_bytes for message in found] == bodies(25, 60)


@KINDS
def test_read_that_waits_gets_the_message_that_comes(kind: Kind) -> None:
    with serving(kind) as server, reading(server.url) as queue:
        later = threading.Timer(0.1, server.calls.put, ["orders", b"late"])
        later.start()
        assert queue.receive(timeout=SECONDS).body_bytes == b"late"
        later.join()


@KINDS
def test_cursor_goes_over_the_messages_and_a_purge_deletes_them(kind: Kind) -> None:
    with serving(kind) as server, reading(server.url) as queue:
        server.calls.put("orders", *bodies(0, 5))
        assert [message.body_bytes for message in queue.cursor()] == bodies(0, 5)
        queue.purge()
        assert server.calls.counts("orders") == (0, 0)


@pytest.mark.parametrize("kind", [WINDOWS_7, WINDOWS_2003, MQQP_ONLY])
def test_lookup_ids_name_messages(kind: Kind) -> None:
    with serving(kind) as server, reading(server.url) as queue:
        server.calls.put("orders", *bodies(0, 3))
        first = queue.peek(timeout=SECONDS).lookup_id
        second = queue.peek_by_lookup_id(first, relation="next")
        assert second.body_bytes == b"1"
        assert queue.receive_by_lookup_id(second.lookup_id).body_bytes == b"1"
        server.wait_for((2, 0))
        with pytest.raises(openmsmq.QueueError) as missing:
            queue.peek_by_lookup_id(second.lookup_id)
        assert missing.value.code == Hresult.MQ_ERROR_MESSAGE_NOT_FOUND


def test_message_moves_to_a_subqueue() -> None:
    with serving(WINDOWS_7) as server, reading(server.url) as queue:
        server.calls.put("orders", *bodies(0, 3))
        assert queue.move(ASIDE, count=2) == 2
        assert server.calls.counts("orders") == (1, 0)
        assert server.calls.counts("orders;aside") == (2, 0)


@pytest.mark.parametrize("kind", [WINDOWS_2003, MQQP_ONLY, WINDOWS_2000])
def test_move_is_not_supported_by_older_servers_and_reads_go_on(kind: Kind) -> None:
    with serving(kind) as server, reading(server.url) as queue:
        server.calls.put("orders", b"stays")
        with pytest.raises(openmsmq.QueueError) as refused:
            queue.move(ASIDE, count=1)
        expected = Hresult.MQ_ERROR_OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER
        assert refused.value.code == expected
        assert queue.receive(timeout=SECONDS).body_bytes == b"stays"


@KINDS
def test_unknown_queue_is_refused(kind: Kind) -> None:
    with (
        serving(kind) as server,
        openmsmq.connect(server.url, timeout=SECONDS) as remote,
        pytest.raises(openmsmq.QueueError) as refused,
    ):
        remote.open_queue(r".\private$\nothing", "receive").peek(timeout=0)
    assert refused.value.code == Hresult.MQ_ERROR_QUEUE_NOT_FOUND


@pytest.mark.parametrize("first_only", [False, True], ids=["all", "one"])
@pytest.mark.parametrize("kind", [WINDOWS_7, WINDOWS_2003], ids=["MQRR", "2003"])
def test_loss_of_a_connection_gives_back_what_was_held(kind: Kind, *, first_only: bool) -> None:
    with serving(kind) as server:
        server.calls.put("orders", *bodies(0, 5))
        with reading(server.url) as queue, queue.messages(timeout=SECONDS) as messages:
            next(messages)
            server.wait_for((5, 5))
            server.rpc.hang_up(first_only=first_only)
            server.wait_for((5, 0))
        with reading(server.url) as queue:
            found = queue.receive_many(10, timeout=SECONDS)
        assert [message.body_bytes for message in found] == bodies(0, 5)


@KINDS
def test_after_a_loss_no_new_message_is_taken_for_one_that_was_taken(kind: Kind) -> None:
    with serving(kind) as server, reading(server.url, reconnect=True) as queue:
        server.calls.put("orders", b"old")
        server.calls.hang_up_after_ends = 1
        assert queue.receive(timeout=SECONDS).body_bytes == b"old"
        server.wait_for((0, 0))
        server.rpc.hang_up()
        server.calls.put("orders", b"new")
        assert queue.receive(timeout=SECONDS).body_bytes == b"new"


@contextmanager
def taken(address: str, ports: list[int]) -> Iterator[None]:
    """Ports that another program has."""
    listeners: list[socket.socket] = [listen(address, port) for port in ports]
    try:
        yield
    finally:
        for listener in listeners:
            listener.close()


@pytest.mark.parametrize("kind", [WINDOWS_7, MQQP_ONLY], ids=["MQRR", "MQQP only"])
def test_stepped_ports_are_asked_of_the_endpoint_mapper(kind: Kind) -> None:
    address = new_address()
    calls = NaiveCalls(kind)
    calls.create("orders")
    calls.put("orders", b"hello")
    with (
        taken(address, [2103, 2105]),
        NaiveRpcServer(address, [2103, 2105], calls.interfaces(), calls.rundown) as server,
    ):
        assert server.ports == [2114, 2116]
        calls.ports = server.ports
        registered = {QMCOMM: 2114, QM2QM: 2116}
        if kind.remote_read:
            registered[REMOTE_READ] = 2114
        try:
            mapper = NaiveRpcServer(address, [135], endpoint_mapper(address, registered))
        except PermissionError:
            pytest.skip("port 135 needs the right to bind low ports")
        with mapper, reading(f"msmq://{address}") as queue:
            assert queue.receive(timeout=SECONDS).body_bytes == b"hello"


@pytest.mark.spec("MQQP-2.1-04")
def test_mqqp_client_follows_the_ports_that_the_server_tells() -> None:
    """The port that was named leads to qmcomm, and the server tells where qm2qm is."""
    with serving(MQQP_ONLY) as server:
        server.calls.put("orders", b"hello")
        with reading(f"msmq://{server.address}:{server.rpc.ports[1]}") as queue:
            assert queue.receive(timeout=SECONDS).body_bytes == b"hello"
