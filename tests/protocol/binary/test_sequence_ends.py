"""When the sequence of an outgoing queue is over, and what a new session starts with."""

import pytest
from tests.protocol.binary.ordered_traffic import ordered, tx_pair
from tests.protocol.binary.pair import ADMINISTRATOR, TO_B, Network, Node
from tests.protocol.binary.raw_peer import RawPeer

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.read import Read
from openmsmq.core.transfer.outgoing.sequences import OutgoingSequence
from openmsmq.wire.codes.message_class import MessageClass


def sequence_of(node: Node) -> OutgoingSequence | None:
    outgoing = node.outgoing(TO_B).outgoing
    assert outgoing is not None
    return outgoing.sequence


def expect_new_sequence(network: Network, a: Node, peer: RawPeer) -> None:
    """Nothing of the last sequence is left: the next message begins another, with number 1."""
    assert sequence_of(a) is None
    last = peer.last_sequence
    a.send(TO_B, b"next", tx=True)
    network.advance(10)
    message = peer.received[-1]
    assert message.body == b"next"
    assert peer.last_sequence == last + 1
    assert (message.tx_sequence_number, message.previous_tx_sequence_number) == (1, 0)


@pytest.mark.spec("MQQB-3.1.5.6-07", "MQQB-3.1.1.5-03")
def test_a_sequence_of_which_every_message_was_refused_is_over() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2")
    peer.final_ack(1, MessageClass.NACK_BAD_DST_Q)
    assert sequence_of(a) is not None
    peer.final_ack(2, MessageClass.NACK_BAD_DST_Q)
    expect_new_sequence(network, a, peer)


@pytest.mark.spec("MQQB-3.1.5.6-07")
def test_a_sequence_ends_while_delivered_messages_wait_for_final_acks() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2", negative_journaling=True)
    peer.session_ack()
    peer.order_ack(1)
    assert sequence_of(a) is not None
    peer.final_ack(2, MessageClass.NACK_Q_EXCEED_QUOTA)
    assert a.outgoing(TO_B).count == 1
    expect_new_sequence(network, a, peer)


@pytest.mark.spec("MQQB-3.1.5.6-07")
def test_a_sequence_whose_last_messages_expired_is_over() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1")
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"2", b"3", tx=True, time_to_reach_queue=5)
    peer.session_ack()
    peer.order_ack(1)
    assert sequence_of(a) is not None
    network.advance(6)
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    expect_new_sequence(network, a, peer)


def test_a_purged_sequence_is_over() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1")
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"2", b"3", tx=True)
    a.qm.traffic.purge(a.qm.open_queue(TO_B, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR))
    network.run()
    # The first one is on its way.
    assert sequence_of(a) is not None
    peer.session_ack()
    peer.order_ack(1)
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    expect_new_sequence(network, a, peer)


def test_a_sequence_goes_on_while_an_administrator_has_a_message_of_it() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1")
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"2", tx=True)
    reader = a.qm.open_queue(TO_B, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR)
    read = a.qm.traffic.dequeue_many(reader, two_phase=True)
    assert isinstance(read, Read)
    peer.session_ack()
    peer.order_ack(1)
    assert a.outgoing(TO_B).count == 1
    assert sequence_of(a) is not None
    a.qm.traffic.end_many(reader, [read.messages[0].lookup_id], delete=False)
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.advance(1)
    assert [each.tx_sequence_number for each in peer.received] == [1, 2]
    assert len({each.tx_sequence_id for each in peer.received}) == 1


@pytest.mark.spec("MQQB-3.1.3.2-04")
def test_a_new_session_starts_with_a_fresh_outgoing_sequence() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2", b"3")
    peer.session_ack()
    peer.order_ack(1)
    peer.order_ack(2)
    a.binary.outgoing(now=network.now)
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    info = outgoing.transfer_info
    assert info.eod_last_ack is not None
    assert (info.eod_last_ack.seq_no, info.eod_last_ack_count) == (2, 2)
    assert info.eod_resend_count == 2
    a.binary.connection_lost(peer.connection, now=network.now)
    peer.connection = -1
    again = RawPeer(network, a, number=8)
    network.advance(20)
    again.accept()
    a.binary.outgoing(now=network.now)
    fresh = outgoing.transfer_info
    assert (fresh.eod_last_ack, fresh.eod_last_ack_count) == (None, 0)
    assert info.eod_last_ack_time == int(network.utc)
    assert (info.eod_resend_count, info.eod_resend_interval) == (0, 30)
    # All in front of it is settled.
    (message,) = again.received
    assert (message.tx_sequence_number, message.previous_tx_sequence_number) == (3, 0)


def test_a_sequence_ends_when_its_last_messages_are_moved_elsewhere() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"1", b"2", tx=True)
    network.run()
    queue = a.outgoing(TO_B)
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is not None
    source = a.qm.open_queue(TO_B, QueueAccessType.RECEIVE_ADMIN, caller=ADMINISTRATOR)
    target = a.qm.open_queue(
        r"DIRECT=TCP:10.0.0.3\private$\q", QueueAccessType.SEND, caller=ADMINISTRATOR
    )
    assert a.qm.traffic.move_many(source, target).count == 2
    network.run()
    assert queue.outgoing.sequence is None
