"""Queues: lists, single queues, and their changes."""

from collections.abc import Iterable
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.queue_info import QueueInfo
from openmsmq.admin.trust.problems import Problem
from openmsmq.client.properties import QueueProperties
from openmsmq.wire.codes.queue_error import AccessDenied

from .arranging import ListQuery, arranged, list_changed

NO_QUOTA: Final = 0xFFFFFFFF
LARGEST_LIST: Final = 1_000
UNSORTABLE: Final = ("subqueues", "deleted", "refused")


class QueueRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A queue with its properties and counts.

    Attributes:
        name: path name without the computer, as in paths of this API.
        kind: `queue`, `journal`, `deadletter`, `xact_deadletter`, `machine_journal`, `internal`.
        quota, journal_quota: kilobytes; null for none.
        refused: the number of refused messages, by the reason told to their sender.
    """

    name: str
    path: str
    format_name: str
    kind: str
    label: str
    transactional: bool
    journal: bool
    quota: int | None
    journal_quota: int | None
    authenticate: bool
    privacy: str
    base_priority: int
    multicast: str | None
    receive_retry_count: int
    retry_cycle_delay: int
    max_retry_cycles: int
    receive_error_handling: str
    created_time: float
    modified_time: float
    messages: int
    bytes: int
    locked_messages: int
    held_messages: int
    delayed_messages: int
    journal_messages: int
    journal_bytes: int
    oldest_message_age_seconds: float | None
    subqueues: list[str]
    readers: int
    waiting_reads: int
    arrived_messages: int
    arrived_bytes: int
    aborted_messages: int
    poisoned_messages: int
    deleted: dict[str, int]
    refused: dict[str, int]
    last_refused_time: float | None


class QueueList(msgspec.Struct, frozen=True):
    """Part of a list of queues; `after` continues it."""

    queues: list[QueueRecord]
    total: int
    after: str | None = None


class QueueListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which queues.

    Attributes:
        filter: text in the name or label.
        sort: property to sort by; `-` before it reverses the order.
        after: the value in the last answer.
        limit: the maximum number of queues.
        system: whether system queues and journals are listed.
    """

    filter: str = ""
    sort: str = "name"
    after: str = ""
    limit: int = 200
    system: bool = False


class QueueCreation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A queue to create, and its properties."""

    name: str
    transactional: bool = False
    label: str | None = None
    journal: bool | None = None
    quota: int | None = None
    journal_quota: int | None = None
    authenticate: bool | None = None
    privacy: Literal["none", "optional", "body"] | None = None
    base_priority: int | None = None
    multicast: str | None = None
    receive_retry_count: int | None = None
    retry_cycle_delay: int | None = None
    max_retry_cycles: int | None = None
    receive_error_handling: Literal["none", "move", "reject", "drop", "hold"] | None = None


class QueueChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Properties to change; all others stay."""

    label: str | None = None
    journal: bool | None = None
    quota: int | None = None
    journal_quota: int | None = None
    authenticate: bool | None = None
    privacy: Literal["none", "optional", "body"] | None = None
    base_priority: int | None = None
    multicast: str | None = None
    receive_retry_count: int | None = None
    retry_cycle_delay: int | None = None
    max_retry_cycles: int | None = None
    receive_error_handling: Literal["none", "move", "reject", "drop", "hold"] | None = None


class Permission(msgspec.Struct, frozen=True):
    """One entry: a principal, and its allowed and denied rights."""

    principal: str
    sid: str
    allow: bool
    rights: list[str]


class Permissions(msgspec.Struct, frozen=True):
    """The entries of a queue, in the order of evaluation; `after` continues it."""

    permissions: list[Permission]
    after: str | None = None


class PermissionChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rights to grant or revoke."""

    principal: str
    rights: list[str]
    deny: bool = False


class Counted(msgspec.Struct, frozen=True):
    """The number of messages."""

    count: int


def full_name(queue: str) -> str:
    """The path name of a queue of this computer."""
    return f".\\{queue}"


def queue_record(info: QueueInfo) -> QueueRecord:
    """The record of a queue from that of the queue manager."""
    values = {name: getattr(info, name) for name in _DIRECT_FIELDS}
    return QueueRecord(
        name=info.name,
        quota=_quota(info.quota),
        journal_quota=_quota(info.journal_quota),
        **values,
    )


_DIRECT_FIELDS: Final = tuple(
    name for name in QueueRecord.__struct_fields__ if name not in ("name", "quota", "journal_quota")
)


def _quota(value: int) -> int | None:
    return None if value == NO_QUOTA else value


async def all_queues(caller: Caller, *, system: bool = False) -> list[QueueRecord]:
    """Every queue that the caller may see."""
    manager = await caller.manager()
    listed = manager.iter_queues(include_system=system)
    records = [queue_record(QueueInfo.of(info)) async for info in listed]
    return [record for record in records if caller.person.may_use(record.name)]


def sorted_queues(records: Iterable[QueueRecord], sort: str) -> list[QueueRecord]:
    """Queues in an order.

    Raises:
        Problem: 400, there is no such property.
    """
    name = sort.removeprefix("-")
    sortable = [field for field in QueueRecord.__struct_fields__ if field not in UNSORTABLE]
    if name not in sortable:
        raise Problem(
            400,
            f"Queues cannot be sorted by {name!r}.",
            remedy=f"Use one of {', '.join(sortable)}.",
            name="BAD_SORT",
        )
    # Ties stay in the order of names.
    by_name = sorted(records, key=lambda record: record.name.casefold())

    def key(record: QueueRecord) -> Any:
        value = getattr(record, name)
        if isinstance(value, str):
            return value.casefold()
        return -1 if value is None else value

    return sorted(by_name, key=key, reverse=sort.startswith("-"))


class Named(Protocol):
    """The texts that a filter of queues searches."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...


NamedQueue = TypeVar("NamedQueue", bound=Named)


def matching(queues: Iterable[NamedQueue], text: str) -> list[NamedQueue]:
    """Queues with a text in their name or label."""
    needle = text.casefold()
    return [
        queue
        for queue in queues
        if needle in queue.name.casefold() or needle in queue.label.casefold()
    ]


async def list_queues(caller: Caller, query: QueueListQuery) -> QueueList:
    """Queues by filter, in an order, part by part."""
    if not 1 <= query.limit <= LARGEST_LIST:
        raise Problem(400, f"limit must be from 1 to {LARGEST_LIST}.", name="BAD_LIMIT")
    found = matching(await all_queues(caller, system=query.system), query.filter)
    ordered = sorted_queues(found, query.sort)
    start = 0
    if query.after:
        start = _start(ordered, query)
    part = ordered[start : start + query.limit]
    more = start + query.limit < len(ordered)
    return QueueList(part, len(ordered), part[-1].name if more and part else None)


def _start(ordered: list[QueueRecord], query: QueueListQuery) -> int:
    """The position where a list continues: after a queue, even if that was deleted meanwhile.

    Raises:
        Problem: 409, the queue is gone and its place is unknown.
    """
    for at, record in enumerate(ordered):
        if record.name == query.after:
            return at + 1
        if query.sort == "name" and record.name.casefold() > query.after.casefold():
            return at
    if query.sort == "name":
        return len(ordered)
    raise list_changed(query.after)


async def show_queue(caller: Caller, queue: str) -> QueueRecord:
    """One queue."""
    caller.need_queue(queue)
    manager = await caller.manager()
    return queue_record(QueueInfo.of(await manager.queue_info(full_name(queue))))


async def create_queue(caller: Caller, body: QueueCreation) -> QueueRecord:
    """Create a queue and show it."""
    caller.need_queue(body.name)
    manager = await caller.manager()
    properties = {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if name != "name" and value is not None
    }
    await manager.create_queue(full_name(body.name), **msgspec.convert(properties, QueueProperties))
    return await show_queue(caller, body.name)


async def change_queue(caller: Caller, queue: str, body: QueueChange) -> QueueRecord:
    """Change properties of a queue and show it."""
    caller.need_queue(queue)
    manager = await caller.manager()
    properties = {
        name: value for name, value in msgspec.structs.asdict(body).items() if value is not None
    }
    await manager.set_queue(full_name(queue), **msgspec.convert(properties, QueueProperties))
    return await show_queue(caller, queue)


async def delete_queue(caller: Caller, queue: str) -> None:
    """Delete a queue with everything in it."""
    caller.need_queue(queue)
    await (await caller.manager()).delete_queue(full_name(queue))


async def purge_queue(caller: Caller, queue: str) -> Counted:
    """Delete the messages of a queue for good."""
    caller.need_queue(queue)
    manager = await caller.manager()
    async with manager.open_queue(full_name(queue), "receive") as opened:
        return Counted(await opened.purge())


async def list_permissions(caller: Caller, queue: str) -> Permissions:
    """The permissions of a queue."""
    caller.need_queue(queue)
    info = await (await caller.manager()).queue_info(full_name(queue))
    if info.get("permissions") is None:
        raise AccessDenied(
            f"the permissions of {queue} may be read with get-permissions only",
            cause="The right has not been granted.",
            remedy="The owner of the queue or an administrator grants it with "
            f"`openmsmq queue grant '.\\{queue}' {caller.person.principal} get-permissions`.",
        )
    return msgspec.convert({"permissions": info["permissions"]}, Permissions)


async def grant(caller: Caller, queue: str, body: PermissionChange) -> Permissions:
    """Allow a principal an action on a queue, or deny it."""
    caller.need_queue(queue)
    manager = await caller.manager()
    entries = await manager.grant(full_name(queue), body.principal, body.rights, deny=body.deny)
    return msgspec.convert({"permissions": entries}, Permissions)


async def revoke(caller: Caller, queue: str, body: PermissionChange) -> Permissions:
    """Revoke rights that were granted or denied before."""
    caller.need_queue(queue)
    manager = await caller.manager()
    entries = await manager.revoke(full_name(queue), body.principal, body.rights)
    return msgspec.convert({"permissions": entries}, Permissions)


class AccessQuestion(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The principal of an explanation.

    Attributes:
        principal: `user:NAME`, `group:NAME`, `account:NAME`, `everyone` or a SID; without it, you.
    """

    principal: str = ""


class AccessAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a principal has a right, and the entry that decides it."""

    right: str
    allowed: bool
    reason: str


class AccessAnswers(msgspec.Struct, frozen=True):
    """The effective rights of a principal, one by one; `after` continues it."""

    answers: list[AccessAnswer]
    after: str | None = None


async def explain_permission(caller: Caller, queue: str, query: AccessQuestion) -> AccessAnswers:
    """The effective rights of a principal on a queue, one by one, and the deciding entries."""
    caller.need_queue(queue)
    principal = query.principal or caller.person.principal
    found = await (await caller.manager()).explain_access(full_name(queue), principal)
    return arranged(msgspec.convert({"answers": found}, AccessAnswers), "answers", query)
