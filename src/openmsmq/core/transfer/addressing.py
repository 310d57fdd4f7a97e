"""Where a message from another machine goes: to a queue here, on to another machine, nowhere."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.core.queues.names import is_read_only
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.scalars import GUID_NULL

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage

_ANY: Final = bytes(16)


class Whereto(Enum):
    """What to do with a message."""

    HERE = auto()
    ELSEWHERE = auto()
    NOWHERE = auto()


class Place(NamedTuple):
    """Where a message goes; `queue` is only known for HERE."""

    whereto: Whereto
    queue: Queue | None = None


_ELSEWHERE: Final = Place(Whereto.ELSEWHERE)
_NOWHERE: Final = Place(Whereto.NOWHERE)


def locate(state: State, message: UserMessage) -> Place:
    """Find the queue of a message; NOWHERE means that it is for this machine, which has none."""
    if message.packet[32:48] not in (_ANY, state.identity):
        return _ELSEWHERE
    queue = _find(state, message)
    return _NOWHERE if queue is None else Place(Whereto.HERE, queue)


def _find(state: State, message: UserMessage) -> Queue | None:
    destination = message.destination_queue
    if destination is None:
        return None
    if destination.type == QueueAddressType.PRIVATE_ON_OTHER:
        return state.private_numbers.get(destination.number)
    try:
        name = format_name_of(destination)
    except QueueError:
        return None
    if isinstance(name, DirectFormatName):
        # Choice: what came here by a direct name is for us, whatever we are called there.
        return None if is_read_only(name) else state.paths.get(name.queue_name.key)
    return state.identifiers.get(destination.guid or GUID_NULL)
