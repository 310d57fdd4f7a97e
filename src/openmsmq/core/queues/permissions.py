"""Changing the permissions of a queue or of the queue manager."""

from collections.abc import Callable
from typing import Final

from openmsmq.core.model.queue import Queue
from openmsmq.core.state import State
from openmsmq.security import permissions
from openmsmq.security.access_check import parse_descriptor
from openmsmq.security.caller import Caller
from openmsmq.security.permissions import PermissionChange
from openmsmq.wire.security.security_descriptor import SecurityDescriptor
from openmsmq.wire.security.sid import SID

from .creation import set_queue
from .manager_settings import set_queue_manager

_CHANGES: Final[
    dict[PermissionChange, Callable[[SecurityDescriptor, SID, int], SecurityDescriptor]]
] = {
    PermissionChange.GRANT: permissions.grant,
    PermissionChange.DENY: permissions.deny,
    PermissionChange.REVOKE: permissions.revoke,
}


def change_queue_permissions(
    state: State, queue: Queue, change: PermissionChange, sid: SID, mask: int, *, caller: Caller
) -> None:
    """Change the rights of a principal on a queue.

    Raises:
        QueueError: the caller lacks the right, or the queue has no permissions of its own.
    """
    security = _changed(queue.family.properties.security, change, sid, mask)
    set_queue(state, queue, caller=caller, attributes={"security": security})


def change_manager_permissions(
    state: State, change: PermissionChange, sid: SID, mask: int, *, caller: Caller
) -> None:
    """Change the rights of a principal on the queue manager.

    Raises:
        QueueError: the caller lacks the right.
    """
    security = _changed(state.manager.security, change, sid, mask)
    set_queue_manager(state, caller=caller, attributes={"security": security})


def _changed(security: bytes, change: PermissionChange, sid: SID, mask: int) -> bytes:
    descriptor = parse_descriptor(security) if security else SecurityDescriptor()
    return _CHANGES[change](descriptor, sid, mask).serialize()
