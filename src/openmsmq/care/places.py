"""The places of messages: queues, subqueues, journals, dead letters, outgoing queues."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

from openmsmq.client import QueueManager
from openmsmq.client.properties import Access, Info
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


class PlaceKind(StrEnum):
    """The kind of a place."""

    QUEUE = "queue"
    SUBQUEUE = "subqueue"
    JOURNAL = "journal"
    DEADLETTER = "deadletter"
    OUTGOING = "outgoing"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Place:
    """One place.

    Attributes:
        name: a name by which it can be opened.
        messages: the count when it was listed, delayed ones included; None if unknown.
    """

    name: str
    kind: PlaceKind
    messages: int | None = None

    @property
    def access(self) -> Access:
        """The name for looking at messages."""
        return "peek_admin" if self.kind is PlaceKind.OUTGOING else "peek"

    @property
    def taking_access(self) -> Access:
        """The name for taking messages out."""
        return "receive_admin" if self.kind is PlaceKind.OUTGOING else "receive"


DEADLETTER: Final = ";deadletter"
DEADXACT: Final = ";deadxact"
_SYSTEM: Final = "\\system$;"
_JOURNAL: Final = ";journal"
_DEAD: Final = ("deadletter", "deadxact")
_DEADLETTER_NAMES: Final = (DEADLETTER, DEADXACT, "\\deadletter$", "\\xactdeadletter$")
ALL_KINDS: Final = frozenset(PlaceKind) - {PlaceKind.SYSTEM}


def place_of(name: str) -> Place:
    """The place with a name."""
    lower = name.lower()
    if lower.endswith(_DEADLETTER_NAMES):
        return Place(name, PlaceKind.DEADLETTER)
    if lower.endswith((_JOURNAL, "\\journal$")):
        return Place(name, PlaceKind.JOURNAL)
    if ";" in name:
        return Place(name, PlaceKind.SUBQUEUE)
    return Place(name, PlaceKind.QUEUE)


def find_place(manager: QueueManager, name: str) -> Place:
    """The place with a name; a format name may be that of an outgoing queue."""
    if "=" in name:
        for info in _outgoing(manager):
            if info["destination"].lower() == name.lower():
                return _place_of_outgoing(info)
    return place_of(name)


def list_places(
    manager: QueueManager,
    *,
    kinds: Iterable[PlaceKind] = ALL_KINDS,
    pattern: str = "*",
) -> list[Place]:
    """The places of a queue manager that the caller may see.

    Args:
        manager: the queue manager.
        kinds: the kinds of places to include.
        pattern: for the path, or the destination of an outgoing queue; `*` matches any text.
    """
    wanted = frozenset(kinds)
    folded = pattern.lower()
    places = [_place_of_queue(info) for info in manager.queues(include_system=True)]
    if PlaceKind.OUTGOING in wanted:
        # A caller who asks for nothing else gets the refusal.
        infos = manager.outgoing() if len(wanted) == 1 else _outgoing(manager)
        places += [_place_of_outgoing(info) for info in infos]
    return [
        place
        for place in places
        if place.kind in wanted and fnmatchcase(place.name.lower(), folded)
    ]


def _outgoing(manager: QueueManager) -> list[Info]:
    """The outgoing queues that the caller may see."""
    try:
        return manager.outgoing()
    except QueueError as exc:
        if exc.code != Hresult.MQ_ERROR_ACCESS_DENIED:
            raise
        return []


def _place_of_outgoing(info: Info) -> Place:
    # An empty one may have delayed messages, which are not counted.
    return Place(info["destination"], PlaceKind.OUTGOING, info["messages"] or None)


def _place_of_queue(info: Info) -> Place:
    path: str = info["path"]
    lower = path.lower()
    messages: int = info["messages"] + info["delayed_messages"]
    if _SYSTEM in lower:
        word = path.rpartition(";")[2]
        kind = PlaceKind.DEADLETTER if word.lower() in _DEAD else PlaceKind.JOURNAL
        return Place(f";{word.lower()}", kind, messages)
    if lower.endswith(_JOURNAL):
        return Place(path, PlaceKind.JOURNAL, messages)
    if ";" in path:
        return Place(path, PlaceKind.SUBQUEUE, messages)
    if path.endswith("$"):
        return Place(path, PlaceKind.SYSTEM, messages)
    return Place(path, PlaceKind.QUEUE, messages)
