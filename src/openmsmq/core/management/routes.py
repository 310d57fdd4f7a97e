"""The route that a message would take, and why; nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.queues.names import find_queue, is_local_name
from openmsmq.core.queues.queue_path import get_queue_path
from openmsmq.core.routing.current_topology import current_topology
from openmsmq.core.routing.next_hops import find_path, turn_of
from openmsmq.core.sites.public_queues import read_public
from openmsmq.core.sites.site_collection import read_object
from openmsmq.core.transfer.transports import Transport, transport_of
from openmsmq.directory.objects import NULL_GUID, ElementType, Site
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import PrivateFormatName, PublicFormatName

from .queue_infos import guid_text
from .records import RouteInfo, RouteStep

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.routing.next_hops import Hop
    from openmsmq.core.routing.topology import Topology
    from openmsmq.core.state import State
    from openmsmq.wire.names.format_name import FormatName

_HERE: Final = "the queue is on this machine"
_NO_QUEUE: Final = "this machine has no such queue"
_DIRECT: Final = "a direct name is never routed: it says itself where to connect to"
_MULTICAST: Final = "a multicast message goes to all that listen to the address"
_NO_OWNER: Final = "the directory does not have the queue"
_NO_DIRECTORY: Final = "there is no directory to route by"
_LAST_ADDRESS: Final = "there is no directory to route by; it last called from this address"


def explain_route(state: State, name: FormatName) -> RouteInfo:
    """The route of a message with this destination.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, a name of several queues.
    """
    if isinstance(name, DirectFormatName):
        if is_local_name(state, name):
            return _local(state, name)
        return _ends(state, name, True, _DIRECT, transport_of(name), name.address)
    if isinstance(name, PrivateFormatName | PublicFormatName):
        if find_queue(state, name) is not None or is_local_name(state, name):
            return _local(state, name)
        return _routed(state, name)
    if str(name).startswith("MULTICAST="):
        return _ends(
            state, name, True, _MULTICAST, Transport.MULTICAST, str(name).partition("=")[2]
        )
    raise QueueError(
        Hresult.MQ_ERROR_ILLEGAL_FORMATNAME,
        f"{name} names no single queue to send to",
        remedy="Ask for each queue by itself.",
    )


def _local(
    state: State, name: DirectFormatName | PrivateFormatName | PublicFormatName
) -> RouteInfo:
    known = find_queue(state, name) is not None
    return _ends(state, name, known, _HERE if known else _NO_QUEUE, Transport.LOCAL)


def _ends(
    state: State,
    name: FormatName,
    found: bool,  # noqa: FBT001 - whether a message would get there, first in every call
    why: str,
    transport: Transport,
    host: str = "",
    queue_manager: str = "",
) -> RouteInfo:
    """A name that is not routed."""
    return RouteInfo(
        destination=str(name),
        found=found,
        transport=str(transport),
        queue_manager=queue_manager,
        name="",
        host=host,
        path_name=_path_name(state, name),
        why=why,
        path=(),
    )


def _path_name(state: State, name: FormatName) -> str:
    try:
        return get_queue_path(state, name).path_name
    except QueueError:
        # The directory has neither the queue nor its machine.
        return ""


def _routed(state: State, name: PrivateFormatName | PublicFormatName) -> RouteInfo:
    if isinstance(name, PublicFormatName):
        published = read_public(state, name)
        if published is None:
            return _ends(state, name, False, _NO_OWNER, Transport.BINARY)
        owner = published.queue_manager
    else:
        owner = name.guid
    topology = current_topology(state)
    if topology is None:
        host = state.addresses.get(owner, "")
        why = _LAST_ADDRESS if host else _NO_DIRECTORY
        return _ends(state, name, bool(host), why, Transport.BINARY, host, guid_text(owner))
    hops = find_path(topology, state.local.identifier, owner, turn=turn_of)
    last = hops[-1].next
    there = topology.machines.get(owner)
    arrives = owner in last.hops[:1] or last.is_connector
    return RouteInfo(
        destination=str(name),
        found=arrives,
        transport=str(Transport.BINARY),
        queue_manager=guid_text(owner),
        name=_machine_name(topology, owner),
        host=there.host if there is not None else "",
        path_name=_path_name(state, name),
        why="" if arrives else _no_way(topology, hops),
        path=tuple(_step(state, topology, hop) for hop in hops),
    )


def _no_way(topology: Topology, hops: tuple[Hop, ...]) -> str:
    last = hops[-1]
    if last.next.hops:
        name = _machine_name(topology, last.next.hops[0])
        return f"the way comes back to {name}: the hop limit would end it"
    return str(last.next.choice)


def _step(state: State, topology: Topology, hop: Hop) -> RouteStep:
    machine = hop.machine
    chosen = hop.next
    return RouteStep(
        queue_manager=guid_text(machine.identifier),
        name=_machine_name(topology, machine.identifier),
        sites=tuple(_site_name(state, site) for site in machine.sites if site != NULL_GUID),
        next_hops=tuple(_machine_name(topology, identifier) for identifier in chosen.hops),
        next_site=_site_name(state, chosen.site) if chosen.site is not None else "",
        why=str(chosen.choice),
    )


def _machine_name(topology: Topology, identifier: UUID) -> str:
    machine = topology.machines.get(identifier)
    return machine.host if machine is not None and machine.host else guid_text(identifier)


def _site_name(state: State, identifier: UUID) -> str:
    site = read_object(state, ElementType.SITE, identifier)
    return site.name if isinstance(site, Site) and site.name else guid_text(identifier)
