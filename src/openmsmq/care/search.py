"""Search: matching messages of one queue, many or all, yielded during the search."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.client import BrowsedMessage, Queue, QueueManager, ReceivedMessage
from openmsmq.client.backend import Block
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.lookup_id import SEQUENCE_MASK

from .filters import Condition, Matcher
from .pacing import Pace
from .places import Place

# Messages per block: few, so that a search stops soon and others wait little for it.
BLOCK_ROWS: Final = 500
_GONE: Final = (Hresult.MQ_ERROR_QUEUE_NOT_FOUND, Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message and its place."""

    place: Place
    message: ReceivedMessage


@dataclass(slots=True)
class SearchProgress:
    """The progress of a search.

    Attributes:
        looked_at: messages compared so far.
        total: the approximate number of messages.
        found: messages that match.
        not_searched: places that could not be searched, and why.
    """

    looked_at: int = 0
    total: int = 0
    found: int = 0
    places_done: int = 0
    place: str = ""
    not_searched: list[tuple[str, QueueError]] = field(default_factory=list)


def search(
    manager: QueueManager,
    places: Sequence[Place],
    condition: Condition | None = None,
    *,
    after: int = 0,
    limit: int | None = None,
    hidden: bool = True,
    progress: Callable[[SearchProgress], None] | None = None,
    stopped: Callable[[], bool] | None = None,
    now: float | None = None,
) -> Iterator[FoundMessage]:
    """Search places in order, each in the order of arrival; messages stay in place.

    Messages that arrive while a place is searched are left out, and so are places that were empty
    when they were listed. A place that is deleted meanwhile, or that the caller may not read, is
    recorded in the progress. While the machine is busy the search rests between blocks.

    Args:
        manager: a connection that is used for nothing else during the search.
        places: from `list_places` or `place_of`.
        condition: from `parse_filter`; None matches all.
        after: a lookup id in the first place, after which the search begins.
        limit: the maximum number of results.
        hidden: include messages hidden from readers (locked, held, delayed), as `BrowsedMessage`.
        progress: called after each block and at the end, with the same object.
        stopped: called after each block; True ends the search.
        now: the reference time of ages; by default the current time.

    Raises:
        QueueError: a single place cannot be searched.
        ConnectionLost: the connection to the queue manager was lost.
    """
    state = SearchProgress(total=sum(place.messages or 0 for place in places))
    matcher = Matcher(condition)
    moment = time.time() if now is None else now
    pace = Pace()
    guid = manager.identity.guid
    looker = _Looker(matcher, moment, UUID(guid).bytes_le if guid else b"", state)
    for place in places:
        state.place = place.name
        try:
            begin = after & SEQUENCE_MASK if place is places[0] else 0
            for found in looker.search(manager, place, begin, hidden=hidden):
                if found is None:
                    if progress is not None:
                        progress(state)
                    if stopped is not None and stopped():
                        return
                    pace.step_done()
                    continue
                state.found += 1
                yield FoundMessage(place, found)
                if state.found == limit:
                    if progress is not None:
                        progress(state)
                    return
        except QueueError as exc:
            if len(places) == 1:
                raise
            if exc.code not in _GONE:
                state.not_searched.append((place.name, exc))
        state.places_done += 1
    if progress is not None:
        progress(state)


class _Looker(NamedTuple):
    """Searches one place after the other."""

    matcher: Matcher
    now: float
    machine: bytes
    state: SearchProgress

    def search(
        self, manager: QueueManager, place: Place, begin: int, *, hidden: bool
    ) -> Iterator[ReceivedMessage | None]:
        """The messages of one place; None after each block."""
        if place.messages == 0:
            # Many places of a queue manager are empty, and need not be opened.
            return
        with manager.open_queue(place.name, place.access) as queue:
            info = queue.ranges.info()
            self.state.total += info.count - (place.messages or 0)
            unseen: list[BrowsedMessage] = []
            if hidden:
                for messages in self._hidden(queue):
                    unseen += [
                        message
                        for message in messages
                        if _sequence(message) > begin
                        and self.matcher.holds(place.name, message, self.now)
                    ]
                    yield None
            blocks = queue.ranges.peek(begin, info.last, block_rows=BLOCK_ROWS)
            try:
                yield from self._merged(place, blocks, deque(sorted(unseen, key=_sequence)))
            finally:
                blocks.close()

    def _hidden(self, queue: Queue) -> Iterator[list[BrowsedMessage]]:
        """The messages hidden from readers, in pages."""
        lookup_id: int | None = None
        more = True
        while more:
            page = queue.ranges.browse(lookup_id, hidden=True)
            self.state.total += len(page.messages)
            self.state.looked_at += len(page.messages)
            if page.messages:
                yield page.messages
                lookup_id = page.messages[-1].lookup_id
            more = page.more

    def _merged(
        self, place: Place, blocks: Iterable[Block], unseen: deque[BrowsedMessage]
    ) -> Iterator[ReceivedMessage | None]:
        """The matching messages in the order of arrival; None after each block."""
        for block in blocks:
            self.state.looked_at += len(block.ends)
            for message in self.matcher.select(place.name, block, self.now, self.machine):
                while unseen and _sequence(unseen[0]) < _sequence(message):
                    yield unseen.popleft()
                if unseen and unseen[0].lookup_id == message.lookup_id:
                    # Its reader has given it back meanwhile.
                    unseen.popleft()
                yield message
            yield None
        yield from unseen


def _sequence(message: ReceivedMessage) -> int:
    return message.lookup_id & SEQUENCE_MASK
