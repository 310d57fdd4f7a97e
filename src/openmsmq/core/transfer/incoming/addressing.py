"""The destination of a message from another machine: a local queue, another machine, or none."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.connectors import foreign_site_of
from openmsmq.core.queues.names import is_read_only
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.packets.order_ack import ORDER_QUEUE_NUMBER
from openmsmq.wire.scalars import GUID_NULL

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.wire.message.user_message import UserMessage

# Members of enumerations take long to look up, so often used ones are constants.
_PRIVATE_ON_OTHER: Final = QueueAddressType.PRIVATE_ON_OTHER

_ANY: Final = bytes(16)
_DELIVERABLE: Final = frozenset((QueueRole.USER, QueueRole.CONNECTOR))


class Reason(StrEnum):
    """Why no queue takes a message, for logs and users."""

    NO_NAME = "it names no queue"
    NO_QUEUE = "there is no such queue"
    READ_ONLY = "messages cannot be sent there"


class Local:
    """A queue of this queue manager: one that takes messages, or the order queue."""

    __slots__ = ("acknowledges", "queue")

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        # Whether it is the order queue, which takes acknowledgments of transactional messages.
        self.acknowledges = queue.role not in _DELIVERABLE


class Forward:
    """Another queue manager, or the connector of its foreign site, which is this one."""

    __slots__ = ("foreign_site", "queue_manager")

    def __init__(self, queue_manager: UUID, foreign_site: UUID | None = None) -> None:
        self.queue_manager = queue_manager
        # The foreign site whose connector this queue manager is.
        self.foreign_site = foreign_site


class Nowhere:
    """This queue manager, which has no queue for the message."""

    __slots__ = ("reason",)

    def __init__(self, reason: StrEnum) -> None:
        self.reason = reason


Place = Local | Forward | Nowhere


def locate(state: State, message: UserMessage) -> Place:
    """Determine the destination of a message."""
    address = message.target
    if address not in (_ANY, state.identity):
        computer = UUID(bytes_le=address)
        return Forward(computer, foreign_site_of(state, computer))
    destination = message.destination_queue
    if destination is None:
        return Nowhere(Reason.NO_NAME)
    if destination.type == _PRIVATE_ON_OTHER:
        return _local(state.private_numbers.get(destination.number))
    try:
        name = format_name_of(destination)
    except QueueError:
        return Nowhere(Reason.NO_NAME)
    if not isinstance(name, DirectFormatName):
        return _local(state.identifiers.get(destination.guid or GUID_NULL))
    # Choice: a message that arrived by a direct name is for this machine, whatever name it used.
    key = name.queue_name.key
    # A URL keeps its query, which is not part of the name of the queue.
    queue = state.paths.get(key.partition("?")[0] if name.is_web else key)
    if queue is None and is_read_only(name):
        return Nowhere(Reason.READ_ONLY)
    return _local(queue)


def _local(queue: Queue | None) -> Local | Nowhere:
    if queue is None:
        return Nowhere(Reason.NO_QUEUE)
    takes = queue.role in _DELIVERABLE
    if takes or queue.properties.private_queue_number == ORDER_QUEUE_NUMBER:
        return Local(queue)
    return Nowhere(Reason.READ_ONLY)
