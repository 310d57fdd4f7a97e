"""The queues that a user may see, read once for all users with the same rights."""

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from openmsmq.client.errors import ConnectionLost

from .figures import Figures
from .queue_info import QueueInfo
from .trust.person import Person

if TYPE_CHECKING:
    from .front_desk import Caller

# Rights may change: they are read again after this time.
KNOWN_SECONDS: Final = 15.0
# With a new queue, after this time.
CHANGED_SECONDS: Final = 2.0
MOST_PRINCIPALS: Final = 256


class Seen(msgspec.Struct, frozen=True):
    """The queues that a principal may see."""

    paths: frozenset[str]
    asked: float
    generation: int


class View(NamedTuple):
    """The visible part of a list of queues, whose counts are updated in place."""

    queues: list[QueueInfo]
    paths: frozenset[str]
    infos: list[QueueInfo]


class Sight:
    """Filters the figures, which are those of the console, by the rights of each principal."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._seen: OrderedDict[str, Seen] = OrderedDict()
        self._asking: dict[str, asyncio.Lock] = {}
        self._views: dict[Person, View] = {}

    async def infos(self, caller: "Caller") -> list[QueueInfo]:
        """The queues that a person may see, system queues included, with the newest counts."""
        paths = await self._paths(caller)
        person, queues = caller.person, self._figures.queues
        view = self._views.get(person)
        if view is None or view.queues is not queues or view.paths is not paths:
            if len(self._views) >= MOST_PRINCIPALS:
                self._views.clear()
            seen = [info for info in queues if info.path in paths and person.may_use(info.name)]
            view = self._views[person] = View(queues, paths, seen)
        return view.infos

    async def hidden(self, caller: "Caller") -> frozenset[str]:
        """The names of the queues that a person may not see, in lower case."""
        seen, queues = await self.infos(caller), self._figures.queues
        if len(seen) == len(queues):
            return frozenset()
        return frozenset(_names(queues) - _names(seen))

    async def _paths(self, caller: "Caller") -> frozenset[str]:
        principal = caller.person.principal
        if self._is_known(principal):
            return self._seen[principal].paths
        known = self._seen.get(principal)
        if known is not None and self._figures.stale_since is not None:
            # The queue manager does not answer: the last result stays.
            return known.paths
        lock = self._asking.setdefault(principal, asyncio.Lock())
        async with lock:
            if self._is_known(principal):
                return self._seen[principal].paths
            try:
                manager = await caller.manager()
                listed = manager.iter_queues(include_system=True)
                paths = self._shared([info["path"] async for info in listed])
            except ConnectionLost:
                if known is None:
                    raise
                return known.paths
            if known is not None and known.paths == paths:
                paths = known.paths
            self._seen[principal] = Seen(paths, time.monotonic(), self._figures.generation)
            self._seen.move_to_end(principal)
            while len(self._seen) > MOST_PRINCIPALS:
                oldest, _ = self._seen.popitem(last=False)
                self._asking.pop(oldest, None)
            return paths

    def _shared(self, paths: list[str]) -> frozenset[str]:
        """The same paths; texts of the figures are shared."""
        known = {info.path: info.path for info in self._figures.queues}
        # A set of known size takes half the memory of one that grew.
        return frozenset(dict.fromkeys(known.get(path, path) for path in paths))

    def _is_known(self, principal: str) -> bool:
        seen = self._seen.get(principal)
        if seen is None:
            return False
        age = time.monotonic() - seen.asked
        changed = seen.generation != self._figures.generation
        return age < (CHANGED_SECONDS if changed else KNOWN_SECONDS)


def _names(infos: list[QueueInfo]) -> set[str]:
    return {info.name.casefold() for info in infos}
