"""Sites, the links between them, and the queue managers that routing knows ([MS-MQBR] 3.1.1)."""

import heapq
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.directory.objects import NULL_GUID, QueueManagerObject, RoutingLink, Site

_NO_SITES: Final[tuple[UUID, ...]] = ()


class Machine(NamedTuple):
    """The attributes of one queue manager that routing needs."""

    identifier: UUID
    host: str = ""
    sites: tuple[UUID, ...] = ()
    routing_server: bool = False
    out_routing_servers: tuple[UUID, ...] = ()
    in_routing_servers: tuple[UUID, ...] = ()
    foreign_system: bool = False

    def shares_site(self, other: "Machine") -> bool:
        return not frozenset(self.sites).isdisjoint(other.sites)


class Link(NamedTuple):
    """A routing link: an edge between two sites, the same in both directions."""

    site1: UUID
    site2: UUID
    cost: int = 1
    gates: tuple[UUID, ...] = ()


class Leg(NamedTuple):
    """The route from one's own sites to another: its cost, and the first site on it."""

    cost: int
    first_site: UUID


class Topology:
    """One immutable state of the directory, as routing sees it.

    Attributes:
        machines: every queue manager, by its identifier.
        foreign_sites: the sites of other messaging systems, which have connectors.
    """

    __slots__ = ("_edges", "_gates", "_routers", "_tables", "foreign_sites", "machines")

    def __init__(
        self,
        machines: Iterable[Machine],
        links: Iterable[Link],
        foreign_sites: Iterable[UUID] = (),
    ) -> None:
        self.machines: Mapping[UUID, Machine] = {
            machine.identifier: machine for machine in machines
        }
        self.foreign_sites = frozenset(foreign_sites)
        self._edges: dict[UUID, list[tuple[UUID, int]]] = {}
        self._gates: dict[UUID, tuple[UUID, ...]] = {}
        for link in links:
            self._add_edge(link.site1, link.site2, link)
            self._add_edge(link.site2, link.site1, link)
        self._routers: dict[UUID, tuple[UUID, ...]] = {}
        for machine in self.machines.values():
            for site in machine.sites if machine.routing_server else _NO_SITES:
                self._routers[site] = (*self._routers.get(site, ()), machine.identifier)
        self._tables: dict[frozenset[UUID], dict[UUID, Leg]] = {}

    def _add_edge(self, site: UUID, other: UUID, link: Link) -> None:
        self._edges.setdefault(site, []).append((other, link.cost))
        # [MS-MQDSSM] 3.1.6.20.4 stores no gates of a site. They are the gates of its links that are
        # in the site themselves; the other end of a link has its own.
        known = self._gates.get(site, ())
        self._gates[site] = known + tuple(
            gate
            for gate in link.gates
            if gate not in known
            and (machine := self.machines.get(gate)) is not None
            and site in machine.sites
        )

    def gates(self, site: UUID) -> tuple[UUID, ...]:
        """The gates of a site."""
        return self._gates.get(site, ())

    def routers(self, sites: Iterable[UUID]) -> tuple[UUID, ...]:
        """The routing servers that are in one of the sites."""
        routers = (router for site in sites for router in self._routers.get(site, ()))
        return tuple(dict.fromkeys(routers))

    def is_gate(self, machine: Machine) -> bool:
        """Whether a queue manager is a routing server and a gate of one of its sites."""
        return machine.routing_server and any(
            machine.identifier in self.gates(site) for site in machine.sites
        )

    def routing_table(self, machine: Machine) -> Mapping[UUID, Leg]:
        """The least costly routes from the sites of a queue manager to all others.

        It is computed at the first use: only gates need one. A gate in several sites
        starts in all of them, so that it never sends a message to itself.
        """
        sites = frozenset(machine.sites)
        table = self._tables.get(sites)
        if table is None:
            table = self._tables[sites] = self._least_costs(sites)
        return table

    def _least_costs(self, origins: frozenset[UUID]) -> dict[UUID, Leg]:
        """Dijkstra's algorithm; deterministic among routes of equal cost."""
        table: dict[UUID, Leg] = {}
        # The identifiers of the sites decide between equal costs.
        ways = [
            (cost, neighbour.int, neighbour.int)
            for site in origins
            for neighbour, cost in self._edges.get(site, ())
        ]
        heapq.heapify(ways)
        while ways:
            cost, number, first = heapq.heappop(ways)
            site = UUID(int=number)
            if site in origins or site in table:
                continue
            table[site] = Leg(cost, UUID(int=first))
            for neighbour, more in self._edges[site]:
                heapq.heappush(ways, (cost + more, neighbour.int, first))
        return table


def topology_of(
    machines: Iterable[QueueManagerObject], sites: Iterable[Site], links: Iterable[RoutingLink]
) -> Topology:
    """The topology that objects of a directory describe.

    Choice: queue managers without a site share one site without a name. So a directory
    without sites, which needs no routing, is the simplest topology.
    """
    return Topology(
        [
            Machine(
                machine.identifier,
                machine.qualified_computer_name or machine.computer_name,
                machine.site_identifier_list or (NULL_GUID,),
                machine.routing_server,
                machine.out_routing_server_identifier_list,
                machine.in_routing_server_identifier_list,
                machine.foreign_system,
            )
            for machine in machines
        ],
        [
            Link(
                link.site1_identifier,
                link.site2_identifier,
                link.actual_cost,
                link.site_gate_identifier_list,
            )
            for link in links
        ],
        [site.identifier for site in sites if site.foreign_site],
    )
