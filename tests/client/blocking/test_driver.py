"""Connections of the blocking client: made, lost, made again."""

import gc
import hashlib
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

import pytest
from tests.client.local.peer import GUID

import openmsmq
from openmsmq import Message, Queue, QueueManager
from openmsmq.client.logic import manager as manager_logic
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import FrameBuffer, frame
from openmsmq.server.embedded import EmbeddedQueueManager, embedded

ORDERS = r".\private$\orders"
WAIT: Final = 20.0
EVERYONE: Final = bytes.fromhex("010100000000000100000000")
R = TypeVar("R", bound=local.Request)
CERTIFICATES: Final = Path(__file__).parent.parent / "certificates"


class Restartable:
    """A queue manager with files, which can be stopped and started again."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.manager: EmbeddedQueueManager = embedded(data)

    def start(self) -> None:
        self.manager = embedded(self._data)

    def stop(self) -> None:
        self.manager.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Restartable]:
    running = Restartable(tmp_path)
    yield running
    running.stop()


def test_where_nobody_listens_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(openmsmq.ConnectionLost, match="openmsmq serve"):
        openmsmq.connect(tmp_path / "openmsmq.sock")
    with pytest.raises(openmsmq.ConnectionLost, match="--local-port"):
        openmsmq.connect("127.0.0.1:1", token="secret")


def test_a_queue_manager_that_hangs_has_as_long_as_the_timeout_says(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "openmsmq.sock"))
        listener.listen()
        with pytest.raises(openmsmq.ConnectionLost, match=r"not answered within 0\.1 seconds"):
            openmsmq.connect(tmp_path / "openmsmq.sock", timeout=0.1)


def test_a_start_is_waited_for(tmp_path: Path) -> None:
    started: list[EmbeddedQueueManager] = []
    starting = threading.Timer(0.2, lambda: started.append(embedded(tmp_path)))
    starting.start()
    try:
        manager = openmsmq.connect(tmp_path / "openmsmq.sock", wait=timedelta(seconds=WAIT))
        assert manager.status()["state"] == "Ready"
        manager.close()
    finally:
        starting.join()
        started[0].close()


def test_waiting_for_a_start_ends(tmp_path: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(openmsmq.ConnectionLost, match="openmsmq serve"):
        openmsmq.connect(tmp_path / "openmsmq.sock", wait=0.2)
    assert time.monotonic() - begin >= 0.2


def test_nobody_waits_for_a_queue_manager_that_is_not_trusted(tcp: str) -> None:
    with pytest.raises(openmsmq.ConnectionLost) as caught:
        openmsmq.connect(tcp, token="secret", wait=None)
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


def test_a_queue_manager_that_is_lost_gives_a_clear_error(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address)
    queue = manager.create_queue(ORDERS)
    server.stop()
    for _ in range(2):
        with pytest.raises(openmsmq.ConnectionLost, match="See whether it runs"):
            queue.receive(timeout=WAIT)
    with pytest.raises(openmsmq.ConnectionLost):
        queue.send(Message("x"))
    manager.close()


def test_a_waiting_receive_goes_on_when_the_queue_manager_is_back(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    got: list[str | bytes] = []
    waiting = threading.Thread(target=lambda: got.append(queue.receive(timeout=WAIT).body))
    waiting.start()
    while not manager.queue_info(ORDERS)["waiting_reads"]:
        time.sleep(0.01)
    server.stop()
    server.start()
    with server.manager.connect() as other:
        other.send(ORDERS, Message("x"))
        waiting.join(WAIT)
    assert got == ["x"]
    manager.close()


def test_a_peek_goes_on_when_the_queue_manager_is_back(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    queue.send(Message("x", delivery="recoverable"))
    server.stop()
    server.start()
    assert queue.peek(timeout=WAIT).body == "x"
    manager.close()


def test_a_loop_goes_on_over_restarts_and_yields_each_message_once(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    texts = [str(number) for number in range(500)]
    queue.send_many(Message(text, delivery="recoverable") for text in texts)
    seen = []
    for message in queue.messages(timeout=WAIT, prefetch=40):
        seen.append(message.body)
        if len(seen) in (33, 100, 101):
            server.stop()
            server.start()
        if len(seen) == len(texts):
            break
    assert seen == texts
    assert manager.queue_info(ORDERS)["messages"] == 0
    manager.close()


def test_a_wait_for_the_queue_manager_ends_with_the_timeout(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    server.stop()
    with pytest.raises(openmsmq.ConnectionLost, match="openmsmq serve"):
        queue.receive(timeout=0.1)
    server.start()
    assert queue.receive_many(1, timeout=0) == []
    manager.close()


def test_other_calls_connect_again_when_the_loss_was_known_before(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    server.stop()
    with pytest.raises(openmsmq.ConnectionLost):
        manager.status()
    server.start()
    assert manager.status()["state"] == "Ready"
    queue.send(Message("x", delivery="recoverable"))
    assert queue.receive(timeout=WAIT).body == "x"
    manager.close()


def test_a_send_whose_fate_is_unknown_is_not_repeated(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    server.stop()
    with pytest.raises(openmsmq.ConnectionLost):
        queue.send(Message("x", delivery="recoverable"))
    server.start()
    assert queue.receive_many(10, timeout=0) == []
    manager.close()


def send_into_the_void(manager: QueueManager, queue: Queue) -> None:
    """Send to a queue manager that is gone; that the message cannot leave shows only later."""
    # As if others had just left: the message waits for more to come.
    manager._driver._last_ship = time.monotonic() + WAIT
    queue.send(Message("x"))
    deadline = time.monotonic() + WAIT
    while manager._driver.usable and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize("call", ["send", "send_many", "flush", "close"])
def test_messages_that_were_lost_unseen_are_told_of_once(server: Restartable, call: str) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS)
    queue.send_and_wait(Message("first"))
    server.stop()
    send_into_the_void(manager, queue)
    server.start()
    # A call that waits does not care, but the others do.
    assert queue.receive_many(10, timeout=0) == []
    calls: dict[str, Callable[[], object]] = {
        "send": lambda: queue.send(Message("x")),
        "send_many": lambda: queue.send_many([Message("x")]),
        "flush": manager.flush,
        "close": manager.close,
    }
    with pytest.raises(openmsmq.ConnectionLost, match="is not known"):
        calls[call]()
    if call != "close":
        calls[call]()
    manager.close()


def test_closing_tells_of_messages_that_were_lost_unseen(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address)
    queue = manager.create_queue(ORDERS)
    queue.send_and_wait(Message("first"))
    server.stop()
    send_into_the_void(manager, queue)
    with pytest.raises(openmsmq.ConnectionLost, match="is not known"):
        manager.close()
    manager.close()


def test_a_transaction_is_lost_with_the_connection(server: Restartable) -> None:
    manager = openmsmq.connect(server.manager.address, reconnect=True)
    queue = manager.create_queue(ORDERS, transactional=True)
    transaction = manager.transaction()
    queue.send(Message("x"), transaction)
    server.stop()
    server.start()
    with pytest.raises(openmsmq.ConnectionLost):
        transaction.commit()
    with pytest.raises(openmsmq.QueueError, match="is over"):
        queue.send(Message("y"), transaction)
    assert queue.receive_many(10, timeout=0) == []
    manager.close()


def test_threads_that_wait_are_told_of_the_loss(msmq: QueueManager) -> None:
    manager = openmsmq.connect(msmq.address)
    queue = manager.create_queue(ORDERS)
    told: list[type[BaseException]] = []

    def wait() -> None:
        try:
            queue.receive()
        except openmsmq.MsmqError as exc:
            told.append(type(exc))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    while msmq.queue_info(ORDERS)["waiting_reads"] < 3:
        time.sleep(0.01)
    manager.close()
    for thread in threads:
        thread.join(WAIT)
    assert told == [openmsmq.ConnectionLost] * 3


def test_sending_goes_on_while_replies_pile_up(msmq: QueueManager) -> None:
    """Both sides write more than fits between them: whoever cannot write has to read."""
    queues = [msmq.create_queue(rf".\private$\q{number}") for number in range(12)]
    for queue in queues:
        queue.send_many(Message(bytes(1_000_000)) for _ in range(3))
    # Each loop has a megabyte on its way that nobody reads yet.
    streams = [queue.messages(timeout=0) for queue in queues]
    for stream in streams:
        next(stream)
    target = msmq.create_queue(ORDERS)
    finished = threading.Event()

    def send() -> None:
        target.send_many(Message(bytes(1_000_000)) for _ in range(30))
        finished.set()

    threading.Thread(target=send, daemon=True).start()
    assert finished.wait(WAIT)
    for stream in streams:
        stream.close()


def test_what_was_sent_leaves_although_the_program_forgets_to_close(msmq: QueueManager) -> None:
    msmq.create_queue(ORDERS)
    program = (
        "import sys, openmsmq\n"
        "manager = openmsmq.connect(sys.argv[1])\n"
        "for number in range(100):\n"
        "    manager.send(sys.argv[2], openmsmq.Message(str(number)))\n"
    )
    subprocess.run([sys.executable, "-c", program, msmq.address, ORDERS], check=True, timeout=60)
    queue = msmq.open_queue(ORDERS)
    assert [queue.receive(timeout=WAIT).body for _ in range(100)] == [str(n) for n in range(100)]


def test_a_program_that_forgets_to_close_stays_until_its_messages_are_accepted(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, openmsmq\n"
        "openmsmq.connect(sys.argv[1]).send('DIRECT=OS:alpha\\\\private$\\\\orders', b'x')\n"
    )
    address = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        listener.settimeout(WAIT)
        sender = subprocess.Popen([sys.executable, "-c", program, address])
        theirs, _ = listener.accept()
        with theirs:
            theirs.settimeout(WAIT)
            (hello,) = read_requests(theirs, local.Hello)
            who = {"name": "alpha", "guid": GUID, "sid": EVERYONE, "version": "1"}
            theirs.sendall(frame(local.encode(local.Done(hello.id, who))))
            opening, sending = read_requests(theirs, local.OpenToSend, local.Send)
            theirs.sendall(frame(local.encode(local.Done(opening.id))))
            theirs.settimeout(0.3)
            with pytest.raises(TimeoutError):
                theirs.recv(1)
            theirs.sendall(frame(local.encode(local.Done(sending.id, 1))))
            theirs.settimeout(WAIT)
            assert theirs.recv(1) == b""
        assert sender.wait(WAIT) == 0


def read_requests(sock: socket.socket, *kinds: type[local.Request]) -> list[local.AnyRequest]:
    """The next requests, which are of these kinds."""
    frames = FrameBuffer()
    requests: list[local.AnyRequest] = []
    while len(requests) < len(kinds):
        requests += [local.decode_request(each) for each in frames.feed(sock.recv(65536))]
    assert tuple(map(type, requests)) == kinds
    return requests


def test_a_connection_that_is_dropped_is_closed(msmq: QueueManager) -> None:
    queue: Queue | None = openmsmq.connect(msmq.address).create_queue(ORDERS)
    assert queue is not None
    queue.send(Message("x"))
    queue.receive(timeout=WAIT)
    assert msmq.queue_info(ORDERS)["readers"] == 1
    queue = None
    gc.collect()
    deadline = time.monotonic() + WAIT
    while msmq.queue_info(ORDERS)["readers"] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert msmq.queue_info(ORDERS)["readers"] == 0


@pytest.mark.parametrize("answer", [frame(b"\xc1"), b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_something_else_that_listens_is_no_queue_manager(tmp_path: Path, answer: bytes) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(1000)
                peer.sendall(answer)
                peer.recv(1000)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(openmsmq.ConnectionLost, match="does not let this client in") as caught:
            openmsmq.connect(path)
        assert "is no queue manager" in str(caught.value.__cause__)
        thread.join(WAIT)


# TLS


@pytest.fixture
def tcp(tmp_path: Path) -> Iterator[str]:
    """Host and port of a queue manager that takes the token "secret"."""
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'"{hashlib.sha256(b"secret").hexdigest()}" = "user:root"\n')
    running = embedded(
        tmp_path / "data",
        local_port=0,
        local_certificate=CERTIFICATES / "localhost.pem",
        local_key=CERTIFICATES / "localhost.key",
        local_tokens=tokens,
    )
    yield running.endpoints["local-tcp"]
    running.close()


def test_a_token_opens_the_way_over_tls(tcp: str) -> None:
    with openmsmq.connect(tcp, token="secret", ca_file=CERTIFICATES / "localhost.pem") as manager:
        queue = manager.create_queue(ORDERS)
        sent = [bytes([number]) * 300_000 for number in range(20)]
        queue.send_many(Message(body) for body in sent)
        assert [message.body_bytes for message in queue.messages(timeout=0)] == sent


def test_threads_share_a_connection_over_tls(tcp: str) -> None:
    with openmsmq.connect(tcp, token="secret", ca_file=CERTIFICATES / "localhost.pem") as manager:
        queue = manager.create_queue(ORDERS)
        got: list[bytes] = []

        def receive() -> None:
            got.extend([queue.receive(timeout=WAIT).body_bytes for _ in range(100)])

        threads = [threading.Thread(target=receive) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(200):
            queue.send(Message(bytes([number]) * 10_000))
        for thread in threads:
            thread.join(WAIT)
        assert sorted(got) == [bytes([number]) * 10_000 for number in range(200)]


def test_a_wrong_token_is_not_let_in(tcp: str) -> None:
    with pytest.raises(openmsmq.AccessDenied, match="token"):
        openmsmq.connect(tcp, token="wrong", ca_file=CERTIFICATES / "localhost.pem")


def test_a_queue_manager_that_is_not_trusted_is_not_talked_to(tcp: str) -> None:
    with pytest.raises(
        openmsmq.ConnectionLost, match=r"is not trusted: .*OPENMSMQ_CA_FILE"
    ) as caught:
        openmsmq.connect(tcp, token="secret")
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


def test_a_listener_that_hangs_up_during_the_handshake_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            peer, _ = listener.accept()
            peer.recv(1000)
            peer.close()

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(openmsmq.ConnectionLost, match="handshake"):
            openmsmq.connect(f"127.0.0.1:{port}", token="secret")
        thread.join(WAIT)


def test_queues_that_are_closed_for_others_do_not_garble_what_leaves_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager_logic, "MAX_TARGETS", 4)
    names = [rf".\private$\queue{number}" for number in range(20)]
    interval = sys.getswitchinterval()
    # A thread of the client's own sends what lingers, at any moment.
    sys.setswitchinterval(1e-5)
    try:
        with openmsmq.embedded(tmp_path, name="QM") as manager:
            for name in names:
                manager.create_queue(name)
            for number in range(1000):
                manager.send(names[number % len(names)], Message(b"x"))
            manager.flush()
            assert [queue["messages"] for queue in manager.queues()] == [50] * len(names)
    finally:
        sys.setswitchinterval(interval)
