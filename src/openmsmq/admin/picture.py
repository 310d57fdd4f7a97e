"""The newest picture of a queue manager, put together from its samples."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

# What a sample says of a new queue, in the order of `QueuePicture`.
_NEW: Final = ("number", "path", "kind", "transactional", "created_time")
# The columns of a sample that are times; all others are 64-bit numbers.
TIMES: Final = frozenset(("oldest_arrived", "last_received"))

# What a sample counts of each session and client.
TRAFFIC: Final = ("incoming_messages", "outgoing_messages", "incoming_bytes", "outgoing_bytes")


@dataclass(slots=True)
class QueuePicture:
    """One queue.

    Attributes:
        values: the columns of the sample by name.
        deleted: messages that left unread, by reason.
    """

    number: int
    path: str
    kind: str
    transactional: bool
    created_time: int
    values: dict[str, float] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)


class Picture:
    """Everything that samples said, the newest of each.

    Attributes:
        head: the first part of the newest sample; empty before the first.
        queues: by number, the oldest first.
        changed: the numbers of queues that the newest sample spoke of.
        traffic: counts of sessions and clients, by protocol and number.
    """

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.queues: dict[int, QueuePicture] = {}
        self.outgoing: list[dict[str, Any]] = []
        self.sessions: list[dict[str, Any]] = []
        self.dead_letters: dict[str, dict[str, int]] = {}
        self.traffic: dict[tuple[str, int], tuple[int, ...]] = {}
        self.changed: set[int] = set()

    @property
    def number(self) -> int:
        """What goes into the next request; 0 before the first sample."""
        number: int = self.head.get("number", 0)
        return number

    def take(self, parts: Iterable[dict[str, Any]]) -> None:
        """Add a sample."""
        outgoing: list[dict[str, Any]] = []
        sessions: list[dict[str, Any]] = []
        self.changed = set()
        self.traffic = {}
        for part in parts:
            kind = part["part"]
            if kind == "head":
                self._take_head(part)
            elif kind == "queues":
                self._take_queues(part)
            elif kind == "outgoing":
                outgoing.append(part)
            elif kind == "sessions":
                sessions.append(part)
            elif kind == "traffic":
                self._take_traffic(part)
            else:
                self.dead_letters[part["queue"]] = part["classes"]
        self.outgoing, self.sessions = outgoing, sessions

    def _take_head(self, head: dict[str, Any]) -> None:
        self.head = head
        if head["complete"]:
            self.queues.clear()
        for number in head["removed"]:
            self.queues.pop(number, None)

    def _take_queues(self, part: dict[str, Any]) -> None:
        new = part["new"]
        for fields in zip(*(new[name] for name in _NEW), strict=True):
            self.queues[fields[0]] = QueuePicture(*fields)
        columns = {name: unpacked(name, packed) for name, packed in part["columns"].items()}
        names = list(columns)
        for values in zip(*columns.values(), strict=True):
            row = dict(zip(names, values, strict=True))
            number = int(row["number"])
            # It may have been deleted while the sample was taken.
            if (queue := self.queues.get(number)) is not None:
                queue.values = row
                self.changed.add(number)
        for number, reason, count in part["deleted"]:
            if (queue := self.queues.get(number)) is not None:
                queue.deleted[reason] = count

    def _take_traffic(self, part: dict[str, Any]) -> None:
        columns = [unpacked(name, part["columns"][name]) for name in ("number", *TRAFFIC)]
        for number, *counts in zip(*columns, strict=True):
            self.traffic[part["protocol"], number] = tuple(counts)


def unpacked(name: str, packed: bytes) -> "array[Any]":
    """A column of a sample."""
    return array("d" if name in TIMES else "Q", packed)
