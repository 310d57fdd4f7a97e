"""Get Destination Info: the next hops of the messages of an outgoing queue ([MS-MQQB] 3.1.7.4)."""

from typing import NamedTuple
from uuid import UUID

from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.routing.current_topology import current_topology
from openmsmq.core.routing.next_hops import Choice, next_hops, turn_of
from openmsmq.core.sites.public_queues import read_public
from openmsmq.core.state import State
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import FormatName, PrivateFormatName, PublicFormatName
from openmsmq.wire.scalars import GUID_NULL


class Destination(NamedTuple):
    """The queue manager that has a queue, and the next hops on the route, the best first.

    `queue_manager` is GUID_NULL if a name has only an address: then it is the one that answers
    there. Without next hops there is no address to connect to.

    Attributes:
        choice: why these next hops, or why there are none; None for a name that is not routed.
    """

    queue_manager: UUID
    next_hops: tuple[NextHop, ...]
    choice: Choice | None = None


def find_destination(state: State, name: FormatName, owner: UUID = GUID_NULL) -> Destination | None:
    """The destination of messages to this name; None for a name that leads nowhere.

    Args:
        owner: of a public queue, as named in messages that were sent to it before; used where
            the directory does not have the queue.
    """
    if isinstance(name, DirectFormatName):
        # [MS-MQQB] note 4: IPX and SPX went with Windows 2000.
        if name.protocol in (DirectProtocol.IPX, DirectProtocol.SPX):
            return None
        # [MS-MQQB] 3.1.5.2.1: a direct name is never routed.
        return Destination(GUID_NULL, (NextHop(name.address, GUID_NULL),))
    if isinstance(name, PublicFormatName):
        published = read_public(state, name)
        guid = (
            published.queue_manager
            if published is not None
            else (owner if owner != GUID_NULL else None)
        )
    elif isinstance(name, PrivateFormatName):
        guid = name.guid
    else:
        guid = None
    if guid is None:
        return None
    return _route(state, guid)


def _route(state: State, guid: UUID) -> Destination:
    """The route from the directory; without it, to the last address of the queue manager."""
    own = state.local.identifier
    topology = current_topology(state)
    there = topology.machines.get(guid) if topology is not None else None
    if topology is None or there is None:
        host = state.addresses.get(guid, "")
        return Destination(guid, (NextHop(host, guid),) if host else ())
    if own not in topology.machines:
        return Destination(guid, (NextHop(there.host, guid),), Choice.DESTINATION)
    chosen = next_hops(topology, own, guid, turn=turn_of(own, guid))
    machines = [topology.machines[hop] for hop in chosen.hops]
    hops = tuple(NextHop(machine.host, machine.identifier) for machine in machines if machine.host)
    return Destination(guid, hops, chosen.choice)
