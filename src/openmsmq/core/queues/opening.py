"""Opening and closing queues ([MS-MQDMPR] 3.1.7.1.5-6) and cursors on them (3.1.7.1.1-2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from openmsmq.core.messages.reading import end_reads
from openmsmq.core.model.cursor import Cursor
from openmsmq.core.model.open_queue import OpenQueueDescriptor, QueueAccessType, check_sharing
from openmsmq.core.model.outgoing_queue import OutgoingQueue
from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.rows.queue_rows import store_queue
from openmsmq.core.sites.public_queues import set_destination
from openmsmq.core.sites.site_collection import read_object
from openmsmq.core.state import State
from openmsmq.core.transactions.transactions import return_locked
from openmsmq.core.transfer.outgoing.states import OutgoingInput, change_state
from openmsmq.core.transfer.transports import WEB, transport_of
from openmsmq.directory.objects import DistributionList, ElementType, QueueObject
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    DistributionListFormatName,
    FormatName,
    MultipleElementFormatName,
    PublicFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_name import QueueName, Suffix

from .access import check_open
from .connectors import find_connector_queue
from .creation import drop_if_unused, list_queue, make_subqueue
from .names import (
    find_plainly_named,
    find_queue,
    is_local_name,
    is_read_only,
    is_send_only,
    parse_name,
)

if TYPE_CHECKING:
    from openmsmq.core.state import State


_SEND: Final = QueueAccessType.SEND
_ADMIN: Final = frozenset((QueueAccessType.RECEIVE_ADMIN, QueueAccessType.PEEK_ADMIN))


def open_queue(
    state: State,
    name: FormatName,
    access: QueueAccessType,
    share: ShareMode,
    caller: Caller,
) -> OpenQueueDescriptor:
    """Open Queue.

    Raises:
        QueueError: no such queue, an unsuitable kind of name, no right, a sharing violation.
    """
    name = expand(name, partial(read_members, state))
    if isinstance(name, MultipleElementFormatName):
        return _open_multiple(state, name, access, share, caller)
    _check_kind(name, access)
    queue = _find(state, name, access)
    if queue is None:
        if access is not _SEND:
            raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, str(name))
        queue = make_outgoing(state, name)
    return _open(state, queue, str(name), access, share, caller)


def open_by_text(
    state: State, text: str, access: QueueAccessType, share: ShareMode, caller: Caller
) -> OpenQueueDescriptor:
    """Open Queue by a path name or a format name.

    Raises:
        QueueError: as for `open_queue`, and if the text is not a name.
    """
    queue = find_plainly_named(state, text)
    if queue is None:
        return open_queue(state, parse_name(state, text), access, share, caller)
    name = f"DIRECT=OS:{state.manager.computer_name}{text[1:]}"
    return _open(state, queue, name, access, share, caller)


def _open(
    state: State,
    queue: Queue,
    format_name: str,
    access: QueueAccessType,
    share: ShareMode,
    caller: Caller,
) -> OpenQueueDescriptor:
    check_open(state, queue, caller, access)
    check_sharing(queue, access, share)
    handle = _new_handle(state)
    descriptor = OpenQueueDescriptor(handle, queue, access, share, format_name, caller)
    queue.descriptors[handle] = state.descriptors[handle] = descriptor
    if access is not _SEND:
        # From now on locks of its messages are not noted as changes.
        state.marks.note(queue)
    return descriptor


def _open_multiple(
    state: State,
    name: MultipleElementFormatName,
    access: QueueAccessType,
    share: ShareMode,
    caller: Caller,
) -> OpenQueueDescriptor:
    if access is not _SEND:
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
            "several queues can only be opened for sending",
        )
    if share is not ShareMode.DENY_NONE:
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_ACCESS_MODE, "several queues cannot be denied to others"
        )
    descriptor = OpenQueueDescriptor(
        _new_handle(state), None, _SEND, share, str(name), caller, children=[]
    )
    try:
        for element in name.elements:
            descriptor.children.append(open_queue(state, element, _SEND, share, caller))
    except QueueError:
        close_queue(state, descriptor)
        raise
    state.descriptors[descriptor.handle] = descriptor
    return descriptor


def _check_kind(name: SingleFormatName, access: QueueAccessType) -> None:
    """Refuse an access that the kind of name does not allow."""
    # An administrator may open the outgoing queue of any name for reading.
    unreadable = is_send_only(name) and access is not _SEND and access not in _ADMIN
    if unreadable or (is_read_only(name) and access is _SEND):
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, f"{name} is not for {access}"
        )


def _find(state: State, name: SingleFormatName, access: QueueAccessType) -> Queue | None:
    """The queue with this name; a subqueue is created when it is first named."""
    queue = find_queue(state, name)
    if queue is not None:
        return queue
    if access is _SEND or isinstance(name, ConnectorFormatName):
        queue = find_connector_queue(state, name)
        if queue is not None:
            return queue
    if isinstance(name, DirectFormatName) and name.queue_name.suffix is Suffix.SUBQUEUE:
        if is_local_name(state, name):
            own = name.queue_name
            parent = state.paths.get(QueueName(own.scope, own.name).key)
            if parent is not None and parent.role is QueueRole.USER:
                return make_subqueue(state, parent, own)
        return None
    if access is _SEND or access in _ADMIN:
        return state.outgoing.get(name.key)
    return None


def make_outgoing(state: State, name: SingleFormatName, *, owner: UUID | None = None) -> Queue:
    """The outgoing queue for a destination on another machine.

    Args:
        owner: the queue manager that hosts the destination, if a message from elsewhere says so.
            Then the directory need not know the queue.

    Raises:
        QueueError: the destination is on this machine, or the directory does not know it.
    """
    if is_local_name(state, name):
        raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, str(name))
    properties = QueueObject(identifier=state.guids(), label=str(name))
    properties.create_time = properties.modify_time = int(state.utc)
    if owner is not None:
        properties.queue_manager = owner
    elif isinstance(name, PublicFormatName):
        set_destination(state, name, properties)
    state.last_queue_number += 1
    queue = Queue(
        state.last_queue_number, str(name), QueueRole.OUTGOING, QueueType.SYSTEM, properties
    )
    transport = transport_of(name)
    outgoing = queue.outgoing = OutgoingQueue(str(name), transport)
    if state.local.hardened_security and transport not in WEB:
        change_state(state, queue, outgoing, OutgoingInput.LOCKED)
    list_queue(state, queue)
    store_queue(state, queue)
    return queue


def close_queue(state: State, descriptor: OpenQueueDescriptor) -> None:
    """Close Queue: messages that the descriptor had locked go back in place, its reads end."""
    if descriptor.closed:
        return
    descriptor.closed = True
    state.descriptors.pop(descriptor.handle, None)
    for child in descriptor.children:
        close_queue(state, child)
    queue = descriptor.queue
    if queue is None:
        return
    for cursor in list(descriptor.cursors.values()):
        close_cursor(state, cursor)
    end_reads(
        state,
        queue,
        [read for read in queue.waiting if read.descriptor is descriptor],
        Hresult.MQ_ERROR_OPERATION_CANCELLED,
    )
    if descriptor.locked:
        return_locked(state, list(descriptor.locked.values()))
        descriptor.locked.clear()
    del queue.descriptors[descriptor.handle]
    if queue.role is QueueRole.SUBQUEUE:
        drop_if_unused(state, queue)


def open_cursor(state: State, descriptor: OpenQueueDescriptor) -> Cursor | None:
    """Open Cursor; None when the descriptor has no queue."""
    if descriptor.queue is None:
        return None
    cursor = Cursor(_new_handle(state), descriptor)
    descriptor.cursors[cursor.handle] = cursor
    return cursor


def close_cursor(state: State, cursor: Cursor) -> None:
    """Close Cursor: its reads end, reads through other cursors go on."""
    queue = cursor.descriptor.queue
    if queue is not None:
        end_reads(
            state,
            queue,
            [read for read in queue.waiting if read.cursor is cursor],
            Hresult.MQ_ERROR_OPERATION_CANCELLED,
        )
    cursor.descriptor.cursors.pop(cursor.handle, None)


# The format names of a distribution list, possibly of further lists; None if there is no such list.
Members: TypeAlias = Callable[[UUID], Sequence[str] | None]


def read_members(state: State, identifier: UUID) -> Sequence[str] | None:
    """The format names of a distribution list; None when the directory does not return it."""
    distribution_list = read_object(state, ElementType.DISTRIBUTION_LIST, identifier)
    return distribution_list.members if isinstance(distribution_list, DistributionList) else None


def expand(name: FormatName, members_of: Members) -> FormatName:
    """The single names that a name stands for, sorted, without duplicates.

    The domain of a distribution list names its directory, and there is one directory only.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, a distribution list cannot be resolved.
    """
    if not isinstance(name, DistributionListFormatName | MultipleElementFormatName):
        return name
    members: dict[str, SingleFormatName] = {}
    _collect(name, members_of, members, set())
    names = [members[key] for key in sorted(members)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{name} has no members")
    return MultipleElementFormatName(tuple(names))


def _collect(
    name: FormatName,
    members_of: Members,
    names: dict[str, SingleFormatName],
    open_lists: set[str],
) -> None:
    if isinstance(name, MultipleElementFormatName):
        for element in name.elements:
            _collect(element, members_of, names, open_lists)
    elif isinstance(name, DistributionListFormatName):
        # A list that contains itself adds nothing the second time.
        if name.key in open_lists:
            return
        open_lists.add(name.key)
        members = members_of(name.guid)
        if members is None:
            raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{name} is not known")
        for member in members:
            _collect(parse_format_name(member), members_of, names, open_lists)
    else:
        names.setdefault(name.key, name)


def _new_handle(state: State) -> int:
    """A number for an open queue or a cursor, unique while the queue manager runs."""
    state.last_handle += 1
    return state.last_handle
