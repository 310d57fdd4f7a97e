"""FinalAck: what became of a transactional message."""

import pytest
from tests.core.invariants import check_totals
from tests.protocol.binary.ordered_traffic import numbers, ordered, traffic, tx_pair
from tests.protocol.binary.pair import (
    ADMINISTRATOR,
    TO_B,
)
from tests.protocol.binary.raw_peer import RawPeer, tx_message
from tests.protocol.local.fake_service import PROCESS

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.packets.order_ack import FinalAck


@pytest.mark.spec("MQQB-2.2.5-01", "MQQB-3.1.5.7-03", "MQQB-3.1.5.6-06")
def test_a_received_message_with_source_journaling_ends_in_the_journal() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True, positive_journaling=True)
    network.advance(3)
    assert a.journal == []
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.messages, status.awaiting_final_ack) == (0, 1)
    assert b.receive() == [b"1"]
    network.advance(3)
    assert a.journal == [b"1"]
    assert a.outgoing(TO_B).count == 0
    assert a.xact_deadletters == []


@pytest.mark.spec("MQQB-3.1.1.3.1-11", "MQQB-3.1.1.6.2-08", "MQQB-3.1.7.2.2-01")
def test_a_message_awaits_its_final_ack_over_restarts_of_both() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True, positive_journaling=True)
    network.advance(3)
    a.crash()
    b.crash()
    network.advance(10)
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.messages, status.awaiting_final_ack) == (0, 1)
    assert len(numbers(network)) == 1
    assert b.receive() == [b"1"]
    network.advance(10)
    assert a.journal == [b"1"]


@pytest.mark.spec("MQQB-3.1.5.7-04", "MQQB-3.1.7.2.2-01")
@pytest.mark.parametrize("own", ["", r".\private$\lost"])
def test_a_message_that_is_not_received_ends_among_the_dead_letters(own: str) -> None:
    network, a, b = tx_pair()
    a.create(r"private$\lost", transactional=True)
    a.send(
        TO_B,
        b"1",
        tx=True,
        negative_journaling=True,
        time_to_be_received=20,
        deadletter_queue=own,
    )
    network.advance(30)
    assert b.bodies() == []
    assert a.bodies(r"private$\lost") == [b"1"] * bool(own)
    assert a.xact_deadletters == [b"1"] * (not own)
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.5.7-02", "MQQB-2.2.5.1-04", "MQQB-3.1.7.17-02")
def test_a_final_ack_names_the_message_by_its_identifier() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0, positive_journaling=True, message_id=77, source=peer.guid))
    b.receive()
    network.advance(1)
    finals = [each for each in peer.acks() if isinstance(each, FinalAck)]
    assert finals == [FinalAck(peer.sequence(5), 1, 0, peer.guid, 77)]


def test_a_final_ack_with_another_message_id_is_ignored() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1")
    peer.final_ack(1, MessageClass.NACK_Q_PURGED, message_id=12345)
    assert a.outgoing(TO_B).count == 1
    assert a.counts["unknown transactional acknowledgment"] == 1


@pytest.mark.spec("MQQB-3.1.1.6.2-08")
def test_a_final_ack_can_be_asked_for_without_a_journal() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0, flags=2), tx_message(b"2", 5, 2, 1))
    b.crash()
    again = RawPeer(network, b)
    again.connect()
    b.receive()
    network.advance(1)
    finals = [each for each in again.acks() if isinstance(each, FinalAck)]
    assert [each.tx_sequence_number for each in finals] == [1]


def test_a_final_ack_in_front_of_the_order_ack_settles_the_message() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2")
    peer.final_ack(1, MessageClass.NACK_Q_EXCEED_QUOTA)
    assert a.outgoing(TO_B).count == 1
    peer.session_ack()
    peer.order_ack(2)
    assert a.outgoing(TO_B).count == 0


def test_a_final_ack_of_one_message_leaves_the_others_to_be_sent_again() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2")
    peer.final_ack(1, MessageClass.NACK_Q_EXCEED_QUOTA)
    peer.session_ack()
    assert [message.body for message in peer.received] == [b"1", b"2"]
    network.advance(31)
    assert [message.body for message in peer.received] == [b"1", b"2", b"2"]


def test_a_final_ack_settles_a_message_that_waits_to_be_sent_again() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2", b"3")
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"plain", delivery_mode=0, priority=0)
    network.run()
    network.advance(31)
    for number in (3, 1, 1, 9):
        peer.final_ack(number, MessageClass.NACK_Q_PURGED)
    assert a.outgoing(TO_B).count == 2
    assert a.counts["unknown transactional acknowledgment"] == 2


@pytest.mark.parametrize("restart", ["no restart", "restart"])
def test_awaiting_messages_belong_to_the_peer_that_took_them(restart: str) -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True, positive_journaling=True)
    network.advance(3)
    if restart == "restart":
        a.crash()
    stranger = RawPeer(network, a, address="10.0.0.9", number=9)
    stranger.connect()
    stranger.last_sequence = numbers(network)[0][0]
    message_id = traffic(network, "B")[0].message_id
    stranger.final_ack(1, MessageClass.ACK_RECEIVE, message_id=message_id)
    assert a.journal == []
    b.receive()
    network.advance(1)
    assert a.journal == [b"1"]


def test_who_takes_transactional_messages_is_on_disk_before_they_leave() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"1", tx=True)
    network.run()
    a.flushing = False
    b.listening = True
    network.advance(5)
    assert traffic(network, "B") == []
    a.flushing = True
    network.run()
    assert [message.body for message in traffic(network, "B")] == [b"1"]
    a.crash()
    assert a.outgoing(TO_B).outgoing.destination == b.guid  # type: ignore[union-attr]


@pytest.mark.spec("MQQB-3.1.7.17-05")
def test_an_ack_to_a_queue_that_cannot_be_opened_is_dropped() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    # The acknowledged message claims to come from B itself, so there is nobody to tell.
    peer.send(tx_message(b"1", 5, 1, 0, positive_journaling=True, source=b.guid))
    b.receive()
    network.advance(1)
    assert all(not queue.count for queue in b.qm.outgoing.queues)


def test_an_acknowledgment_of_an_earlier_copy_settles_nothing() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2")
    peer.order_ack(1)
    network.advance(31)
    assert len(peer.received) == 4
    peer.session_ack(2, flags=0b11)
    assert a.outgoing(TO_B).count == 2
    peer.session_ack(4, first=3, flags=0b11)
    peer.order_ack(2)
    assert a.outgoing(TO_B).count == 0


def test_delivered_messages_are_not_counted_as_waiting_to_be_sent() -> None:
    network, a, b = tx_pair()

    def waiting() -> tuple[int, int]:
        check_totals(a.qm.state)
        status = a.qm.management.status(PROCESS, caller=ADMINISTRATOR)
        return status.outgoing_messages, status.awaiting_final_ack

    network.stalled = True
    a.send(TO_B, b"1", tx=True, positive_journaling=True)
    assert waiting() == (1, 0)
    network.stalled = False
    network.advance(3)
    assert waiting() == (0, 1)
    a.crash()
    assert waiting() == (0, 1)
    assert b.receive() == [b"1"]
    network.advance(60)
    assert waiting() == (0, 0)
