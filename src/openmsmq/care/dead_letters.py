"""Dead letters by reason, destination, label and age, with the remedy."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from openmsmq.client import QueueManager

from .filters import Condition
from .places import DEADLETTER, DEADXACT, place_of
from .reasons import remedy
from .search import FoundMessage, search

DEAD_LETTER_QUEUES: Final = (DEADLETTER, DEADXACT)
GROUPINGS: Final = ("reason", "destination", "label", "age")
AGES: Final = (
    ("less than 1 hour", 3600.0),
    ("1 hour to 1 day", 86_400.0),
    ("1 day to 7 days", 7 * 86_400.0),
    ("7 days to 30 days", 30 * 86_400.0),
)
OLDEST: Final = "more than 30 days"
RECENT_SECONDS: Final = 3600.0


@dataclass(slots=True)
class DeadLetterGroup:
    """Dead letters with the same values of the grouping properties.

    Attributes:
        reason, cause, remedy: why the first of them failed, and what to do.
        worth_retrying: whether sending them again makes sense at present.
        oldest, newest: seconds since 1970.
        recent: the number of the last hour.
    """

    key: tuple[str, ...]
    reason: str
    cause: str
    remedy: str
    worth_retrying: bool
    messages: int = 0
    bytes: int = 0
    oldest: float = 0.0
    newest: float = 0.0
    recent: int = 0

    def to_dict(self, by: tuple[str, ...]) -> dict[str, Any]:
        """The group for JSON."""
        return {
            **dict(zip(by, self.key, strict=True)),
            "reason": self.reason,
            "messages": self.messages,
            "bytes": self.bytes,
            "oldest": datetime.fromtimestamp(self.oldest, UTC).isoformat(),
            "newest": datetime.fromtimestamp(self.newest, UTC).isoformat(),
            "recent": self.recent,
            "cause": self.cause,
            "remedy": self.remedy,
            "worth_retrying": self.worth_retrying,
        }


def dead_letters(
    manager: QueueManager,
    condition: Condition | None = None,
    *,
    queues: tuple[str, ...] = DEAD_LETTER_QUEUES,
) -> Iterator[FoundMessage]:
    """The dead letters that match a filter."""
    for name in queues:
        yield from search(manager, [place_of(name)], condition, hidden=False)


def group_dead_letters(
    found: Iterator[FoundMessage], now: float, by: tuple[str, ...] = ("reason", "destination")
) -> list[DeadLetterGroup]:
    """Group dead letters, the largest group first.

    Args:
        found: from `dead_letters`.
        now: seconds since 1970; the reference of ages.
        by: one of `GROUPINGS`.
    """
    groups: dict[tuple[str, ...], DeadLetterGroup] = {}
    for each in found:
        message = each.message
        arrived = message.arrived_time.timestamp()
        known = remedy(message.class_)
        values = {
            "reason": known.in_short or known.reason,
            "destination": message.destination_queue or "",
            "label": message.label,
            "age": age_of(now - arrived),
        }
        key = tuple(values[name] for name in by)
        group = groups.get(key)
        if group is None:
            group = groups[key] = DeadLetterGroup(
                key, known.reason, known.cause, known.action, known.retry_now, oldest=arrived
            )
        group.messages += 1
        group.bytes += len(message.packet)
        group.oldest = min(group.oldest, arrived)
        group.newest = max(group.newest, arrived)
        group.recent += now - arrived < RECENT_SECONDS
    return sorted(groups.values(), key=lambda group: (-group.messages, group.key))


def age_of(seconds: float) -> str:
    """An age as text."""
    return next((words for words, limit in AGES if seconds < limit), OLDEST)
