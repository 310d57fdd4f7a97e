"""The states of the way to a next hop, and next hops that are tried in turn."""

from itertools import product
from uuid import UUID

import pytest
from tests.protocol.binary.outgoing_state import history, state
from tests.protocol.binary.pair import ORDERS, TO_B, pair

from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.model.queue import Queue
from openmsmq.core.state import State
from openmsmq.core.transfer.outgoing.destinations import Destination
from openmsmq.core.transfer.outgoing.outgoing import Outgoing
from openmsmq.protocol.binary.hop_links import (
    HOP_LINK_TABLE,
    HopLink,
    HopLinkAction,
    HopLinkInput,
    HopLinkState,
)
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import GUID_NULL

S, In, Act = HopLinkState, HopLinkInput, HopLinkAction
PRODUCT = list(product(S, In))
UNDER_WAY = S.PINGING, S.CONNECTING, S.CONNECTED


def test_the_table_has_every_state_and_every_input() -> None:
    assert set(HOP_LINK_TABLE) == set(PRODUCT)


@pytest.mark.parametrize(("state", "what"), PRODUCT)
def test_an_action_leads_to_its_state(state: HopLinkState, what: HopLinkInput) -> None:
    link = HopLink(NextHop("host", GUID_NULL))
    link.state = state
    action = link.step(what)
    leads_to = {
        Act.NOTHING: S.CONNECTED if (state, what) == (S.CONNECTING, In.REACHED) else state,
        Act.SEND_PING: S.PINGING,
        Act.CONNECT: S.CONNECTING,
        Act.RETRY_LATER: S.WAITING,
        Act.TRY_NEXT_HOP: S.DUE,
        Act.REST: S.IDLE,
    }
    assert link.state is leads_to[action]


@pytest.mark.parametrize(("state", "what"), PRODUCT)
def test_when_an_action_is_done(state: HopLinkState, what: HopLinkInput) -> None:
    action = HOP_LINK_TABLE[state, what][1]
    wants = what in (In.PING, In.CONNECT)
    assert (action is Act.SEND_PING) is (state is S.IDLE and what is In.PING)
    assert (action is Act.CONNECT) is (
        (state is S.DUE and wants)
        or (state is S.IDLE and what is In.CONNECT)
        or (state is S.PINGING and what is In.ANSWERED)
    )
    assert (action is Act.RETRY_LATER) is (state in UNDER_WAY and what is In.BROKE)
    assert (action is Act.TRY_NEXT_HOP) is (state is S.WAITING and what is In.RETRY)
    rests = state in UNDER_WAY and what is In.ENDED
    assert (action is Act.REST) is (rests or (state not in UNDER_WAY and what is In.REST))


# Several next hops


class RoutedOutgoing(Outgoing):
    """Outgoing queues whose destination is B, by way of a list of next hops."""

    __slots__ = ("hops", "looked_up", "queue_manager")

    def __init__(self, state: State, queue_manager: UUID, hops: list[str]) -> None:
        super().__init__(state)
        self.queue_manager = queue_manager
        self.hops = hops
        self.looked_up = 0

    def find_destination(self, queue: Queue) -> Destination | None:
        super().find_destination(queue)
        self.looked_up += 1
        hops = tuple(NextHop(host, self.queue_manager) for host in self.hops)
        return Destination(self.queue_manager, hops)


class Case:
    """A sends to B by way of these next hops."""

    def __init__(self, *hops: str) -> None:
        self.network, self.a, self.b = pair()
        self.routes = RoutedOutgoing(self.a.qm.state, self.b.guid, list(hops))
        self.a.binary._finder._outgoing = self.routes
        number = self.b.qm.find_queue(rf".\{ORDERS}").properties.private_queue_number
        self.name = rf"PRIVATE={self.b.guid}\{number:08x}"
        self.other = rf"PRIVATE={self.b.guid}\0000ffff"

    def send(self, body: bytes, name: str = "") -> None:
        to_b = direct_address(TO_B.removeprefix("DIRECT="))
        self.a.send(name or self.name, body, destination_queue=to_b)
        self.network.run()


def test_next_hops_are_tried_in_turn_and_then_looked_up_anew() -> None:
    case = Case("nowhere", "b", "10.0.0.2")
    network, a, b, name, routes = case.network, case.a, case.b, case.name, case.routes
    b.listening = False
    case.send(b"1")
    failures = ConnectionStatus.NAME_RESOLUTION_FAILURE, ConnectionStatus.CONNECT_SOCKET_FAILURE
    assert history(a, name) == [failures[0]]
    network.advance(5)
    assert history(a, name) == list(failures)
    assert routes.looked_up == 1
    network.advance(5)
    assert history(a, name) == [*failures, failures[1]]
    assert routes.looked_up == 1
    # All have failed: the next attempt begins with a new list.
    network.advance(5)
    assert routes.looked_up == 2
    assert history(a, name)[-1] is failures[0]
    b.listening = True
    network.advance(5)
    assert b.bodies() == [b"1"]
    assert state(a, name) is QueueState.CONNECTED
    # Only the way that is in use is left.
    assert len(a.binary._finder._named) == 1


def test_a_lost_session_is_looked_for_at_the_first_next_hop_again() -> None:
    case = Case("10.0.0.2", "nowhere")
    network, b, routes = case.network, case.b, case.routes
    case.send(b"1")
    assert b.bodies() == [b"1"]
    network.cut()
    case.send(b"2")
    network.advance(5)
    assert routes.looked_up == 2
    assert b.bodies() == [b"1", b"2"]


def test_queues_of_one_link_may_have_different_next_hops() -> None:
    case = Case("nowhere", "10.0.0.2")
    network, a, b, other = case.network, case.a, case.b, case.other
    case.send(b"1")
    case.routes.hops = ["nowhere"]
    case.send(b"2", other)
    assert len(a.binary._finder._named) == 1
    network.advance(4)
    # It leaves nothing that a retry is for.
    a.qm.outgoing.pause(a.outgoing(other), caller=a.qm.state.settings.own)
    network.advance(1)
    assert b.bodies() == [b"1"]
    assert state(a, other) is QueueState.ONHOLD


def test_an_open_session_to_the_destination_comes_before_any_next_hop() -> None:
    case = Case("nowhere")
    network, a, b, name = case.network, case.a, case.b, case.name
    a.create()
    b.send(rf"DIRECT=TCP:10.0.0.1\{ORDERS}", b"hello")
    network.run()
    case.send(b"1")
    assert b.bodies() == [b"1"]
    assert history(a, name) == [ConnectionStatus.READY]


def test_a_connection_that_comes_while_offline_leaves_the_way_free() -> None:
    network, a, b = pair()
    a.send(TO_B, b"1")
    a.flush()
    for event in a.qm.take_events():
        a.binary.core_event(event, now=network.now)
    assert a.binary.next_event() is not None
    system = a.qm.state.settings.own
    a.qm.outgoing.set_online(active=False, caller=system)
    for event in a.qm.take_events():
        a.binary.core_event(event, now=network.now)
    a.binary.connected(1, "10.0.0.2", now=network.now)
    (status,) = a.binary.outgoing(now=network.now)
    assert status.reason == "the queue manager is offline"
    a.qm.outgoing.set_online(active=True, caller=system)
    network.run()
    assert b.bodies() == [b"1"]
