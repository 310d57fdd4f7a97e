"""Bytes between a channel and a socket, among threads."""

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from openmsmq.client.blocking.tls import Tls
from openmsmq.client.blocking.transport import Transport
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.local.channel import RequestChannel
from openmsmq.client.operations import Wait
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import FrameBuffer, frame

WAIT = 20.0
LARGE = 3_000_000


@pytest.fixture
def pair() -> Iterator[tuple[Transport, socket.socket]]:
    """A transport, and the socket at the other end."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(WAIT)
    transport = Transport(ours, RequestChannel("test"), None)
    with theirs:
        yield transport, theirs
        transport.close()


def read_requests(sock: socket.socket, count: int) -> list[local.AnyRequest]:
    frames = FrameBuffer()
    found: list[local.AnyRequest] = []
    while len(found) < count:
        found += [local.decode_request(each) for each in frames.feed(sock.recv(65536))]
    return found


def post(transport: Transport, size: int = 0) -> int:
    """A request of this size."""
    channel = channel_of(transport)
    with transport.lock:
        request = channel.next_id()
        channel.post(local.Send(request, 1, [bytes(size)]))
    return request


def reply(transport: Transport, wait: Wait) -> object | None:
    """What came in time."""
    transport.wait(wait)
    with transport.lock:
        return transport.channel.take(wait.request)


def channel_of(transport: Transport) -> RequestChannel:
    assert isinstance(transport.channel, RequestChannel)
    return transport.channel


def start(function: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def test_a_wait_ends_in_time_without_a_reply(pair: tuple[Transport, socket.socket]) -> None:
    transport, _ = pair
    assert reply(transport, Wait(1, 0.01)) is None
    assert reply(transport, Wait(1, 0.0)) is None


def test_whoever_reads_reads_for_all(pair: tuple[Transport, socket.socket]) -> None:
    transport, theirs = pair
    got: dict[int, object] = {}

    def wait(number: int) -> None:
        got[number] = reply(transport, Wait(number, WAIT))

    threads = [start(partial(wait, number)) for number in (1, 2, 3)]
    for number in (3, 1, 2):
        theirs.sendall(frame(local.encode(local.Done(number, number))))
    for thread in threads:
        thread.join(WAIT)
    assert got == {number: local.Done(number, number) for number in (1, 2, 3)}


def test_a_writer_that_cannot_write_leaves_the_reading_to_the_reader(
    pair: tuple[Transport, socket.socket],
) -> None:
    transport, theirs = pair
    got: list[object] = []
    reader = start(lambda: got.append(reply(transport, Wait(99, WAIT))))
    post(transport, LARGE)
    writer = start(transport.flush)
    writer.join(0.2)
    assert writer.is_alive()
    theirs.sendall(frame(local.encode(local.Done(99))))
    reader.join(WAIT)
    assert got == [local.Done(99)]
    read_requests(theirs, 1)
    writer.join(WAIT)
    assert not writer.is_alive()


def test_a_writer_that_cannot_write_reads_when_nobody_does(
    pair: tuple[Transport, socket.socket],
) -> None:
    transport, theirs = pair
    request = post(transport, LARGE)
    answer = local.Messages(request, [bytes(LARGE)], [1], [1.0], [])
    writer = start(transport.flush)
    # More than fits between the two: it only gets through while the writer reads.
    theirs.sendall(frame(local.encode(answer)))
    read_requests(theirs, 1)
    writer.join(WAIT)
    assert reply(transport, Wait(request, WAIT)) == answer


def test_writers_keep_the_order_of_what_was_posted(
    pair: tuple[Transport, socket.socket],
) -> None:
    transport, theirs = pair

    def write() -> None:
        for _ in range(50):
            post(transport, 10_000)
            transport.flush()

    threads = [start(write) for _ in range(3)]
    ids = [request.id for request in read_requests(theirs, 150)]
    for thread in threads:
        thread.join(WAIT)
    assert ids == sorted(ids)


def test_nothing_is_written_after_a_loss(pair: tuple[Transport, socket.socket]) -> None:
    transport, theirs = pair
    theirs.close()
    post(transport)
    with pytest.raises(ConnectionLost):
        transport.flush()
    post(transport)
    with pytest.raises(ConnectionLost):
        transport.flush()
    with pytest.raises(ConnectionLost):
        transport.wait(Wait(1))


def test_a_wake_up_without_data_is_no_loss(pair: tuple[Transport, socket.socket]) -> None:
    transport, _ = pair
    transport._read([(0, select.POLLIN)])
    assert transport.channel.fault is None


@pytest.mark.interpreted
def test_a_connection_is_given_up_when_a_call_ends_amidst_its_bytes(
    pair: tuple[Transport, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    transport, theirs = pair
    theirs.sendall(b"half of")

    def interrupt(count: int) -> list[int]:
        raise KeyboardInterrupt

    monkeypatch.setattr(transport.channel, "filled", interrupt)
    with pytest.raises(KeyboardInterrupt):
        transport.wait(Wait(1, WAIT))
    with pytest.raises(ConnectionLost, match=r"given up.*Ctrl-C"):
        transport.wait(Wait(1, WAIT))
    assert theirs.recv(1) == b""


def test_messages_leave_soon_by_themselves(pair: tuple[Transport, socket.socket]) -> None:
    transport, theirs = pair
    for _ in range(3):
        with transport.lock:
            channel_of(transport).add_packet(1, 0, b"a")
        transport.linger()
        assert isinstance(read_requests(theirs, 1)[0], local.Send)


def test_messages_that_wait_survive_neither_error_nor_end(
    pair: tuple[Transport, socket.socket],
) -> None:
    transport, theirs = pair
    theirs.close()
    with transport.lock:
        channel_of(transport).add_packet(1, 0, b"a")
    transport.linger()
    transport.close()
    with contextlib.suppress(ConnectionLost):
        transport.flush()
    assert not transport.lingers or transport.channel.fault is not None


class BrokenTls(Tls):
    """A connection on which somebody has changed bytes."""

    def __init__(self) -> None:
        super().__init__(ssl.create_default_context(), "localhost")

    def decrypt(self, data: bytes) -> bytes:  # noqa: ARG002 - the signature of Tls
        raise ssl.SSLError(1, "bad record mac")


def test_bytes_that_were_changed_on_the_way_end_the_session() -> None:
    ours, theirs = socket.socketpair()
    transport = Transport(ours, RequestChannel("test"), BrokenTls())
    theirs.sendall(b"x")
    with theirs, pytest.raises(ConnectionLost, match="bad record mac"):
        transport.wait(Wait(1, WAIT))
    transport.close()
