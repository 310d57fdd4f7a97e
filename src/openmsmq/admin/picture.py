"""The newest picture of a queue manager, built from its samples."""

from array import array
from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any, Final

import msgspec

# The fields of a new queue in a sample, in the order of `QueuePicture`.
_NEW: Final = ("number", "path", "kind", "transactional", "created_time")
# The columns of a sample that are times; all others are 64-bit numbers.
TIMES: Final = frozenset(("oldest_arrived", "last_received", "last_refused"))

# The counts of each session and client in a sample.
TRAFFIC: Final = ("incoming_messages", "outgoing_messages", "incoming_bytes", "outgoing_bytes")
_NONE: Final[Mapping[str, int]] = {}


class QueuePicture(msgspec.Struct, gc=False):
    """One queue.

    Attributes:
        row: its row in the columns of the picture.
        deleted: messages that left unread, by reason.
        refused: refused messages, by the reason told to their sender.
    """

    number: int
    path: str
    kind: str
    transactional: bool
    created_time: int
    row: int
    deleted: Mapping[str, int]
    refused: Mapping[str, int]


class Picture:
    """The newest state in all samples.

    Attributes:
        head: the first part of the newest sample; empty before the first.
        queues: by number, in the order of their rows.
        columns: the counts of queues by the name of the column, a row for each queue.
        generation: changes whenever queues are added or removed.
        changed: the numbers of queues in the newest sample.
        traffic: counts of sessions and clients, by protocol and number.
    """

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.queues: dict[int, QueuePicture] = {}
        self.columns: dict[str, array[Any]] = {}
        self.generation = 0
        self.outgoing: list[dict[str, Any]] = []
        self.sessions: list[dict[str, Any]] = []
        self.dead_letters: dict[str, dict[str, int]] = {}
        self.traffic: dict[tuple[str, int], tuple[int, ...]] = {}
        self.changed: set[int] = set()

    @property
    def number(self) -> int:
        """The number for the next request; 0 before the first sample."""
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
            self.columns.clear()
            self.generation += 1
        self._remove(self.queues.keys() & set(head["removed"]))

    def _remove(self, numbers: set[int]) -> None:
        if not numbers:
            return
        kept = [number not in numbers for number in self.queues]
        for name, column in self.columns.items():
            self.columns[name] = array(column.typecode, compress(column, kept))
        for number in numbers:
            del self.queues[number]
        for row, queue in enumerate(self.queues.values()):
            queue.row = row
        self.generation += 1

    def _take_queues(self, part: dict[str, Any]) -> None:
        new = part["new"]
        columns = (new[name] for name in _NEW)
        for number, path, kind, transactional, created in zip(*columns, strict=True):
            # A queue may be new in two samples.
            if number not in self.queues:
                row = len(self.queues)
                self.queues[number] = QueuePicture(
                    number, path, kind, transactional, created, row, _NONE, _NONE
                )
                self.generation += 1
        numbers = unpacked("number", part["columns"]["number"])
        # Some may have been deleted while the sample was taken.
        kept = [number in self.queues for number in numbers]
        changed = list(compress(numbers, kept))
        rows = [self.queues[number].row for number in changed]
        for name, packed in part["columns"].items():
            column = self.columns.setdefault(name, unpacked(name, b""))
            column.frombytes(bytes(column.itemsize * (len(self.queues) - len(column))))
            for row, value in zip(rows, compress(unpacked(name, packed), kept), strict=True):
                column[row] = value
        self.changed.update(changed)
        for number, reason, count in part["deleted"]:
            if (queue := self.queues.get(number)) is not None:
                queue.deleted = {**queue.deleted, reason: count}
        for number, reason, count in part["refused"]:
            if (queue := self.queues.get(number)) is not None:
                queue.refused = {**queue.refused, reason: count}

    def _take_traffic(self, part: dict[str, Any]) -> None:
        columns = [unpacked(name, part["columns"][name]) for name in ("number", *TRAFFIC)]
        for number, *counts in zip(*columns, strict=True):
            self.traffic[part["protocol"], number] = tuple(counts)


def unpacked(name: str, packed: bytes) -> "array[Any]":
    """A column of a sample."""
    return array("d" if name in TIMES else "Q", packed)
