"""Who connects to whom and when again, and what an outgoing queue tells of it."""

from itertools import groupby

import pytest
from tests.protocol.binary.outgoing_state import history, state
from tests.protocol.binary.pair import ADMINISTRATOR, ORDERS, TO_B, pair

from openmsmq.core.model.outgoing_queue import NextHop, OutgoingQueue
from openmsmq.protocol.binary.events import CloseReason, Connect, Disconnect
from openmsmq.protocol.binary.hop_links import HopLinkState
from openmsmq.protocol.binary.settings import BINARY_PORT, BinarySettings
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState


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
    assert a.counts == b.counts == {}


@pytest.mark.spec("MQQB-3.1.5.2.3-04", "MQQB-3.1.5.4.2-04", "MQQB-3.1.5.4.2-02")
def test_the_state_of_an_outgoing_queue_follows_its_session() -> None:
    network, a, b = pair()
    network.stalled = True
    a.send(TO_B, b"1")
    network.run()
    assert state(a) is QueueState.WAITING
    network.stalled = False
    network.run()
    assert state(a) is QueueState.CONNECTED
    outgoing = a.outgoing(TO_B).outgoing
    assert outgoing is not None
    assert outgoing.next_hops == (NextHop("10.0.0.2", b.guid, "10.0.0.2"),)


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


@pytest.mark.spec("MQQB-3.1.5.9-03")
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
    (link,) = a.binary._finder._direct.values()
    assert link.state is HopLinkState.WAITING
    network.advance(4.9)
    assert not network.wires
    network.advance(0.1)
    assert network.wires
    assert state(a) is QueueState.CONNECTED


class RecordedQueue(OutgoingQueue):
    """Remembers the states that it went through."""

    states: list[QueueState]

    @property
    def state(self) -> QueueState:
        return self.states[-1]

    @state.setter
    def state(self, state: QueueState) -> None:
        self.states = [*getattr(self, "states", []), state]


@pytest.mark.spec("MQQB-3.1.5.9-02")
@pytest.mark.parametrize("paused", [False, True])
def test_a_session_that_closes_takes_its_queue_along(*, paused: bool) -> None:
    network, a, _ = pair()
    a.send(TO_B, b"1")
    network.run()
    queue = a.outgoing(TO_B)
    assert queue.outgoing is not None
    recorded = queue.outgoing = RecordedQueue(
        TO_B, queue.outgoing.transport, destination=queue.outgoing.destination
    )
    (transfer,) = a.binary._transfers.transfers.values()
    transfer.outgoing = transfer.stream.outgoing = recorded
    if paused:
        a.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    before = len(recorded.states)
    network.cut()
    states = [state for state, _ in groupby(recorded.states[before:])]
    ended = [QueueState.DISCONNECTING, QueueState.DISCONNECTED]
    assert states == ([QueueState.ONHOLD] if paused else ended)


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
    assert b.counts == {CloseReason.DISCONNECTED: 1}


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
    a.binary.connected(99, "10.0.0.2", now=network.now)
    assert a.binary.next_event() == Disconnect(connection=99, reason=CloseReason.OFFLINE)
    assert a.binary.data_to_send(99, now=network.now) == []
    assert a.binary.may_read(99)
