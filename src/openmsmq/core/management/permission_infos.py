"""Permissions as records, and the right to see a queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.queues.access import check_queue_right
from openmsmq.security.access_check import (
    MACHINE_MAPPING,
    QUEUE_MAPPING,
    GenericMapping,
    parse_descriptor,
)
from openmsmq.security.access_explanation import AccessInfo, explain_rights
from openmsmq.security.permissions import Permission, describe
from openmsmq.security.principals import Accounts
from openmsmq.security.rights import MACHINE_RIGHTS, QUEUE_RIGHTS, describe_queue_rights
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.codes.queue_error import AccessDenied

if TYPE_CHECKING:
    from openmsmq.security.caller import Caller


def is_listed(queue: Queue, *, include_system: bool) -> bool:
    """Whether lists of queues include it."""
    if queue.role is QueueRole.USER:
        return True
    return include_system and queue.role is not QueueRole.OUTGOING


def may(queue: Queue, caller: Caller, right: QueueRight) -> bool:
    """Whether the caller has a right on a queue."""
    try:
        check_queue_right(queue, caller, right)
    except AccessDenied:
        return False
    return True


def visible_queues(queues: Iterable[Queue], caller: Caller) -> Iterator[Queue]:
    """The queues whose properties the caller may see; most of them share one descriptor."""
    checked: dict[bytes, bool] = {}
    for queue in queues:
        security = queue.family.properties.security
        visible = checked.get(security)
        if visible is None:
            visible = checked[security] = may(queue, caller, QueueRight.GET_QUEUE_PROPERTIES)
        if visible:
            yield queue


def queue_permissions(queue: Queue, accounts: Accounts) -> tuple[Permission, ...]:
    """The permissions of a queue; queues of the system have those of the queue manager."""
    return in_words(queue.family.properties.security, accounts, describe_queue_rights)


def in_words(
    security: bytes, accounts: Accounts, words: Callable[[int], list[str]]
) -> tuple[Permission, ...]:
    """The entries of a descriptor with the names of accounts and rights."""
    if not security:
        return ()
    return tuple(describe(parse_descriptor(security), accounts, words))


def queue_access(queue: Queue, principal: Caller, accounts: Accounts) -> list[AccessInfo]:
    """The effective rights of a principal on a queue, one by one, with reasons."""
    security = queue.family.properties.security
    return _access(security, principal, QUEUE_RIGHTS, QUEUE_MAPPING, accounts)


def machine_access(security: bytes, principal: Caller, accounts: Accounts) -> list[AccessInfo]:
    """The effective rights of a principal on the queue manager, one by one, with reasons."""
    return _access(security, principal, MACHINE_RIGHTS, MACHINE_MAPPING, accounts)


def _access(
    security: bytes,
    principal: Caller,
    rights: Mapping[str, int],
    mapping: GenericMapping,
    accounts: Accounts,
) -> list[AccessInfo]:
    descriptor = parse_descriptor(security) if security else None
    return explain_rights(descriptor, principal, rights, mapping, accounts)
