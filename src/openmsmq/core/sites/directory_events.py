"""The directory events ([MS-MQDMPR] 3.1.7.1.18-24).

In workgroup mode every operation ends with DirectoryNotConnected and nothing else happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from openmsmq.core.events import Event
from openmsmq.core.state import DIRECTORY_ONLINE_SECONDS, DirectoryTimer
from openmsmq.directory.interface import (
    AttributeFilter,
    AttributeSortOrder,
    ChangeResult,
    CreateResult,
    Directory,
    DirectoryOperationResult,
    QueryResult,
    ReadResult,
)
from openmsmq.directory.objects import (
    DirectoryObject,
    ElementType,
    QueueManagerObject,
    QueueObject,
    attribute_names,
)

from .directory_access import may_create, may_delete, may_write

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller

_RESULT = DirectoryOperationResult
_WORKGROUP: Final = "this queue manager works without a directory"
_OFFLINE: Final = "the directory is offline"
_ACCESS_DENIED: Final = "access to the directory object is denied"


class ChangeOperation(StrEnum):
    """iOperation of Send Change Notification ([MS-MQCN] 3.3.4.1)."""

    QUEUE_CREATION = "QueueCreation"
    QUEUE_DELETION = "QueueDeletion"
    QUEUE_UPDATE = "QueueUpdate"
    QUEUE_MANAGER_UPDATE = "QueueManagerUpdate"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNotification(Event):
    """The directory changes; queue managers that do not read it themselves must be notified."""

    operation: ChangeOperation
    directory_object: QueueObject | QueueManagerObject


def connected(state: State) -> Directory | None:
    """The directory of this queue manager, if it has one."""
    return state.directory if state.local.directory_integrated else None


def create_directory_object(
    state: State,
    item: DirectoryObject,
    attributes: Sequence[str] | None = None,
    *,
    caller: Caller | None = None,
) -> CreateResult:
    """Create Directory Object, on behalf of the caller if there is one."""
    directory = connected(state)
    if directory is None:
        return CreateResult(_RESULT.DIRECTORY_NOT_CONNECTED, reason=_WORKGROUP)
    if not may_create(directory, item, caller, state.settings.own):
        return CreateResult(_RESULT.GENERIC_ERROR, reason=_ACCESS_DENIED)
    if isinstance(item, QueueObject):
        _notify(state, ChangeOperation.QUEUE_CREATION, item)
    result = directory.create(item, attributes, utc=state.utc)
    _watch(state, result.status)
    return result


def delete_directory_object(
    state: State, item: DirectoryObject, *, caller: Caller | None = None
) -> ChangeResult:
    """Delete Directory Object, on behalf of the caller if there is one."""
    directory = connected(state)
    if directory is None:
        return ChangeResult(_RESULT.DIRECTORY_NOT_CONNECTED, _WORKGROUP)
    if not may_delete(directory, item, caller, state.settings.own):
        return ChangeResult(_RESULT.GENERIC_ERROR, _ACCESS_DENIED)
    if isinstance(item, QueueObject):
        _notify(state, ChangeOperation.QUEUE_DELETION, item)
    result = directory.delete(item)
    _watch(state, result.status)
    return result


def read_directory(
    state: State,
    kind: ElementType,
    filters: Sequence[AttributeFilter] | None = None,
    attributes: Sequence[str] | None = None,
    *,
    force: bool = False,
) -> ReadResult:
    """Read Directory: the first object that satisfies the filters; offline from local copies.

    `force` asks the directory even if it was offline the last time.
    """
    directory = connected(state)
    if directory is None:
        return ReadResult(_RESULT.DIRECTORY_NOT_CONNECTED, reason=_WORKGROUP)
    if state.local.directory_offline and not force:
        return _read_offline(state, kind, filters or ())
    result = directory.read(kind, filters, attributes)
    if not force:
        _watch(state, result.status)
    return result


def read_directory_begin(
    state: State,
    kind: ElementType,
    filters: Sequence[AttributeFilter] | None = None,
    attributes: Sequence[str] | None = None,
    sort_order: Sequence[AttributeSortOrder] | None = None,
) -> QueryResult:
    """Read Directory Begin."""
    directory = connected(state)
    if directory is None:
        return QueryResult(_RESULT.DIRECTORY_NOT_CONNECTED, reason=_WORKGROUP)
    return directory.read_begin(kind, filters, attributes, sort_order)


def read_directory_next(state: State, query_handle: int) -> ReadResult:
    """Read Directory Next."""
    directory = connected(state)
    if directory is None:
        return ReadResult(_RESULT.DIRECTORY_NOT_CONNECTED, reason=_WORKGROUP)
    return directory.read_next(query_handle)


def read_directory_end(state: State, query_handle: int) -> ChangeResult:
    """Read Directory End."""
    directory = connected(state)
    if directory is None:
        return ChangeResult(_RESULT.DIRECTORY_NOT_CONNECTED, _WORKGROUP)
    return directory.read_end(query_handle)


def write_directory(
    state: State,
    item: DirectoryObject,
    attributes: Sequence[str] | None = None,
    *,
    caller: Caller | None = None,
) -> ChangeResult:
    """Write Directory, on behalf of the caller if there is one."""
    directory = connected(state)
    if directory is None:
        return ChangeResult(_RESULT.DIRECTORY_NOT_CONNECTED, _WORKGROUP)
    if not may_write(directory, item, attributes, caller, state.settings.own):
        return ChangeResult(_RESULT.GENERIC_ERROR, _ACCESS_DENIED)
    result = directory.write(item, attributes, utc=state.utc)
    _watch(state, result.status)
    if result.status is _RESULT.SUCCESS:
        if isinstance(item, QueueObject):
            _notify(state, ChangeOperation.QUEUE_UPDATE, item)
        elif isinstance(item, QueueManagerObject):
            _notify(state, ChangeOperation.QUEUE_MANAGER_UPDATE, item)
    return result


def _read_offline(
    state: State, kind: ElementType, filters: Sequence[AttributeFilter]
) -> ReadResult:
    """The local copies of objects, without the directory."""
    names = attribute_names(kind)
    if kind is ElementType.QUEUE:
        for queue in state.queues.values():
            if all(expression.matches(queue.properties) for expression in filters):
                return ReadResult(_RESULT.SUCCESS, queue.properties, names)
        return ReadResult(_RESULT.OBJECT_NOT_FOUND)
    if kind is ElementType.QUEUE_MANAGER and all(
        expression.matches(state.manager) for expression in filters
    ):
        return ReadResult(_RESULT.SUCCESS, state.manager, names)
    return ReadResult(_RESULT.DIRECTORY_NOT_CONNECTED, reason=_OFFLINE)


def _watch(state: State, status: DirectoryOperationResult) -> None:
    """Go offline when the directory does not answer, and try again later."""
    if status is _RESULT.DIRECTORY_NOT_CONNECTED:
        state.local.directory_offline = True
        state.directory_timers.setdefault(
            DirectoryTimer.ONLINE, state.now + DIRECTORY_ONLINE_SECONDS
        )


def _notify(
    state: State, operation: ChangeOperation, item: QueueObject | QueueManagerObject
) -> None:
    # [MS-MQDMPR] 3.1.1.6: the enterprise decides whether notifications are sent.
    enterprise = state.local.enterprise_reference
    if enterprise is None or enterprise.non_ldap_capable_queue_manager_notification:
        state.outbox.tell(ChangeNotification(operation=operation, directory_object=item))
