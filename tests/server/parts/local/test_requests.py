"""Requests over real sockets: waiting, cursors, transactions, ranges, bounds."""

import random
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.server.parts.local.filling import ORDERS, fill
from tests.server.raw_client import RawClient, bodies, packet
from tests.server.threaded import Threaded, threaded

from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.queue_error import QueueError

EVERYTHING = (1 << 56) - 1


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
        published = driver.value(commit)
        assert (published["count"], published["repeated"]) == (6, False)
        assert published["last"] - published["first"] == 5
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
