"""Get Next Hops ([MS-MQBR] 3.1.5): the queue managers to try next for a destination, and why."""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from .topology import Machine, Topology

# [MS-MQQB] 3.1.5.8.5: a message that passed more queue managers is not forwarded.
MAX_HOPS: Final = 0x1D


class Choice(StrEnum):
    """Why these next hops were chosen, as text."""

    DESTINATION = "the destination itself"
    IN_ROUTING_SERVERS = "an in-routing server of the destination"
    OUT_ROUTING_SERVERS = "an out-routing server of this queue manager"
    ROUTING_SERVER = "a routing server of its own site"
    OWN_GATE = "a gate of its own site"
    NEXT_GATE = "a gate of the next site on the least costly way"
    CONNECTOR = "the connector queue of a foreign site"
    UNKNOWN_SOURCE = "the directory does not have this queue manager"
    UNKNOWN_DESTINATION = "the directory does not have the destination"
    NO_ROUTING_SERVER = "no site is shared with the destination, and the site has no routing server"
    NO_OWN_GATE = "no site is shared with the destination, and the site has no gate"
    NO_WAY = "no routing link leads to a site of the destination"
    NO_NEXT_GATE = "the next site on the least costly way has no gate"


class NextHops(NamedTuple):
    """The next queue managers, the first choice first; empty if there is no route.

    `site` is the site that decided: the next one, or the foreign one of a connector queue.
    """

    choice: Choice
    hops: tuple[UUID, ...] = ()
    site: UUID | None = None

    @property
    def is_connector(self) -> bool:
        """Whether the route ends here, in the connector queue of a foreign site."""
        return self.choice is Choice.CONNECTOR


class Hop(NamedTuple):
    """One queue manager on the route, and its choice of the next."""

    machine: Machine
    next: NextHops


def turn_of(source: UUID, destination: UUID) -> int:
    """An index that selects the first of several equal next hops.

    It is constant, so that messages stay in order where they can; other machines and
    destinations have other indexes.
    """
    return source.int + destination.int


def next_hops(topology: Topology, source: UUID, destination: UUID, *, turn: int = 0) -> NextHops:
    """The queue managers to which `source` can send messages for `destination`.

    turn: the index, modulo their number, of the first one among equals.
        turn: of several that are as good, this one comes first, counted round.
    """
    here = topology.machines.get(source)
    there = topology.machines.get(destination)
    if here is None:
        return NextHops(Choice.UNKNOWN_SOURCE)
    if there is None:
        return NextHops(Choice.UNKNOWN_DESTINATION)
    # Choice: an in-routing server is the last stop, even if it is not marked as a routing server.
    if source in there.in_routing_servers:
        return NextHops(Choice.DESTINATION, (destination,))
    if not here.routing_server:
        return _from_plain(topology, here, there, turn)
    if here.shares_site(there):
        return _into_site(topology, here, there, turn)
    if topology.is_gate(here):
        return _from_gate(topology, here, there, turn)
    gates = _usable(topology, here, _gates_of(topology, here))
    if not gates:
        return NextHops(Choice.NO_OWN_GATE)
    return _of_those_that_reach(topology, Choice.OWN_GATE, _rotate(gates, turn), there)


def find_path(
    topology: Topology,
    source: UUID,
    destination: UUID,
    *,
    turn: Callable[[UUID, UUID], int] = turn_of,
) -> tuple[Hop, ...]:
    """The route of a message if every first choice answers; its last hop says how it ends.

    A route that returns to a queue manager is a circle: it is not followed further.

    Args:
        turn: the index of each queue manager for a destination, see `next_hops`.
    """
    path: list[Hop] = []
    passed: set[UUID] = set()
    place = source
    while place not in passed and place != destination:
        passed.add(place)
        chosen = next_hops(topology, place, destination, turn=turn(place, destination))
        path.append(Hop(topology.machines.get(place, Machine(place)), chosen))
        if not chosen.hops:
            break
        place = chosen.hops[0]
    return tuple(path)


def _from_plain(topology: Topology, here: Machine, there: Machine, turn: int) -> NextHops:
    """From a queue manager that does not route for others."""
    servers = _usable(topology, here, here.out_routing_servers)
    if servers:
        # Even for a destination in the same site.
        return NextHops(Choice.OUT_ROUTING_SERVERS, servers)
    routers = _rotate(_usable(topology, here, topology.routers(here.sites)), turn)
    if here.shares_site(there):
        hops = _into_site(topology, here, there, turn)
        if hops.choice is Choice.DESTINATION:
            # When the destination does not answer, a routing server may reach it.
            others = tuple(router for router in routers if router != there.identifier)
            return hops._replace(hops=hops.hops + others)
        return hops
    if not routers:
        return NextHops(Choice.NO_ROUTING_SERVER)
    return _of_those_that_reach(topology, Choice.ROUTING_SERVER, routers, there)


def _into_site(topology: Topology, here: Machine, there: Machine, turn: int) -> NextHops:
    """To a destination in the same site."""
    if there.foreign_system:
        shared = [site for site in there.sites if site in here.sites]
        return NextHops(Choice.CONNECTOR, site=shared[0])
    servers = _usable(topology, here, there.in_routing_servers)
    if servers:
        return NextHops(Choice.IN_ROUTING_SERVERS, _rotate(servers, turn))
    return NextHops(Choice.DESTINATION, (there.identifier,))


def _from_gate(topology: Topology, here: Machine, there: Machine, turn: int) -> NextHops:
    """From a gate to a destination in another site."""
    table = topology.routing_table(here)
    legs = [table[site] for site in there.sites if site in table]
    if not legs:
        return NextHops(Choice.NO_WAY)
    site = min(legs).first_site
    gates = _usable(topology, here, topology.gates(site))
    if not gates:
        return NextHops(Choice.NO_NEXT_GATE, site=site)
    return NextHops(Choice.NEXT_GATE, _rotate(gates, turn), site)


def _of_those_that_reach(
    topology: Topology, choice: Choice, candidates: tuple[UUID, ...], there: Machine
) -> NextHops:
    """Leave out candidates that have no route either.

    Choice: otherwise a queue manager in several sites would try those of a site without a route.
    """
    hops = tuple(
        candidate
        for candidate in candidates
        if _reaches(topology, topology.machines[candidate], there)
    )
    return NextHops(choice, hops) if hops else NextHops(Choice.NO_WAY)


def _reaches(topology: Topology, router: Machine, there: Machine) -> bool:
    """Whether a routing server can bring a message to a site of the destination."""
    if router.shares_site(there):
        return True
    gates = [router.identifier] if topology.is_gate(router) else _gates_of(topology, router)
    return any(
        gate.shares_site(there) or not topology.routing_table(gate).keys().isdisjoint(there.sites)
        for gate in map(topology.machines.__getitem__, gates)
    )


def _gates_of(topology: Topology, machine: Machine) -> list[UUID]:
    """The gates of all sites that a queue manager is in."""
    return [gate for site in machine.sites for gate in topology.gates(site)]


def _usable(topology: Topology, here: Machine, candidates: Iterable[UUID]) -> tuple[UUID, ...]:
    """Those in the directory, without duplicates and without the queue manager that asks."""
    return tuple(
        candidate
        for candidate in dict.fromkeys(candidates)
        if candidate != here.identifier and candidate in topology.machines
    )


def _rotate(candidates: tuple[UUID, ...], turn: int) -> tuple[UUID, ...]:
    first = turn % len(candidates) if candidates else 0
    return candidates[first:] + candidates[:first]
