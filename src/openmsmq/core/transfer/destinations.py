"""Get Destination Info: where the messages of an outgoing queue can go ([MS-MQQB] 3.1.7.4)."""

from typing import NamedTuple
from uuid import UUID

from openmsmq.core.model.outgoing_queue import NextHop
from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.sites.directory_events import read_directory
from openmsmq.core.sites.public_queues import read_public
from openmsmq.core.state import State
from openmsmq.directory.objects import ElementType, QueueManagerObject
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import FormatName, PrivateFormatName, PublicFormatName
from openmsmq.wire.scalars import GUID_NULL


class Destination(NamedTuple):
    """The queue manager that has a queue, and the next hops on the way there, the best first.

    `queue_manager` is GUID_NULL if a name only says where it is: then it is the one that answers
    there. Without next hops nothing says where to connect to.
    """

    queue_manager: UUID
    next_hops: tuple[NextHop, ...]


def find_destination(state: State, name: FormatName) -> Destination | None:
    """Where messages to this name go; None for a name that leads nowhere."""
    if isinstance(name, DirectFormatName):
        # [MS-MQQB] note 4: IPX and SPX went with Windows 2000.
        if name.protocol in (DirectProtocol.IPX, DirectProtocol.SPX):
            return None
        # [MS-MQQB] 3.1.5.2.1: a direct name is never routed.
        return Destination(GUID_NULL, (NextHop(name.address, GUID_NULL),))
    if isinstance(name, PublicFormatName):
        found = read_public(state, name)
        guid = found.queue_manager if found is not None else None
    elif isinstance(name, PrivateFormatName):
        guid = name.guid
    else:
        guid = None
    if guid is None:
        return None
    host = _host_of(state, guid)
    return Destination(guid, (NextHop(host, guid),) if host else ())


def _host_of(state: State, guid: UUID) -> str:
    """Where a queue manager is: as the directory says, else where it last called from."""
    read = read_directory(state, ElementType.QUEUE_MANAGER, by_identifier(guid))
    found = read.directory_object
    if isinstance(found, QueueManagerObject):
        return found.qualified_computer_name or found.computer_name
    return state.addresses.get(guid, "")
