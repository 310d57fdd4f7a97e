"""Two queue managers over real sockets, as their users see it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address

import openmsmq
from openmsmq import Message

WAIT_SECONDS = 30.0


class Node:
    """A queue manager at an address of its own that can be stopped and started again."""

    def __init__(self, folder: Path, name: str) -> None:
        self.address = new_address()
        self.name = name
        self._folder = folder / name
        self.embedded: Any = None
        self.manager: openmsmq.QueueManager
        self.start()

    def start(self) -> None:
        self.embedded = openmsmq.embedded(
            self._folder, bind=self.address, binary_port=1801, name=self.name
        )
        self.manager = self.embedded.connect()

    def stop(self) -> None:
        if self.embedded is not None:
            self.manager.close()
            self.embedded.close()
            self.embedded = None

    def queue(self, name: str) -> str:
        return rf"DIRECT=TCP:{self.address}\private$\{name}"


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    pair = Node(tmp_path, "alpha"), Node(tmp_path, "beta")
    yield pair
    for node in pair:
        node.stop()


def eventually(check: Callable[[], Any]) -> Any:
    """What the check returns once it is true."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return found


def test_messages_of_every_kind_arrive(nodes: tuple[Node, Node]) -> None:
    alpha, beta = nodes
    beta.manager.create_queue(r".\private$\plain")
    beta.manager.create_queue(r".\private$\exact", transactional=True)
    alpha.manager.send(beta.queue("plain"), Message(b"express", "one", priority=6))
    alpha.manager.send(beta.queue("plain"), Message("text", "two", delivery="recoverable"))
    with alpha.manager.transaction() as work:
        for number in range(5):
            alpha.manager.send(beta.queue("exact"), Message(b"%d" % number), transaction=work)
    plain = beta.manager.open_queue(r".\private$\plain")
    found = {plain.receive(timeout=WAIT_SECONDS).label for _ in range(2)}
    assert found == {"one", "two"}
    exact = beta.manager.open_queue(r".\private$\exact")
    messages = [exact.receive(timeout=WAIT_SECONDS) for _ in range(5)]
    assert [message.body for message in messages] == ["0", "1", "2", "3", "4"]
    assert [message.first_in_transaction for message in messages] == [True] + [False] * 4
    assert [message.last_in_transaction for message in messages] == [False] * 4 + [True]


def test_acknowledgments_come_back_to_the_administration_queue(nodes: tuple[Node, Node]) -> None:
    alpha, beta = nodes
    beta.manager.create_queue(r".\private$\in")
    alpha.manager.create_queue(r".\private$\admin")
    message = Message(b"x", acknowledge="full", admin_queue=alpha.queue("admin"))
    alpha.manager.send(beta.queue("in"), message)
    admin = alpha.manager.open_queue(r".\private$\admin")
    arrived = admin.receive(timeout=WAIT_SECONDS)
    assert arrived.class_name == "MQMSG_CLASS_ACK_REACH_QUEUE"
    received = beta.manager.open_queue(r".\private$\in").receive(timeout=WAIT_SECONDS)
    assert arrived.correlation_id == received.id
    assert admin.receive(timeout=WAIT_SECONDS).class_name == "MQMSG_CLASS_ACK_RECEIVE"


def test_messages_wait_for_a_queue_manager_that_is_away(nodes: tuple[Node, Node]) -> None:
    alpha, beta = nodes
    beta.manager.create_queue(r".\private$\in", transactional=True)
    beta.stop()
    for number in range(20):
        message = Message(b"%d" % number)
        alpha.manager.send(beta.queue("in"), message, transaction="single")
    waiting = eventually(lambda: [each for each in alpha.manager.outgoing() if each["last_error"]])
    assert waiting[0]["reason"] == "nothing accepts connections at the address"
    alpha.stop()
    alpha.start()
    beta.start()
    queue = beta.manager.open_queue(r".\private$\in")
    bodies = [queue.receive(timeout=WAIT_SECONDS).body for _ in range(20)]
    assert bodies == [str(number) for number in range(20)]
    eventually(lambda: not any(each["messages"] for each in alpha.manager.outgoing()))


def test_a_paused_outgoing_queue_keeps_its_messages(nodes: tuple[Node, Node]) -> None:
    alpha, beta = nodes
    beta.manager.create_queue(r".\private$\in")
    target = beta.queue("in")
    alpha.manager.send(target, Message(b"first", delivery="recoverable"))
    queue = beta.manager.open_queue(r".\private$\in")
    assert queue.receive(timeout=WAIT_SECONDS).body == "first"
    alpha.manager.pause_outgoing(target)
    alpha.manager.send(target, Message(b"second", delivery="recoverable"))
    assert queue.receive_many(1, timeout=0.5) == []
    (held,) = alpha.manager.outgoing()
    assert (held["state"], held["messages"], held["reason"]) == ("ONHOLD", 1, "paused")
    alpha.manager.resume_outgoing(target)
    assert queue.receive(timeout=WAIT_SECONDS).body == "second"


def test_a_message_to_a_queue_that_is_missing_becomes_a_dead_letter(
    nodes: tuple[Node, Node],
) -> None:
    alpha, beta = nodes
    with alpha.manager.transaction() as work:
        message = Message(b"lost", dead_letter=True)
        alpha.manager.send(beta.queue("missing"), message, transaction=work)
    dead = alpha.manager.open_queue(r".\system$;deadxact")
    assert dead.receive(timeout=WAIT_SECONDS).body == "lost"


def test_a_queue_that_is_deleted_and_created_again_gets_what_follows(
    nodes: tuple[Node, Node],
) -> None:
    alpha, beta = nodes
    path = r".\private$\in"

    def send(*bodies: str) -> None:
        for body in bodies:
            message = Message(body, dead_letter=True)
            alpha.manager.send(beta.queue("in"), message, transaction="single")

    beta.manager.create_queue(path, transactional=True)
    send("1", "2")
    with beta.manager.open_queue(path) as queue:
        assert queue.receive(timeout=WAIT_SECONDS).body == "1"
    eventually(lambda: beta.manager.queue_info(path)["messages"] == 1)
    # Number 2 goes with the queue; number 3 finds none, number 4 the new one.
    beta.manager.delete_queue(path)
    send("3")
    dead = alpha.manager.open_queue(r".\system$;deadxact")
    letters = [dead.receive(timeout=WAIT_SECONDS) for _ in range(2)]
    assert sorted((letter.body, letter.class_name) for letter in letters) == [
        ("2", "MQMSG_CLASS_NACK_Q_DELETED"),
        ("3", "MQMSG_CLASS_NACK_BAD_DST_Q"),
    ]
    beta.manager.create_queue(path, transactional=True)
    send("4")
    with beta.manager.open_queue(path) as queue:
        assert queue.receive(timeout=WAIT_SECONDS).body == "4"
    beta.stop()
    beta.start()
    send("5")
    queue = beta.manager.open_queue(path)
    assert queue.receive(timeout=WAIT_SECONDS).body == "5"
    assert queue.receive_many(1, timeout=0.5) == []
    eventually(lambda: not any(each["messages"] for each in alpha.manager.outgoing()))
