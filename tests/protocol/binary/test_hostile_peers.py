"""What a peer makes up costs it its share, and nobody else anything."""

from typing import Any
from uuid import UUID

import pytest
from tests.protocol.binary.pair import ORDERS, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer, tx_message
from tests.protocol.binary.sessions import NOW, message, open_session, reason, settle_all

from openmsmq.core.events import MessageDropped
from openmsmq.core.rows.tables import Table
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.incoming.streams import TOO_MANY, TOO_MANY_OF_ADDRESS
from openmsmq.core.transfer.outgoing.unused import drop_unused_outgoing
from openmsmq.protocol.binary.events import CloseReason
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import OrderAck

YEAR = 366 * 86_400.0


def hostile(binary: BinarySettings | None = None, **limits: Any) -> tuple[Network, Node, RawPeer]:
    """A peer that is connected to B, whose limits are as given."""
    network = Network()
    settings = Settings(names=frozenset(("10.0.0.2",)), **limits)
    b = network.add("B", "10.0.0.2", core_settings=settings, settings=binary)
    b.create(transactional=True)
    peer = RawPeer(network, b)
    peer.connect()
    return network, b, peer


# As many characters as a QueueAddress holds, of three bytes each in UTF-8.
LONG = "\u6f22" * 30_000


def made_up(number: int, sequence: int = 1, **options: Any) -> bytes:
    """The first message of a sender that nobody knows."""
    return tx_message(b"%d" % number, sequence, 1, 0, source=UUID(int=number), **options)


def streams(node: Node) -> int:
    """How many streams B knows, in memory and on disk."""
    known = node.qm.find_queue(rf".\{ORDERS}").incoming
    stored = [table for table, _, _ in node.store.recover(None).rows if table == Table.STREAMS]
    assert len(known) == len(stored) == node.qm.state.stream_count.total
    return len(known)


def dropped(node: Node) -> list[str]:
    return [event.reason for event in node.events if isinstance(event, MessageDropped)]


# Transactional streams


@pytest.mark.parametrize("name", [f"OS:B\\private$\\{LONG}", f"OS:{LONG}\\{ORDERS}"])
def test_a_stream_to_an_endless_name_is_not_kept(name: str) -> None:
    network, b, peer = hostile()
    peer.send(made_up(1, name=name), made_up(2))
    network.run()
    assert peer.closed is None
    assert streams(b) == 1
    assert b.bodies() == [b"2"]


@pytest.mark.parametrize("piece", [1, 100])
def test_made_up_senders_are_taken_up_to_the_limit_of_their_address(piece: int) -> None:
    network, b, peer = hostile(max_streams_per_address=5)
    packets = [made_up(number) for number in range(1, 101)]
    for at in range(0, len(packets), piece):
        peer.send(*packets[at : at + piece])
    network.advance(60)
    assert streams(b) == 5
    assert b.bodies() == [b"1", b"2", b"3", b"4", b"5"]
    assert b.counts == {TOO_MANY_OF_ADDRESS: 95}
    assert dropped(b) == [TOO_MANY_OF_ADDRESS] * 95
    # The others are not acknowledged in order, so that an honest sender keeps them.
    assert len([ack for ack in peer.acks() if isinstance(ack, OrderAck)]) == 5
    assert peer.closed is None


def test_made_up_names_of_one_queue_count_as_well() -> None:
    _, b, peer = hostile(max_streams_per_address=5)
    for number in range(20):
        name = rf"OS:host{number}\{ORDERS}"
        peer.send(tx_message(b"x", 1, 1, 0, name=name))
    assert streams(b) == 5


def test_a_stream_goes_on_when_its_address_is_at_the_limit() -> None:
    network, b, peer = hostile(max_streams_per_address=1)
    peer.send(made_up(1), made_up(2))
    peer.send(tx_message(b"again", 1, 2, 1, source=UUID(int=1)))
    assert b.bodies() == [b"1", b"again"]
    b.crash()
    later = RawPeer(network, b)
    later.connect()
    later.send(tx_message(b"and again", 1, 3, 2, source=UUID(int=1)), made_up(3))
    assert b.bodies() == [b"1", b"again", b"and again"]


def test_other_addresses_and_other_messages_go_on() -> None:
    network, b, peer = hostile(max_streams_per_address=2)
    b.create(r"private$\plain")
    peer.send(*(made_up(number) for number in range(1, 9)))
    plain = direct_address(r"TCP:10.0.0.2\private$\plain")
    peer.send(message(1, destination_queue=plain))
    assert b.bodies(r"private$\plain") == [b"body"]
    other = RawPeer(network, b, address="10.0.0.8", number=8)
    other.connect()
    other.send(made_up(20))
    assert b.bodies() == [b"1", b"2", b"20"]
    assert peer.closed is None


def test_an_honest_sender_waits_for_room_and_loses_nothing() -> None:
    network, a, b = pair(queue={"transactional": True})
    b.core_settings.max_streams = 1
    peer = RawPeer(network, b)
    peer.connect()
    peer.send(made_up(1))
    a.send(rf"DIRECT=TCP:10.0.0.2\{ORDERS}", b"first", b"second", tx=True)
    network.advance(40)
    assert b.bodies() == [b"1"]
    assert b.counts[TOO_MANY] >= 1
    b.core_settings.max_streams = 2
    network.advance(60)
    assert b.bodies() == [b"1", b"first", b"second"]
    network.advance(60)
    assert a.binary.outgoing(now=network.now)[0].messages == 0


def test_streams_without_a_first_message_leave_nothing() -> None:
    network, b, peer = hostile()
    connection = b.binary._connections.by_number[peer.connection]
    peer.send(*(tx_message(b"x", 1, 9, 8, source=UUID(int=each)) for each in range(1, 50)))
    assert b.counts == {"transactional message out of order": 49}
    assert streams(b) == 0
    assert connection.order_acks.next_timer() is None
    network.advance(1)
    assert peer.acks() == []


def test_a_stream_whose_first_message_finds_no_room_is_not_known() -> None:
    network, b, peer = hostile()
    b.qm.state.manager.queue_manager_quota = 1
    # One KiB is room for five of them.
    packets = [
        tx_message(b"%d" % number, 1, number, number - 1, source=UUID(int=sender))
        for sender in (1, 2, 3, 4)
        for number in (1, 2)
    ]
    peer.send(*packets)
    assert peer.closed is not None
    assert peer.closed.reason is CloseReason.NO_ROOM
    assert b.bodies() == [b"1", b"2", b"1", b"2", b"1"]
    assert streams(b) == 3
    b.qm.state.manager.queue_manager_quota = 100
    again = RawPeer(network, b)
    again.connect()
    again.send(*packets)
    assert b.bodies() == [b"1", b"2"] * 4
    assert streams(b) == 4


def test_streams_that_nothing_needs_are_forgotten() -> None:
    network, b, peer = hostile(max_streams_per_address=2)
    # These two die out; a third could be sent again at any time.
    peer.send(made_up(1, time_to_reach_queue=100), made_up(2, time_to_reach_queue=100))
    network.advance(80 * 86_400)
    assert streams(b) == 2
    b.crash()
    network.advance(11 * 86_400)
    assert streams(b) == 0
    assert b.binary.next_timer() is None
    peer = RawPeer(network, b)
    peer.connect()
    sent = int(network.utc)
    peer.send(made_up(3, sent_time=sent), made_up(4, sent_time=sent, time_to_reach_queue=100))
    network.advance(YEAR)
    (kept,) = b.qm.find_queue(rf".\{ORDERS}").incoming.values()
    assert kept.sender_identifier == UUID(int=3)
    # What a forgotten stream had is too late by now.
    peer = RawPeer(network, b)
    peer.connect()
    count = len(b.bodies())
    peer.send(made_up(1, sequence=1, time_to_reach_queue=100))
    assert len(b.bodies()) == count


# Order acknowledgments


def test_what_is_known_of_acknowledged_streams_goes_after_the_longest_delay() -> None:
    network, b, peer = hostile()
    schedule = b.binary._connections.by_number[peer.connection].order_acks
    peer.send(*(made_up(number) for number in range(1, 51)))
    network.advance(1)
    assert len(schedule.running) == 0
    assert len(schedule._sent) == 50
    network.advance(20)
    peer.send(made_up(51))
    network.advance(1)
    assert len(schedule._sent) == 1


def test_order_acks_keep_to_the_window() -> None:
    network, _, peer = hostile()
    peer.send(*(made_up(number) for number in range(1, 101)))
    network.advance(5)
    assert len(peer.acks()) == 64
    peer.session_ack()
    network.advance(1)
    assert len(peer.acks()) == 36


def test_streams_are_acknowledged_in_the_order_of_their_timers() -> None:
    network, b, peer = hostile()
    schedule = b.binary._connections.by_number[peer.connection].order_acks
    peer.send(made_up(1))
    network.advance(0.2)
    peer.send(made_up(2))
    start = network.now
    # The first one is put off, so that the second is the next.
    peer.send(tx_message(b"x", 1, 2, 1, source=UUID(int=1)))
    assert schedule.next_timer() == start + 0.5
    network.advance(0.2)
    peer.send(tx_message(b"x", 1, 3, 2, source=UUID(int=1)))
    assert schedule.next_timer() == start + 0.5
    network.advance(0.31)
    assert [ack.tx_sequence_number for ack in peer.acks()] == [1]
    network.advance(0.5)
    assert [ack.tx_sequence_number for ack in peer.acks()] == [3]


# Connections


def test_a_flood_of_connections_from_one_address_leaves_room_for_others() -> None:
    network, b, _ = hostile(BinarySettings(max_connections=100))
    taken = [b.binary.accept("10.0.0.66", now=network.now) for _ in range(200)]
    assert len([each for each in taken if each is not None]) == 32
    assert b.counts == {"connection over the limit": 168}
    other = RawPeer(network, b, address="10.0.0.8", number=8)
    other.connect()
    other.send(made_up(1))
    assert b.bodies() == [b"1"]


def test_connections_that_are_gone_leave_nothing() -> None:
    network, b, _ = hostile()
    for _ in range(1000):
        number = b.binary.accept("10.0.0.66", now=network.now)
        assert number is not None
        b.binary.connection_lost(number, now=network.now)
    assert len(b.binary._timers._heap) < 100


def test_a_peer_that_sends_but_does_not_read_is_closed() -> None:
    session = open_session(BinarySettings(max_peer_bytes=3600), window=1)
    count = 0
    while session.open:
        session.receive_data(message(1), now=NOW)
        settle_all(session)
        count += 1
    assert reason(session) is CloseReason.NOT_READING
    # One acknowledgment of 36 bytes each.
    assert count == 102


def test_small_messages_that_wait_for_one_batch_take_one_entry() -> None:
    network, b, _ = hostile()
    b.create(r"private$\plain")
    plain = direct_address(r"TCP:10.0.0.2\private$\plain")
    b.flushing = False
    peer = RawPeer(network, b)
    peer.connect()
    for number in range(1, 101):
        peer.send(message(number, recoverable=number % 2 == 1, destination_queue=plain))
    backlog = b.binary._receiver.backlog
    assert [len(held) for held in b.engine.gate._held.values()] == [1]
    assert backlog.total == 100 * len(message(1, destination_queue=plain))
    b.flushing = True
    network.advance(1)
    assert backlog.total == backlog.of(peer.address) == 0
    assert not b.engine.gate.holds
    assert peer.session_acks()[-1].ack_sequence_number == 100


def test_who_connects_again_has_not_got_rid_of_what_waits_for_the_disk() -> None:
    network, b, peer = hostile(BinarySettings(max_peer_bytes=1000, max_backlog_bytes=2500))
    b.flushing = False
    peer.send(*(made_up(number) for number in range(1, 9)))
    assert not b.binary.may_read(peer.connection)
    b.binary.connection_lost(peer.connection, now=network.now)
    assert b.binary.accept(peer.address, now=network.now) is None
    assert b.counts["connection over the limit"] == 1
    # Others are read on, up to what there is for all.
    other = RawPeer(network, b, address="10.0.0.8", number=8)
    other.connect()
    assert b.binary.may_read(other.connection)
    other.send(*(made_up(number) for number in range(21, 26)))
    third = RawPeer(network, b, address="10.0.0.9", number=9)
    third.connect()
    assert not b.binary.may_read(third.connection)
    b.flushing = True
    network.run()
    assert all(b.binary.may_read(each.connection) for each in (other, third))
    assert b.binary.accept(peer.address, now=network.now) is not None


# Ways to made-up hosts


def test_the_way_to_a_forgotten_destination_is_forgotten() -> None:
    network, a, _ = pair()
    a.send(rf"DIRECT=TCP:10.66.0.1\{ORDERS}", b"1", time_to_reach_queue=3)
    network.run()
    assert len(a.binary._finder._direct) == 1
    a.qm.handle_timer(now=network.now, utc=network.utc)
    network.now += 4
    network.utc += 4
    a.qm.handle_timer(now=network.now, utc=network.utc)
    assert drop_unused_outgoing(a.qm.state)
    network.run()
    # The retry timer of the link still runs.
    assert len(a.binary._finder._direct) == 1
    network.advance(10)
    assert a.binary._finder._direct == {}
