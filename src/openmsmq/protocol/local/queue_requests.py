"""Requests about queues: create, show, change, delete, permissions."""

from itertools import islice
from typing import Any, Final
from uuid import UUID

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.access import check_queue_right
from openmsmq.core.queues.permissions import PermissionChange, change_queue_permissions
from openmsmq.security.access_check import parse_descriptor
from openmsmq.security.permissions import describe
from openmsmq.security.principals import parse_principal
from openmsmq.security.rights import describe_queue_rights, queue_rights
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError

from . import messages as local
from .session import Handlers, LocalSession, Steps

# The words of users for the attributes of a queue.
ATTRIBUTES: Final = {
    "transactional": "transactional",
    "label": "label",
    "journal": "journaling",
    "quota": "quota",
    "journal_quota": "journal_quota",
    "authenticate": "authentication",
    "privacy": "privacy_level",
    "base_priority": "base_priority",
    "multicast": "multicast_address",
    "type": "type",
}
PRIVACY: Final = {level.name.lower(): level for level in QueuePrivacyLevel}
SEND: Final = QueueAccessType.SEND
# Queues that one step of a list looks at.
LIST_STEP: Final = 200


def attributes_of(properties: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a queue from the words of users.

    Raises:
        QueueError: an unknown word; the text lists the known ones.
    """
    attributes: dict[str, Any] = {}
    for word, value in properties.items():
        name = ATTRIBUTES.get(word)
        if name is None:
            raise QueueError(
                Hresult.MQ_ERROR_PROPERTY_NOTALLOWED,
                f"{word} is not a property of a queue: {', '.join(ATTRIBUTES)}",
            )
        if word == "privacy":
            if value not in PRIVACY:
                raise QueueError(
                    Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
                    f"privacy: {value!r} is none of {', '.join(PRIVACY)}",
                )
            value = PRIVACY[value]
        elif word == "type":
            value = type_guid(value)
        attributes[name] = value
    return attributes


def type_guid(value: object) -> UUID:
    """The service type of a queue, which is a GUID."""
    try:
        return UUID(str(value))
    except ValueError:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE, f"type: {value!r} is not a GUID"
        ) from None


def create_queue(session: LocalSession, request: local.CreateQueue) -> None:
    manager = session.manager
    created = manager.create_queue(
        request.path, caller=session.identity(), **attributes_of(request.properties)
    )
    session.done(request.id, describe_queue(session, created.value), created.depends)


def delete_queue(session: LocalSession, request: local.DeleteQueue) -> None:
    manager = session.manager
    queue = manager.find_queue(request.path)
    deleted = manager.delete_queue(queue, caller=session.identity())
    session.done(request.id, None, deleted.depends)


def set_queue(session: LocalSession, request: local.SetQueue) -> None:
    manager = session.manager
    changed = manager.set_queue(
        manager.find_queue(request.path),
        caller=session.identity(),
        **attributes_of(request.properties),
    )
    session.done(request.id, None, changed.depends)


def show_queue(session: LocalSession, request: local.ShowQueue) -> None:
    queue = session.manager.find_queue(request.path)
    check_queue_right(queue, session.identity(), QueueRight.GET_QUEUE_PROPERTIES)
    shown = describe_queue(session, queue)
    shown["permissions"] = permissions(session, queue)
    session.done(request.id, shown, session.seen)


def list_queues(session: LocalSession, request: local.ListQueues) -> Steps:
    shown = []
    caller = session.identity()
    for index, queue in enumerate(session.manager.queues):
        if index % LIST_STEP == LIST_STEP - 1:
            yield
        if queue.role is QueueRole.OUTGOING:
            continue
        if queue.role is QueueRole.USER or request.include_system:
            try:
                check_queue_right(queue, caller, QueueRight.GET_QUEUE_PROPERTIES)
            except QueueError:
                continue
            shown.append(describe_queue(session, queue))
    session.done(request.id, shown, session.seen)


def change_permissions(session: LocalSession, request: local.Grant) -> None:
    """`queue grant` and `queue revoke`."""
    manager = session.manager
    queue = manager.find_queue(request.path)
    sid = parse_principal(request.principal, session.service.accounts)
    change = PermissionChange.DENY if request.deny else PermissionChange.GRANT
    change_queue_permissions(
        manager.state,
        queue,
        PermissionChange.REVOKE if request.revoke else change,
        sid,
        queue_rights(request.rights),
        caller=session.identity(),
    )
    session.done(request.id, permissions(session, queue), manager.seen)


def permissions(session: LocalSession, queue: Queue) -> list[dict[str, Any]]:
    """Who may do what with a queue, in words; queues of the system go by the queue manager."""
    security = queue.family.properties.security
    if not security:
        return []
    descriptor = parse_descriptor(security)
    return [
        {
            "principal": entry.principal,
            "sid": entry.sid,
            "allow": entry.allow,
            "rights": list(entry.rights),
        }
        for entry in describe(descriptor, session.service.accounts, describe_queue_rights)
    ]


def describe_queue(session: LocalSession, queue: Queue) -> dict[str, Any]:
    """Properties and counts of a queue under the names that users know."""
    state = session.manager.state
    properties = queue.properties
    settings = queue.family.properties
    return {
        "path": f"{state.manager.computer_name}\\{queue.path}",
        "format_name": f"DIRECT=OS:{state.manager.computer_name}\\{queue.path}",
        "kind": str(queue.role),
        "scope": str(queue.queue_type),
        "guid": f"{{{str(settings.identifier).upper()}}}",
        "label": settings.label,
        "transactional": properties.transactional,
        "journal": settings.journaling,
        "quota": settings.quota,
        "journal_quota": settings.journal_quota,
        "authenticate": settings.authentication,
        "privacy": settings.privacy_level.name.lower(),
        "base_priority": settings.base_priority,
        "multicast": settings.multicast_address,
        "type": f"{{{str(settings.type).upper()}}}",
        "created_time": settings.create_time,
        "modified_time": settings.modify_time,
        "messages": queue.count,
        "bytes": queue.total_bytes,
        "locked_messages": len(queue.locked),
        "journal_messages": queue.journal.count if queue.journal is not None else 0,
        "journal_bytes": queue.journal.total_bytes if queue.journal is not None else 0,
        "oldest_message_age_seconds": oldest_age(queue, state.utc),
        "subqueues": [part.path.partition(";")[2] for part in queue.subqueues.values()],
        "readers": sum(each.access is not SEND for each in queue.descriptors.values()),
        "waiting_reads": len(queue.waiting),
        "deleted": {str(reason): count for reason, count in queue.counters.items()},
    }


def oldest_age(queue: Queue, utc: float) -> float | None:
    """How long the oldest message has waited; each lane has its oldest in front.

    Of an outgoing queue also one that was sent and is not acknowledged yet.
    """
    fronts = [lane.blocks[0][0].arrived for lane in queue.lanes.lanes if lane and lane.count]
    if queue.role is QueueRole.OUTGOING:
        fronts += [message.arrived for message in islice(queue.locked.values(), 1)]
    return max(utc - min(fronts), 0.0) if fronts else None


HANDLERS: Final[Handlers] = {
    local.CreateQueue: create_queue,
    local.DeleteQueue: delete_queue,
    local.SetQueue: set_queue,
    local.ShowQueue: show_queue,
    local.ListQueues: list_queues,
    local.Grant: change_permissions,
}
