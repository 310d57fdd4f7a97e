"""Searches over everything: with one answer, or streamed."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.care import Condition, parse_filter
from openmsmq.care.filters import filter_from_data, filter_to_data
from openmsmq.care.places import Place, PlaceKind, list_places
from openmsmq.care.search import FoundMessage, SearchProgress, search
from openmsmq.client import QueueManager
from openmsmq.wire.errors import MsmqError

from .arranging import list_changed
from .message_records import MessageRecord, message_record
from .messages import need_to_read, number

MOST_RESULTS: Final = 1_000
LONGEST_SEARCH: Final = 30.0
# The limit of unsent blocks; the search waits while there are more.
MOST_WAITING: Final = 4


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a search.

    Attributes:
        filter: such as `label ~ order and arrived_time > 2026-11-17`.
        text: text in label or body.
        case: whether upper and lower case differ in the text.
        queues: names of the places to look in, or patterns with `*`; may be repeated;
            without any, all of them.
        after: the value in the last answer: the search continues after that message.
        limit: the maximum number of results.
    """

    filter: str = ""
    text: str = ""
    case: bool = False
    queues: list[str] = []
    after: str = ""
    limit: int = 100


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A message and its place."""

    queue: str
    kind: str
    message: MessageRecord


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The results, and the progress of the search; `after` continues it."""

    hits: list[SearchHit]
    looked_at: int
    total: int
    seconds: float
    stopped: bool
    not_searched: list[str]
    after: str | None = None


class SearchPart(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a streamed search: the results since the line before, and the progress.

    Attributes:
        ended: whether this is the last line.
        problem: why the search ended early; empty if it did not.
    """

    hits: list[SearchHit]
    looked_at: int
    total: int
    found: int
    seconds: float
    ended: bool = False
    not_searched: list[str] = []
    problem: str = ""


def condition_of(where: str | dict[str, Any] | None) -> Condition | None:
    """A filter of users or programs.

    Raises:
        FilterError: the filter is invalid.
    """
    if where is None or where == "":
        return None
    return parse_filter(where) if isinstance(where, str) else filter_from_data(where)


def search_condition(query: SearchQuery) -> Condition | None:
    """The filter of a search, with the text in label or body."""
    operator = "contains" if query.case else "~"
    return with_text(condition_of(query.filter), query.text, operator)


def with_text(
    condition: Condition | None, text: str, operator: str = "~", *, bodies: bool = True
) -> Condition | None:
    """A filter that matches where another one does and the label or the body has a text."""
    if not text:
        return condition
    names = ("label", "body") if bodies else ("label",)
    words = {"or": [{"property": name, "operator": operator, "value": text} for name in names]}
    if condition is None:
        return filter_from_data(words)
    return filter_from_data({"and": [filter_to_data(condition), words]})


def _checked(caller: Caller, query: SearchQuery) -> Condition | None:
    """The filter of a search that may run now; release its slot when it has ended.

    Raises:
        Problem: it may not run.
    """
    if not 1 <= query.limit <= MOST_RESULTS:
        raise Problem(400, f"limit must be from 1 to {MOST_RESULTS}.", name="BAD_LIMIT")
    condition = search_condition(query)
    need_to_read(caller, condition)
    if not caller.desk.searches.take():
        raise Problem(
            429,
            "Too many searches run.",
            remedy="Wait for one to end, or raise console_searches.",
            retry_after=5,
        )
    return condition


def _places(caller: Caller, manager: QueueManager, patterns: list[str]) -> list[Place]:
    """The places that a person may search; a token for some queues has no outgoing queues."""
    person = caller.person
    folded = [pattern.lower() for pattern in patterns or ["*"]]
    return [
        place
        for place in list_places(manager)
        if any(_is_like(place.name, pattern) for pattern in folded)
        and (
            not person.queues
            or (place.kind is not PlaceKind.OUTGOING and person.may_use(place_name(place.name)))
        )
    ]


def _is_like(name: str, pattern: str) -> bool:
    """Whether the name of a place matches, with or without the computer."""
    return any(fnmatchcase(each.lower(), pattern) for each in (name, place_name(name)))


def _places_after(
    caller: Caller, manager: QueueManager, query: SearchQuery
) -> tuple[list[Place], int]:
    """The remaining places, and the message in the first one after which to continue.

    Raises:
        Problem: 400, it is invalid; 409, the place is gone.
    """
    places = _places(caller, manager, query.queues)
    if not query.after:
        return places, 0
    text, _, name = query.after.partition(" ")
    lookup_id = number(text, "after")
    for at, place in enumerate(places):
        if place_name(place.name) == name:
            return places[at:], lookup_id
    raise list_changed(query.after)


def after_hit(hit: SearchHit) -> str:
    """The value that continues a search after a message."""
    return f"{hit.message.lookup_id} {hit.queue}"


def _hit(found: FoundMessage) -> SearchHit:
    return SearchHit(
        queue=place_name(found.place.name),
        kind=str(found.place.kind),
        message=message_record(found.message),
    )


async def find_messages(caller: Caller, query: SearchQuery) -> SearchResult:
    """Matching messages, place by place in the order of arrival: to `sort` would read all."""
    condition = _checked(caller, query)
    began = time.monotonic()
    progress = SearchProgress()
    deadline = began + LONGEST_SEARCH

    def note(state: SearchProgress) -> None:
        progress.looked_at, progress.total = state.looked_at, state.total
        progress.not_searched = state.not_searched

    def work(manager: QueueManager) -> list[SearchHit]:
        places, lookup_id = _places_after(caller, manager, query)
        found = search(
            manager,
            places,
            condition,
            after=lookup_id,
            limit=query.limit,
            progress=note,
            stopped=lambda: time.monotonic() > deadline,
        )
        return [_hit(each) for each in found]

    try:
        hits = await caller.desk.care.search(caller.person, work)
    finally:
        caller.desk.searches.give()
    stopped = time.monotonic() > deadline
    more = stopped or len(hits) == query.limit
    return SearchResult(
        hits=hits,
        looked_at=progress.looked_at,
        total=progress.total,
        seconds=time.monotonic() - began,
        stopped=stopped,
        not_searched=_texts(progress),
        after=(after_hit(hits[-1]) if hits else query.after or None) if more else None,
    )


def _texts(progress: SearchProgress) -> list[str]:
    return [f"{name}: {error}" for name, error in progress.not_searched]


async def stream_search(caller: Caller, query: SearchQuery) -> AsyncIterator[bytes]:
    """Search as a stream: one JSON object per line; disconnecting stops the search."""
    condition = _checked(caller, query)
    return _parts(caller, query, condition)


async def _parts(
    caller: Caller, query: SearchQuery, condition: Condition | None
) -> AsyncIterator[bytes]:
    """Lines of a search that runs in a thread, until it ends or its reader disconnects."""
    stopped = threading.Event()
    waiting: asyncio.Queue[SearchPart] = asyncio.Queue(MOST_WAITING)
    loop = asyncio.get_running_loop()

    def put(part: SearchPart) -> None:
        # The thread waits while the reader is slow.
        with suppress(CancelledError, RuntimeError):
            asyncio.run_coroutine_threadsafe(waiting.put(part), loop).result()

    running = asyncio.ensure_future(
        caller.desk.care.search(
            caller.person, lambda manager: _search(caller, query, condition, manager, put, stopped)
        )
    )
    try:
        yield b""
        while True:
            part = await _next(waiting, running)
            yield msgspec.json.encode(part) + b"\n"
            if part.ended:
                return
    finally:
        stopped.set()
        while not waiting.empty():
            waiting.get_nowait()
        caller.desk.searches.give()


async def _next(
    waiting: "asyncio.Queue[SearchPart]", running: "asyncio.Future[None]"
) -> SearchPart:
    """The next line, or the last one if the search has failed."""
    getting = asyncio.ensure_future(waiting.get())
    both: set[asyncio.Future[Any]] = {getting, running}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if getting.done() or running.exception() is None:
        return await getting
    getting.cancel()
    error = running.exception()
    text = problem_of(error).detail if isinstance(error, MsmqError) else "The search failed."
    return SearchPart(hits=[], looked_at=0, total=0, found=0, seconds=0.0, ended=True, problem=text)


def _search(
    caller: Caller,
    query: SearchQuery,
    condition: Condition | None,
    manager: QueueManager,
    put: Callable[[SearchPart], None],
    stopped: threading.Event,
) -> None:
    """In a thread: search, and queue a line for each block."""
    began = time.monotonic()
    hits: list[SearchHit] = []
    last = SearchProgress()

    def part(*, ended: bool) -> SearchPart:
        return SearchPart(
            hits=hits.copy(),
            looked_at=last.looked_at,
            total=last.total,
            found=last.found,
            seconds=time.monotonic() - began,
            ended=ended,
            not_searched=_texts(last) if ended else [],
        )

    def note(state: SearchProgress) -> None:
        last.looked_at, last.total = state.looked_at, state.total
        last.not_searched = state.not_searched
        put(part(ended=False))
        hits.clear()

    places, lookup_id = _places_after(caller, manager, query)
    for found in search(
        manager,
        places,
        condition,
        after=lookup_id,
        limit=query.limit,
        progress=note,
        stopped=stopped.is_set,
    ):
        last.found += 1
        hits.append(_hit(found))
    if not stopped.is_set():
        put(part(ended=True))


def place_name(name: str) -> str:
    """The name of a place in paths of this API."""
    if name.startswith(";"):
        return "system$" + name.upper()
    return name.partition("\\")[2] if "=" not in name else name
