"""Which outgoing message leaves next ([MS-MQDMPR] 3.1.7.1.28-29, 34, 3.1.7.3.9)."""

import pytest
from tests.protocol.binary.pair import ADMINISTRATOR, ORDERS, TO_B, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer
from tests.protocol.binary.test_sending import arrivals

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.codes.queue_enums import QueueState

SPEC = pytest.mark.spec
# Both names lead to one session.
OTHER = r"DIRECT=TCP:10.0.0.2\private$\other"
WEB = r"DIRECT=HTTP://10.0.0.2/msmq/private$/orders"


def waiting_pair() -> tuple[Network, Node, Node]:
    """Two queue managers, of which the second does not answer yet."""
    network, a, b = pair()
    b.create(r"private$\other")
    b.listening = False
    return network, a, b


def connected_pair() -> tuple[Network, Node, Node]:
    """Two queue managers with a session that both outgoing queues use."""
    network, a, b = waiting_pair()
    b.listening = True
    for name in (TO_B, OTHER):
        a.send(name, b"first", delivery_mode=0)
    network.advance(2)
    network.log.clear()
    return network, a, b


def listen(network: Network, b: Node) -> list[bytes]:
    """Let the second queue manager answer; what arrives there, in this order."""
    b.listening = True
    network.advance(6)
    return bodies(network)


def bodies(network: Network) -> list[bytes]:
    return [message.body for message in arrivals(network)]


def purge(node: Node, name: str) -> None:
    descriptor = node.qm.open_queue(name, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR)
    node.qm.traffic.purge(descriptor)
    node.qm.close_queue(descriptor)


@SPEC("MQDMPR-3.1.7.1.28-01")
def test_the_priorities_of_queue_and_message_count_together() -> None:
    network, a, b = waiting_pair()
    a.send(TO_B, b"7", b"7 again", priority=7)
    a.send(TO_B, b"6", priority=6)
    a.send(OTHER, b"5 and 2", priority=2)
    a.outgoing(OTHER).properties.base_priority = 5
    network.run()
    # The sums are 7, 7, 6 and 7: of equal ones the older message leaves first.
    assert listen(network, b) == [b"7", b"7 again", b"5 and 2", b"6"]


@SPEC("MQDMPR-3.1.7.1.28-01")
def test_a_new_message_leaves_at_once_when_nothing_is_before_it() -> None:
    network, a, _ = connected_pair()
    a.send(TO_B, b"1")
    network.run()
    assert bodies(network) == [b"1"]
    a.send(OTHER, b"2")
    network.run()
    assert bodies(network) == [b"1", b"2"]


@SPEC("MQDMPR-3.1.7.1.28-02", "MQDMPR-3.1.7.3.9-04")
def test_what_was_added_between_two_turns_counts_as_a_whole() -> None:
    network, a, _ = connected_pair()
    a.send(TO_B, b"low", priority=1)
    a.send(TO_B, b"middle", priority=4)
    a.send(OTHER, b"gone", priority=7)
    purge(a, OTHER)
    a.send(OTHER, b"high", priority=6)
    network.run()
    assert bodies(network) == [b"high", b"middle", b"low"]


@SPEC("MQDMPR-3.1.7.3.9-01", "MQDMPR-3.1.7.1.29-01")
def test_messages_leave_one_at_a_time_each_chosen_anew() -> None:
    network, a, b = waiting_pair()
    for name, priorities in ((TO_B, (6, 4, 2)), (OTHER, (5, 3, 1))):
        for priority in priorities:
            a.send(name, b"%d" % priority, priority=priority)
    network.run()
    assert listen(network, b) == [b"6", b"5", b"4", b"3", b"2", b"1"]


@SPEC("MQDMPR-3.1.7.3.9-01")
def test_of_equal_priorities_the_older_message_leaves_first() -> None:
    network, a, b = waiting_pair()
    for number in range(6):
        a.send((TO_B, OTHER)[number & 1], b"%d" % number)
    network.run()
    assert listen(network, b) == [b"%d" % number for number in range(6)]


@SPEC("MQDMPR-3.1.7.3.9-02")
def test_deleted_messages_and_paused_queues_are_passed_over() -> None:
    network, a, b = waiting_pair()
    a.send(OTHER, b"gone", priority=7)
    purge(a, OTHER)
    a.send(TO_B, b"held", priority=6)
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(OTHER, b"free", priority=0)
    network.run()
    assert listen(network, b) == [b"free"]
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.run()
    assert bodies(network) == [b"free", b"held"]


@SPEC("MQDMPR-3.1.7.3.9-04")
def test_with_nothing_that_may_leave_nothing_happens() -> None:
    network, a, _ = connected_pair()
    for name in (TO_B, OTHER):
        a.qm.outgoing.pause(a.outgoing(name), caller=ADMINISTRATOR)
        a.send(name, b"held")
    network.advance(30)
    assert bodies(network) == []
    assert [a.outgoing(name).count for name in (TO_B, OTHER)] == [1, 1]


@SPEC("MQDMPR-3.1.7.1.29-01")
def test_a_message_that_left_or_is_gone_lets_the_next_one_leave() -> None:
    network, a, b = pair()
    b.listening = False
    peer = RawPeer(network, a)
    a.send(TO_B, *[b"%d" % number for number in range(64)], delivery_mode=0)
    peer.accept()
    # The window is full: these wait, and one of them is gone before its turn.
    a.send(OTHER, b"gone", priority=7, delivery_mode=0)
    purge(a, OTHER)
    a.send(OTHER, b"next", delivery_mode=0)
    network.run()
    assert len(peer.received) == 64
    peer.session_ack(64, flags=0)
    # An acknowledgment of what is not there any more is no error.
    peer.session_ack(64, flags=0)
    assert [message.body for message in peer.received[64:]] == [b"next"]


@SPEC("MQDMPR-3.1.7.1.34-01")
def test_all_messages_of_a_paused_queue_wait_and_no_other_leaves_for_that() -> None:
    network, a, b = pair()
    b.listening = False
    peer = RawPeer(network, a)
    a.send(TO_B, *[b"%d" % number for number in range(70)], delivery_mode=0)
    peer.accept()
    a.send(OTHER, b"other", priority=0, delivery_mode=0)
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.run()
    assert len(peer.received) == 64
    peer.session_ack(64, flags=0)
    assert [message.body for message in peer.received[64:]] == [b"other"]
    assert a.outgoing(TO_B).count == 6


@SPEC("MQDMPR-3.1.1.1-26")
def test_after_a_restart_what_waits_leaves_in_the_same_order() -> None:
    network, a, b = waiting_pair()
    a.send(TO_B, b"3", priority=3)
    a.send(OTHER, b"5", priority=5)
    a.send(TO_B, b"4", priority=4)
    network.run()
    a.crash()
    assert listen(network, b) == [b"5", b"4", b"3"]


@SPEC("MQDMPR-3.1.7.3.9-03")
def test_messages_to_a_url_are_not_sent_by_the_binary_protocol() -> None:
    network, a, b = pair()
    a.send(WEB, b"web", delivery_mode=0, destination_queue=None)
    a.send(TO_B, b"binary")
    network.run()
    assert b.bodies() == [b"binary"]
    assert a.binary.outgoing_status(a.outgoing(WEB), now=network.now) is None
    assert a.outgoing(WEB).count == 1
    outgoing = a.outgoing(WEB).outgoing
    assert outgoing is not None
    assert outgoing.state is QueueState.INACTIVE


def test_a_queue_that_waits_for_the_disk_lets_others_send() -> None:
    network, a, b = pair(settings=BinarySettings(window_size=4))
    b.create(r"private$\other")
    for name in (TO_B, OTHER):
        a.send(name, b"first", delivery_mode=0)
    network.advance(2)
    network.log.clear()
    a.flushing = False
    a.send(TO_B, b"recoverable", priority=7)
    a.send(OTHER, b"express", delivery_mode=0)
    network.run()
    assert bodies(network) == [b"express"]
    a.flushing = True
    network.run()
    assert bodies(network) == [b"express", b"recoverable"]
    assert b.bodies(ORDERS) == [b"recoverable", b"first"]
