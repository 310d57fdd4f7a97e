"""A destination queue that is deleted and created again while transactional messages flow."""

from collections.abc import Callable
from copy import deepcopy
from uuid import UUID

import pytest
from tests.protocol.binary.ordered_traffic import numbers, tx_pair
from tests.protocol.binary.pair import ADMINISTRATOR, ORDERS, TO_B, USER, Network, Node
from tests.protocol.binary.raw_peer import SOURCE, RawPeer, tx_message

from openmsmq.core.rows.tables import Table
from openmsmq.core.transfer.incoming.streams import (
    TOO_MANY_OF_ADDRESS,
    IncomingTransactionalTransferInfo,
    forget_stream,
)
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.packets.order_ack import FinalAck, OrderAck, recognize_ack

SPEC = pytest.mark.spec
RESTART = pytest.mark.parametrize("restart", [False, True], ids=["no restart", "restart"])
OUT_OF_ORDER = "transactional message out of order"


def delete(node: Node, path: str = ORDERS) -> None:
    node.qm.delete_queue(node.qm.find_queue(f".\\{path}"), caller=USER)


def recreate(node: Node, *, transactional: bool = True) -> None:
    delete(node)
    node.create(ORDERS, transactional=transactional)


def raw(**settings: int) -> tuple[Network, Node, RawPeer]:
    """B with the transactional queue, and a peer that sends by hand."""
    network, _, b = tx_pair()
    for name, value in settings.items():
        setattr(b.core_settings, name, value)
    peer = RawPeer(network, b)
    peer.connect()
    return network, b, peer


def finals(peer: RawPeer) -> list[tuple[int, int]]:
    """Number and class of the FinalAcks so far."""
    acks = [(recognize_ack(message), message.message_class) for message in peer.received]
    return [(ack.tx_sequence_number, kind) for ack, kind in acks if isinstance(ack, FinalAck)]


def last_order_ack(peer: RawPeer) -> int:
    """How far the sender is told that its stream got."""
    acks = [recognize_ack(message) for message in peer.received]
    return [ack.tx_sequence_number for ack in acks if isinstance(ack, OrderAck)][-1]


def abandoned(node: Node) -> list[IncomingTransactionalTransferInfo]:
    return list(node.qm.state.abandoned_streams)


def check_rows(node: Node) -> None:
    """What is known of streams is what is on disk, and what is counted."""
    node.flush()
    state = node.qm.state
    known = [*state.abandoned_streams]
    known += [each for queue in state.queues.values() for each in queue.incoming.values()]
    rows = {key: row for table, key, row in node.store.recover(None).rows if table == Table.STREAMS}
    assert {stream.key: stream.serialize() for stream in known} == rows
    assert state.stream_count.total == len(rows)
    for address in {stream.address for stream in known}:
        assert state.stream_count.of(address) == [each.address for each in known].count(address)


# The stream goes on


@SPEC("MQQB-3.1.1.3.1-06", "MQQB-3.1.1.3.1-07")
@RESTART
def test_the_rest_of_a_sequence_arrives_in_the_new_queue(*, restart: bool) -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", b"2", tx=True)
    network.run()
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"3", b"4", tx=True)
    network.advance(30)
    delete(b)
    if restart:
        b.restart()
    b.create(ORDERS, transactional=True)
    if restart:
        b.restart()
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.advance(10)
    assert b.bodies() == [b"3", b"4"]
    assert [each[1:] for each in numbers(network)[-2:]] in ([(3, 2), (4, 3)], [(3, 0), (4, 3)])
    assert a.outgoing(TO_B).count == 0
    assert OUT_OF_ORDER not in b.counts
    check_rows(b)


def test_traffic_goes_on_as_soon_as_the_queue_is_there_again() -> None:
    network, a, b = tx_pair()
    sent: list[bytes] = []

    def traffic(seconds: float) -> list[bytes]:
        before = len(sent)
        for _ in range(int(seconds / 0.2)):
            sent.append(b"%d" % len(sent))
            a.send(TO_B, sent[-1], tx=True, negative_journaling=True)
            network.advance(0.2)
        return sent[before:]

    in_old = traffic(10)
    delete(b)
    refused = traffic(2)
    b.create(ORDERS, transactional=True)
    in_new = traffic(10)
    # Within a second of the last message: none had to be sent again.
    network.advance(1)
    assert b.bodies() == in_new
    assert sorted(a.xact_deadletters) == sorted(in_old + refused)
    assert b.counts == {"NACK_BAD_DST_Q": len(refused)}
    b.receive()
    network.advance(2)
    assert a.outgoing(TO_B).count == 0


def test_a_queue_that_never_was_there_can_be_created_under_traffic() -> None:
    network, a, b = tx_pair()
    delete(b)
    for number in range(20):
        if number == 10:
            b.create(ORDERS, transactional=True)
        a.send(TO_B, b"%d" % number, tx=True)
        network.advance(0.2)
    network.advance(1)
    assert b.bodies() == [b"%d" % number for number in range(10, 20)]
    assert b.counts["NACK_BAD_DST_Q"] == 10


def test_a_queue_without_transactions_in_between_refuses_and_the_next_one_goes_on() -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", tx=True)
    network.run()
    recreate(b, transactional=False)
    a.send(TO_B, b"2", tx=True, negative_journaling=True)
    network.run()
    assert b.bodies() == []
    recreate(b)
    a.send(TO_B, b"3", tx=True)
    network.advance(3)
    assert b.bodies() == [b"3"]
    (message,) = a.qm.state.xact_deadletter.lanes
    assert message.make_history().message_class == MessageClass.NACK_NOT_TRANSACTIONAL_Q
    assert OUT_OF_ORDER not in b.counts


def test_a_private_number_that_is_used_again_goes_on_too() -> None:
    _, b, peer = raw()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    here = b.guid, number
    peer.send(tx_message(b"1", 5, 1, 0, private=here), tx_message(b"2", 5, 2, 1, private=here))
    recreate(b)
    assert b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number == number
    peer.send(tx_message(b"2", 5, 2, 1, private=here), tx_message(b"3", 5, 3, 2, private=here))
    assert b.bodies() == [b"3"]
    (stream,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    assert stream.format_name == f"PRIVATE={b.guid}\\{number:x}"


# Exactly once


@SPEC("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.6-04")
@RESTART
def test_what_the_old_queue_had_taken_comes_into_no_other(*, restart: bool) -> None:
    network, a, b = tx_pair()
    a.send(TO_B, b"1", b"2", tx=True)
    network.run()
    assert b.receive() == [b"1", b"2"]
    # No OrderAck has left yet.
    network.cut()
    delete(b)
    if restart:
        b.restart()
    b.create(ORDERS, transactional=True)
    network.advance(100)
    assert b.bodies() == []
    assert a.outgoing(TO_B).count == 0
    a.send(TO_B, b"3", tx=True)
    network.advance(3)
    assert b.bodies() == [b"3"]
    check_rows(b)


@RESTART
@pytest.mark.parametrize("again", [True, False], ids=["created again", "deleted"])
def test_a_message_of_the_old_queue_has_one_fate(*, again: bool, restart: bool) -> None:
    """It was deleted with its queue; its copy is neither delivered nor refused as misaddressed."""
    network, b, peer = raw()
    message = tx_message(b"1", 5, 1, 0, negative_journaling=True)
    peer.send(message)
    delete(b)
    if again:
        b.create(ORDERS, transactional=True)
    if restart:
        b.restart()
        peer = RawPeer(network, b)
        peer.connect()
    peer.send(message)
    network.advance(2)
    assert finals(peer) == [(1, MessageClass.NACK_Q_DELETED)]
    assert last_order_ack(peer) == 1
    assert b.counts == {OUT_OF_ORDER: 1}


@RESTART
@pytest.mark.parametrize(
    ("refuse", "expected"),
    [
        (delete, MessageClass.NACK_BAD_DST_Q),
        (
            lambda b: recreate(b, transactional=False),
            MessageClass.NACK_NOT_TRANSACTIONAL_Q,
        ),
    ],
    ids=["deleted", "not transactional"],
)
@pytest.mark.parametrize("known", [False, True], ids=["new stream", "known stream"])
def test_a_copy_of_a_refused_message_gets_into_no_queue(
    refuse: Callable[[Node], None], expected: MessageClass, *, known: bool, restart: bool
) -> None:
    network, b, peer = raw()
    if known:
        peer.send(tx_message(b"1", 5, 1, 0))
    refuse(b)
    messages = [tx_message(b"2", 6, 1, 0), tx_message(b"3", 6, 2, 1), tx_message(b"4", 6, 3, 2)]
    peer.send(*messages[:2])
    network.advance(2)
    assert finals(peer) == [(1, expected), (2, expected)]
    assert last_order_ack(peer) == 2
    if restart:
        b.restart()
        peer = RawPeer(network, b)
        peer.connect()
    if expected is MessageClass.NACK_NOT_TRANSACTIONAL_Q:
        delete(b)
    b.create(ORDERS, transactional=True)
    peer.send(*messages)
    assert b.bodies() == [b"4"]
    network.advance(2)
    assert last_order_ack(peer) == 3
    check_rows(b)


def test_messages_of_a_deleted_queue_are_refused_in_their_order_too() -> None:
    network, b, peer = raw()
    peer.send(tx_message(b"1", 5, 1, 0))
    delete(b)
    # Number 2 is missing.
    peer.send(tx_message(b"3", 5, 3, 2))
    network.advance(2)
    assert finals(peer) == []
    assert last_order_ack(peer) == 1
    peer.send(tx_message(b"2", 5, 2, 1), tx_message(b"3", 5, 3, 2))
    network.advance(2)
    assert [number for number, _ in finals(peer)] == [2, 3]


def test_the_middle_of_an_unknown_stream_is_refused_without_a_trace() -> None:
    network, b, peer = raw()
    delete(b)
    peer.send(tx_message(b"3", 5, 3, 2))
    network.advance(2)
    assert finals(peer) == [(3, MessageClass.NACK_BAD_DST_Q)]
    b.create(ORDERS, transactional=True)
    peer.send(tx_message(b"1", 5, 1, 0), tx_message(b"2", 5, 2, 1))
    assert b.bodies() == [b"1", b"2"]


def test_a_message_for_another_queue_manager_leaves_no_stream() -> None:
    network, b, peer = raw()
    peer.send(tx_message(b"1", 5, 1, 0, private=(UUID(int=99), 3)))
    network.advance(2)
    assert finals(peer) == [(1, MessageClass.NACK_BAD_DST_Q)]
    assert b.qm.state.stream_count.total == 0
    check_rows(b)


# A receiver that has lost its streams, such as one restored from a backup


@pytest.mark.parametrize("interrupt", ["session", "timer"])
def test_a_receiver_that_lost_its_streams_is_reached_by_what_is_sent_again(
    interrupt: str,
) -> None:
    network, a, b = tx_pair()
    empty = deepcopy(b.store)
    a.send(TO_B, *[b"%d" % number for number in range(5)], tx=True)
    network.run()
    a.qm.outgoing.pause(a.outgoing(TO_B), caller=ADMINISTRATOR)
    a.send(TO_B, b"5", b"6", tx=True)
    network.advance(2)
    assert b.receive() == [b"%d" % number for number in range(5)]
    b.flush()
    if interrupt == "session":
        b.store = empty
        b.crash(restored=True)
    else:
        (stream,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
        forget_stream(b.qm.state, stream)
    a.qm.outgoing.resume(a.outgoing(TO_B), caller=ADMINISTRATOR)
    network.advance(5)
    assert b.bodies() == ([b"5", b"6"] if interrupt == "session" else [])
    network.advance(31)
    assert b.bodies() == [b"5", b"6"]
    network.advance(2)
    assert a.outgoing(TO_B).count == 0


# Limits


def test_a_stream_of_a_deleted_queue_makes_room_for_a_new_one() -> None:
    _, b, peer = raw(max_streams_per_address=2)
    for number in (1, 2):
        peer.send(tx_message(b"old", 5, 1, 0, source=UUID(int=number)))
    recreate(b)
    # The first one is used, so that the second one is the oldest.
    peer.send(tx_message(b"1", 5, 2, 1, source=UUID(int=1)))
    assert [stream.sender_identifier.int for stream in abandoned(b)] == [2]
    peer.send(tx_message(b"3", 5, 1, 0, source=UUID(int=3)))
    assert abandoned(b) == []
    # Now every stream has a queue.
    peer.send(tx_message(b"4", 5, 1, 0, source=UUID(int=4)))
    assert b.counts[TOO_MANY_OF_ADDRESS] == 1
    assert b.bodies() == [b"1", b"3"]
    check_rows(b)
    b.restart()
    check_rows(b)


def test_made_up_queues_stay_within_the_limits() -> None:
    network, b, peer = raw(max_streams_per_address=5, max_streams=8)
    peer.send(tx_message(b"1", 5, 1, 0, source=UUID(int=1)))
    other = RawPeer(network, b, address="10.0.0.8", number=8)
    other.connect()
    for number in range(20):
        for sender in (peer, other):
            made_up = rf"TCP:10.0.0.2\private$\none-{number}"
            sender.send(tx_message(b"x", 5, 1, 0, source=sender.guid, name=made_up))
    count = b.qm.state.stream_count
    assert (count.of("10.0.0.7"), count.of("10.0.0.8")) == (4, 4)
    assert b.counts["NACK_BAD_DST_Q"] == 40
    # What leads to a queue is never pushed out by what leads nowhere.
    peer.send(tx_message(b"2", 5, 2, 1, source=UUID(int=1)))
    assert b.bodies() == [b"1", b"2"]
    check_rows(b)


def test_what_finds_no_room_among_live_streams_is_refused_all_the_same() -> None:
    network, b, peer = raw(max_streams_per_address=1)
    peer.send(tx_message(b"1", 5, 1, 0))
    missing = r"TCP:10.0.0.2\private$\none"
    peer.send(tx_message(b"2", 5, 1, 0, name=missing), tx_message(b"3", 5, 2, 1, name=missing))
    network.advance(2)
    assert finals(peer) == [(1, MessageClass.NACK_BAD_DST_Q), (2, MessageClass.NACK_BAD_DST_Q)]
    assert abandoned(b) == []
    check_rows(b)


@SPEC("MQQB-3.1.1.3.1-06")
@pytest.mark.parametrize("missing", [False, True])
def test_a_message_of_no_sequence_is_not_taken(*, missing: bool) -> None:
    _, b, peer = raw()
    if missing:
        delete(b)
    for number in range(1, 4):
        peer.send(tx_message(b"0", 0, number, number - 1), tx_message(b"0", 0, number, 0))
    assert b.qm.state.stream_count.total == 0
    assert b.qm.state.stream_count.of("10.0.0.7") == 0
    if not missing:
        assert b.bodies() == []
        assert b.counts == {OUT_OF_ORDER: 6}
    check_rows(b)


def test_the_streams_of_a_deleted_queue_are_forgotten_like_others() -> None:
    network, b, peer = raw()
    peer.send(tx_message(b"1", 5, 1, 0, time_to_reach_queue=3600))
    delete(b)
    (stream,) = abandoned(b)
    assert (stream.sender_identifier, stream.sequence_number) == (SOURCE, 1)
    network.advance(89 * 86_400)
    assert len(abandoned(b)) == 1
    network.advance(3 * 86_400)
    assert abandoned(b) == []
    check_rows(b)


def test_a_name_in_other_letters_is_the_same_stream() -> None:
    _, b, peer = raw()
    peer.send(tx_message(b"1", 5, 1, 0))
    recreate(b)
    shouted = TO_B.removeprefix("DIRECT=").upper()
    peer.send(tx_message(b"1", 5, 1, 0, name=shouted), tx_message(b"2", 5, 2, 1, name=shouted))
    assert b.bodies() == [b"2"]


def test_private_and_direct_names_are_streams_of_their_own() -> None:
    _, b, peer = raw()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    peer.send(tx_message(b"1", 5, 1, 0), tx_message(b"2", 6, 1, 0, private=(b.guid, number)))
    recreate(b)
    peer.send(tx_message(b"3", 6, 2, 1, private=(b.guid, number)), tx_message(b"4", 5, 2, 1))
    assert b.bodies() == [b"3", b"4"]
    assert len(b.qm.find_queue(rf".\{ORDERS}").incoming) == 2
