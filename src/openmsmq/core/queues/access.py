"""The right that each operation needs, and the access check."""

from typing import Final

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.state import State
from openmsmq.security.access_check import MACHINE_MAPPING, QUEUE_MAPPING, missing_in
from openmsmq.security.caller import Caller
from openmsmq.security.right_missing import RightMissing
from openmsmq.security.rights import describe_machine_rights, describe_queue_rights
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError

_Access = QueueAccessType
_QUEUE_RIGHTS: Final = {
    _Access.RECEIVE: QueueRight.RECEIVE_MESSAGE,
    _Access.PEEK: QueueRight.PEEK_MESSAGE,
    _Access.SEND: QueueRight.WRITE_MESSAGE,
    _Access.MOVE: QueueRight.RECEIVE_MESSAGE,
}
_JOURNAL_RIGHTS: Final = {
    _Access.RECEIVE: QueueRight.RECEIVE_JOURNAL_MESSAGE,
    _Access.PEEK: QueueRight.PEEK_MESSAGE,
    _Access.MOVE: QueueRight.RECEIVE_JOURNAL_MESSAGE,
}
_DEADLETTER_RIGHTS: Final = {
    _Access.RECEIVE: MachineRight.RECEIVE_DEADLETTER_MESSAGE,
    _Access.PEEK: MachineRight.PEEK_DEADLETTER_MESSAGE,
    _Access.MOVE: MachineRight.RECEIVE_DEADLETTER_MESSAGE,
}
_OUTGOING_RIGHTS: Final = {
    # Everybody may send to other machines.
    _Access.SEND: MachineRight(0),
    # Choice: users who may handle undeliverable messages may also see messages on their way.
    _Access.RECEIVE_ADMIN: MachineRight.RECEIVE_DEADLETTER_MESSAGE,
    _Access.PEEK_ADMIN: MachineRight.PEEK_DEADLETTER_MESSAGE,
}
_MACHINE_JOURNAL_RIGHTS: Final = {
    _Access.RECEIVE: MachineRight.RECEIVE_JOURNAL_QUEUE_MESSAGE,
    _Access.PEEK: MachineRight.PEEK_JOURNAL_QUEUE_MESSAGE,
    _Access.MOVE: MachineRight.RECEIVE_JOURNAL_QUEUE_MESSAGE,
}
_MACHINE_RIGHTS: Final = {
    QueueRole.DEADLETTER: _DEADLETTER_RIGHTS,
    QueueRole.XACT_DEADLETTER: _DEADLETTER_RIGHTS,
    QueueRole.MACHINE_JOURNAL: _MACHINE_JOURNAL_RIGHTS,
    QueueRole.OUTGOING: _OUTGOING_RIGHTS,
}


def check_machine_right(state: State, caller: Caller, right: MachineRight) -> None:
    """Refuse a caller who lacks this right on the queue manager.

    Raises:
        AccessDenied: the security descriptor of the queue manager does not grant it.
    """
    if caller.is_system or not state.manager.security:
        return
    if missing_in(state.manager.security, caller, right, MACHINE_MAPPING):
        raise RightMissing(caller.sid, describe_machine_rights(right))


def check_queue_right(
    queue: Queue, caller: Caller, right: QueueRight, *, security: bytes | None = None
) -> None:
    """Refuse a caller who lacks this right on the queue; subqueues and journals go by their queue.

    Args:
        security: a descriptor that replaces that of the queue.

    Raises:
        AccessDenied: the security descriptor of the queue does not grant it.
    """
    if security is None:
        security = queue.family.properties.security
    if caller.is_system or not security:
        return
    if missing_in(security, caller, right, QUEUE_MAPPING):
        raise RightMissing(caller.sid, describe_queue_rights(right), queue.path, queue.family.path)


def check_open(state: State, queue: Queue, caller: Caller, access: QueueAccessType) -> None:
    """Refuse a caller who may not open the queue for this access.

    Raises:
        QueueError: the kind of queue does not allow it, or the queue, or the queue manager for its
            own queues, does not grant it.
    """
    if queue.role is QueueRole.INTERNAL:
        # [MS-MQDMPR] 3.1.3: applications cannot open them directly.
        if not caller.is_system:
            raise AccessDenied(f"{queue.path} belongs to the queue manager")
    elif queue.role in _MACHINE_RIGHTS:
        machine_right = _MACHINE_RIGHTS[queue.role].get(access)
        if machine_right is None:
            raise _unsupported(queue, access)
        check_machine_right(state, caller, machine_right)
    else:
        rights = _JOURNAL_RIGHTS if queue.role is QueueRole.JOURNAL else _QUEUE_RIGHTS
        right = rights.get(access)
        if right is None:
            raise _unsupported(queue, access)
        check_queue_right(queue, caller, right)


def _unsupported(queue: Queue, access: QueueAccessType) -> QueueError:
    return QueueError(
        Hresult.MQ_ERROR_UNSUPPORTED_ACCESS_MODE, f"{queue.path} is not opened for {access}"
    )
