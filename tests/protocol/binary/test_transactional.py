"""Exactly once, in order: sequences, OrderAck, FinalAck, resend, restarts."""

from uuid import UUID

import pytest
from tests.protocol.binary.pair import (
    ADMINISTRATOR,
    ORDERS,
    TO_B,
    USER,
    Network,
    Node,
    is_ack,
    pair,
)
from tests.protocol.binary.raw_peer import RawPeer, tx_message

from openmsmq.core.open_queue import QueueAccessType
from openmsmq.core.recovery import RESTORED_ORDINALS
from openmsmq.core.transfer_info import IncomingTransactionalTransferInfo
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.framer import Framer
from openmsmq.wire.message_class import MessageClass
from openmsmq.wire.order_ack import FinalAck, OrderAck, recognize_ack
from openmsmq.wire.queue_address import direct_address
from openmsmq.wire.user_message import UserMessage
from openmsmq.wire.user_message_builder import build_user_message

TX = {"transactional": True}


def tx_pair(**options: object) -> tuple[Network, Node, Node]:
    return pair(queue=dict(TX), **options)


def traffic(network: Network, receiver: str) -> list[UserMessage]:
    """All user messages that arrived at a node."""
    stream = b"".join(data for name, data in network.log if name == receiver)
    return [UserMessage(packet) for packet, _ in Framer().feed(stream) if not packet[2] & 0x18]


def numbers(network: Network) -> list[tuple[int, int, int]]:
    """Sequence, number and previous number of what arrived at B."""
    return [
        (
            message.tx_sequence_id.value,
            message.tx_sequence_number,
            message.previous_tx_sequence_number,
        )
        for message in traffic(network, "B")
        if message.tx_sequence_id is not None
    ]


# Sequences of the sender


@pytest.mark.spec("MQQB-3.1.1.3.1-03", "MQQB-3.1.1.3.1-05", "MQQB-6-16")
def test_the_first_sequence_starts_at_the_time_of_installation() -> None:
    network, a, _ = tx_pair()
    start = int(network.utc)
    a.send(TO_B, b"1", b"2", tx=True)
    network.run()
    sequence = start << 32 | 1
    assert numbers(network) == [(sequence, 1, 0), (sequence, 2, 1)]


@pytest.mark.spec("MQQB-3.1.1.5-02", "MQQB-3.1.1.5-03", "MQQB-3.1.5.6-07")
def test_a_new_sequence_starts_when_all_is_acknowledged() -> None:
    network, a, _ = tx_pair()
    a.send(TO_B, b"1", tx=True)
    network.run()
    a.send(TO_B, b"2", tx=True)
    network.advance(2)
    a.send(TO_B, b"3", tx=True)
    network.run()
    first = numbers(network)[0][0]
    assert numbers(network) == [(first, 1, 0), (first, 2, 1), (first + 1, 1, 0)]


@pytest.mark.spec("MQQB-3.1.1.3.1-04", "MQQB-3.1.1.3.1.2-02", "MQQB-3.1.7.1.3-01")
def test_a_message_keeps_its_number_over_a_restart_of_the_sender() -> None:
    network, a, b = tx_pair()
    b.flushing = False
    a.send(TO_B, b"1", b"2", tx=True)
    network.run()
    before = numbers(network)
    a.crash()
    network.log.clear()
    a.send(TO_B, b"3", tx=True)
    network.run()
    first = before[0][0]
    assert numbers(network) == [*before, (first, 3, 2)]
    b.flushing = True
    network.advance(60)
    assert b.bodies() == [b"1", b"2", b"3"]
    assert a.outgoing(TO_B).count == 0


def test_every_outgoing_queue_has_a_sequence_of_its_own() -> None:
    network, a, b = tx_pair()
    b.create(r"private$\other", transactional=True)
    a.send(TO_B, b"1", tx=True)
    a.send(r"DIRECT=TCP:10.0.0.2\private$\other", b"2", tx=True)
    network.advance(2)
    first, second = numbers(network)
    assert (first[1:], second[1:]) == ((1, 0), (1, 0))
    assert first[0] != second[0]
    assert all(queue.count == 0 for queue in a.qm.outgoing.queues)


def test_messages_leave_in_the_order_of_the_commits() -> None:
    network, a, b = tx_pair()
    descriptor = a.qm.open_queue(TO_B, QueueAccessType.SEND, caller=USER)
    transactions = [a.qm.begin(UUID(int=number)) for number in (1, 2)]
    for body, transaction in zip((b"late", b"early"), transactions, strict=True):
        packet = build_user_message(
            body=body, destination_queue=direct_address(TO_B.removeprefix("DIRECT="))
        )
        a.qm.enqueue_many(descriptor, [packet], transaction)
    for transaction in reversed(transactions):
        a.qm.commit(transaction.identifier)
        network.run()
    assert b.bodies() == [b"early", b"late"]


@pytest.mark.spec("MQQB-3.1.1.5-04", "MQQB-3.1.7.1.3-03")
def test_a_gap_left_by_an_expired_message_is_bridged() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"1", tx=True)
    a.send(TO_B, b"2", tx=True, time_to_reach_queue=3)
    a.send(TO_B, b"3", tx=True)
    network.advance(4)
    b.listening = True
    network.advance(10)
    assert b.bodies() == [b"1", b"3"]
    assert [each[1:] for each in numbers(network)] == [(1, 0), (3, 1)]
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.7.1.3-03")
def test_a_message_that_expires_at_the_head_leaves_no_gap_behind() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"1", tx=True, time_to_reach_queue=3)
    a.send(TO_B, b"2", tx=True)
    network.advance(4)
    b.listening = True
    network.advance(10)
    assert b.bodies() == [b"2"]


def test_a_restored_copy_begins_new_sequences() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"1", b"2", tx=True)
    network.run()
    old = a.qm.state.last_tx_sequence

    a.crash(restored=True)
    assert a.qm.state.ordinals.last > RESTORED_ORDINALS
    b.listening = True
    network.advance(10)
    assert b.bodies() == [b"1", b"2"]
    sequence = numbers(network)[0][0]
    assert sequence >> 32 > old >> 32
    assert [each[1:] for each in numbers(network)] == [(1, 0), (2, 1)]
    a.crash()
    assert a.qm.state.last_tx_sequence == sequence


# What the sender keeps


@pytest.mark.spec("MQQB-3.1.1.6.2-07", "MQQB-3.1.5.5.5-03", "MQQB-3.1.5.5.3-04")
def test_a_session_ack_alone_forgets_no_transactional_message() -> None:
    network, a, b = tx_pair(settings=BinarySettings(order_ack_seconds=1000.0))
    a.send(TO_B, b"1", tx=True)
    network.advance(25)
    (status,) = a.binary.outgoing(now=network.now)
    assert status.unacknowledged == 0
    assert a.outgoing(TO_B).count == 1
    assert b.bodies() == [b"1"]


@pytest.mark.spec("MQQB-2.2.4-08", "MQQB-3.1.1.6.2-06", "MQQB-3.1.5.6-05")
def test_an_order_ack_forgets_messages_that_the_session_acknowledged() -> None:
    network, a, _ = tx_pair(settings=BinarySettings(order_ack_seconds=0.1))
    a.send(TO_B, b"1", b"2", tx=True)
    network.advance(0.2)
    # The OrderAck is there, the session acknowledgment is not.
    assert a.outgoing(TO_B).count == 2
    network.advance(1)
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.1.7.3-01")
def test_order_acks_are_counted_and_acknowledged_in_the_session() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True)
    network.advance(30)
    assert a.binary.counters == b.binary.counters == {}
    assert [recognize_ack(each) for each in traffic(network, "A") if is_ack(each)]


@pytest.mark.spec("MQQB-3.1.6.5-01", "MQQB-3.1.7.1.3-02", "MQQB-3.1.2.6-01")
def test_without_an_order_ack_everything_is_sent_again() -> None:
    network, a, b = tx_pair(settings=BinarySettings(order_ack_seconds=1000.0))
    a.send(TO_B, b"1", b"2", tx=True)
    network.advance(29)
    assert len(numbers(network)) == 2
    network.advance(2)
    assert numbers(network)[2:] == numbers(network)[:2]
    assert b.bodies() == [b"1", b"2"]
    stream = next(iter(b.qm.find_queue(rf".\{ORDERS}").incoming.values()))
    assert stream.reject_count == 2


@pytest.mark.spec("MQQB-6-11", "MQQB-3.1.3.1-01")
def test_the_resend_ladder() -> None:
    settings = BinarySettings(order_ack_seconds=1e9, cleanup_seconds=1e9)
    assert settings.resend_timer_table == (30, 30, 30, 300, 300, 300, 1800, 1800, 1800, 21600)
    network, a, _ = tx_pair(settings=settings)
    a.send(TO_B, b"1", tx=True)
    network.run()
    sent: list[float] = []
    seen = 1
    start = network.now
    while len(sent) < 11:
        network.advance(10)
        if len(numbers(network)) > seen:
            seen = len(numbers(network))
            sent.append(network.now - start)
    gaps = [later - earlier for earlier, later in zip([0, *sent], sent, strict=False)]
    assert gaps == [30, 30, 30, 300, 300, 300, 1800, 1800, 1800, 21600, 21600]


@pytest.mark.parametrize(
    ("field", "seconds"),
    [
        pytest.param("short", 30, marks=pytest.mark.spec("MQQB-3.1.1.3-14")),
        pytest.param("medium", 300, marks=pytest.mark.spec("MQQB-3.1.1.3-15")),
        pytest.param("long", 1800, marks=pytest.mark.spec("MQQB-3.1.1.3-16")),
        pytest.param("final", 21600, marks=pytest.mark.spec("MQQB-3.1.1.3-17")),
    ],
)
def test_the_defaults_of_the_resend_timeouts(field: str, seconds: int) -> None:
    assert getattr(BinarySettings(), f"resend_timeouts_{field}") == seconds


def ordered(network: Network, a: Node, b: Node, *contents: bytes) -> RawPeer:
    """A raw peer in place of B that has got transactional messages from A."""
    b.listening = False
    peer = RawPeer(network, a)
    a.send(TO_B, *contents, tx=True)
    peer.accept()
    return peer


@pytest.mark.spec("MQQB-3.1.5.6-02", "MQQB-3.1.5.6-04", "MQQB-3.1.5.6-08")
def test_an_order_ack_moves_the_transfer_info_on_and_never_back() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2", b"3")
    peer.session_ack()
    for number in (2, 1):
        peer.order_ack(number)
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    info = outgoing.transfer_info
    assert info.eod_last_ack is not None
    assert info.eod_last_ack.seq_no == 2
    assert info.eod_last_ack_count == 2
    assert info.eod_last_ack_time == int(network.utc)
    assert info.eod_no_ack_count == 1
    assert info.eod_first_non_ack == info.eod_last_non_ack
    assert info.eod_first_non_ack is not None
    assert (info.eod_first_non_ack.seq_no, info.eod_first_non_ack.prev_no) == (3, 2)
    assert info.eod_next_seq is not None
    assert (info.eod_next_seq.seq_no, info.eod_next_seq.prev_no) == (4, 3)
    assert info.eod_resend_time > network.utc


@pytest.mark.spec("MQQB-3.1.5.6-03", "MQQB-3.1.3.2-04")
def test_an_order_ack_lengthens_the_resend_interval_until_nothing_is_left() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, *[b"%d" % number for number in range(20)])
    peer.session_ack()
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    a.binary.refresh_transfer_info(a.outgoing(TO_B))
    info = outgoing.transfer_info
    assert (info.eod_resend_count, info.eod_resend_interval) == (0, 30)
    seen = []
    for number in range(1, 13):
        peer.order_ack(number)
        seen.append((info.eod_resend_count, info.eod_resend_interval))
    assert seen[:3] == [(1, 30), (2, 30), (3, 300)]
    assert seen[-2:] == [(9, 21600), (9, 21600)]
    peer.order_ack(20)
    assert info.eod_resend_count == 0
    assert a.outgoing(TO_B).count == 0


@pytest.mark.spec("MQQB-3.1.1.5-01")
def test_what_was_sent_is_unacknowledged_in_the_transfer_info() -> None:
    network, a, b = tx_pair()
    ordered(network, a, b, b"1", b"2")
    queue = a.outgoing(TO_B)
    a.binary.refresh_transfer_info(queue)
    assert queue.outgoing is not None
    info = queue.outgoing.transfer_info
    assert info.eod_no_ack_count == 2
    assert info.eod_first_non_ack is not None
    assert (info.eod_first_non_ack.seq_no, info.eod_first_non_ack.prev_no) == (1, 0)


@pytest.mark.parametrize("change", ["sequence", "number", "peer"])
def test_order_acks_that_fit_nothing_change_nothing(change: str) -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1")
    peer.session_ack()
    if change == "sequence":
        peer.order_ack(1, sequence_offset=1)
    elif change == "number":
        peer.order_ack(2)
    else:
        stranger = RawPeer(network, a, address="10.0.0.9", number=9)
        stranger.connect()
        stranger.last_sequence = peer.last_sequence
        stranger.order_ack(1)
    assert a.outgoing(TO_B).count == 1
    assert a.binary.counters["unknown transactional acknowledgment"] == 1


# What the receiver accepts


def stream_of(b: Node) -> tuple[int, int, int]:
    (stream,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    return stream.sequence_identifier, stream.sequence_number, stream.reject_count


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
    peer.send(tx_message(b"1", 5, 1, 0), tx_message(b"1", 5, 1, 0))
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


# FinalAck


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


@pytest.mark.spec("MQQB-3.1.1.3.1-11", "MQQB-3.1.1.6.2-08")
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
    assert a.binary.counters["unknown transactional acknowledgment"] == 1


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


def test_a_final_ack_settles_a_message_that_waits_to_be_sent_again() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1", b"2", b"3")
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"plain", delivery_mode=0, priority=0)
    network.run()
    network.advance(31)
    for number in (1, 2, 2, 9):
        peer.final_ack(number, MessageClass.NACK_Q_PURGED)
    assert a.outgoing(TO_B).count == 2
    assert a.binary.counters["unknown transactional acknowledgment"] == 2


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
    assert a.outgoing(TO_B).outgoing.peer == b.guid  # type: ignore[union-attr]


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


@pytest.mark.spec("MQQB-3.1.7.1.3-04")
def test_a_forwarded_message_keeps_the_numbers_of_its_source() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.send(TO_B, b"own", tx=True)
    network.run()
    forwarded = UserMessage(tx_message(b"forwarded", 77, 9, 8))
    a.qm.incoming.enqueue_message(a.outgoing(TO_B), forwarded)
    transaction = a.qm.begin(UUID(int=0xF))
    other = UserMessage(tx_message(b"other", 77, 10, 9, message_id=10))
    a.qm.incoming.enqueue_message(a.outgoing(TO_B), other, transaction)
    a.qm.commit(transaction.identifier)
    b.listening = True
    network.advance(6)
    assert [each[1:] for each in numbers(network)] == [(1, 0), (9, 8), (10, 9)]
    assert [each[0] for each in numbers(network)][1:] == [77, 77]
    assert a.qm.state.last_tx_sequence & 0xFFFFFFFF == 1


# Everything at once


def test_exactly_once_in_order_through_cuts_and_crashes() -> None:
    network, a, b = tx_pair()
    got: list[bytes] = []
    expected = []
    for round_ in range(12):
        contents = [b"%d.%d" % (round_, each) for each in range(20)]
        expected += contents
        a.send(TO_B, *contents, tx=True)
        if round_ % 3 == 0:
            network.run()
            network.cut()
        elif round_ % 3 == 1:
            a.flush()
            a.crash()
        else:
            network.run()
            b.flushing = False
            network.advance(0.3)
            b.crash()
            b.flushing = True
        network.advance(7)
        got += b.receive()
        b.flush()
    network.advance(120)
    got += b.receive()
    assert got == expected
    assert a.outgoing(TO_B).count == 0


# What is only passed on


@pytest.mark.spec("MQQB-3.1.1.3.1-15", "MQQB-3.1.1.5-06")
def test_a_message_of_another_source_is_forwarded_as_it_is() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"own", tx=True)
    network.advance(2)
    packet = tx_message(b"foreign", 9 << 32 | 5, 3, 2, delivery_mode=1)
    queue = a.outgoing(TO_B)
    a.qm.incoming.enqueue_message(queue, UserMessage(packet))
    sequence = a.qm.state.last_tx_sequence
    network.advance(2)
    assert traffic(network, "B")[-1].packet == packet
    # Neither ordered nor kept for an OrderAck, which is the business of its source.
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is None
    assert a.qm.state.last_tx_sequence == sequence
    assert queue.count == 0
    assert streams(a) == []
    a.send(TO_B, b"own again", tx=True)
    network.run()
    assert numbers(network)[-1] == (sequence + 1, 1, 0)
    assert b.receive() == [b"own", b"own again"]


def streams(node: Node) -> list[IncomingTransactionalTransferInfo]:
    return [stream for queue in node.qm.state.queues.values() for stream in queue.incoming.values()]


@pytest.mark.spec("MQQB-3.1.1.5-05")
def test_a_message_for_another_queue_manager_touches_no_sequence() -> None:
    network, _, b = tx_pair()
    peer = RawPeer(network, b)
    peer.connect()
    elsewhere = UUID(int=0x1234)
    number = b.qm.find_queue(f".\\{ORDERS}").properties.private_queue_number
    peer.send(tx_message(b"1", 1 << 32, 1, 0, private=(elsewhere, number)))
    network.advance(2)
    assert streams(b) == []
    assert b.receive() == []
    assert not [each for each in peer.received if isinstance(recognize_ack(each), OrderAck)]
    # The same message for this queue manager is processed.
    peer.send(tx_message(b"1", 1 << 32, 1, 0, private=(b.guid, number)))
    network.advance(2)
    assert [stream.sequence_number for stream in streams(b)] == [1]
    assert [each for each in peer.received if isinstance(recognize_ack(each), OrderAck)]


@pytest.mark.spec("MQQB-3.1.3.2-03")
def test_after_a_start_connections_are_tried_as_long_as_messages_wait() -> None:
    network, a, b = tx_pair()
    b.listening = False
    a.qm.open_queue(TO_B, QueueAccessType.SEND, caller=USER)
    a.restart()
    network.run()
    (status,) = a.binary.outgoing(now=network.now)
    assert status.retry_in_seconds is None
    a.send(TO_B, b"1", tx=True)
    a.restart()
    for _ in range(3):
        network.run()
        (status,) = a.binary.outgoing(now=network.now)
        assert status.retry_in_seconds == a.settings.retry_connect_seconds
        network.advance(a.settings.retry_connect_seconds - 0.01)
        attempts = a.outgoing(TO_B).outgoing.connection_history  # type: ignore[union-attr]
        before = len(attempts)
        network.advance(0.01)
        assert len(attempts) == before + 1
