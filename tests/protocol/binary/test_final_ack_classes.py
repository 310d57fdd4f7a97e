"""FinalAck: its class, from what happened at the destination to the dead letter at the source."""

from collections.abc import Callable
from uuid import UUID

import pytest
from tests.protocol.binary.ordered_traffic import ordered, tx_pair
from tests.protocol.binary.pair import ORDERS, TO_B, USER, Network, Node
from tests.protocol.binary.raw_peer import RawPeer, tx_message

from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.message_class import MessageClass, is_negative
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.packets.order_ack import FINAL_ACK_CLASSES, FinalAck, recognize_ack
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, SecurityDescriptor
from openmsmq.wire.security.sid import EVERYONE

SPEC = pytest.mark.spec
LATER = f"{ORDERS};later"
NACK = MessageClass


def receiving(b: Node, path: str = ORDERS) -> OpenQueueDescriptor:
    return b.qm.open_queue(f".\\{path}", QueueAccessType.RECEIVE, caller=USER)


def dead_letters(node: Node) -> list[tuple[bytes, MessageClass]]:
    """The transactional dead letters: body and class."""
    queue = node.qm.state.xact_deadletter
    return [
        (view.body, MessageClass(message.make_history().message_class))
        for view, message in zip(node.messages(queue), queue.lanes, strict=True)
    ]


# Where a message may be when its fate is decided


def stay(b: Node) -> str:
    return ORDERS


def move(b: Node) -> str:
    target = b.qm.open_queue(f".\\{LATER}", QueueAccessType.MOVE, caller=USER)
    b.qm.traffic.move_many(receiving(b), target)
    return LATER


def move_in_transaction(b: Node) -> str:
    target = b.qm.open_queue(f".\\{LATER}", QueueAccessType.MOVE, caller=USER)
    transaction = b.qm.traffic.begin(UUID(int=1))
    b.qm.traffic.move_many(receiving(b), target, transaction=transaction)
    b.qm.traffic.commit(transaction.identifier)
    return LATER


def move_and_back(b: Node) -> str:
    target = b.qm.open_queue(f".\\{ORDERS}", QueueAccessType.MOVE, caller=USER)
    b.qm.traffic.move_many(receiving(b, move(b)), target)
    return ORDERS


def lease(b: Node) -> str:
    b.qm.leases.lease(receiving(b), "job", 1, max_rows=10, max_bytes=1 << 20)
    return f"{ORDERS};spark-job"


def lease_and_release(b: Node) -> str:
    lease(b)
    b.qm.leases.release(receiving(b), "job", 1)
    return ORDERS


WAYS = pytest.mark.parametrize(
    "way", [stay, move, move_in_transaction, move_and_back, lease, lease_and_release]
)


@SPEC("MQQB-3.1.7.2.2-01", "MQQB-3.1.1.6.2-08", "MQDMPR-3.1.1.12-45")
@WAYS
@pytest.mark.parametrize("restart", [False, True], ids=["no restart", "restart"])
def test_a_final_ack_is_sent_wherever_the_message_was_moved_to(
    way: Callable[[Node], str], *, restart: bool
) -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    # The first asks for it in TransactionHeader.Flags.FA, without a journal.
    peer.send(tx_message(b"1", 5, 1, 0, flags=2), tx_message(b"2", 5, 2, 1))
    path = way(b)
    if restart:
        b.restart()
        peer = RawPeer(network, b)
        peer.connect()
    assert b.receive(path) == [b"1", b"2"]
    network.advance(1)
    finals = [message for message in peer.received if isinstance(recognize_ack(message), FinalAck)]
    assert [message.message_class for message in finals] == [MessageClass.ACK_RECEIVE]


# A message that nobody receives


def expire(network: Network, b: Node, path: str) -> None:
    network.advance(60)


def delete(network: Network, b: Node, path: str) -> None:
    b.qm.delete_queue(b.qm.find_queue(rf".\{ORDERS}"), caller=USER)


def delete_while_locked(network: Network, b: Node, path: str) -> None:
    b.qm.traffic.dequeue_many(receiving(b, path), two_phase=True)
    delete(network, b, path)


def purge(network: Network, b: Node, path: str) -> None:
    b.qm.traffic.purge(receiving(b, path))


def purge_while_locked(network: Network, b: Node, path: str) -> None:
    descriptor = receiving(b, path)
    read = b.qm.traffic.dequeue_many(descriptor, two_phase=True)
    assert isinstance(read, Read)
    purge(network, b, path)
    b.qm.traffic.end_many(descriptor, [read.messages[0].lookup_id], delete=False)


def reject(network: Network, b: Node, path: str) -> None:
    descriptor = receiving(b, path)
    read = b.qm.traffic.dequeue_many(descriptor, two_phase=True)
    assert isinstance(read, Read)
    ids = [read.messages[0].lookup_id]
    b.qm.traffic.end_many(descriptor, ids, delete=True, reason=NACK.NACK_RECEIVE_REJECTED)


def reject_in_transaction(network: Network, b: Node, path: str) -> None:
    transaction = b.qm.traffic.begin(UUID(int=2))
    read = b.qm.traffic.dequeue_many(receiving(b, path), transaction=transaction)
    assert isinstance(read, Read)
    queue = b.qm.find_queue(f".\\{path}")
    b.qm.traffic.reject_many(transaction, queue, [read.messages[0].lookup_id])
    b.qm.traffic.commit(transaction.identifier)


@SPEC("MQQB-3.1.7.2.2-01", "MQQB-3.1.5.7-04")
@WAYS
@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (expire, NACK.NACK_RECEIVE_TIMEOUT),
        (delete, NACK.NACK_Q_DELETED),
        (delete_while_locked, NACK.NACK_Q_DELETED),
        (purge, NACK.NACK_Q_PURGED),
        (purge_while_locked, NACK.NACK_Q_PURGED),
        (reject, NACK.NACK_RECEIVE_REJECTED),
        (reject_in_transaction, NACK.NACK_RECEIVE_REJECTED),
    ],
)
def test_the_source_learns_why_a_message_was_not_received(
    way: Callable[[Node], str],
    cause: Callable[[Network, Node, str], None],
    expected: MessageClass,
) -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True, negative_journaling=True, time_to_be_received=50)
    network.advance(3)
    path = way(b)
    network.advance(3)
    assert dead_letters(a) == []
    cause(network, b, path)
    network.advance(3)
    assert dead_letters(a) == [(b"1", expected)]
    assert a.outgoing(TO_B).count == 0
    a.restart()
    assert dead_letters(a) == [(b"1", expected)]


# A message that the destination does not take


def set_queue(b: Node, **attributes: object) -> None:
    b.qm.set_queue(b.qm.find_queue(rf".\{ORDERS}"), caller=SYSTEM_CALLER, **attributes)


def remove(b: Node) -> None:
    b.qm.delete_queue(b.qm.find_queue(rf".\{ORDERS}"), caller=USER)


def replace(b: Node) -> None:
    remove(b)
    b.create(ORDERS, transactional=False)


def deny(b: Node) -> None:
    denied = Ace(AceType.ACCESS_DENIED, QueueRight.WRITE_MESSAGE, EVERYONE)
    descriptor = SecurityDescriptor(owner=USER.sid, group=USER.sid, dacl=Acl((denied,)))
    set_queue(b, security=descriptor.serialize())


def fill(b: Node) -> None:
    set_queue(b, quota=1)


def demand_signatures(b: Node) -> None:
    set_queue(b, authentication=True)


def demand_encryption(b: Node) -> None:
    set_queue(b, privacy_level=QueuePrivacyLevel.BODY)


@SPEC("MQQB-3.1.5.7-04")
@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (remove, NACK.NACK_BAD_DST_Q),
        (replace, NACK.NACK_NOT_TRANSACTIONAL_Q),
        (deny, NACK.NACK_ACCESS_DENIED),
        (fill, NACK.NACK_Q_EXCEED_QUOTA),
        (demand_signatures, NACK.NACK_BAD_SIGNATURE),
        (demand_encryption, NACK.NACK_BAD_ENCRYPTION),
    ],
)
def test_the_source_learns_why_a_message_was_not_taken(
    cause: Callable[[Node], None], expected: MessageClass
) -> None:
    network, a, b = tx_pair()
    cause(b)
    a.send(TO_B, bytes(1025), tx=True, negative_journaling=True)
    network.advance(3)
    assert dead_letters(a) == [(bytes(1025), expected)]
    assert a.outgoing(TO_B).count == 0
    counted = {} if cause is remove else {expected.name: 1}
    refused = [queue.counters.refused for queue in b.qm.state.queues.values()]
    assert [each for each in refused if each] == ([counted] if counted else [])


def test_the_source_learns_that_a_message_came_too_late() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True)
    network.advance(3)
    network.stalled = True
    a.send(TO_B, b"2", tx=True, negative_journaling=True, time_to_reach_queue=5)
    network.advance(10)
    network.stalled = False
    network.advance(3)
    assert b.bodies() == [b"1"]
    assert dead_letters(a) == [(b"2", NACK.NACK_REACH_QUEUE_TIMEOUT)]


@SPEC("MQQB-3.1.5.7-04", "MQQB-3.1.7.17-02")
@pytest.mark.parametrize("message_class", sorted(filter(is_negative, FINAL_ACK_CLASSES)))
@pytest.mark.parametrize("delivered", [False, True], ids=["not delivered", "delivered"])
def test_a_dead_letter_has_the_class_of_the_final_ack(
    message_class: MessageClass, *, delivered: bool
) -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", negative_journaling=True)
    assert dead_letters(a) == []
    if delivered:
        peer.session_ack()
        peer.order_ack(1)
    peer.final_ack(1, message_class)
    assert dead_letters(a) == [(b"1", message_class)]
