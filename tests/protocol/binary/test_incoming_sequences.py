"""The receiver of transactional messages: what it accepts, and when it acknowledges in order."""

import pytest
from tests.protocol.binary.ordered_traffic import tx_pair
from tests.protocol.binary.pair import (
    ORDERS,
    TO_B,
    Node,
    is_ack,
)
from tests.protocol.binary.raw_peer import RawPeer, tx_message

from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.packets.order_ack import OrderAck

# What the receiver accepts


def stream_of(b: Node) -> tuple[int, int, int]:
    (stream,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    return int.from_bytes(stream.sequence_identifier), stream.sequence_number, stream.reject_count


@pytest.mark.spec("MQQB-3.1.5.8.6-02", "MQQB-3.1.5.8.6-04", "MQQB-3.1.5.8.1-01")
@pytest.mark.parametrize(
    ("number", "previous", "accepted"),
    [(4, 3, True), (4, 0, True), (9, 3, True), (9, 4, False), (3, 2, False), (1, 0, False)],
)
def test_which_number_is_accepted_next(*, number: int, previous: int, accepted: bool) -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    for each in (1, 2, 3):
        peer.send(tx_message(b"%d" % each, 5, each, each - 1))
    peer.send(tx_message(b"new", 5, number, previous))
    assert b.bodies() == [b"1", b"2", b"3", *[b"new"] * accepted]


@pytest.mark.spec("MQQB-3.1.5.8.6-03", "MQQB-3.1.1.3.1-06")
@pytest.mark.parametrize(
    ("sequence", "previous", "accepted"),
    [(6, 0, True), (6, 1, False), (4, 0, False), (1 << 63, 0, True)],
)
def test_which_sequence_is_accepted_next(*, sequence: int, previous: int, accepted: bool) -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    peer.send(tx_message(b"new", sequence, 2, previous))
    assert b.bodies() == [b"1", *[b"new"] * accepted]


def test_the_number_zero_is_not_accepted() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"0", 5, 0, 0))
    assert b.bodies() == []


@pytest.mark.spec("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06", "MQQB-3.1.5.8.6-07")
def test_rejected_messages_are_counted_until_one_is_accepted() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(7)
    peer.send(tx_message(b"1", 5, 1, 0), tx_message(b"9", 5, 9, 8))
    assert stream_of(b) == (5, 1, 2)
    (stream,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    assert stream.last_access_time == network.utc
    peer.send(tx_message(b"2", 5, 2, 1))
    assert stream_of(b) == (5, 2, 0)


@pytest.mark.spec("MQQB-3.1.1.3.1-07", "MQQB-3.1.1.3.1-08", "MQQB-3.1.1.3.2-01")
def test_the_state_of_the_receiver_survives_a_crash() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    b.crash()
    assert stream_of(b) == (5, 1, 0)
    peer = RawPeer(network, b)
    peer.connect()
    # A read of its own, so that nothing else writes down how far the stream got.
    peer.send(tx_message(b"1", 5, 1, 0))
    b.crash()
    assert stream_of(b) == (5, 1, 1)
    again = RawPeer(network, b)
    again.connect()
    again.send(tx_message(b"1", 5, 1, 0), tx_message(b"2", 5, 2, 1))
    assert b.bodies() == [b"1", b"2"]


@pytest.mark.spec("MQQB-3.1.5.8.8-05")
def test_a_stream_belongs_to_a_sender_and_a_name() -> None:
    network, _, b = tx_pair()
    first, second = RawPeer(network, b), RawPeer(network, b, address="10.0.0.9", number=9)
    for peer in (first, second):
        peer.connect()
        peer.send(tx_message(b"1", 5, 1, 0, source=peer.guid))
    assert b.bodies() == [b"1", b"1"]
    streams = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    assert {stream.sender_identifier for stream in streams} == {first.guid, second.guid}
    assert {stream.format_name for stream in streams} == {TO_B.removeprefix("DIRECT=")}


def test_one_stream_has_one_state_however_its_name_is_written() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    second = tx_message(b"2", 5, 2, 1, name=r"tcp:10.0.0.2\PRIVATE$\Orders")
    peer.send(tx_message(b"1", 5, 1, 0), second, second)
    assert b.bodies() == [b"1", b"2"]
    assert stream_of(b) == (5, 2, 1)


# OrderAck of the receiver


@pytest.mark.spec("MQQB-3.1.1.6.2-04", "MQQB-3.1.6.9-01", "MQQB-3.1.2.7-01")
def test_an_order_ack_follows_half_a_second_later() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(0.4)
    assert peer.acks() == []
    network.advance(0.1)
    assert peer.acks() == [OrderAck.parse(OrderAck(peer.sequence(5), 1).serialize())[0]]


@pytest.mark.spec("MQQB-3.1.1.6.2-05", "MQQB-2.2.4.1-02", "MQQB-3.1.7.17-01")
def test_one_order_ack_covers_several_messages() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(*[tx_message(b"%d" % each, 5, each, each - 1) for each in range(1, 9)])
    network.advance(1)
    assert peer.acks() == [OrderAck(peer.sequence(5), 8)]


@pytest.mark.spec("MQQB-3.1.1.6.2-02")
def test_a_message_is_not_acknowledged_before_its_predecessors() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    for number in (1, 2, 4):
        peer.send(tx_message(b"%d" % number, 5, number, number - 1))
    network.advance(1)
    assert peer.acks() == [OrderAck(peer.sequence(5), 2)]
    peer.send(tx_message(b"3", 5, 3, 2), tx_message(b"4", 5, 4, 3))
    network.advance(1)
    assert peer.acks() == [OrderAck(peer.sequence(5), 4)]
    assert b.bodies() == [b"1", b"2", b"3", b"4"]


@pytest.mark.spec("MQQB-3.1.5.8.6-01")
def test_a_repeated_message_is_acknowledged_again() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(1)
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(1)
    assert peer.acks() == [OrderAck(peer.sequence(5), 1)] * 2


@pytest.mark.spec("MQQB-3.1.1.6.2-03", "MQQB-3.1.3.2-09", "MQQB-3.1.3.2-10")
def test_messages_put_the_order_ack_off_for_ten_seconds_at_most() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    start = network.now
    number = 0
    times = []
    while network.now < start + 21:
        number += 1
        peer.send(tx_message(b"", 5, number, number - 1))
        network.advance(0.25)
        if peer.acks():
            times.append(network.now - start)
    assert times == [10.25, 20.5]


@pytest.mark.spec("MQQB-6-25", "MQQB-3.1.3.2-11")
def test_the_cap_of_the_order_ack_delay_can_be_set() -> None:
    network, _, b = tx_pair(settings=BinarySettings(maximum_order_ack_delay=2.0))
    peer = RawPeer(network, b)
    peer.connect()
    start = network.now
    number = 0
    while not peer.acks():
        number += 1
        peer.send(tx_message(b"", 5, number, number - 1))
        network.advance(0.25)
    assert network.now - start == 2.25


def test_an_order_ack_waits_for_the_disk() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    b.flushing = False
    peer.send(tx_message(b"2", 5, 2, 1))
    network.advance(3)
    assert peer.acks() == [OrderAck(peer.sequence(5), 1)]
    b.flushing = True
    network.run()
    peer.send(tx_message(b"2", 5, 2, 1))
    network.advance(1)
    assert peer.acks() == [OrderAck(peer.sequence(5), 2)]


def test_an_order_ack_that_nothing_durable_backs_is_put_off() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    b.flushing = False
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(5)
    assert peer.acks() == []
    b.flushing = True
    network.advance(1)
    assert peer.acks() == [OrderAck(peer.sequence(5), 1)]


def test_nothing_is_acknowledged_in_order_when_nothing_was_accepted() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"2", 5, 2, 1))
    network.advance(3)
    assert peer.acks() == []


@pytest.mark.spec("MQQB-3.1.7.17-03", "MQQB-3.1.7.17-04", "MQQB-3.1.5.8.2-03")
def test_transactional_acks_to_a_direct_sender_use_its_address() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(tx_message(b"1", 5, 1, 0))
    network.advance(1)
    (message,) = [each for each in peer.received if is_ack(each)]
    destination = message.destination_queue
    assert destination is not None
    assert destination.direct == rf"TCP:{peer.address}\PRIVATE$\order_queue$"
    assert (message.priority, message.label, message.body_type) == (0, "QM Ordering Ack", 0)
    assert message.admin_queue is message.response_queue is None
    assert not message.positive_journaling
    assert not message.negative_journaling


@pytest.mark.spec("MQQB-3.1.7.17-04")
def test_transactional_acks_to_other_senders_use_the_guid() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    queue = b.qm.find_queue(rf".\{ORDERS}")
    peer.send(tx_message(b"1", 5, 1, 0, private=(b.guid, queue.properties.private_queue_number)))
    network.advance(1)
    (message,) = [each for each in peer.received if is_ack(each)]
    destination = message.destination_queue
    assert destination is not None
    assert (destination.guid, destination.number) == (peer.guid, 4)
    assert message.queue_manager_address == peer.guid
