"""Next hops over small networks ([MS-MQBR] 3.1.5, 4)."""

from uuid import UUID

import pytest

from openmsmq.core.routing.next_hops import Choice, NextHops, find_path, next_hops
from openmsmq.core.routing.topology import Link, Machine, Topology, topology_of
from openmsmq.directory.objects import QueueManagerObject, RoutingLink, Site

A, B, C, D, FOREIGN = (UUID(int=number) for number in range(1, 6))
SENDER, RECEIVER, R1, R2, I1, O1, O2 = (UUID(int=number) for number in range(101, 108))
GATES = {site: UUID(int=200 + site.int) for site in (A, B, C, D)}


def plain(identifier: UUID, *sites: UUID) -> Machine:
    return Machine(identifier, sites=sites)


def router(identifier: UUID, *sites: UUID) -> Machine:
    return Machine(identifier, sites=sites, routing_server=True)


def four_sites(*edges: tuple[UUID, UUID, int]) -> Topology:
    """A gate in each site; the sender is in site A, the receiver in site C."""
    gates = [router(gate, site) for site, gate in GATES.items()]
    links = [Link(a, b, cost, (GATES[a], GATES[b])) for a, b, cost in edges]
    return Topology([*gates, plain(SENDER, A), plain(RECEIVER, C)], links)


def passed(topology: Topology) -> list[UUID]:
    return [hop.machine.identifier for hop in find_path(topology, SENDER, RECEIVER)]


def test_the_direct_link_is_taken_where_it_costs_least() -> None:
    topology = four_sites((A, B, 3), (B, C, 1), (B, D, 1), (C, D, 1))
    assert passed(topology) == [SENDER, GATES[A], GATES[B], GATES[C]]


def test_a_longer_way_is_taken_where_it_costs_less() -> None:
    topology = four_sites((A, B, 3), (B, C, 3), (C, D, 1), (B, D, 1))
    assert passed(topology) == [SENDER, GATES[A], GATES[B], GATES[D], GATES[C]]


def test_inside_a_site_the_destination_comes_first_and_routing_servers_after_it() -> None:
    topology = Topology([plain(SENDER, A), plain(RECEIVER, A), router(R1, A), router(R2, A)], [])
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.DESTINATION, (RECEIVER, R1, R2))
    assert next_hops(topology, SENDER, RECEIVER, turn=1).hops == (RECEIVER, R2, R1)
    assert next_hops(topology, SENDER, R1).hops == (R1, R2)


def test_a_routing_server_sends_to_the_destination_only() -> None:
    topology = Topology([router(R1, A), router(R2, A), plain(RECEIVER, A)], [])
    assert next_hops(topology, R1, RECEIVER) == NextHops(Choice.DESTINATION, (RECEIVER,))


def test_out_routing_servers_are_used_even_inside_a_site() -> None:
    sender = Machine(SENDER, sites=(A,), out_routing_servers=(O1, O2))
    topology = Topology([sender, plain(RECEIVER, A), router(O1, A), router(O2, A)], [])
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.OUT_ROUTING_SERVERS, (O1, O2))


def test_a_machine_that_is_its_own_out_routing_server_takes_the_next_rule() -> None:
    sender = Machine(SENDER, sites=(A,), out_routing_servers=(SENDER,))
    topology = Topology([sender, plain(RECEIVER, A)], [])
    assert next_hops(topology, SENDER, RECEIVER).hops == (RECEIVER,)


@pytest.mark.parametrize("marked", [True, False])
def test_an_in_routing_server_is_the_last_stop_marked_as_routing_server_or_not(
    marked: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    receiver = Machine(RECEIVER, sites=(A,), in_routing_servers=(I1,))
    server = Machine(I1, sites=(A,), routing_server=marked)
    topology = Topology([plain(SENDER, A), receiver, server], [])
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.IN_ROUTING_SERVERS, (I1,))
    assert next_hops(topology, I1, RECEIVER) == NextHops(Choice.DESTINATION, (RECEIVER,))


def test_in_routing_servers_take_turns() -> None:
    receiver = Machine(RECEIVER, sites=(A,), in_routing_servers=(I1, R1))
    topology = Topology([router(R2, A), receiver, router(I1, A), router(R1, A)], [])
    assert next_hops(topology, R2, RECEIVER, turn=3).hops == (R1, I1)


def test_a_server_that_the_directory_does_not_have_is_no_hop() -> None:
    receiver = Machine(RECEIVER, sites=(A,), in_routing_servers=(I1,))
    topology = Topology([plain(SENDER, A), receiver], [])
    assert next_hops(topology, SENDER, RECEIVER).hops == (RECEIVER,)


def test_without_a_routing_server_in_its_site_a_machine_reaches_no_other_site() -> None:
    topology = Topology([plain(SENDER, A), plain(RECEIVER, B)], [Link(A, B)])
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.NO_ROUTING_SERVER)


def test_a_routing_server_that_is_no_gate_asks_a_gate_of_its_site() -> None:
    link = Link(A, B, 1, (R1, O1, I1))
    machines = [router(R2, A), router(R1, A), router(O1, A), router(I1, B), plain(RECEIVER, B)]
    topology = Topology(machines, [link])
    assert next_hops(topology, R2, RECEIVER) == NextHops(Choice.OWN_GATE, (R1, O1))
    assert next_hops(topology, R2, RECEIVER, turn=1).hops == (O1, R1)


def test_a_site_without_a_gate_is_left_by_no_message() -> None:
    topology = Topology([router(R2, A), plain(RECEIVER, B)], [Link(A, B)])
    assert next_hops(topology, R2, RECEIVER) == NextHops(Choice.NO_OWN_GATE)


def test_a_site_whose_routing_servers_lead_nowhere_is_left_out() -> None:
    machines = [plain(SENDER, A, B), router(R1, A), router(R2, B), router(O1, C)]
    topology = Topology([*machines, plain(RECEIVER, C)], [Link(B, C, 1, (R2, O1))])
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.ROUTING_SERVER, (R2,))
    assert next_hops(topology, SENDER, RECEIVER, turn=1).hops == (R2,)


def test_a_site_that_no_link_reaches_has_no_way() -> None:
    topology = four_sites((A, B, 1))
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.NO_WAY)
    assert next_hops(topology, GATES[A], RECEIVER) == NextHops(Choice.NO_WAY)


def test_a_next_site_without_a_gate_says_so() -> None:
    topology = Topology([router(R1, A), plain(RECEIVER, B)], [Link(A, B, 1, (R1,))])
    assert next_hops(topology, R1, RECEIVER) == NextHops(Choice.NO_NEXT_GATE, site=B)


def test_a_gate_outside_the_site_is_no_gate_of_it() -> None:
    topology = Topology([router(R1, A), router(R2, C)], [Link(A, B, 1, (R1, R2))])
    assert topology.gates(A) == (R1,)
    assert topology.gates(B) == ()


def test_a_gate_that_is_no_routing_server_sends_like_any_machine() -> None:
    topology = Topology([plain(R1, A), plain(RECEIVER, B)], [Link(A, B, 1, (R1,))])
    assert next_hops(topology, R1, RECEIVER) == NextHops(Choice.NO_ROUTING_SERVER)


def test_a_gate_in_both_sites_goes_on_from_the_second() -> None:
    machines = [router(R1, A, B), router(R2, C), plain(RECEIVER, C)]
    topology = Topology(machines, [Link(A, B, 1, (R1,)), Link(B, C, 1, (R1, R2))])
    assert next_hops(topology, R1, RECEIVER) == NextHops(Choice.NEXT_GATE, (R2,), C)


def test_the_nearest_site_of_the_destination_counts() -> None:
    machines = [router(R1, A), router(R2, B), router(O1, C), plain(RECEIVER, B, C)]
    topology = Topology(machines, [Link(A, B, 5, (R1, R2)), Link(A, C, 2, (R1, O1))])
    assert next_hops(topology, R1, RECEIVER) == NextHops(Choice.NEXT_GATE, (O1,), C)


def test_a_message_for_a_foreign_system_ends_in_the_connector_queue_of_its_site() -> None:
    foreign = Machine(RECEIVER, sites=(FOREIGN,), foreign_system=True)
    link = Link(A, FOREIGN, 1, (R1,))
    topology = Topology([plain(SENDER, A), router(R1, A, FOREIGN), foreign], [link], [FOREIGN])
    path = find_path(topology, SENDER, RECEIVER)
    assert [hop.next.choice for hop in path] == [Choice.ROUTING_SERVER, Choice.CONNECTOR]
    assert path[-1].next == NextHops(Choice.CONNECTOR, site=FOREIGN)


def test_machines_that_the_directory_does_not_have_have_no_way() -> None:
    topology = Topology([plain(SENDER, A)], [])
    assert next_hops(topology, SENDER, RECEIVER) == NextHops(Choice.UNKNOWN_DESTINATION)
    assert next_hops(topology, RECEIVER, SENDER) == NextHops(Choice.UNKNOWN_SOURCE)
    (only,) = find_path(topology, RECEIVER, SENDER)
    assert only.machine == Machine(RECEIVER)


def test_each_queue_manager_on_the_way_has_its_own_turn() -> None:
    machines = [plain(SENDER, A), router(R1, A), router(R2, B), plain(RECEIVER, B)]
    topology = Topology(machines, [Link(A, B, 1, (R1, R2))])
    turns: list[tuple[UUID, UUID]] = []

    def turn(place: UUID, destination: UUID) -> int:
        turns.append((place, destination))
        return 0

    find_path(topology, SENDER, RECEIVER, turn=turn)
    assert turns == [(SENDER, RECEIVER), (R1, RECEIVER), (R2, RECEIVER)]


def test_a_circle_is_followed_once() -> None:
    # Two machines that each take the other for the way out.
    one = Machine(SENDER, sites=(A,), out_routing_servers=(O1,))
    other = Machine(O1, sites=(A,), out_routing_servers=(SENDER,))
    topology = Topology([one, other, plain(RECEIVER, B)], [])
    assert [hop.machine.identifier for hop in find_path(topology, SENDER, RECEIVER)] == [SENDER, O1]


def test_a_topology_is_made_of_the_objects_of_a_directory() -> None:
    sender = QueueManagerObject(
        identifier=SENDER,
        computer_name="ALPHA",
        site_identifier_list=(A,),
        out_routing_server_identifier_list=(R1,),
        in_routing_server_identifier_list=(R2,),
    )
    gate = QueueManagerObject(
        identifier=R1,
        computer_name="BETA",
        qualified_computer_name="beta.example.com",
        site_identifier_list=(A, FOREIGN),
        routing_server=True,
        foreign_system=True,
    )
    link = RoutingLink(
        site1_identifier=A,
        site2_identifier=FOREIGN,
        actual_cost=7,
        site_gate_identifier_list=(R1,),
    )
    sites = [Site(identifier=A), Site(identifier=FOREIGN, foreign_site=True)]
    topology = topology_of([sender, gate], sites, [link])
    assert topology.machines == {
        SENDER: Machine(SENDER, "ALPHA", (A,), False, (R1,), (R2,)),
        R1: Machine(R1, "beta.example.com", (A, FOREIGN), True, (), (), True),
    }
    assert topology.foreign_sites == {FOREIGN}
    assert topology.gates(A) == topology.gates(FOREIGN) == (R1,)
    assert topology.routing_table(topology.machines[SENDER])[FOREIGN] == (7, FOREIGN)
