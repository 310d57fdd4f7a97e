"""Parts of open pages, sent as they change."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any, Final

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
# Something is sent after this many quiet steps, so that a lost connection is noticed.
QUIET_STEPS: Final = 15


class Live:
    """The event streams of pages."""

    def __init__(self, desk: FrontDesk, site: Site) -> None:
        self._desk = desk
        self._site = site

    def routes(self) -> list[WebRoute]:
        """The address that pages connect to."""
        return [WebRoute("GET", "/live", self.stream)]

    async def stream(self, request: Request, names: dict[str, str]) -> Response:
        """Parts of one page, once when they changed."""
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
        sent: dict[str, bytes] = {}
        quiet = 0
        try:
            yield b": live\n\n"
            while not await request.is_disconnected() and self._signed_in(caller):
                event = await self._changes(caller, page, query, names, sent)
                quiet = 0 if event else quiet + 1
                if event:
                    yield b"event: patch\ndata: " + msgspec.json.encode(event) + b"\n\n"
                elif quiet % QUIET_STEPS == 0:
                    yield b": quiet\n\n"
                await asyncio.sleep(STEP_SECONDS)
        finally:
            self._desk.streams.give()

    def _signed_in(self, caller: Caller) -> bool:
        session = caller.session
        return session is None or self._desk.sessions.has(session.key)

    async def _changes(
        self,
        caller: Caller,
        page: Page,
        query: QueryParams,
        names: dict[str, str],
        sent: dict[str, bytes],
    ) -> dict[str, Any]:
        """The parts that differ from those that were sent."""
        try:
            values = await self._site.values(page, caller, query, names)
        except MsmqError:
            # The queue manager does not answer, or what the page shows is gone: it stays as it is.
            return {}
        values["nonce"] = ""
        parts = []
        for block, element in (("stale", "stale"), *page.live):
            html = render(page.template, values, block=block)
            digest = hashlib.sha256(html.encode("utf-8", "replace")).digest()
            if sent.get(element) != digest:
                sent[element] = digest
                parts.append((element, html))
        nav = {key: (text, values["tones"].get(key, "")) for key, text in values["counts"].items()}
        nav["state"] = (values["manager_state"], "")
        digest = hashlib.sha256(repr(nav).encode("utf-8", "replace")).digest()
        if not parts and sent.get("nav") == digest:
            return {}
        sent["nav"] = digest
        return {"parts": parts, "nav": nav}


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
