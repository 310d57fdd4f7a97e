"""Get Queue Path ([MS-MQDMPR] 3.1.7.1.26): the location of the queue of a format name."""

from dataclasses import dataclass

from openmsmq.core.sites.site_collection import read_object
from openmsmq.core.state import State
from openmsmq.directory.objects import ElementType, QueueManagerObject, QueueObject
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import FormatName, PrivateFormatName, PublicFormatName
from openmsmq.wire.names.path_name import parse_path_name


@dataclass(frozen=True, slots=True)
class QueuePath:
    """The path name of a queue, if it is known, and the name or address of its machine."""

    path_name: str
    machine_name: str


def get_queue_path(state: State, name: FormatName) -> QueuePath:
    """Resolve a format name.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, the queue or its machine is unknown.
    """
    if isinstance(name, DirectFormatName):
        path = name.path_name
        return QueuePath("" if path is None else str(path), name.address)
    if isinstance(name, PublicFormatName):
        return _public(state, name)
    if isinstance(name, PrivateFormatName):
        return _private(state, name)
    return QueuePath("", "")


def _public(state: State, name: PublicFormatName) -> QueuePath:
    queue = read_object(state, ElementType.QUEUE, name.guid)
    if not isinstance(queue, QueueObject):
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"the directory does not know {name}")
    return QueuePath(queue.pathname, parse_path_name(queue.pathname).computer)


def _private(state: State, name: PrivateFormatName) -> QueuePath:
    local = name.guid == state.local.identifier
    # This machine is known without a directory, too.
    manager = state.manager if local else read_object(state, ElementType.QUEUE_MANAGER, name.guid)
    if not isinstance(manager, QueueManagerObject):
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"the machine of {name} is unknown")
    queue = state.private_numbers.get(name.number) if local else None
    path = "" if queue is None else queue.properties.pathname
    return QueuePath(path, manager.computer_name)
