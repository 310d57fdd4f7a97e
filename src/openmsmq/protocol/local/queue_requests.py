"""Requests about queues: create, show, change, delete, permissions."""

from typing import Any, Final
from uuid import UUID

from openmsmq.core.model.queue_properties import CHANGEABLE_PROPERTIES
from openmsmq.security.permissions import PermissionChange
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError

from . import messages as local
from .session import Handlers, LocalSession, Steps

# The user's words for the attributes of a queue.
ATTRIBUTES: Final = {"transactional": "transactional", **CHANGEABLE_PROPERTIES}
PRIVACY: Final = {level.name.lower(): level for level in QueuePrivacyLevel}


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
                    f"privacy: {value!r} must be one of {', '.join(PRIVACY)}",
                )
            value = PRIVACY[value]
        elif word == "multicast":
            # An empty text means that the queue listens to no address.
            value = None if value == "" else value
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
    info = manager.management.describe_queue(created.value)
    session.done(request.id, info, created.depends)


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
    details = session.manager.management.queue(
        request.path, caller=session.identity(), accounts=session.service.accounts
    )
    session.done(request.id, details, session.seen)


def list_queues(session: LocalSession, request: local.ListQueues) -> Steps:
    queues = session.manager.management.queues(
        caller=session.identity(), include_system=request.include_system
    )
    return session.stream(request.id, queues)


def change_permissions(session: LocalSession, request: local.Grant) -> None:
    """`queue grant` and `queue revoke`."""
    permissions = session.manager.management.change_queue_permissions(
        request.path,
        permission_change(deny=request.deny, revoke=request.revoke),
        request.principal,
        request.rights,
        caller=session.identity(),
        accounts=session.service.accounts,
    )
    session.done(request.id, permissions, session.seen)


def permission_change(*, deny: bool, revoke: bool) -> PermissionChange:
    """The rights in a request."""
    if revoke:
        return PermissionChange.REVOKE
    return PermissionChange.DENY if deny else PermissionChange.GRANT


HANDLERS: Final[Handlers] = {
    local.CreateQueue: create_queue,
    local.DeleteQueue: delete_queue,
    local.SetQueue: set_queue,
    local.ShowQueue: show_queue,
    local.ListQueues: list_queues,
    local.Grant: change_permissions,
}
