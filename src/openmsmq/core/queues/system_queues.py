"""The queues that every queue manager has ([MS-MQDMPR] 3.1.3)."""

from typing import Final
from uuid import UUID

from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.rows.queue_rows import store_queue
from openmsmq.core.state import State
from openmsmq.directory.objects import QueueObject
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.names.format_name import ConnectorFormatName
from openmsmq.wire.names.queue_name import QueueName, QueueScope, Suffix

from .access import check_machine_right
from .creation import add_queue, list_queue
from .queue_security import new_queue_security

# [MS-MQCN] 1.9, [MS-MQQB] 2.2.4: private queues with numbers that everybody knows.
NOTIFY_QUEUE: Final = QueueName(QueueScope.PRIVATE, "notify_queue$")
NOTIFY_QUEUE_NUMBER: Final = 3
ORDER_QUEUE: Final = QueueName(QueueScope.PRIVATE, "order_queue$")
ORDER_QUEUE_NUMBER: Final = 4
_MACHINE_JOURNAL: Final = QueueName(QueueScope.SYSTEM, "", Suffix.JOURNAL)
_DEADLETTER: Final = QueueName(QueueScope.SYSTEM, "", Suffix.DEADLETTER)
_XACT_DEADLETTER: Final = QueueName(QueueScope.SYSTEM, "", Suffix.DEADXACT)


def ensure_system_queues(state: State) -> None:
    """Make the system queues that are not there yet and remember all of them."""
    state.machine_journal = _ensure(state, _MACHINE_JOURNAL, QueueRole.MACHINE_JOURNAL)
    state.deadletter = _ensure(state, _DEADLETTER, QueueRole.DEADLETTER)
    state.xact_deadletter = _ensure(
        state, _XACT_DEADLETTER, QueueRole.XACT_DEADLETTER, transactional=True
    )
    _ensure(state, NOTIFY_QUEUE, QueueRole.INTERNAL, number=NOTIFY_QUEUE_NUMBER)
    _ensure(state, ORDER_QUEUE, QueueRole.INTERNAL, number=ORDER_QUEUE_NUMBER)


def create_connector_queues(
    state: State, foreign_site: UUID, *, caller: Caller
) -> tuple[Queue, Queue]:
    """The two queues in which messages for a foreign site wait for its connector application.

    Messages in a transaction have a queue of their own. Queues that exist are returned.

    Raises:
        AccessDenied: the caller may not change the queue manager.
    """
    check_machine_right(state, caller, MachineRight.SET_MACHINE_PROPERTIES)
    plain, transactional = (
        _connector_queue(state, ConnectorFormatName(foreign_site, suffix), caller)
        for suffix in (Suffix.NONE, Suffix.XACTONLY)
    )
    return plain, transactional


def _connector_queue(state: State, name: ConnectorFormatName, caller: Caller) -> Queue:
    queue = state.paths.get(name.key)
    if queue is not None:
        return queue
    properties = QueueObject(
        queue_manager=state.manager.identifier,
        label=str(name),
        transactional=name.suffix is Suffix.XACTONLY,
        security=new_queue_security(state, caller),
        create_time=int(state.utc),
        modify_time=int(state.utc),
    )
    state.last_queue_number += 1
    queue = Queue(
        state.last_queue_number, str(name), QueueRole.CONNECTOR, QueueType.CONNECTOR, properties
    )
    list_queue(state, queue)
    store_queue(state, queue)
    return queue


def _ensure(
    state: State,
    name: QueueName,
    role: QueueRole,
    *,
    number: int = 0,
    transactional: bool = False,
) -> Queue:
    queue = state.paths.get(name.key)
    if queue is not None:
        return queue
    properties = QueueObject(private_queue_number=number, transactional=transactional)
    return add_queue(state, name, role, properties)
