"""The sender of transactional messages: numbers, what it keeps, when it sends again."""

from copy import deepcopy
from uuid import UUID

import pytest
from tests.protocol.binary.ordered_traffic import numbers, ordered, traffic, tx_pair
from tests.protocol.binary.pair import (
    ORDERS,
    TO_B,
    USER,
    is_ack,
)
from tests.protocol.binary.raw_peer import RawPeer

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.rows.recovery import RESTORED_ORDINALS
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import recognize_ack

# Sequences of the sender


@pytest.mark.spec("MQQB-3.1.1.3.1-03", "MQQB-3.1.1.3.1-05", "MQQB-6-16")
def test_the_first_sequence_starts_at_the_time_of_installation() -> None:
    network, a, _ = tx_pair()
    start = int(network.utc)
    network.advance(86_400)
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


def test_a_sequence_ends_although_plain_messages_are_not_acknowledged_yet() -> None:
    network, a, b = tx_pair()
    peer = ordered(network, a, b, b"1")
    peer.session_ack()
    a.send(TO_B, b"plain", delivery_mode=1)
    network.run()
    queue = a.outgoing(TO_B)
    assert queue.outgoing is not None
    assert queue.outgoing.sequence is not None
    peer.order_ack(1)
    assert queue.count == 1
    assert queue.outgoing.sequence is None


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
    transactions = [a.qm.traffic.begin(UUID(int=number)) for number in (1, 2)]
    for body, transaction in zip((b"late", b"early"), transactions, strict=True):
        packet = build_user_message(
            body=body, destination_queue=direct_address(TO_B.removeprefix("DIRECT="))
        )
        a.qm.traffic.enqueue_many(descriptor, [packet], transaction)
    for transaction in reversed(transactions):
        a.qm.traffic.commit(transaction.identifier)
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


@pytest.mark.spec("MQQB-3.1.1.3.1-03", "MQQB-3.1.1.3.1-04", "MQQB-6-16")
@pytest.mark.parametrize("clock", [0, -86_400])
def test_a_restored_copy_uses_no_sequence_of_the_original_after_further_restarts(
    clock: int,
) -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"before", tx=True)
    network.advance(60)
    backup = deepcopy(a.store)
    a.send(TO_B, b"o1", b"o2", b"o3", tx=True)
    network.advance(60)
    used = {sequence for sequence, _, _ in numbers(network)}

    network.utc += clock
    a.store = backup
    a.crash(restored=True)
    a.flush()
    restored = max(int(network.utc), (max(used) >> 32) + 1)
    network.advance(60)
    a.restart()
    a.restart()
    a.send(TO_B, b"n1", b"n2", tx=True)
    network.advance(60)
    assert b.bodies() == [b"before", b"o1", b"o2", b"o3", b"n1", b"n2"]
    assert a.outgoing(TO_B).count == 0
    (sequence,) = {sequence for sequence, _, _ in numbers(network)} - used
    assert sequence == restored << 32 | 1
    assert sequence > max(used)


@pytest.mark.spec("MQDMPR-3.1.1.12-44")
def test_sequence_identifiers_grow_and_only_transactional_messages_have_one() -> None:
    network, a, b = tx_pair()
    plain = rf"{TO_B}-plain"
    b.create(rf"{ORDERS}-plain")
    for start in (None, a.restart, None, lambda: a.crash(restored=True), a.restart):
        if start is not None:
            start()
        a.send(TO_B, b"1", b"2", tx=True)
        a.send(plain, b"3")
        network.advance(20)
    assert len(b.bodies()) == 10
    sent = numbers(network)
    assert sent == sorted(sent)
    assert [each[1:] for each in sent] == [(1, 0), (2, 1)] * 5
    assert len({sequence for sequence, _, _ in sent}) == 5
    others = [message for message in traffic(network, "B") if message.tx_sequence_id is None]
    assert [message.body for message in others] == [b"3"] * 5


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
    assert a.counts == b.counts == {}
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
    for count, seconds in enumerate((*settings.resend_timer_table, 21600), start=1):
        network.advance(seconds - 1)
        assert len(numbers(network)) == count
        network.advance(1)
        assert len(numbers(network)) == count + 1


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
    assert (info.eod_last_ack.seq_no, info.eod_last_ack.prev_no) == (2, 1)
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
    a.binary.outgoing(now=network.now)
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
    a.binary.outgoing(now=network.now)
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
    assert a.counts["unknown transactional acknowledgment"] == 1
