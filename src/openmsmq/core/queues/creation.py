"""Creating queues: Create Queue and setting attributes ([MS-MQDMPR] 3.1.7.1.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Final
from uuid import UUID

from openmsmq.core.events import QueueChanged, QueueCreated
from openmsmq.core.messages.due_times import schedule_retries
from openmsmq.core.model.queue import Queue, QueueRole, QueueType
from openmsmq.core.model.retry_policy import NO_POLICY
from openmsmq.core.outbox import Result, ResultOf
from openmsmq.core.rows.queue_rows import forget_queue, store_queue
from openmsmq.core.sites.public_queues import publish, register
from openmsmq.core.state import State
from openmsmq.directory.objects import NULL_GUID, UNLIMITED, QueueObject
from openmsmq.security.caller import SYSTEM_CALLER, Caller
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.limits import MAX_QUEUE_LABEL
from openmsmq.wire.names.format_name import MulticastFormatName, parse_format_name
from openmsmq.wire.names.queue_name import QueueName, QueueScope, Suffix

from .access import check_machine_right, check_queue_right
from .names import parse_local_path
from .policies import take_policy
from .queue_security import accepted_queue_security, new_queue_security
from .value_text import value_text

_SCOPES: Final = {
    QueueScope.PRIVATE: QueueType.PRIVATE,
    QueueScope.PUBLIC: QueueType.PUBLIC,
    QueueScope.SYSTEM: QueueType.SYSTEM,
}
# [MS-MQDMPR] 3.1.7.1.3: the attributes that Create Queue takes from the request.
CREATE_ATTRIBUTES: Final = frozenset(
    (
        "label",
        "type",
        "journaling",
        "quota",
        "journal_quota",
        "authentication",
        "privacy_level",
        "transactional",
        "multicast_address",
        "security",
        "base_priority",
    )
)
# Transactional is fixed for the life of a queue.
SET_ATTRIBUTES: Final = CREATE_ATTRIBUTES - {"transactional"}
_FIELDS: Final = {item.name for item in fields(QueueObject)}
MIN_BASE_PRIORITY: Final = -0x8000
MAX_BASE_PRIORITY: Final = 0x7FFF
# Smaller numbers are for queues of the system: 3 notify_queue$, 4 order_queue$.
FIRST_PRIVATE_NUMBER: Final = 5


def create_queue(
    state: State,
    path: str,
    *,
    caller: Caller,
    attributes: dict[str, Any],
    skip_directory: bool,
) -> ResultOf[Queue]:
    """Create Queue, with the attributes that differ from the defaults.

    Raises:
        QueueError: an invalid path name or attribute, a queue of that name, no right to create,
            or the directory refuses a public queue.
    """
    name = parse_local_path(state, path).queue_name
    if name.suffix is not Suffix.NONE or name.scope is QueueScope.SYSTEM:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, f"{path} cannot be created by applications"
        )
    check_machine_right(state, caller, MachineRight.CREATE_QUEUE)
    if name.key in state.paths:
        raise QueueError(Hresult.MQ_ERROR_QUEUE_EXISTS, path)
    properties = QueueObject(identifier=state.guids())
    policy, attributes = take_policy(NO_POLICY, attributes)
    apply_attributes(properties, attributes, CREATE_ATTRIBUTES)
    properties.security = new_queue_security(state, caller, properties.security)
    _name(state, name, properties)
    if name.scope is QueueScope.PUBLIC and not skip_directory:
        register(state, properties, caller)
    queue = add_queue(state, name, QueueRole.USER, properties)
    if policy != NO_POLICY:
        queue.policy = policy
        store_queue(state, queue)
    state.outbox.tell(QueueCreated(queue=queue, depends=state.outbox.number))
    return ResultOf(queue, state.outbox.number)


def add_queue(
    state: State,
    name: QueueName,
    role: QueueRole,
    properties: QueueObject,
    parent: Queue | None = None,
) -> Queue:
    """Make a queue, with its journal if it has one, and register it."""
    queue_type = _SCOPES[name.scope]
    _name(state, name, properties)
    if queue_type is QueueType.PRIVATE and not properties.private_queue_number and parent is None:
        properties.private_queue_number = _free_number(state)
    state.last_queue_number += 1
    queue = Queue(state.last_queue_number, str(name), role, queue_type, properties, parent)
    list_queue(state, queue)
    store_queue(state, queue)
    if role is QueueRole.USER:
        journal = QueueName(name.scope, name.name, Suffix.JOURNAL)
        journal_properties = QueueObject(transactional=properties.transactional)
        queue.journal = add_queue(state, journal, QueueRole.JOURNAL, journal_properties, queue)
    return queue


def _name(state: State, name: QueueName, properties: QueueObject) -> None:
    """Derive attributes from the name of a queue and the time of its creation."""
    manager = state.manager
    qualified = manager.qualified_computer_name or manager.computer_name
    properties.queue_manager = manager.identifier
    properties.pathname = f"{manager.computer_name}\\{name}"
    properties.qualified_pathname = f"{qualified}\\{name}"
    properties.create_time = properties.modify_time = int(state.utc)


def _free_number(state: State) -> int:
    number = max(state.private_numbers, default=0) + 1
    return max(number, FIRST_PRIVATE_NUMBER)


def list_queue(state: State, queue: Queue) -> None:
    """Register the queue by its number and its names."""
    state.queues[queue.number] = queue
    queue.born = state.marks.number
    if queue.role is not QueueRole.JOURNAL:
        state.marks.note(queue)
    if queue.role is QueueRole.USER:
        state.totals.queues += 1
    if queue.outgoing is not None:
        key = parse_format_name(queue.outgoing.destination_format_name).key
        state.outgoing[key] = queue
        return
    state.paths[queue.path.lower()] = queue
    parent = queue.parent
    if parent is not None:
        if queue.role is QueueRole.SUBQUEUE:
            parent.subqueues[queue.path.lower()] = queue
        else:
            parent.journal = queue
        return
    if queue.properties.identifier != NULL_GUID:
        state.identifiers[queue.properties.identifier] = queue
    if queue.queue_type is QueueType.PRIVATE:
        state.private_numbers[queue.properties.private_queue_number] = queue
    if queue.properties.multicast_address is not None:
        state.groups.set(queue, queue.properties.multicast_address)


def unlist_queue(state: State, queue: Queue) -> None:
    """Remove the queue from the tables of numbers and names."""
    del state.queues[queue.number]
    state.marks.remove(queue.number)
    if queue.role is QueueRole.USER:
        state.totals.queues -= 1
    del state.paths[queue.path.lower()]
    parent = queue.parent
    if parent is not None:
        if queue.role is QueueRole.SUBQUEUE:
            del parent.subqueues[queue.path.lower()]
        return
    state.identifiers.pop(queue.properties.identifier, None)
    state.groups.set(queue, None)
    if queue.queue_type is QueueType.PRIVATE:
        del state.private_numbers[queue.properties.private_queue_number]


def make_subqueue(state: State, parent: Queue, name: QueueName) -> Queue:
    """Create a subqueue when it is first named; it has no journal and no rights of its own."""
    properties = QueueObject(transactional=parent.properties.transactional)
    return add_queue(state, name, QueueRole.SUBQUEUE, properties, parent)


def drop_if_unused(state: State, queue: Queue) -> None:
    """Delete a subqueue that is empty, not open and not the target of uncommitted moves."""
    if (
        queue.role is QueueRole.SUBQUEUE
        and not queue.count
        and not queue.descriptors
        and not queue.expected
        and queue.number in state.queues
    ):
        unlist_queue(state, queue)
        forget_queue(state, queue)


def set_queue(state: State, queue: Queue, *, caller: Caller, attributes: dict[str, Any]) -> Result:
    """Change attributes of a queue.

    Raises:
        QueueError: no such attribute, an invalid value, no right to change it.
    """
    if queue.role is not QueueRole.USER and caller is not SYSTEM_CALLER:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_OPERATION, f"{queue.path} has no own attributes")
    needed = QueueRight(0)
    if "security" in attributes:
        needed |= QueueRight.CHANGE_QUEUE_PERMISSIONS
    if attributes.keys() - {"security"}:
        needed |= QueueRight.SET_QUEUE_PROPERTIES
    check_queue_right(queue, caller, needed)
    policy, attributes = take_policy(queue.policy, attributes)
    changed = replace(queue.properties)
    apply_attributes(changed, attributes, SET_ATTRIBUTES)
    if "security" in attributes:
        changed.security = accepted_queue_security(changed.security).serialize()
    changed.modify_time = int(state.utc)
    if queue.queue_type is QueueType.PUBLIC and attributes:
        publish(state, changed, caller, tuple(attributes))
    queue.properties = changed
    state.marks.note(queue)
    # Their quota is that of the queue.
    for subqueue in queue.subqueues.values():
        state.marks.note(subqueue)
    if policy != queue.policy:
        queue.policy = policy
        schedule_retries(state, queue)
    state.groups.set(queue, changed.multicast_address)
    store_queue(state, queue)
    state.outbox.tell(QueueChanged(queue=queue, depends=state.outbox.number))
    return Result(state.outbox.number)


def apply_attributes(
    properties: QueueObject, attributes: dict[str, Any], allowed: frozenset[str]
) -> None:
    """Set attributes after checking each."""
    for name, value in attributes.items():
        if name not in allowed:
            known = "cannot be changed" if name in _FIELDS else "is not an attribute of a queue"
            raise QueueError(Hresult.MQ_ERROR_PROPERTY_NOTALLOWED, f"{name} {known}")
        allows, wanted = _CHECKS[name]
        if not allows(value):
            raise QueueError(
                Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
                f"{name}: {value_text(value)} is not {wanted}",
            )
        setattr(properties, name, QueuePrivacyLevel(value) if name == "privacy_level" else value)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_quota(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= UNLIMITED


def _is_multicast(value: object) -> bool:
    if value is None:
        return True
    try:
        return isinstance(parse_format_name(f"MULTICAST={value}"), MulticastFormatName)
    except QueueError:
        return False


def _is_base_priority(value: object) -> bool:
    return isinstance(value, int) and MIN_BASE_PRIORITY <= value <= MAX_BASE_PRIORITY


def _is_label(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_QUEUE_LABEL


_YES_OR_NO: Final = (_is_bool, "true or false")
_QUOTA: Final = (_is_quota, f"a number of kilobytes from 0 to {UNLIMITED}")
# The check of each attribute, and its description.
_CHECKS: Final[dict[str, tuple[Callable[[object], bool], str]]] = {
    "label": (_is_label, f"a text of at most {MAX_QUEUE_LABEL} characters"),
    "type": (lambda value: isinstance(value, UUID), "a GUID"),
    "journaling": _YES_OR_NO,
    "quota": _QUOTA,
    "journal_quota": _QUOTA,
    "authentication": _YES_OR_NO,
    "privacy_level": (lambda value: value in set(QueuePrivacyLevel), "none, optional or body"),
    "transactional": _YES_OR_NO,
    "multicast_address": (_is_multicast, "an address and a port such as 234.1.1.1:8001"),
    "security": (lambda value: isinstance(value, bytes), "a security descriptor"),
    "base_priority": (_is_base_priority, f"{MIN_BASE_PRIORITY} to {MAX_BASE_PRIORITY}"),
}
