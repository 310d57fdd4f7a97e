"""Clients over real sockets: who they are, what a death gives back, bounds, TLS and tokens."""

import hashlib
import logging
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.net.certificate import Authority
from tests.server.raw_client import ROOT, RawClient, bodies, packet
from tests.server.threaded import Threaded, threaded

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import frame
from openmsmq.security.caller import unix_user_sid
from openmsmq.security.principals import describe_principal
from openmsmq.service.accounts import UnixAccounts
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

ORDERS = r".\private$\orders"
OTHER_UID = 65534
EVERYTHING = (1 << 56) - 1
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def running() -> Iterator[Threaded]:
    # Another user must be able to reach the socket, so not below the folder of the test run.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        with threaded(Path(name)) as running:
            yield running


@pytest.fixture
def client(running: Threaded) -> Iterator[RawClient]:
    with running.connect() as client:
        client.create(ORDERS)
        yield client


def fill(client: RawClient, *contents: bytes, **rest: Any) -> None:
    client.send(client.open(ORDERS, "send"), *[packet(body, **rest) for body in contents])


# Who a client is

AS_SOMEBODY_ELSE = """
import os, sys
from pathlib import Path
from tests.server.raw_client import RawClient, bodies, packet
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.queue_error import QueueError
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
client = RawClient.connect(Path(sys.argv[1]))
def attempt(action):
    try:
        return action() or "ok"
    except QueueError as exc:
        return exc.name
queue = sys.argv[2]
print(client.identity["sid"].hex())
print(attempt(lambda: client.open(queue)))
print(attempt(lambda: client.open(queue, "peek")))
print(attempt(lambda: client.send(client.open(queue, "send"), packet(b"from outside"))) and "sent")
print(attempt(lambda: client.value(local.DeleteQueue(client.next_id(), queue))))
print(attempt(lambda: client.value(local.Backup(client.next_id(), "/nowhere"))))
print(attempt(lambda: client.create(r".\\private$\\mine")["path"]))
print(attempt(lambda: client.open(r".\\private$\\mine") and "opened"))
"""


@needs_root
def test_another_user_is_known_by_the_kernel_and_held_to_its_rights(
    running: Threaded, client: RawClient
) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c", AS_SOMEBODY_ELSE.format(uid=OTHER_UID)),
            *(str(running.config.socket_path), ORDERS),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == [
        unix_user_sid(OTHER_UID).serialize().hex(),
        "MQ_ERROR_ACCESS_DENIED",
        "MQ_ERROR_ACCESS_DENIED",
        "sent",
        "MQ_ERROR_ACCESS_DENIED",
        "MQ_ERROR_ACCESS_DENIED",
        r"ALPHA\private$\mine",
        "opened",
    ]
    assert bodies(client.receive(client.open(ORDERS))) == [b"from outside"]
    # The other way round: what is theirs is not ours, administrators or not.
    with pytest.raises(QueueError, match="MQ_ERROR_ACCESS_DENIED"):
        client.open(r".\private$\mine")


# A client that dies

DIES = """
import os, sys, signal
from pathlib import Path
from tests.server.raw_client import RawClient, packet
from openmsmq.protocol.local import messages as local
client = RawClient.connect(Path(sys.argv[1]))
plain, transactional = sys.argv[2:4]
handle = client.open(plain)
client.receive(handle, count=2, two_phase=True)
transaction = client.begin()
client.receive(client.open(transactional), transaction=transaction)
client.send(client.open(transactional, "send"), packet(b"never"), transaction=transaction)
print("ready", flush=True)
signal.pause()
"""


def test_a_client_that_is_killed_gives_back_what_it_had_in_place(
    running: Threaded, client: RawClient
) -> None:
    other = r".\private$\other"
    client.create(other, transactional=True)
    fill(client, b"one", b"two", b"three")
    client.send(client.open(other, "send"), packet(b"first"), packet(b"second"), transaction=-1)
    handle, transactional = client.open(ORDERS), client.open(other)
    before = client.receive(handle, action="peek", count=9).lookup_ids
    with subprocess.Popen(
        [sys.executable, "-c", DIES, str(running.config.socket_path), ORDERS, other],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert bodies(client.receive(handle, action="peek", count=9)) == [b"three"]
        assert bodies(client.receive(transactional, action="peek", count=9)) == [b"second"]
        waiting = local.Receive(client.next_id(), transactional, "peek", timeout=20.0)
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while client.count(ORDERS) != 3 or len(peeked := shown(client, handle)) != 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert peeked == [b"one", b"two", b"three"]
    assert client.receive(handle, action="peek", count=9).lookup_ids == before
    assert isinstance(client.call(waiting), local.Messages)
    found = client.receive(transactional, count=9)
    assert bodies(found) == [b"first", b"second"]
    assert found.counters == [(0, 1, 0, 0.0)]


def shown(client: RawClient, handle: int) -> list[bytes]:
    return bodies(client.receive(handle, action="peek", count=9))


def test_a_client_that_leaves_while_its_batch_is_written_loses_nothing(
    running: Threaded, client: RawClient
) -> None:
    for number in range(30):
        with running.connect() as other:
            handle = other.open(ORDERS, "send")
            other.post(local.Send(other.next_id(), handle, [packet(b"%d" % number)] * 10))
    deadline = time.monotonic() + 10
    while client.count(ORDERS) < 300 and time.monotonic() < deadline:
        time.sleep(0.01)
    # Each request was carried out whole or not at all, in the order of its client.
    found = bodies(client.receive(client.open(ORDERS), count=500))
    assert len(found) % 10 == 0
    assert {found.count(body) for body in found} <= {10}


def test_a_receive_whose_reply_was_never_read_takes_effect_once(
    running: Threaded, client: RawClient
) -> None:
    fill(client, b"one", b"two")
    with running.connect() as other:
        handle = other.open(ORDERS)
        other.post(local.Receive(other.next_id(), handle))
    deadline = time.monotonic() + 10
    while client.count(ORDERS) != 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"two"]


def test_a_stop_gives_what_one_client_held_to_no_other(tmp_path: Path) -> None:
    with threaded(tmp_path) as running:
        holder = running.connect()
        holder.create(ORDERS)
        fill(holder, b"one", b"two")
        handle = holder.open(ORDERS)
        reply = holder.receive(handle, count=9, two_phase=True)
        assert bodies(reply) == [b"one", b"two"]
        readers = [running.connect() for _ in range(10)]
        for reader in readers:
            number = reader.open(ORDERS)
            reader.post(local.Receive(reader.next_id(), number, timeout=20.0))
            # The reply to a later request shows that the read waits.
            reader.value(local.GetStatus(reader.next_id()))
        running.stop()
        for each in (holder, *readers):
            each.sock.close()
    with threaded(tmp_path) as running, running.connect() as client:
        assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"one", b"two"]


# Waiting, cursors, transactions over the socket


def test_waiting_readers_are_served_in_the_order_in_which_they_came(
    running: Threaded, client: RawClient
) -> None:
    readers = [running.connect() for _ in range(5)]
    requests = []
    for reader in readers:
        handle = reader.open(ORDERS)
        request = local.Receive(reader.next_id(), handle, timeout=20.0)
        reader.post(request)
        # The reply to a later request shows that the read waits.
        reader.value(local.GetStatus(reader.next_id()))
        requests.append(request)
    for number in range(5):
        fill(client, b"%d" % number)
    found = []
    for reader, request in zip(readers, requests, strict=True):
        reply = reader.wait(request)
        assert isinstance(reply, local.Messages)
        found += bodies(reply)
        reader.sock.close()
    assert found == [b"%d" % number for number in range(5)]


def test_a_waiting_read_times_out(client: RawClient) -> None:
    started = time.monotonic()
    with pytest.raises(QueueError, match="MQ_ERROR_IO_TIMEOUT"):
        client.receive(client.open(ORDERS), timeout=0.2)
    assert 0.15 < time.monotonic() - started < 10


def test_pipelined_requests_are_carried_out_in_their_order(client: RawClient) -> None:
    client.create(r".\private$\tx", transactional=True)
    handle = client.open(r".\private$\tx", "send")
    begin = local.BeginTransaction(client.next_id())
    sends = [
        local.Send(client.next_id(), handle, [packet(b"%d" % number)], begin.id)
        for number in range(50)
    ]
    end = local.EndTransaction(client.next_id(), begin.id, True)
    client.post(begin, *sends, end)
    client.wait(end)
    found = bodies(client.receive(client.open(r".\private$\tx"), count=99))
    assert found == [b"%d" % number for number in range(50)]


def test_a_message_of_four_megabytes_passes(client: RawClient) -> None:
    body = random.Random(4).randbytes((4 << 20) - 2000)
    fill(client, body, body)
    reply = client.receive(client.open(ORDERS), count=2, max_bytes=1 << 24)
    assert bodies(reply) == [body, body]


def test_a_client_that_does_not_read_leaves_messages_to_others(
    running: Threaded, client: RawClient
) -> None:
    fill(client, *[bytes(1 << 20)] * 8)
    client.create(r".\private$\shared")
    lazy = running.connect()
    waiting = local.Receive(lazy.next_id(), lazy.open(r".\private$\shared"), timeout=None)
    lazy.post(waiting)
    handle = lazy.open(ORDERS, "peek")
    peeks = [
        local.Receive(lazy.next_id(), handle, "peek", count=8, max_bytes=1 << 24) for _ in range(4)
    ]
    lazy.post(*peeks)
    deadline = time.monotonic() + 20
    while client.value(local.GetStatus(client.next_id()))["unread_bytes"] < 1 << 22:
        assert time.monotonic() < deadline
    shared = client.open(r".\private$\shared", "send")
    client.send(shared, packet(b"for whoever reads"))
    reader = client.open(r".\private$\shared")
    assert bodies(client.receive(reader, timeout=10.0)) == [b"for whoever reads"]
    for peek in peeks:
        assert isinstance(lazy.wait(peek), local.Messages)
    client.send(shared, packet(b"for the other"))
    reply = lazy.wait(waiting)
    assert isinstance(reply, local.Messages)
    assert bodies(reply) == [b"for the other"]
    lazy.sock.close()


# Ranges


def test_a_range_is_streamed_as_fast_as_the_client_reads(
    running: Threaded, client: RawClient
) -> None:
    handle = client.open(ORDERS, "send")
    for _ in range(40):
        client.send(handle, *[packet(bytes(1000), express=True)] * 1000)
    reader = running.connect()
    request = local.PeekRange(reader.next_id(), reader.open(ORDERS, "peek"), 0, EVERYTHING)
    reader.post(request)
    time.sleep(0.5)
    # Meanwhile the queue manager serves others, and does not pile up what is not read.
    started = time.monotonic()
    status = client.value(local.GetStatus(client.next_id()))
    assert time.monotonic() - started < 5
    assert 0 < status["unread_bytes"] < 16 << 20
    rows = 0
    while True:
        reply = reader.wait(request)
        assert isinstance(reply, local.Block)
        rows += len(reply.ends)
        if reply.last:
            break
    assert rows == 40_000
    reader.sock.close()


def test_a_batch_is_staged_by_several_and_published_by_another(
    running: Threaded, client: RawClient
) -> None:
    for partition in range(3):
        with running.connect() as task:
            stage = local.Stage(
                task.next_id(), "job", 7, partition, 0, ORDERS, [packet(b"%d" % partition)] * 2
            )
            assert task.value(stage) == 2
    assert client.count(ORDERS) == 0
    with running.connect() as driver:
        commit = local.CommitBatch(driver.next_id(), "job", 7, [(0, 0), (1, 0), (2, 0)])
        assert driver.value(commit) == {"count": 6, "repeated": False}
        again = local.CommitBatch(driver.next_id(), "job", 7, [(0, 0), (1, 0), (2, 0)])
        assert driver.value(again)["repeated"]
    found = bodies(client.receive(client.open(ORDERS), count=9))
    assert found == [b"0", b"0", b"1", b"1", b"2", b"2"]


# Bounds


def test_more_clients_than_allowed_are_refused(tmp_path: Path) -> None:
    with threaded(tmp_path, max_connections=20) as running:
        clients = [running.connect() for _ in range(20)]
        with pytest.raises(ConnectionError):
            running.connect()
        clients.pop().sock.close()
        deadline = time.monotonic() + 10
        while True:
            with suppress(ConnectionError):
                clients.append(running.connect())
                break
            assert time.monotonic() < deadline
        status = clients[0].value(local.GetStatus(clients[0].next_id()))
        assert status["client_counters"]["refused"] >= 1
        for each in clients:
            each.sock.close()


def test_a_purge_of_many_messages_does_not_keep_others_waiting(
    running: Threaded, client: RawClient
) -> None:
    handle = client.open(ORDERS, "send")
    for _ in range(10):
        client.send(handle, *[packet(b"x", express=True)] * 10_000)
    longest = 0.0
    done = threading.Event()

    def ask() -> None:
        nonlocal longest
        with running.connect() as other:
            while not done.is_set():
                started = time.monotonic()
                other.value(local.GetStatus(other.next_id()))
                longest = max(longest, time.monotonic() - started)

    asking = threading.Thread(target=ask)
    asking.start()
    reader = client.open(ORDERS)
    steps = 0
    step = {"done": False, "upto": None}
    while not step["done"]:
        step = client.value(local.Purge(client.next_id(), reader, step["upto"]))
        steps += 1
    done.set()
    asking.join()
    assert steps > 10
    assert longest < 5


def test_a_flood_of_requests_is_bounded_and_answered(running: Threaded, client: RawClient) -> None:
    handle = client.open(ORDERS, "send")
    requests = [
        local.Send(client.next_id(), handle, [packet(bytes(50_000))] * 20) for _ in range(150)
    ]
    poster = threading.Thread(target=client.post, args=requests)
    poster.start()
    for request in requests:
        assert isinstance(client.wait(request), local.Done)
    poster.join()
    assert client.count(ORDERS) == 3000


# Hostile clients


def hostile_streams() -> Iterator[bytes]:
    chance = random.Random(20)
    hello = frame(local.encode(local.Hello(1, local.VERSION)))
    good = frame(local.encode(local.ListQueues(2)))
    yield b""
    yield b"\0"
    yield b"GET / HTTP/1.1\r\n\r\n"
    yield good
    yield hello + b"\xff\xff\xff\x7f"
    yield hello[:-1]
    yield hello + hello
    yield hello + frame(b"")
    yield hello + frame(b"\x90")
    yield hello + frame(b"\xdd\xff\xff\xff\xff")
    for _ in range(60):
        yield hello + frame(chance.randbytes(chance.randrange(40)))
        broken = bytearray(good)
        broken[chance.randrange(len(broken))] = chance.randrange(256)
        yield hello + bytes(broken) * 3
        yield hello + good[: chance.randrange(len(good))]


def test_a_hostile_client_costs_itself_only(running: Threaded, client: RawClient) -> None:
    fill(client, b"kept")
    for stream in hostile_streams():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect(str(running.config.socket_path))
            with suppress(BrokenPipeError):
                sock.sendall(stream)
    deadline = time.monotonic() + 20
    counters: dict[str, int] = {}
    while counters.get("faulty", 0) < 100 and time.monotonic() < deadline:
        counters = client.value(local.GetStatus(client.next_id()))["client_counters"]
    assert counters["faulty"] >= 100
    assert "crashed" not in counters
    assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"kept"]


def test_a_fault_of_ours_costs_one_client_and_is_logged_with_its_trace(
    running: Threaded, client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    fill(client, b"kept")

    def broken() -> dict[str, Any]:
        raise ZeroDivisionError("inside")

    running.call(lambda: setattr(running.process, "process_info", broken))
    with running.connect() as other, caplog.at_level(logging.ERROR, "openmsmq"):
        with pytest.raises(ConnectionError):
            other.value(local.GetStatus(other.next_id()))
        assert bodies(client.receive(client.open(ORDERS))) == [b"kept"]
    (record,) = [each for each in caplog.records if getattr(each, "event", "") == "M0024"]
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


# TCP


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificate"))


def over_tcp(tmp_path: Path, authority: Authority) -> dict[str, Any]:
    certificate, key = authority.issue("127.0.0.1")
    tokens = tmp_path / "tokens.toml"
    entries = {"ours": f"uid:{os.geteuid()}", "theirs": "S-1-5-21-1-2-3-1000"}
    tokens.write_text(
        "".join(
            f'"{hashlib.sha256(token.encode()).hexdigest()}" = "{principal}"\n'
            for token, principal in entries.items()
        )
    )
    return {
        "local_port": 0,
        "local_certificate": certificate,
        "local_key": key,
        "local_tokens": tokens,
    }


def test_a_client_over_tcp_is_known_by_its_token(tmp_path: Path, authority: Authority) -> None:
    with threaded(tmp_path, **over_tcp(tmp_path, authority)) as running:
        address = running.process.endpoints["local-tcp"]
        with RawClient.connect_tls(address, authority.file) as ours:
            told = ours.hello("ours")
            assert told["sid"] == unix_user_sid(os.geteuid()).serialize()
            ours.create(ORDERS)
            fill(ours, b"x" * 3_000_000)
            assert bodies(ours.receive(ours.open(ORDERS))) == [b"x" * 3_000_000]
        with RawClient.connect_tls(address, authority.file) as theirs:
            theirs.hello("theirs")
            with pytest.raises(QueueError, match="MQ_ERROR_ACCESS_DENIED"):
                theirs.open(ORDERS)
            theirs.open(ORDERS, "send")


@pytest.mark.parametrize("token", ["", "guess"])
def test_an_unknown_token_is_refused_over_tcp(
    tmp_path: Path, authority: Authority, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, "openmsmq"),
        threaded(tmp_path, **over_tcp(tmp_path, authority)) as running,
    ):
        address = running.process.endpoints["local-tcp"]
        with RawClient.connect_tls(address, authority.file) as client:
            with pytest.raises(QueueError, match=r"MQ_ERROR_ACCESS_DENIED.*token"):
                client.hello(token)
            assert client.hung_up()
        (told,) = logged(caplog, "M0023")
        assert told["peer"] == "127.0.0.1"
        assert "token" in told["reason"]
        assert logged(caplog, "M0022") == []
        assert running.process.manager.counters.clients.of("local", "refused") == 1


def test_a_client_that_breaks_the_protocol_is_named(
    running: Threaded, caplog: pytest.LogCaptureFixture
) -> None:
    with RawClient.connect(running.config.socket_path, hello=False) as client:
        client.sock.sendall(frame(b"nonsense"))
        assert client.hung_up()
    (told,) = logged(caplog, "M0022")
    assert told["peer"] == describe_principal(unix_user_sid(os.geteuid()), UnixAccounts())


def test_the_tcp_port_speaks_tls_only(
    tmp_path: Path, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, "openmsmq"),
        threaded(tmp_path, **over_tcp(tmp_path, authority)) as running,
    ):
        host, port = running.process.endpoints["local-tcp"].split(":")
        with socket.create_connection((host, int(port)), 20) as plain:
            plain.sendall(frame(local.encode(local.Hello(1, local.VERSION, "ours"))))
            client = RawClient(plain)
            assert client.hung_up()
        stranger = ssl.create_default_context()
        with (
            socket.create_connection((host, int(port)), 20) as plain,
            pytest.raises(ssl.SSLError),
        ):
            stranger.wrap_socket(plain, server_hostname=host)
        deadline = time.monotonic() + 10
        while len(reasons := refusals(caplog)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert all(reason.startswith("TLS was not agreed on: ") for reason in reasons)


def refusals(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [str(fields["reason"]) for fields in logged(caplog, "M0023")]


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    """The fields of each line with this event."""
    records = [each for each in caplog.records if getattr(each, "event", "") == event]
    return [getattr(each, "fields") for each in records]  # noqa: B009 - no such type


@pytest.mark.parametrize("missing", ["local_certificate", "local_key", "local_tokens"])
def test_a_tcp_port_needs_certificate_key_and_tokens(
    tmp_path: Path, authority: Authority, missing: str
) -> None:
    settings = over_tcp(tmp_path, authority)
    del settings[missing]
    with pytest.raises(ConfigError, match="local_port: needs"), threaded(tmp_path, **settings):
        pass


def test_a_port_that_is_taken_is_an_error_that_names_the_key(
    tmp_path: Path, authority: Authority
) -> None:
    settings = over_tcp(tmp_path, authority)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings["local_port"] = taken.getsockname()[1]
        with pytest.raises(ConfigError, match="local_port: 127"), threaded(tmp_path, **settings):
            pass
