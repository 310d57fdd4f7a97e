"""Connections and ways: who connects to whom, limits, states, words."""

from typing import Any
from uuid import UUID

import pytest
from tests.directory.memory_file import directory_of
from tests.protocol.binary.pair import ADMINISTRATOR, TO_B, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer
from tests.protocol.binary.sessions import message

from openmsmq.core.state import Settings
from openmsmq.directory.objects import Enterprise, QueueManagerObject, QueueObject
from openmsmq.protocol.binary.destinations import Destination, find_destination, is_binary
from openmsmq.protocol.binary.events import CloseReason, Connect, Disconnect
from openmsmq.protocol.binary.handshake import SessionState
from openmsmq.protocol.binary.links import Link, LinkState
from openmsmq.protocol.binary.settings import BINARY_PORT, BinarySettings
from openmsmq.wire.establish_connection import EstablishConnection
from openmsmq.wire.format_name import parse_format_name
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_address import direct_address
from openmsmq.wire.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.scalars import GUID_NULL

ORDERS = r"private$\orders"


def history(node: Node, name: str = TO_B) -> list[ConnectionStatus]:
    outgoing = node.outgoing(name).outgoing
    assert outgoing is not None
    return [entry.status for entry in outgoing.connection_history]


def state(node: Node, name: str = TO_B) -> QueueState:
    outgoing = node.outgoing(name).outgoing
    assert outgoing is not None
    return outgoing.state


# Connecting


@pytest.mark.spec("MQQB-1.9-01", "MQQB-2.1.1-05", "MQQB-3.1.5.2.1-05")
def test_a_direct_name_is_connected_to_at_its_host() -> None:
    network, a, _ = pair()
    a.send(TO_B, b"1")
    a.flush()
    for event in a.qm.take_events():
        a.binary.core_event(event, now=network.now)
    assert a.binary.next_event() == Connect(connection=1, host="10.0.0.2", port=1801)
    assert BINARY_PORT == 0x0709


@pytest.mark.spec("MQQB-3.1.5.2-01", "MQQB-3.1.7.12-02", "MQQB-3.1.5.2.1-01")
def test_the_first_message_makes_a_session_and_the_next_ones_use_it() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.run()
    assert history(a) == [
        ConnectionStatus.NONE,
        ConnectionStatus.ESTABLISH_PACKET_RECEIVED,
        ConnectionStatus.READY,
    ]
    a.send(TO_B, b"2")
    a.send(r"DIRECT=TCP:10.0.0.2\private$\other", b"3")
    network.run()
    assert len(network.wires) == 2
    assert b.bodies() == [b"1", b"2"]


@pytest.mark.spec("MQQB-2.1.1-02")
def test_a_session_serves_both_directions_with_counters_of_their_own() -> None:
    network, a, b = pair()
    a.create()
    a.send(TO_B, b"1", b"2")
    network.run()
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"3")
    network.advance(20)
    assert a.bodies() == [b"3"]
    assert a.binary.counters == b.binary.counters == {}


@pytest.mark.spec("MQQB-3.1.5.2.3-04", "MQQB-3.1.5.4.2-04", "MQQB-3.1.5.4.2-02")
def test_the_state_of_an_outgoing_queue_follows_its_session() -> None:
    network, a, _ = pair()
    network.stalled = True
    a.send(TO_B, b"1")
    network.run()
    assert state(a) is QueueState.WAITING
    network.stalled = False
    network.run()
    assert state(a) is QueueState.CONNECTED
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    assert outgoing.next_hops == ("10.0.0.2",)


@pytest.mark.spec("MQQB-3.1.5.2-02")
@pytest.mark.parametrize(
    ("name", "status"),
    [
        (r"DIRECT=OS:nowhere\private$\q", ConnectionStatus.NAME_RESOLUTION_FAILURE),
        (TO_B, ConnectionStatus.CONNECT_SOCKET_FAILURE),
    ],
)
def test_a_failed_attempt_is_in_the_history(name: str, status: ConnectionStatus) -> None:
    network, a, b = pair()
    b.listening = False
    a.send(name, b"1")
    network.run()
    outgoing = a.outgoing(name).outgoing
    assert outgoing is not None
    (entry,) = outgoing.connection_history
    assert (entry.status, entry.error) == (status, Hresult.MQ_ERROR)
    assert entry.connection_history_time == int(network.utc)
    assert outgoing.state is QueueState.DISCONNECTED


@pytest.mark.spec("MQQB-3.1.5.2-02")
def test_a_session_that_breaks_is_in_the_history() -> None:
    network, a, _ = pair()
    a.send(TO_B, b"1")
    network.run()
    network.cut()
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    assert outgoing.connection_history[-1].status is ConnectionStatus.SEND_FAILURE
    assert outgoing.connection_history[-1].address_list == ("10.0.0.2",)


@pytest.mark.spec("MQQB-3.1.5.9-02", "MQQB-3.1.5.9-03")
def test_an_initiator_with_messages_connects_again() -> None:
    network, a, b = pair()
    b.flushing = False
    a.send(TO_B, b"1")
    network.run()
    network.cut()
    assert state(a) is QueueState.DISCONNECTED
    (status,) = a.binary.outgoing(now=network.now)
    assert status.retry_in_seconds == 5
    assert status.reason == status.last_error == "the connection broke"
    network.advance(4.9)
    assert not network.wires
    network.advance(0.1)
    assert network.wires
    assert state(a) is QueueState.CONNECTED


def test_a_link_between_two_sessions_waits_to_reconnect() -> None:
    link = Link(Destination("host", GUID_NULL))
    assert link.session_state is None
    link.state = LinkState.WAITING
    assert link.session_state is SessionState.WAITING_RECONNECT


@pytest.mark.spec("MQQB-6-21", "MQQB-3.1.2.3-01")
@pytest.mark.parametrize(("retry", "delay", "seconds"), [(5, 0, 5), (5, 2, 7), (1, 0, 1)])
def test_the_time_between_two_attempts_can_be_set(retry: int, delay: int, seconds: int) -> None:
    settings = BinarySettings(retry_connect_seconds=retry, round_trip_delay=delay)
    network, a, b = pair(settings=settings)
    b.listening = False
    a.send(TO_B, b"1")
    network.run()
    network.advance(seconds - 0.1)
    assert len(history(a)) == 1
    network.advance(0.1)
    assert len(history(a)) == 2


@pytest.mark.spec("MQQB-3.1.6.1-04")
def test_without_messages_nobody_connects_again() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.advance(2)
    network.cut()
    network.advance(60)
    assert not network.wires
    # Messages that expire while the link waits need no connection either.
    b.listening = False
    a.send(TO_B, b"2", time_to_reach_queue=3)
    network.advance(4)
    attempts = len(history(a))
    network.advance(60)
    assert len(history(a)) == attempts


@pytest.mark.spec("MQQB-3.1.5.9-04", "MQQB-3.1.7.3-01")
def test_an_acceptor_does_not_connect_again() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.advance(2)
    network.cut()
    network.advance(60)
    assert not network.wires
    assert b.disconnects[-1].reason is CloseReason.DISCONNECTED


@pytest.mark.spec("MQQB-6-26")
def test_a_host_name_is_resolved_for_every_session() -> None:
    network, a, b = pair()
    c = network.add("C", "10.0.0.3")
    c.create()
    name = rf"DIRECT=OS:moving\{ORDERS}"
    network.hosts["moving"] = "10.0.0.2"
    a.send(name, b"1")
    network.advance(2)
    network.hosts["moving"] = "10.0.0.3"
    a.send(name, b"2")
    network.advance(2)
    network.cut()
    a.send(name, b"3")
    network.advance(10)
    assert b.bodies() == [b"1", b"2"]
    assert c.bodies() == [b"3"]


@pytest.mark.spec("MQQB-3.1.7.1.6-01", "MQQB-3.1.7.1.6-02")
def test_a_connection_that_drops_while_messages_leave_loses_none() -> None:
    network, a, b = pair()
    a.send(TO_B, b"0")
    network.run()
    network.stalled = True
    a.send(TO_B, b"1", b"2")
    network.run()
    network.cut()
    network.stalled = False
    network.advance(10)
    assert b.bodies() == [b"0", b"1", b"2"]


@pytest.mark.spec("MQQB-3.1.4.2-01")
def test_a_stop_closes_all_sessions_without_a_word() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.advance(1)
    network.log.clear()
    a.qm.stop()
    network.run()
    assert a.disconnects[-1].reason is CloseReason.STOPPED
    assert network.log == []
    assert not network.wires
    assert a.binary.accept("10.0.0.9", now=network.now) is None
    assert b.binary.counters == {CloseReason.DISCONNECTED: 1}


def test_a_queue_manager_that_is_taken_offline_comes_back() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    network.advance(1)
    a.qm.outgoing.set_online(active=False, caller=ADMINISTRATOR)
    network.run()
    assert a.disconnects[-1].reason is CloseReason.OFFLINE
    a.send(TO_B, b"2")
    network.advance(60)
    assert b.bodies() == [b"1"]
    a.qm.outgoing.set_online(active=True, caller=ADMINISTRATOR)
    network.run()
    assert b.bodies() == [b"1", b"2"]


def test_a_connection_that_nobody_wants_any_more_is_closed() -> None:
    network, a, _ = pair()
    a.send(TO_B, b"1")
    a.flush()
    for event in a.qm.take_events():
        a.binary.core_event(event, now=network.now)
    a.binary.next_event()
    a.binary.stop(now=network.now)
    a.binary.connected(1, "10.0.0.2", now=network.now)
    assert a.binary.next_event() == Disconnect(connection=1, reason=CloseReason.OFFLINE)


def test_what_concerns_an_unknown_connection_is_ignored() -> None:
    network, a, _ = pair()
    a.binary.receive_data(99, b"x", now=network.now)
    a.binary.connection_lost(99, now=network.now)
    assert a.binary.data_to_send(99, now=network.now) == []
    assert a.binary.may_read(99)


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
    assert b.binary.counters["connection over the limit"] == 1
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
    assert b.binary.counters == {reason: 1}
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


def test_under_memory_pressure_the_window_is_one_and_then_doubles() -> None:
    network, _, b = pair(settings=BinarySettings(window_size=8, cleanup_seconds=1e9))
    peer = RawPeer(network, b)
    peer.connect()
    number = 0

    def window() -> int:
        nonlocal number
        for _ in range(8):
            number += 1
            peer.send(message(number))
        return peer.session_acks()[-1].window_size

    assert window() == 8
    b.binary.set_memory_pressure(pressed=True, now=network.now)
    assert window() == 1
    network.advance(100)
    assert window() == 1
    b.binary.set_memory_pressure(pressed=False, now=network.now)
    seen = []
    for _ in range(4):
        network.advance(30)
        seen.append(window())
    assert seen == [2, 4, 8, 8]
    b.binary.set_memory_pressure(pressed=False, now=network.now)
    late = RawPeer(network, b)
    late.connect()
    assert late.internal[1][-2:] == b"\x08\0"


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


# Destinations


@pytest.mark.spec("MQQB-3.1.7.4-01")
@pytest.mark.parametrize(
    ("name", "host"),
    [(TO_B, "10.0.0.2"), (r"DIRECT=OS:host.example\private$\q", "host.example")],
)
def test_a_direct_name_says_its_host(name: str, host: str) -> None:
    _, a, _ = pair()
    found = find_destination(a.qm.state, parse_format_name(name))
    assert found == Destination(host, GUID_NULL)


@pytest.mark.spec("MQQB-3.1.7.4-03")
def test_a_private_name_says_its_queue_manager() -> None:
    _, a, b = pair()
    name = parse_format_name(rf"PRIVATE={b.guid}\00000009")
    assert find_destination(a.qm.state, name) == Destination("", b.guid)
    a.qm.incoming.learn_address(b.guid, "10.0.0.2")
    assert find_destination(a.qm.state, name) == Destination("10.0.0.2", b.guid)
    a.restart()
    assert find_destination(a.qm.state, name) == Destination("10.0.0.2", b.guid)


@pytest.mark.spec("MQQB-3.1.7.4-02")
def test_a_public_name_is_looked_up_in_the_directory() -> None:
    _, a, b = pair()
    queue = QueueObject(
        identifier=UUID(int=0x9),
        queue_manager=b.guid,
        pathname=r"B\q",
        qualified_pathname=r"b.example\q",
    )
    machine = QueueManagerObject(
        identifier=b.guid, computer_name="B", qualified_computer_name="b.example"
    )
    enterprise = Enterprise(UUID(int=0xE), "corp")
    name = parse_format_name(f"PUBLIC={queue.identifier}")
    assert find_destination(a.qm.state, name) is None
    a.qm.state.directory = directory_of(enterprise, machine, queue)[0]
    a.qm.state.local.directory_integrated = True
    assert find_destination(a.qm.state, name) == Destination("b.example", b.guid)


@pytest.mark.spec("MQQB-6-04")
def test_other_names_lead_nowhere() -> None:
    _, a, b = pair()
    for protocol in ("SPX", "IPX"):
        name = parse_format_name(rf"DIRECT={protocol}:00000001:00000000000A\private$\q")
        assert find_destination(a.qm.state, name) is None
    assert find_destination(a.qm.state, parse_format_name(f"MACHINE={b.guid};DEADLETTER")) is None


@pytest.mark.spec("MQQB-3.1.5.2.1-02")
def test_a_destination_that_nobody_knows_is_looked_up_again() -> None:
    network, a, b = pair()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    name = rf"PRIVATE={b.guid}\{number:08x}"
    a.send(name, b"1")
    network.advance(4)
    assert state(a, name) is QueueState.NEED_VALIDATION
    (status,) = a.binary.outgoing(now=network.now)
    assert (status.reason, status.retry_in_seconds) == ("nobody knows where the queue is", 1)
    a.send(name, b"2")
    network.run()
    assert len(history(a, name)) == 1
    a.qm.incoming.learn_address(b.guid, "10.0.0.2")
    network.advance(2)
    assert state(a, name) is QueueState.CONNECTED


def test_a_queue_manager_that_connects_gets_what_waits_for_it() -> None:
    network, a, b = pair()
    a.create()
    number = b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
    name = rf"PRIVATE={b.guid}\{number:08x}"
    a.send(name, b"1", destination_queue=direct_address(TO_B.removeprefix("DIRECT=")))
    network.advance(1)
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"2")
    network.run()
    assert b.bodies() == [b"1"]


def test_another_queue_manager_at_the_address_gets_nothing() -> None:
    network, a, b = pair()
    stranger = UUID(int=0xDEAD)
    a.qm.incoming.learn_address(stranger, "10.0.0.2")
    name = rf"PRIVATE={stranger}\00000009"
    a.send(name, b"1")
    network.run()
    assert b.bodies() == []
    assert history(a, name)[-1] is ConnectionStatus.REFUSED_BY_OTHER_SIDE


@pytest.mark.spec("MQQB-3.1.7.12-01")
@pytest.mark.parametrize(
    ("name", "served"),
    [
        (TO_B, True),
        ("DIRECT=HTTP://host/msmq/q", False),
        ("DIRECT=HTTPS://host/msmq/q", False),
        ("MULTICAST=224.3.4.5:8001", False),
    ],
)
def test_which_outgoing_queues_this_protocol_serves(*, name: str, served: bool) -> None:
    network, a, _ = pair()
    a.send(name, b"1", destination_queue=direct_address(TO_B.removeprefix("DIRECT=")))
    network.run()
    (queue,) = a.qm.outgoing.queues
    assert queue.outgoing is not None
    assert is_binary(queue.outgoing) is served
    assert len(a.binary.outgoing(now=network.now)) == served
    assert bool(network.wires) is served
    a.binary.refresh_transfer_info(queue)


@pytest.mark.spec("MQQB-3.1.7.12-01")
def test_a_locked_queue_is_not_served() -> None:
    network, a, _ = pair()
    a.qm.state.local.hardened_security = True
    a.send(TO_B, b"1")
    network.run()
    assert not network.wires
    (status,) = a.binary.outgoing(now=network.now)
    assert status.reason.startswith("locked")


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
    numbers = []
    for number in (1, 2):
        peer.send(message(number, recoverable=True))
        taken = b.qm.take_batch()
        assert taken is not None
        numbers.append(taken[0])
    for number, readable in zip(numbers, (False, True), strict=True):
        b.qm.durable(number)
        b.binary.durable(number, now=network.now)
        assert b.binary.may_read(peer.connection) is readable


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
    assert a.binary.outgoing(now=network.now)[0].reason == "connected"
    network.stalled = False
    network.run()
    a.flushing = False
    network.advance(3)
    a.send(TO_B, b"2")
    network.run()
    assert a.binary.outgoing(now=network.now)[0].reason == "about to be sent"


def test_a_node_by_itself_has_nothing_to_do() -> None:
    network = Network()
    node: Any = network.add("A", "10.0.0.1")
    network.advance(10)
    assert node.binary.next_timer() is None
    assert node.binary.outgoing(now=network.now) == []
