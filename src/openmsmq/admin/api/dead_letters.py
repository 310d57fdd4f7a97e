"""Dead letters in groups."""

import time
from typing import Final, Literal

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.care.dead_letters import GROUPINGS, dead_letters, group_dead_letters
from openmsmq.client import QueueManager

from .arranging import PartQuery, part_of
from .messages import need_to_read
from .searching import condition_of

DEAD: Final = {
    "plain": (";deadletter",),
    "transactional": (";deadxact",),
    "all": (";deadletter", ";deadxact"),
}


class DeadLetterQuery(PartQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which dead letters, what they are grouped by, and which of the groups.

    Attributes:
        by: the properties by which they are grouped.
        queue: the dead letters of which queue.
        filter: of messages, such as `label ~ order`; groups count the matching ones.
    """

    by: Literal["reason", "destination", "label", "age"] = "reason"
    queue: Literal["all", "plain", "transactional"] = "all"
    filter: str = ""


class DeadLetterGroupRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Dead letters with common properties."""

    key: str
    reason: str
    messages: int
    bytes: int
    oldest: float
    newest: float
    recent: int
    cause: str
    remedy: str
    worth_retrying: bool


class DeadLetterGroups(msgspec.Struct, frozen=True):
    """Dead letters in groups, the largest first; `after` continues it."""

    groups: list[DeadLetterGroupRecord]
    total: int
    after: str | None = None


async def list_dead_letters(caller: Caller, query: DeadLetterQuery) -> DeadLetterGroups:
    """Dead letters in groups, with cause, remedy and whether a retry makes sense."""
    for name in DEAD[query.queue]:
        caller.need_queue("system$" + name.upper())
    condition = condition_of(query.filter)
    need_to_read(caller, condition)

    def work(manager: QueueManager) -> DeadLetterGroups:
        found = dead_letters(manager, condition, queues=DEAD[query.queue])
        groups = group_dead_letters(found, time.time(), (query.by,))
        records = [
            DeadLetterGroupRecord(
                key=group.key[0],
                reason=group.reason,
                messages=group.messages,
                bytes=group.bytes,
                oldest=group.oldest,
                newest=group.newest,
                recent=group.recent,
                cause=group.cause,
                remedy=group.remedy,
                worth_retrying=group.worth_retrying,
            )
            for group in groups
        ]
        return DeadLetterGroups(records, sum(record.messages for record in records))

    assert query.by in GROUPINGS  # noqa: S101 - the same words
    return part_of(await caller.desk.care.call(caller.person, work), "groups", query)
