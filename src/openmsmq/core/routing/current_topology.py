"""The current topology: read from the directory at the start, when it changes, and every hour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.core.sites.directory_events import connected
from openmsmq.core.sites.site_collection import read_all
from openmsmq.directory.objects import ElementType, QueueManagerObject, RoutingLink, Site

from .topology import Topology, topology_of

if TYPE_CHECKING:
    from openmsmq.core.state import State

# [MS-MQBR] 3.1.2: the period of the Routing Table Update Timer.
ROUTING_TABLE_SECONDS: Final = 3600.0


class KnownTopology(NamedTuple):
    """A topology, the version of the directory that it is from, and the end of its validity."""

    topology: Topology
    version: int
    until: float


def current_topology(state: State) -> Topology | None:
    """The current topology, or the last one before going offline; None without a directory."""
    directory = connected(state)
    if directory is None:
        return None
    known = state.topology
    version = directory.version()
    if known is not None and (
        version == 0 or (version == known.version and state.now < known.until)
    ):
        return known.topology
    topology = _read(state)
    if topology is None:
        return known.topology if known is not None else None
    state.topology = KnownTopology(topology, version, state.now + ROUTING_TABLE_SECONDS)
    return topology


def _read(state: State) -> Topology | None:
    machines = read_all(state, ElementType.QUEUE_MANAGER)
    sites = read_all(state, ElementType.SITE)
    links = read_all(state, ElementType.ROUTING_LINK)
    if machines is None or sites is None or links is None:
        return None
    return topology_of(
        [item for item in machines if isinstance(item, QueueManagerObject)],
        [item for item in sites if isinstance(item, Site)],
        [item for item in links if isinstance(item, RoutingLink)],
    )
