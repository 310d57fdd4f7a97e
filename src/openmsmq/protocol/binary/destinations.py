"""Get Destination Info: which host an outgoing queue leads to ([MS-MQQB] 3.1.7.4)."""

from typing import NamedTuple
from uuid import UUID

from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.sites.directory_events import read_directory
from openmsmq.core.sites.public_queues import read_public
from openmsmq.core.state import State
from openmsmq.directory.objects import ElementType, QueueManagerObject
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import FormatName, PrivateFormatName, PublicFormatName
from openmsmq.wire.scalars import GUID_NULL


class Destination(NamedTuple):
    """A host name or address, empty when unknown, and a queue manager, GUID_NULL for any."""

    host: str
    guid: UUID

    @property
    def direct(self) -> bool:
        return self.guid == GUID_NULL


def find_destination(state: State, name: FormatName) -> Destination | None:
    """Where messages to this name go; None when nobody knows."""
    if isinstance(name, DirectFormatName):
        # [MS-MQQB] note 4: IPX and SPX went with Windows 2000.
        if name.protocol in (DirectProtocol.IPX, DirectProtocol.SPX):
            return None
        return Destination(name.address, GUID_NULL)
    if isinstance(name, PublicFormatName):
        found = read_public(state, name)
        guid = found.queue_manager if found is not None else None
    elif isinstance(name, PrivateFormatName):
        guid = name.guid
    else:
        guid = None
    if guid is None:
        return None
    return Destination(_host_of(state, guid), guid)


def _host_of(state: State, guid: UUID) -> str:
    """Where a queue manager is: as the directory says, else where it last called from."""
    read = read_directory(state, ElementType.QUEUE_MANAGER, by_identifier(guid))
    found = read.directory_object
    if isinstance(found, QueueManagerObject):
        return found.qualified_computer_name or found.computer_name
    return state.addresses.get(guid, "")
