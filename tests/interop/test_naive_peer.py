"""The binary protocol against a peer that knows nothing but the byte layouts."""

import socket
import struct
from collections.abc import Iterator

import pytest
from tests.interop.loopback import new_address
from tests.interop.naive_peer import (
    GUID,
    NaivePeer,
    counts,
    establish,
    parameters,
    transaction,
    user_message,
)

import openmsmq

QUEUE = r".\private$\in"


class Node:
    """A queue manager that listens at an address of its own."""

    def __init__(self) -> None:
        self.address = new_address()
        self.embedded = openmsmq.embedded(
            bind=self.address, binary_port=1801, ping_port=3527, name="NODE"
        )
        self.manager = self.embedded.connect()

    def name(self, queue: str = "in") -> str:
        return rf"TCP:{self.address}\private$\{queue}"


@pytest.fixture
def node() -> Iterator[Node]:
    node = Node()
    yield node
    node.manager.close()
    node.embedded.close()


@pytest.mark.spec("MQQB-2.1.1-04", "MQQB-2.1.1-07")
def test_an_express_message_arrives_and_is_counted(node: Node) -> None:
    node.manager.create_queue(QUEUE)
    with NaivePeer(node.address) as peer:
        assert peer.handshake() != bytes(16)
        peer.send(user_message(node.name(), b"hello", 1, label="greeting") + counts(1, 0))
        message = node.manager.open_queue(QUEUE).receive(timeout=10)
        assert (message.body, message.label, message.delivery) == ("hello", "greeting", "express")
        assert message.id == rf"{{{str(GUID).upper()}}}\1"
        assert message.app_specific == 7
        assert peer.session_ack()[0] == 1


def test_recoverable_messages_are_acknowledged_by_their_own_numbers(node: Node) -> None:
    node.manager.create_queue(QUEUE)
    with NaivePeer(node.address) as peer:
        peer.handshake()
        for number in (1, 2, 3):
            packet = user_message(node.name(), b"%d" % number, number, recoverable=True)
            peer.send(packet + counts(number, number))
        acknowledged: set[int] = set()
        while acknowledged != {1, 2, 3}:
            _, first, mask = peer.session_ack()
            acknowledged |= {first + bit for bit in range(32) if mask >> bit & 1}
    bodies = [message.body for message in node.manager.open_queue(QUEUE).messages(timeout=0)]
    assert bodies == ["1", "2", "3"]


def test_a_transactional_message_is_taken_once_and_in_order(node: Node) -> None:
    node.manager.create_queue(QUEUE, transactional=True)
    sequence = 77 << 32 | 1
    with NaivePeer(node.address) as peer:
        peer.handshake()
        # The second before the first, the first, the first again, the second.
        for count, (number, previous) in enumerate(((2, 1), (1, 0), (1, 0), (2, 1)), 1):
            header = transaction(sequence, number, previous)
            body = b"%d" % number
            packet = user_message(
                node.name(), body, 10 + number, recoverable=True, transaction=header
            )
            peer.send(packet + counts(count, count))
        with node.manager.transaction() as work:
            queue = node.manager.open_queue(QUEUE)
            found = [queue.receive(timeout=10, transaction=work).body for _ in range(2)]
        assert found == ["1", "2"]
        assert queue.receive_many(5, timeout=0.5) == []


def test_bytes_that_come_one_by_one_are_a_session_too(node: Node) -> None:
    node.manager.create_queue(QUEUE)
    with NaivePeer(node.address) as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        message = user_message(node.name(), b"slow", 5) + counts(1, 0)
        for byte in establish(GUID) + parameters() + message:
            peer.send(bytes([byte]))
        assert node.manager.open_queue(QUEUE).receive(timeout=10).body == "slow"


def corrupted(position: int, value: int) -> bytes:
    packet = bytearray(establish(GUID))
    packet[position] = value
    return bytes(packet)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(corrupted(0, 0x11), id="version"),
        pytest.param(corrupted(4, 0x4D), id="signature"),
        pytest.param(corrupted(11, 0x7F), id="size"),
        pytest.param(corrupted(18, 0x09), id="type"),
        pytest.param(parameters(), id="order"),
        pytest.param(user_message("TCP:x", b"", 1) + counts(1, 0), id="no handshake"),
    ],
)
def test_what_is_wrong_closes_the_session_without_an_answer(node: Node, data: bytes) -> None:
    with NaivePeer(node.address) as peer:
        peer.send(data)
        assert peer.packet() == b""
    # Others are not concerned.
    node.manager.create_queue(QUEUE)
    with NaivePeer(node.address) as peer:
        peer.handshake()


@pytest.mark.spec("MQQB-2.1.2-04")
def test_a_ping_is_answered(node: Node) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(10)
        sock.sendto(struct.pack("<HHI", 1, 0x5548, 99) + GUID.bytes_le, (node.address, 3527))
        answer = sock.recv(100)
    assert len(answer) == 24
    assert struct.unpack_from("<H", answer, 0)[0] & 3 == 1
    assert struct.unpack_from("<HI", answer, 2) == (0x5548, 99)
    assert answer[8:] != GUID.bytes_le
