"""Properties and counts of a queue, in little memory: there may be many thousands."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

# Texts that differ between queues; all others are shared.
_OWN: Final = frozenset(("path", "format_name"))
_NO_SUBQUEUES: Final[list[str]] = []
_NONE: Final[dict[str, int]] = {}
_BY_REASON: Final = frozenset(("deleted", "refused"))

Shared = dict[tuple[str, Any], Any]
"""Values shared by the queues of one list, by property name and value."""


class QueueInfo(msgspec.Struct, gc=False):
    """A queue with its properties and counts, as listed by the client.

    Attributes:
        path: includes the computer.
        quota, journal_quota: kilobytes; `NO_QUOTA` for none. A journal has those of its queue.
    """

    path: str
    format_name: str
    kind: str
    label: str
    transactional: bool
    journal: bool
    quota: int
    journal_quota: int
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

    @property
    def name(self) -> str:
        """The path name without the computer."""
        return self.path.partition("\\")[2]

    @property
    def own_quota(self) -> int:
        """The quota of its own messages, in kilobytes."""
        return self.journal_quota if self.kind == "journal" else self.quota

    @classmethod
    def of(cls, listed: Mapping[str, Any], shared: Shared | None = None) -> "QueueInfo":
        """A queue as listed by the client."""
        shared = {} if shared is None else shared
        return cls(*[_compact(name, listed[name], shared) for name in cls.__struct_fields__])

    def update(self, listed: Mapping[str, Any], shared: Shared) -> None:
        """Update to the values of a newer list; equal ones keep their objects."""
        for name in self.__struct_fields__:
            if getattr(self, name) != listed[name]:
                setattr(self, name, _compact(name, listed[name], shared))


def _compact(name: str, value: Any, shared: Shared) -> Any:
    if name == "subqueues":
        return value or _NO_SUBQUEUES
    if name in _BY_REASON:
        return value or _NONE
    return value if name in _OWN else shared.setdefault((name, value), value)
