"""Plain messages leave: windows, acknowledgments, cuts, restarts, order."""

from typing import Any

import pytest
from tests.protocol.binary.pair import ADMINISTRATOR, TO_B, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue
from openmsmq.core.model.read import Read
from openmsmq.core.transfer.outgoing.departures import OutgoingMessagePosition
from openmsmq.core.transfer.outgoing.outgoing import Outgoing
from openmsmq.core.transfer.transports import Transport
from openmsmq.protocol.binary.events import CloseReason
from openmsmq.protocol.binary.session_timers import SessionTimer
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.codes.queue_enums import QueueState
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.framer import Framer


def arrivals(network: Network, name: str = "B") -> list[UserMessage]:
    """The messages that arrived at a node over any connection, repeated ones too."""
    found = []
    for receiver, data in network.log:
        if receiver == name:
            for packet, _ in Framer().feed(data):
                if not packet[2] & 0x08:
                    found.append(UserMessage(packet[:2] + bytes((packet[2] & ~0x10,)) + packet[3:]))
    return found


def raw_acceptor(*contents: bytes, delivery_mode: int = 1) -> tuple[Network, Node, RawPeer]:
    """A raw peer in place of B that has got messages from A."""
    network, a, b = pair()
    b.listening = False
    peer = RawPeer(network, a)
    a.send(TO_B, *contents, delivery_mode=delivery_mode)
    peer.accept()
    return network, a, peer


@pytest.mark.spec("MQQB-3.1.1.6.1-01", "MQQB-6-18")
def test_express_messages_are_forgotten_on_the_session_ack() -> None:
    _, a, peer = raw_acceptor(b"1", b"2", b"3", delivery_mode=0)
    peer.session_ack(2, flags=0)
    assert a.outgoing(TO_B).count == 1


@pytest.mark.spec("MQQB-3.1.1.6.1-02", "MQQB-6-18")
def test_recoverable_messages_are_forgotten_on_their_bit() -> None:
    _, a, peer = raw_acceptor(b"1", b"2", b"3")
    peer.session_ack(3, flags=0)
    assert a.outgoing(TO_B).count == 3
    peer.session_ack(3, first=1, flags=0b101)
    assert a.outgoing(TO_B).count == 1
    assert [UserMessage(each.packet).body for each in peer.received] == [b"1", b"2", b"3"]


@pytest.mark.spec("MQQB-3.1.5.5.1-02", "MQQB-3.1.7.16-01")
def test_an_acknowledgment_lets_the_next_messages_leave_each_once() -> None:
    network, _, peer = raw_acceptor(*[b"%d" % number for number in range(100)], delivery_mode=0)
    assert len(peer.received) == 64
    peer.session_ack(10, flags=0)
    assert len(peer.received) == 74
    peer.session_ack(74, flags=0)
    assert [message.body for message in peer.received] == [b"%d" % each for each in range(100)]
    network.advance(5)
    assert len(peer.received) == 100


@pytest.mark.spec("MQQB-3.1.2.4-02", "MQQB-3.1.6.1-03")
@pytest.mark.parametrize("delivery_mode", [0, 1])
def test_what_was_not_acknowledged_is_sent_again_in_order(delivery_mode: int) -> None:
    network, a, b = pair(settings=BinarySettings(window_size=4))
    a.send(TO_B, b"first")
    network.advance(2)
    # From now on nothing of B reaches A.
    network.tap = lambda sender, _receiver, data: data if sender is a else b""
    for body, priority in ((b"low", 0), (b"high", 7), (b"middle", 3), (b"last", 0)):
        a.send(TO_B, body, priority=priority, delivery_mode=delivery_mode)
    network.log.clear()
    network.run()
    a.send(TO_B, b"waiting", priority=3, delivery_mode=delivery_mode)
    network.run()
    sent = [message.body for message in arrivals(network)]
    assert sent == [b"high", b"middle", b"low", b"last"]
    # The timer runs since the first message; it hears an acknowledgment until its first expiry.
    network.advance(77)
    assert a.disconnects == []
    network.advance(1)
    assert [each.reason for each in a.disconnects] == [CloseReason.NOT_ACKNOWLEDGED]
    network.tap = None
    network.log.clear()
    network.advance(10)
    again = [message.body for message in arrivals(network)]
    assert again == [b"high", b"middle", b"waiting", b"low", b"last"]
    assert b.bodies() == [b"high", b"first", b"middle", b"waiting", b"low", b"last"]
    network.advance(20)
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.3.2-05", "MQQB-3.1.7.1.1-01")
def test_a_new_session_sends_everything_again_with_the_same_identifiers() -> None:
    network, a, b = pair()
    b.flushing = False
    a.send(TO_B, b"1", b"2")
    network.run()
    first = [message.identifier for message in arrivals(network)]
    network.cut()
    network.log.clear()
    network.advance(6)
    again = [message.identifier for message in arrivals(network)]
    assert again == first
    assert len(set(first)) == 2
    b.flushing = True
    network.advance(3)
    assert b.bodies() == [b"1", b"2"]
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.3.2-06")
def test_a_new_session_counts_what_the_old_one_left_unacknowledged() -> None:
    network, a, peer = raw_acceptor(*[b"%d" % number for number in range(5)])
    peer.session_ack(2, flags=0b11)
    network.raw.clear()
    a.binary.connection_lost(peer.connection, now=network.now)
    again = RawPeer(network, a)
    again.accept()
    assert [message.body for message in again.received] == [b"2", b"3", b"4"]
    (connection,) = a.binary._connections.by_number.values()
    assert (connection.session.sent.unacked, connection.session.room) == (3, 61)
    again.session_ack(1, flags=0b1)
    assert (connection.session.sent.unacked, connection.session.room) == (2, 62)


def test_ordinals_grow_by_one_and_never_repeat() -> None:
    network, a, _ = pair()
    a.send(TO_B, b"1", b"2", delivery_mode=0)
    network.run()
    a.crash()
    a.send(TO_B, b"3", b"4", delivery_mode=0)
    network.advance(6)
    first, second, third, fourth = [message.message_id for message in arrivals(network)]
    assert second == first + 1
    assert fourth == third + 1
    assert third > second


@pytest.mark.spec("MQQB-3.1.1.3-10")
def test_ordinals_start_again_after_the_last_one() -> None:
    network, a, _ = pair()
    a.send(TO_B, b"0", delivery_mode=0)
    network.run()
    a.qm.state.ordinals.last = 0xFFFFFFFE
    a.send(TO_B, b"1", b"2", b"3", delivery_mode=0)
    network.advance(1)
    ids = [message.message_id for message in arrivals(network)]
    assert ids[1:] == [0xFFFFFFFF, 0, 1]


@pytest.mark.spec("MQQB-3.1.7.12-03")
def test_a_message_that_has_not_been_sent_awaits_nothing() -> None:
    network, a, b = pair()
    b.listening = False
    a.send(TO_B, b"1")
    network.run()
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.messages, status.unacknowledged) == (1, 0)
    (message,) = a.outgoing(TO_B).lanes
    streams = a.qm.outgoing.open_streams(frozenset((Transport.BINARY,)), (30.0,))
    stream = streams.find(a.outgoing(TO_B))
    assert stream is not None
    position = OutgoingMessagePosition(
        stream, message, message.make_history(), awaits_final_ack=False
    )
    assert not position.received_session_ack
    assert not position.received_order_ack
    assert position.tx_sequence_number == position.tx_sequence_id == 0


@pytest.mark.spec("MQQB-3.1.2-01")
def test_all_timers_exist() -> None:
    network, a, b = pair(queue={"transactional": True}, settings=BinarySettings(send_ping=True))
    b.listening = False
    a.send(TO_B, b"1", tx=True)
    network.run()
    timers = [a.binary.next_timer()]
    network.advance(1.0)
    timers.append(a.binary.next_timer())
    start = network.now
    b.listening = True
    network.advance(5)
    # Ping Response, then Retry Connect; then Ack Send, Order Ack Send and the rest of a session.
    assert timers == [start, start + 5]
    assert {timer.value for timer in SessionTimer} == {
        "Session Initialization Timer",
        "Session Cleanup Timer",
        "Session Ack Wait Timer",
        "Session Ack Send Timer",
    }
    assert b.binary.next_timer() == network.now + 0.5
    network.advance(2)
    assert a.outgoing(TO_B).count == 0


def test_nothing_leaves_before_the_ordinals_are_reserved_on_disk() -> None:
    network = Network()
    a, b = network.add("A", "10.0.0.1"), network.add("B", "10.0.0.2")
    b.create()
    a.flushing = False
    a.send(TO_B, b"1", delivery_mode=0)
    network.advance(3)
    assert b.bodies() == []
    a.flushing = True
    network.run()
    assert b.bodies() == [b"1"]


def test_a_recoverable_message_leaves_only_when_it_is_on_disk() -> None:
    network, a, b = pair()
    a.send(TO_B, b"0", delivery_mode=0)
    network.run()
    a.flushing = False
    a.send(TO_B, b"1", delivery_mode=0)
    a.send(TO_B, b"2")
    network.run()
    assert b.bodies() == [b"0", b"1"]
    a.flushing = True
    network.run()
    assert b.bodies() == [b"0", b"1", b"2"]


@pytest.mark.spec("MQQB-3.1.1.3.1-09", "MQQB-3.1.1.3.1-12", "MQQB-3.1.4.1-01")
def test_stored_messages_leave_in_order_after_a_start() -> None:
    network, a, b = pair()
    assert a.qm.outgoing.queues == []
    b.listening = False
    a.send(TO_B, b"1", b"2")
    a.send(TO_B, b"3")
    network.run()
    b.listening = True
    a.crash()
    network.run()
    assert b.bodies() == [b"1", b"2", b"3"]


@pytest.mark.spec("MQQB-3.1.1.3.1-10")
def test_express_messages_do_not_survive_a_restart() -> None:
    network, a, b = pair()
    b.listening = False
    a.send(TO_B, b"1", delivery_mode=0)
    a.send(TO_B, b"2")
    network.run()
    b.listening = True
    a.crash()
    network.run()
    assert b.bodies() == [b"2"]


def test_messages_of_higher_priority_leave_first() -> None:
    network, a, b = pair()
    b.listening = False
    for priority in (0, 7, 3):
        a.send(TO_B, b"%d" % priority, priority=priority)
    a.send(r"DIRECT=TCP:10.0.0.2\private$\other", b"5", priority=5)
    a.send(r"DIRECT=TCP:10.0.0.2\private$\other", b"4", priority=4)
    network.run()
    b.listening = True
    network.advance(6)
    assert [message.body for message in arrivals(network)] == [b"7", b"5", b"4", b"3", b"0"]


def test_a_message_is_checked_for_its_time_before_it_leaves() -> None:
    network, a, b = pair()
    b.listening = False
    a.send(TO_B, b"1", time_to_reach_queue=6)
    network.run()
    # Time passes without the timers of the queue manager.
    network.now += 7
    network.utc += 7
    b.listening = True
    a.qm.set_time(now=network.now, utc=network.utc)
    a.binary.handle_timer(now=network.now)
    network.run()
    assert b.bodies() == []
    assert a.outgoing(TO_B).count == 0


def test_a_purged_message_on_its_way_is_not_sent_again() -> None:
    network, a, b = pair()
    b.flushing = False
    a.send(TO_B, b"1")
    network.run()
    descriptor = a.qm.open_queue(TO_B, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR)
    a.qm.traffic.purge(descriptor)
    a.qm.close_queue(descriptor)
    assert a.outgoing(TO_B).count == 1
    network.cut()
    assert a.outgoing(TO_B).count == 0


def test_large_messages_leave_as_fast_as_they_are_fetched() -> None:
    network, a, b = pair(settings=BinarySettings(max_output_bytes=50_000))
    contents = [bytes((number,)) * 20_000 for number in range(40)]
    a.send(TO_B, *contents)
    network.advance(1)
    assert b.bodies() == contents
    assert a.outgoing(TO_B).count == 0


def test_a_thousand_messages_cross_without_waiting_for_a_timer() -> None:
    network, a, b = pair()
    for mode in (0, 1):
        a.send(TO_B, *[b"%d" % number for number in range(1000)], delivery_mode=mode)
        network.run()
    assert len(b.bodies()) == 2000
    assert a.outgoing(TO_B).count < 64


def test_both_sides_send_over_one_connection() -> None:
    network, a, b = pair()
    a.create(r"private$\replies")
    a.send(TO_B, b"1")
    network.run()
    b.send(r"DIRECT=TCP:10.0.0.1\private$\replies", b"2")
    network.run()
    assert a.bodies(r"private$\replies") == [b"2"]
    assert len(network.wires) == 2
    network.advance(20)
    assert b.outgoing(r"DIRECT=TCP:10.0.0.1\private$\replies").count == 0


# Pause and resume


@pytest.mark.spec("MQQB-3.1.7.13-02", "MQQB-3.1.7.1-01")
def test_nothing_leaves_a_paused_queue() -> None:
    network, a, b = pair(settings=BinarySettings(window_size=1))
    b.flushing = False
    a.send(TO_B, b"1", b"waiting")
    network.run()
    (connection,) = a.binary._connections.by_number.values()
    assert connection.session.active
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.run()
    assert not connection.session.active
    a.send(TO_B, b"2")
    b.flushing = True
    network.advance(30)
    # The acknowledgment of the first message made room for others.
    assert connection.session.room == 1
    assert b.bodies() == [b"1"]
    assert a.outgoing(TO_B).count == 2
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.state, status.reason) == (QueueState.ONHOLD, "paused")


@pytest.mark.spec("MQQB-3.1.7.14-01")
@pytest.mark.parametrize("seconds", [1, 2000])
def test_a_resumed_queue_sends_what_waited(seconds: int) -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.run()
    queue = a.outgoing(TO_B)
    a.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    a.send(TO_B, b"2", b"3")
    network.advance(seconds)
    a.qm.outgoing.resume(queue, caller=ADMINISTRATOR)
    network.run()
    assert b.bodies() == [b"1", b"2", b"3"]
    assert queue.outgoing is not None
    assert queue.outgoing.state is QueueState.CONNECTED


def test_a_pause_survives_a_restart() -> None:
    network, a, b = pair()
    b.listening = False
    a.send(TO_B, b"1")
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.run()
    b.listening = True
    a.crash()
    network.advance(30)
    assert b.bodies() == []
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.run()
    assert b.bodies() == [b"1"]


@pytest.mark.parametrize("options", [{"tx": True}, {}, {"delivery_mode": 0}])
def test_a_message_is_taken_once_when_it_is_on_disk(options: dict[str, Any]) -> None:
    network, a, _ = pair(queue={"transactional": "tx" in options})
    a.send(TO_B, b"0", **options)
    network.advance(25)
    (stream,) = a.binary._transfers.streams.streams.values()
    reads: list[int] = []

    class CountedOutgoing(Outgoing):
        def peek(self, queue: Queue, *, max_count: int, max_bytes: int) -> Read | None:
            reads.append(max_count)
            return super().peek(queue, max_count=max_count, max_bytes=max_bytes)

    stream._operations = CountedOutgoing(a.qm.state)
    a.send(TO_B, b"1", **options)
    a.engine.work()
    a.flush()
    a.engine.work()
    assert len(reads) == 1
    assert len(stream.in_flight) == 1
