"""The queues that every queue manager has ([MS-MQDMPR] 3.1.3)."""

from typing import Final

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.state import State
from openmsmq.directory.objects import QueueObject
from openmsmq.wire.names.queue_name import QueueName, QueueScope, Suffix

from .creation import add_queue

# [MS-MQCN] 1.9, [MS-MQQB] 2.2.4: private queues with well-known numbers.
NOTIFY_QUEUE: Final = QueueName(QueueScope.PRIVATE, "notify_queue$")
NOTIFY_QUEUE_NUMBER: Final = 3
ORDER_QUEUE: Final = QueueName(QueueScope.PRIVATE, "order_queue$")
ORDER_QUEUE_NUMBER: Final = 4
_MACHINE_JOURNAL: Final = QueueName(QueueScope.SYSTEM, "", Suffix.JOURNAL)
_DEADLETTER: Final = QueueName(QueueScope.SYSTEM, "", Suffix.DEADLETTER)
_XACT_DEADLETTER: Final = QueueName(QueueScope.SYSTEM, "", Suffix.DEADXACT)


def ensure_system_queues(state: State) -> None:
    """Create missing system queues and register all of them."""
    state.machine_journal = _ensure(state, _MACHINE_JOURNAL, QueueRole.MACHINE_JOURNAL)
    state.deadletter = _ensure(state, _DEADLETTER, QueueRole.DEADLETTER)
    state.xact_deadletter = _ensure(
        state, _XACT_DEADLETTER, QueueRole.XACT_DEADLETTER, transactional=True
    )
    _ensure(state, NOTIFY_QUEUE, QueueRole.INTERNAL, number=NOTIFY_QUEUE_NUMBER)
    _ensure(state, ORDER_QUEUE, QueueRole.INTERNAL, number=ORDER_QUEUE_NUMBER)


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
