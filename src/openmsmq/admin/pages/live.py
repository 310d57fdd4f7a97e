"""Live parts of open pages, sent as they change."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, NamedTuple

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from openmsmq.admin.front_desk import Caller, FrontDesk
from openmsmq.admin.trust.problems import Problem
from openmsmq.admin.web import WebRoute, match, segments_of
from openmsmq.wire.errors import MsmqError

from .render import render
from .site import PAGES, Page, Site

STEP_SECONDS: Final = 1.0
# Keep-alive data is sent after this many quiet steps, so that a lost connection is noticed.
QUIET_STEPS: Final = 15
# Rendered parts are shared for this time: many viewers of a page ask the queue manager as
# often as one. A little less than a step, since a sleep may end early.
SHARED_SECONDS: Final = 0.98
# A row of a table: a line of its own. Ids are path segments, which need no escapes.
_ROW: Final = re.compile(r'^<tr id="([^"&]+)">(.*)</tr>$', re.MULTILINE)


class Live:
    """The event streams of pages."""

    def __init__(self, desk: FrontDesk, site: Site) -> None:
        self._desk = desk
        self._site = site
        self._shown: dict[Any, tuple[float, Shown | None]] = {}
        self._locks: dict[Any, asyncio.Lock] = {}

    def routes(self) -> list[WebRoute]:
        """The address of the event stream of pages."""
        return [WebRoute("GET", "/live", self.stream)]

    async def stream(self, request: Request, names: dict[str, str]) -> Response:
        """Parts of one page, sent when they change."""
        del names
        caller = self._site.caller(request)
        page, query, values = find_page(request.query_params.get("page", ""))
        if not self._desk.streams.take():
            raise Problem(
                429,
                "There are too many live pages.",
                remedy="Close some, or raise console_streams.",
                retry_after=10,
            )
        return StreamingResponse(
            self._events(request, caller, page, query, values),
            media_type="text/event-stream",
        )

    async def _events(
        self,
        request: Request,
        caller: Caller,
        page: Page,
        query: QueryParams,
        names: dict[str, str],
    ) -> AsyncIterator[bytes]:
        sent: dict[str, int] = {}
        quiet = 0
        try:
            yield b": live\n\n"
            while not await request.is_disconnected() and caller.is_in():
                event = await self._changes(caller, page, query, names, sent)
                quiet = 0 if event else quiet + 1
                if event:
                    yield b"event: patch\ndata: " + msgspec.json.encode(event) + b"\n\n"
                elif quiet % QUIET_STEPS == 0:
                    yield b": quiet\n\n"
                await asyncio.sleep(STEP_SECONDS)
        finally:
            self._desk.streams.give()

    async def _changes(
        self,
        caller: Caller,
        page: Page,
        query: QueryParams,
        names: dict[str, str],
        sent: dict[str, int],
    ) -> dict[str, Any]:
        """The parts that differ from those that were sent."""
        now = await self._shared(caller, page, query, names)
        if now is None:
            return {}
        parts = [each for part in now.parts for each in part.changes(sent)]
        nav = hash(repr(now.nav))
        if not parts and sent.get("nav") == nav:
            return {}
        sent["nav"] = nav
        return {"parts": parts, "nav": now.nav}

    async def _shared(
        self, caller: Caller, page: Page, query: QueryParams, names: dict[str, str]
    ) -> "Shown | None":
        """The current contents of a page, shared by all viewers with the same rights."""
        key = (page.path, str(query), tuple(names.items()), caller.person)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            known = self._shown.get(key)
            if known is not None and time.monotonic() - known[0] < SHARED_SECONDS:
                return known[1]
            try:
                values = await self._site.values(page, caller, query, names, live=True)
            except MsmqError:
                # The page stays unchanged: its object is gone, or the queue manager is unreachable.
                shown = self._stale(page)
            else:
                shown = rendered(page, values)
            now = time.monotonic()
            self._shown[key] = (now, shown)
            for other in [each for each, (then, _) in self._shown.items() if now - then > 5]:
                del self._shown[other]
                self._locks.pop(other, None)
            return shown

    def _stale(self, page: Page) -> "Shown | None":
        """The notice that the queue manager does not answer, without the rest of the page."""
        since = self._desk.figures.stale_since
        if since is None:
            return None
        parts = [_part(page, "stale", "stale", {"nonce": "", "stale_since": since})]
        return Shown(parts, {"state": ("not answering", "")})


class Part(NamedTuple):
    """A live part of a page.

    Attributes:
        element: the id of its element.
        frame: the part without the contents of its rows.
        rows: the contents of each row, by the id of the row.
    """

    element: str
    html: str
    frame: str
    rows: dict[str, str]

    def changes(self, sent: dict[str, int]) -> Iterator[tuple[str, str]]:
        """The changes since the last send: the part, or some rows while their set is the same.

        Args:
            sent: hashes by the id of the element; changed ones are updated.
        """
        if sent.get(self.element) != hash(self.frame):
            sent[self.element] = hash(self.frame)
            sent.update((name, hash(row)) for name, row in self.rows.items())
            yield self.element, self.html
            return
        for name, row in self.rows.items():
            if sent.get(name) != hash(row):
                sent[name] = hash(row)
                yield name, row


class Shown(NamedTuple):
    """The live parts of a page at one moment, and the counts of the navigation."""

    parts: list[Part]
    nav: dict[str, tuple[str, str]]


def rendered(page: Page, values: dict[str, Any]) -> Shown:
    """The live parts of a page."""
    values["nonce"] = ""
    blocks = (("stale", "stale"), *page.live)
    parts = [_part(page, block, element, values) for block, element in blocks]
    nav = {key: (text, values["tones"].get(key, "")) for key, text in values["counts"].items()}
    nav["state"] = (values["manager_state"], "")
    return Shown(parts, nav)


def _part(page: Page, block: str, element: str, values: dict[str, Any]) -> Part:
    html = render(page.template, values, block=block)
    rows = dict(_ROW.findall(html))
    return Part(element, html, _ROW.sub(r"\1", html) if rows else html, rows)


def find_page(address: str) -> tuple[Page, QueryParams, dict[str, str]]:
    """The page of an address of the console.

    Raises:
        Problem: 404, there is none.
    """
    path, _, query = address.partition("?")
    segments = segments_of({"raw_path": path.encode("utf-8", "replace"), "path": path}, "")
    for page in PAGES:
        names = match(page.path, segments)
        if names is not None:
            return page, QueryParams(query), names
    raise Problem(404, "There is no such page.")
