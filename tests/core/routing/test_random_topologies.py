"""Random networks: what can be reached is reached, over the least costly sites, without circles."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from openmsmq.core.routing.next_hops import MAX_HOPS, find_path, next_hops
from openmsmq.core.routing.topology import Link, Machine, Topology

SITES = [UUID(int=number) for number in range(1, 7)]
MACHINES = [UUID(int=number) for number in range(100, 112)]


@st.composite
def topologies(draw: st.DrawFn) -> tuple[Topology, list[Link]]:
    """Machines in one or two sites each; every end of a link has a gate that is in its site."""
    machines = [
        Machine(
            identifier,
            sites=tuple(
                draw(st.lists(st.sampled_from(SITES), min_size=1, max_size=2, unique=True))
            ),
            routing_server=draw(st.booleans()),
        )
        for identifier in MACHINES
    ]
    # A routing server in each site, as reaching other sites needs one.
    machines += [Machine(UUID(int=200 + s.int), sites=(s,), routing_server=True) for s in SITES]
    pairs = st.tuples(st.sampled_from(SITES), st.sampled_from(SITES))
    links = [
        Link(
            one,
            other,
            draw(st.integers(1, 5)),
            tuple(
                draw(
                    st.sampled_from(
                        [m.identifier for m in machines if m.routing_server and end in m.sites]
                    )
                )
                for end in (one, other)
            ),
        )
        for one, other in draw(st.lists(pairs, max_size=10))
        if one != other
    ]
    return Topology(machines, links), links


def least_cost(links: list[Link], start: frozenset[UUID], end: frozenset[UUID]) -> int | None:
    """The cost between two sets of sites, by relaxing all links as often as there are sites."""
    costs = dict.fromkeys(start, 0)
    for _ in SITES:
        for link in links:
            for one, other in ((link.site1, link.site2), (link.site2, link.site1)):
                if one in costs:
                    costs[other] = min(costs.get(other, 10**9), costs[one] + link.cost)
    return min((costs[site] for site in end if site in costs), default=None)


@given(topologies(), st.sampled_from(MACHINES), st.sampled_from(MACHINES), st.integers(0, 3))
def test_every_reachable_destination_is_reached_and_no_other_is_tried(
    network: tuple[Topology, list[Link]], source: UUID, destination: UUID, turn: int
) -> None:
    topology, links = network
    path = find_path(topology, source, destination, turn=lambda _source, _destination: turn)
    here, there = topology.machines[source], topology.machines[destination]
    reached = source == destination or path[-1].next.hops[:1] == (destination,)
    if least_cost(links, frozenset(here.sites), frozenset(there.sites)) is not None:
        assert reached
        assert len(path) <= MAX_HOPS
    elif not reached:
        # A gate in two sites may join them without a link. Where none does, nothing is sent.
        assert len(path) == 1
        assert path[0].next.hops == ()


@given(topologies(), st.sampled_from(MACHINES), st.integers(0, 3))
def test_from_the_first_gate_on_the_sites_are_a_way_of_least_cost(
    network: tuple[Topology, list[Link]], destination: UUID, turn: int
) -> None:
    topology, links = network
    goal = frozenset(topology.machines[destination].sites)
    for source in topology.machines:
        gate = topology.machines[source]
        if not topology.is_gate(gate) or gate.shares_site(topology.machines[destination]):
            continue
        cost = least_cost(links, frozenset(gate.sites), goal)
        hops = next_hops(topology, source, destination, turn=turn)
        if cost is None:
            assert hops.hops == ()
            continue
        assert hops.site is not None
        step = least_cost(links, frozenset(gate.sites), frozenset((hops.site,)))
        rest = least_cost(links, frozenset((hops.site,)), goal)
        assert step is not None
        assert rest is not None
        assert step + rest == cost
        assert all(hops.site in topology.machines[hop].sites for hop in hops.hops)


@given(topologies(), st.sampled_from(MACHINES), st.sampled_from(MACHINES), st.integers(0, 3))
def test_no_hop_is_the_sender_itself_and_none_comes_twice(
    network: tuple[Topology, list[Link]], source: UUID, destination: UUID, turn: int
) -> None:
    topology, _ = network
    if source == destination:
        return
    hops = next_hops(topology, source, destination, turn=turn).hops
    assert source not in hops
    assert len(set(hops)) == len(hops)
