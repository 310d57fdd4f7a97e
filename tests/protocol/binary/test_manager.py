"""All sessions together: limits, flow control, several sessions to one peer."""

from typing import Any
from uuid import UUID

import pytest
from tests.protocol.binary.outgoing_state import history
from tests.protocol.binary.pair import ORDERS, TO_B, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer
from tests.protocol.binary.sessions import message

from openmsmq.core.events import MessagesDeleted, QueueCreated, QueueDeleted
from openmsmq.core.settings import Settings
from openmsmq.protocol.binary.events import CloseReason, Disconnect
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.protocol.carrier import CARRIER_EVENTS
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection

# Accepting


@pytest.mark.spec("MQQB-3.1.5.10-01", "MQQB-2.1.1-06")
def test_every_connection_gets_a_session_of_its_own() -> None:
    network, _, b = pair()
    peers = [RawPeer(network, b) for _ in range(2)]
    for peer in peers:
        peer.connect()
        peer.send(message(1, recoverable=True, source_queue_manager=UUID(int=peer.connection)))
    network.advance(1)
    assert [peer.session_acks()[0].ack_sequence_number for peer in peers] == [1, 1]


@pytest.mark.spec("MQQB-6-07")
def test_connections_are_limited_in_all_and_per_peer() -> None:
    settings = BinarySettings(max_connections=3, max_connections_per_peer=1)
    network, _, b = pair(settings=settings)
    RawPeer(network, b).connect()
    second = RawPeer(network, b)
    second.connect()
    assert EstablishConnection.parse(second.internal[0])[0].connection_refused
    assert second.closed is not None
    assert second.closed.reason is CloseReason.REFUSING
    RawPeer(network, b, address="10.0.0.8", number=8).connect()
    assert b.binary.accept("10.0.0.9", now=network.now) is not None
    assert b.binary.accept("10.0.0.10", now=network.now) is None
    assert b.counts["connection over the limit"] == 1
    # Those that never say a word make room again.
    network.advance(61)
    assert b.binary.accept("10.0.0.10", now=network.now) is not None


def test_a_refused_initiator_tries_again_later() -> None:
    network, a, b = pair(settings=BinarySettings(max_connections_per_peer=0))
    a.send(TO_B, b"1")
    network.run()
    assert history(a)[-1] is ConnectionStatus.REFUSED_BY_OTHER_SIDE
    (status,) = a.binary.outgoing(now=network.now)
    assert status.reason == "the other side refused the session"
    assert b.bodies() == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", CloseReason.BAD_VERSION),
        (message(), CloseReason.BAD_ORDER),
    ],
)
def test_bad_peers_are_counted_by_reason(data: bytes, reason: CloseReason) -> None:
    network, _, b = pair()
    number = b.binary.accept("10.0.0.9", now=network.now)
    assert number is not None
    b.binary.receive_data(number, data, now=network.now)
    assert b.counts == {reason: 1}
    event = b.binary.next_event()
    assert isinstance(event, Disconnect)
    assert (event.reason, event.data) == (reason, ())
    assert b.binary.take_ready() == []


def test_a_peer_whose_messages_are_not_on_disk_yet_is_not_read_on() -> None:
    network, _, b = pair(settings=BinarySettings(max_peer_bytes=1000))
    peer = RawPeer(network, b)
    peer.connect()
    b.flushing = False
    peer.send(message(1, recoverable=True))
    assert b.binary.may_read(peer.connection)
    for number in range(2, 9):
        peer.send(message(number, recoverable=True))
    assert not b.binary.may_read(peer.connection)
    b.flushing = True
    network.run()
    assert b.binary.may_read(peer.connection)


# Flow control


def test_without_room_the_window_is_one_and_then_doubles() -> None:
    network, _, b = pair(settings=BinarySettings(window_size=8, cleanup_seconds=1e9))
    peer = RawPeer(network, b)
    peer.connect()
    number = 0

    def announced() -> int:
        late = RawPeer(network, b)
        late.connect()
        return ConnectionParameters.parse(late.internal[1])[0].window_size

    def window() -> int:
        nonlocal number
        for _ in range(8):
            number += 1
            peer.send(message(number))
        return peer.session_acks()[-1].window_size

    assert (window(), announced()) == (8, 8)
    b.qm.outgoing.set_throttled(throttled=True)
    network.advance(100)
    assert announced() == 1
    b.qm.outgoing.set_throttled(throttled=False)
    network.run()
    assert window() == 1
    # When it is short again, the window stays small.
    network.advance(20)
    b.qm.outgoing.set_throttled(throttled=True)
    network.advance(100)
    b.qm.outgoing.set_throttled(throttled=False)
    network.run()
    seen = []
    for _ in range(4):
        network.advance(30)
        seen.append(window())
    assert seen == [2, 4, 8, 8]
    assert announced() == 8
    assert b.binary.next_timer() != network.now + 30


# Choice: UnAckedMessageCount counts what was sent; [MS-MQQB] 3.1.3.2 counts the whole table, with
# which no queue of more than one window would ever begin.
def test_unacknowledged_messages_are_those_that_were_sent() -> None:
    network, a, b = pair()
    b.flushing = False
    a.send(TO_B, *[b"%d" % number for number in range(100)])
    network.run()
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.messages, status.unacknowledged) == (100, 64)
    assert (status.next_hop, status.destination) == ("10.0.0.2", TO_B)
    assert status.reason == "sent, but not acknowledged yet"
    b.flushing = True
    network.advance(3)
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.messages, status.unacknowledged, status.reason) == (0, 0, "")


# Several sessions to one peer


def two_sessions() -> tuple[Network, Node, Node]:
    """A connected to B by address and by name."""
    network, a, b = pair()
    a.send(TO_B, b"1")
    a.send(rf"DIRECT=OS:B\{ORDERS}", b"2")
    network.run()
    return network, a, b


def test_a_host_by_two_names_has_two_sessions() -> None:
    network, _, b = two_sessions()
    assert len(network.wires) == 4
    assert sorted(b.bodies()) == [b"1", b"2"]


def test_when_one_session_ends_another_to_the_same_peer_serves() -> None:
    network, a, b = two_sessions()
    a.create()
    network.advance(2)
    wire = next(iter(network.wires.values()))
    for node, number in wire.ends.items():
        network.wires.pop((node, number))
        node.binary.connection_lost(number, now=network.now)
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"3")
    network.run()
    assert a.bodies() == [b"3"]
    assert len(network.wires) == 2


def test_the_end_of_the_session_of_a_peer_makes_us_connect_ourselves() -> None:
    network, a, b = pair()
    a.create()
    a.send(TO_B, b"1")
    network.advance(1)
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"2")
    network.run()
    a.flushing = False
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"3")
    network.run()
    network.cut()
    network.run()
    assert b.binary.outgoing(now=network.now)[0].unacknowledged
    a.flushing = True
    network.advance(3)
    assert a.bodies() == [b"2", b"3"]


def test_two_that_connect_at_once_use_what_is_open_first() -> None:
    network, a, b = pair()
    a.create()
    network.stalled = True
    a.send(TO_B, b"1")
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"2")
    network.run()
    network.stalled = False
    network.run()
    assert (a.bodies(), b.bodies()) == ([b"2"], [b"1"])
    network.cut()
    network.advance(20)
    assert (a.bodies(), b.bodies()) == ([b"2"], [b"1"])


def test_batches_become_durable_one_by_one() -> None:
    network, _, b = pair(settings=BinarySettings(max_peer_bytes=0))
    peer = RawPeer(network, b)
    peer.connect()
    b.flushing = False
    peer.send(message(1, recoverable=True))
    write = b.engine.take_write()
    assert write is not None
    peer.send(message(2, recoverable=True))
    b.store.write(write)
    b.engine.written()
    assert not b.binary.may_read(peer.connection)
    b.engine.flush()
    assert b.binary.may_read(peer.connection)


@pytest.mark.spec("MQQB-3.1.3.2-14", "MQQB-6-15")
def test_the_guid_of_a_queue_manager_survives_restarts() -> None:
    network, a, _ = pair()
    guid = a.qm.state.local.identifier
    a.guid = UUID(int=0xBAD)
    a.restart()
    a.send(TO_B, b"1")
    network.run()
    assert EstablishConnection.parse(network.log[0][1])[0].client_guid == guid


@pytest.mark.spec("MQQB-3.1.1.3.1-14")
def test_an_address_can_be_ipv6() -> None:
    network = Network()
    a, b = network.add("A", "10.0.0.1"), network.add("B", "10.0.0.2")
    b.create()
    network.hosts["fe80::2"] = "10.0.0.2"
    a.send(rf"DIRECT=TCP:fe80::2\{ORDERS}", b"1")
    network.run()
    assert b.bodies() == [b"1"]


def test_words_for_every_state() -> None:
    network, a, b = pair(core_settings=Settings())
    b.listening = True
    network.stalled = True
    a.send(TO_B, b"1")
    assert a.binary.outgoing(now=network.now)[0].reason == "not connected"
    network.run()
    assert a.binary.outgoing(now=network.now)[0].reason == "the other side has not answered"
    network.stalled = False
    network.run()
    a.flushing = False
    network.advance(3)
    a.send(TO_B, b"2")
    network.run()
    assert a.binary.outgoing(now=network.now)[0].reason == "about to be sent"


def test_events_that_concern_no_carrier_change_nothing() -> None:
    network, a, _ = pair()
    queue = a.create()
    assert QueueCreated not in CARRIER_EVENTS
    a.binary.core_event(QueueCreated(queue=queue, depends=0), now=network.now)
    assert (a.binary.next_event(), a.binary.take_ready()) == (None, [])
    assert a.binary.outgoing(now=network.now) == []


def test_a_node_by_itself_has_nothing_to_do() -> None:
    network = Network()
    node: Any = network.add("A", "10.0.0.1")
    network.advance(10)
    assert node.binary.next_timer() is None
    assert node.binary.outgoing(now=network.now) == []


def test_what_happens_to_a_queue_that_was_never_sent_from_is_ignored() -> None:
    network, a, _ = pair()
    name = "DIRECT=HTTP://host/msmq/q"
    a.send(name, b"1", destination_queue=direct_address(TO_B.removeprefix("DIRECT=")))
    queue = a.outgoing(name)
    a.binary.core_event(MessagesDeleted(queue=queue, messages=[], reason=0), now=network.now)
    a.binary.core_event(QueueDeleted(queue=queue), now=network.now)
    assert a.binary._transfers.transfers == {}
    assert a.binary.next_event() is None


# What people ask for


def test_sessions_are_shown_with_their_peer_and_what_waits() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.run()
    (ours,) = a.binary.sessions()
    (theirs,) = b.binary.sessions()
    assert (a.binary.protocol, a.binary.session_count) == ("binary", 1)
    assert b.binary.waiting_bytes == 0
    assert (ours.direction, theirs.direction) == ("outgoing", "incoming")
    assert ours.peer == f"{{{str(b.guid).upper()}}}"
    assert (ours.state, ours.queues, ours.address) == ("OPEN", 1, "10.0.0.2")
    assert (theirs.queues, theirs.unacknowledged) == (0, 0)


def test_what_came_and_went_over_a_session_is_counted() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1", b"2")
    network.run()
    (ours,) = a.binary.traffic()
    (theirs,) = b.binary.traffic()
    assert (ours.number, ours.incoming_messages, ours.outgoing_messages) == (1, 0, 2)
    assert (theirs.incoming_messages, theirs.outgoing_messages) == (2, 0)
    assert (ours.incoming_bytes, ours.outgoing_bytes) == (
        theirs.outgoing_bytes,
        theirs.incoming_bytes,
    )
    assert ours.outgoing_bytes > ours.incoming_bytes > 0


def test_a_session_can_be_hung_up_on() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.run()
    (session,) = a.binary.sessions()
    assert a.binary.hang_up(session.id)
    assert not a.binary.hang_up(session.id)
    network.run()
    assert (a.binary.session_count, b.binary.session_count) == (0, 0)


def test_a_session_without_a_handshake_has_no_peer_yet() -> None:
    _, _, b = pair()
    b.binary.accept("10.0.0.9", now=0.0)
    (shown,) = b.binary.sessions()
    assert (shown.peer, shown.address, shown.waiting_bytes) == ("", "10.0.0.9", 0)
