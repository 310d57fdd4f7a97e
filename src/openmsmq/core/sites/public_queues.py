"""Public queues: the directory part of creating, deleting, opening ([MS-MQDMPR] 3.1.7.1.3-5)."""

from collections.abc import Sequence

from openmsmq.core.state import State
from openmsmq.directory.interface import AttributeFilter, DirectoryOperationResult, FilterOperator
from openmsmq.directory.objects import ElementType, QueueManagerObject, QueueObject, copy_attributes
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import PublicFormatName

from .directory_access import by_identifier
from .directory_events import (
    create_directory_object,
    delete_directory_object,
    read_directory,
    write_directory,
)

_SUCCESS = DirectoryOperationResult.SUCCESS
_CODES = {
    DirectoryOperationResult.DIRECTORY_NOT_CONNECTED: Hresult.MQ_ERROR_NO_DS,
    DirectoryOperationResult.OBJECT_ALREADY_EXISTS: Hresult.MQ_ERROR_QUEUE_EXISTS,
    DirectoryOperationResult.OBJECT_NOT_FOUND: Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
}


def directory_error(result: DirectoryOperationResult, reason: str) -> QueueError:
    """The refusal of the directory as an error of the queue manager."""
    return QueueError(_CODES.get(result, Hresult.MQ_ERROR_DS_ERROR), reason or str(result))


def register(state: State, properties: QueueObject, caller: Caller) -> None:
    """Publish a new public queue; the directory assigns its identifier and its paths.

    The directory may have the queue already: the queue manager ended after the directory had stored
    it, and before its own store had. Such an object is reused.

    Raises:
        QueueError: the directory refuses it or cannot be reached.
    """
    created = create_directory_object(state, properties, caller=caller)
    left_over = None
    if created.status is DirectoryOperationResult.OBJECT_ALREADY_EXISTS:
        left_over = _left_over(state, properties.pathname)
    if left_over is not None:
        properties.identifier = left_over.identifier
        publish(state, properties, caller)
    elif created.status is not _SUCCESS:
        raise directory_error(created.status, created.reason)
    else:
        properties.identifier = created.object_guid
    read = read_directory(
        state,
        ElementType.QUEUE,
        by_identifier(properties.identifier),
        ("full_path", "directory_path"),
    )
    if read.status is _SUCCESS and read.directory_object is not None:
        names = frozenset(("full_path", "directory_path"))
        copy_attributes(read.directory_object, properties, names)


def _left_over(state: State, pathname: str) -> QueueObject | None:
    """The directory object of a queue of this queue manager that has no such queue."""
    filters = [
        AttributeFilter("pathname", FilterOperator.EQUALS, pathname),
        AttributeFilter("queue_manager", FilterOperator.EQUALS, state.manager.identifier),
    ]
    queue = read_directory(state, ElementType.QUEUE, filters).directory_object
    if isinstance(queue, QueueObject) and queue.identifier not in state.identifiers:
        return queue
    return None


def unregister(state: State, properties: QueueObject, caller: Caller) -> None:
    """Remove a public queue from the directory.

    Raises:
        QueueError: the directory refuses it or cannot be reached.
    """
    deleted = delete_directory_object(state, properties, caller=caller)
    if deleted.status is not _SUCCESS:
        raise directory_error(deleted.status, deleted.reason)


def publish(
    state: State,
    item: QueueObject | QueueManagerObject,
    caller: Caller,
    attributes: Sequence[str] | None = None,
) -> None:
    """Update all attributes in the directory, or the listed ones.

    Raises:
        QueueError: the directory refuses it or cannot be reached.
    """
    written = write_directory(state, item, attributes, caller=caller)
    if written.status is not _SUCCESS:
        raise directory_error(written.status, written.reason)


def read_public(state: State, name: PublicFormatName) -> QueueObject | None:
    """The directory object of a public queue, wherever the queue is."""
    read = read_directory(state, ElementType.QUEUE, by_identifier(name.guid))
    if read.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
        # It was offline a moment ago: answer from local copies.
        read = read_directory(state, ElementType.QUEUE, by_identifier(name.guid))
    queue = read.directory_object if read.status is _SUCCESS else None
    return queue if isinstance(queue, QueueObject) else None


def set_destination(state: State, name: PublicFormatName, properties: QueueObject) -> None:
    """Read the owner and BasePriority of a public queue on another machine from the directory.

    Raises:
        QueueError: the directory does not know the queue, or places it on this machine.
    """
    published = read_public(state, name)
    if published is None:
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
            f"the directory does not know {name}",
        )
    if published.queue_manager == state.manager.identifier:
        raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, f"{name} is not hosted here any more")
    properties.base_priority = published.base_priority
    properties.queue_manager = published.queue_manager
