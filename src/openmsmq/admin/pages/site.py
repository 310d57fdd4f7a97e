"""The table of pages, and the routes of the console."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, quote

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from openmsmq.admin.front_desk import Caller, FrontDesk
from openmsmq.admin.trust.guard import address_of, cookie_name
from openmsmq.admin.trust.person import Role
from openmsmq.admin.trust.problems import STATUS_TEXTS, Problem
from openmsmq.admin.trust.sessions import LONGEST_SECONDS
from openmsmq.admin.web import WebRoute, segment

from .care_pages import deadletters_page, find_page, job_page, jobs_page, watch_deadletters
from .frame import frame_values, url_maker
from .link_pages import outgoing_one, outgoing_page, watch_outgoing
from .manager_pages import (
    audit_page,
    definitions_page,
    journals_page,
    sessions_page,
    settings_page,
    transactions_page,
)
from .message_pages import message_page
from .overview_page import overview_page
from .queue_pages import messages_tab, queues_page, watch_messages
from .queue_tabs import activity_tab, delayed_tab, permissions_tab, settings_tab, subqueues_tab
from .render import page as answer_with
from .render import static

ADMINISTRATOR: Final = Role.ADMINISTRATOR
Gather = Callable[[Caller, QueryParams, dict[str, str]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path, its template, the function that collects its data, and its live parts.

    Args:
        live: names of blocks, and the ids of the elements that they are in.
        watch: the function that collects the data of these blocks, if it is less than the page.
        whole: whether it concerns the whole queue manager, so that a token for some queues is not
            enough.
    """

    path: str
    template: str
    current: str
    gather: Gather
    live: tuple[tuple[str, str], ...] = ()
    watch: Gather | None = None
    role: Role = Role.READER
    whole: bool = False


PAGES: Final[tuple[Page, ...]] = (
    Page(
        "/",
        "overview.html",
        "overview",
        overview_page,
        (
            ("headline", "headline"),
            ("attention", "attention"),
            ("attentioncount", "attention-count"),
            ("figures", "figures"),
            ("busiest", "busiest"),
            ("links", "links"),
        ),
    ),
    Page("/queues", "queues.html", "queues", queues_page, (("list", "list"),)),
    Page(
        "/queues/{queue}",
        "queue_messages.html",
        "queues",
        messages_tab,
        (
            ("sidequeues", "side-queues"),
            ("queuehead", "queue-name"),
            ("tabs", "queue-tabs"),
            ("newer", "newer"),
        ),
        watch_messages,
    ),
    Page("/queues/{queue}/messages/{lookup_id}", "message.html", "queues", message_page),
    Page("/queues/{queue}/subqueues", "queue_tab.html", "queues", subqueues_tab),
    Page("/queues/{queue}/delayed", "queue_tab.html", "queues", delayed_tab),
    Page("/queues/{queue}/activity", "queue_tab.html", "queues", activity_tab),
    Page("/queues/{queue}/permissions", "queue_tab.html", "queues", permissions_tab),
    Page("/queues/{queue}/settings", "queue_tab.html", "queues", settings_tab),
    Page(
        "/dead-letters",
        "deadletters.html",
        "deadletters",
        deadletters_page,
        (("jobs", "jobs"),),
        watch_deadletters,
        whole=True,
    ),
    Page("/journals", "records.html", "journals", journals_page, (("lists", "lists"),)),
    Page(
        "/transactions",
        "transactions.html",
        "transactions",
        transactions_page,
        (("list", "list"),),
        whole=True,
    ),
    Page(
        "/sessions",
        "sessions.html",
        "sessions",
        sessions_page,
        (("lists", "lists"),),
        whole=True,
    ),
    Page("/find", "find.html", "find", find_page),
    Page("/jobs", "jobs.html", "jobs", jobs_page, (("jobs", "jobs"),)),
    Page("/jobs/{job}", "job.html", "jobs", job_page, (("state", "state"), ("acts", "acts"))),
    Page(
        "/definitions",
        "definitions.html",
        "definitions",
        definitions_page,
        role=ADMINISTRATOR,
        whole=True,
    ),
    Page("/audit", "audit.html", "audit", audit_page, role=ADMINISTRATOR, whole=True),
    Page("/settings", "settings.html", "settings", settings_page),
    Page(
        "/outgoing",
        "outgoing.html",
        "outgoing",
        outgoing_page,
        (("lists", "lists"),),
        whole=True,
    ),
    Page(
        "/outgoing/{destination}",
        "outgoing_one.html",
        "outgoing",
        outgoing_one,
        (("acts", "acts"), ("state", "state"), ("history", "history")),
        watch_outgoing,
        whole=True,
    ),
)


class Site:
    """The routes of the pages."""

    def __init__(self, desk: FrontDesk) -> None:
        self._desk = desk

    def routes(self) -> list[WebRoute]:
        """Every page, their static files, and signing in and out."""
        routes = [WebRoute("GET", page.path, self._shower(page)) for page in PAGES]
        return [
            *routes,
            WebRoute("GET", "/static/{name}", static),
            WebRoute("GET", "/static/{folder}/{name}", static),
            WebRoute("GET", "/sign-in", self.sign_in_page),
            WebRoute("POST", "/sign-in", self.sign_in),
            WebRoute("GET", "/sign-in/{code}", self.sign_in_by_link),
            WebRoute("POST", "/sign-out", self.sign_out),
        ]

    def caller(self, request: Request) -> Caller:
        """The person who asks.

        Raises:
            Problem: 401, no user is signed in.
        """
        state = request.state
        if state.person is None:
            raise Problem(401, "Sign in to see this page.")
        return Caller(self._desk, state.person, state.session)

    def _shower(self, page: Page) -> Callable[[Request, dict[str, str]], Awaitable[Response]]:
        async def show(request: Request, names: dict[str, str]) -> Response:
            caller = self.caller(request)
            values = await self.values(page, caller, request.query_params, names)
            return answer_with(request, page.template, values)

        return show

    async def values(
        self,
        page: Page,
        caller: Caller,
        query: QueryParams,
        names: dict[str, str],
        *,
        live: bool = False,
    ) -> dict[str, Any]:
        """The contents of a page, or only its changing parts."""
        caller.need(page.role, what="This page")
        if page.whole:
            caller.need_every_queue()
        gather = page.gather if page.watch is None or not live else page.watch
        return await self._desk.answered(self._values(page, gather, caller, query, names))

    async def _values(
        self,
        page: Page,
        gather: Gather,
        caller: Caller,
        query: QueryParams,
        names: dict[str, str],
    ) -> dict[str, Any]:
        await self._desk.figures.refresh()
        raw = _raw_path(page, names)
        shown = await gather(caller, query, names)
        address = raw if not query else f"{raw}?{query}"
        return {
            **await frame_values(caller, page.current),
            "url": url_maker(raw, query),
            "live_url": f"/live?page={quote(address, safe='')}" if page.live else "",
            **shown,
        }

    # Signing in and out

    async def sign_in_page(self, request: Request, names: dict[str, str]) -> Response:
        del names
        return self.ask_to_sign_in(request, None, 200)

    def ask_to_sign_in(
        self, request: Request, problem: Problem | None, status: int, target: str = ""
    ) -> Response:
        """The page that asks for a token, and continues to a target."""
        target = target or request.query_params.get("next", "")
        if not target and request.method == "GET" and not request.url.path.startswith("/sign-in"):
            target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        values = {
            "manager_name": self._desk.figures.status.get("name", "openmsmq"),
            "problem": problem,
            "next": target,
        }
        return answer_with(request, "sign_in.html", values, status)

    async def sign_in(self, request: Request, names: dict[str, str]) -> Response:
        """Check a token and begin a session."""
        del names
        address = address_of(request.scope)
        wait = self._desk.sign_ins.take(address, time.monotonic())
        if wait:
            raise Problem(
                429,
                "There were too many attempts to sign in from this address.",
                remedy="Wait a minute, then try again.",
                retry_after=wait,
            )
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        token = form.get("token", [""])[0].strip()
        target = form.get("next", ["/"])[0]
        entry = self._desk.tokens.find(token, datetime.now(UTC))
        if entry is None:
            self._desk.refuse_sign_in(address)
            problem = Problem(
                401,
                "The token is not valid.",
                remedy="Ask an administrator for one, or run `openmsmq console link` here.",
            )
            return self.ask_to_sign_in(request, problem, 401, target)
        session = self._desk.sign_in(entry.person(address))
        safe = target.startswith("/") and not target.startswith(("//", "/\\"))
        return self._welcome(request, session.key, target if safe else "/")

    async def sign_in_by_link(self, request: Request, names: dict[str, str]) -> Response:
        """Check a link and begin a session."""
        if request.method == "HEAD":
            # Viewing an address does not use the link up.
            raise Problem(405, "This takes GET.", allow=("GET",))
        person = self._desk.links.take(names["code"], time.monotonic())
        if person is None:
            self._desk.refuse_sign_in(address_of(request.scope))
            problem = Problem(
                401,
                "This link does not work any more.",
                remedy="Links work once, within 60 seconds: run `openmsmq console link` again.",
            )
            return self.ask_to_sign_in(request, problem, 401)
        person = msgspec.structs.replace(person, address=address_of(request.scope))
        return self._welcome(request, self._desk.sign_in(person).key, "/")

    def _welcome(self, request: Request, key: str, target: str) -> Response:
        response = RedirectResponse(target, 303)
        tls = request.scope["scheme"] == "https"
        response.set_cookie(
            cookie_name(tls=tls),
            key,
            max_age=LONGEST_SECONDS,
            path="/",
            secure=tls,
            httponly=True,
            samesite="strict",
        )
        return response

    async def sign_out(self, request: Request, names: dict[str, str]) -> Response:
        """End the session."""
        del names
        if request.state.session is not None:
            self._desk.sign_out(request.state.session)
        response = RedirectResponse("/sign-in", 303)
        tls = request.scope["scheme"] == "https"
        response.delete_cookie(cookie_name(tls=tls), path="/", secure=tls, httponly=True)
        return response

    def problem_page(self, request: Request, problem: Problem) -> Response:
        """A refusal as a page."""
        if problem.status == 401:
            shown = None if problem.detail.startswith("Sign in") else problem
            return self.ask_to_sign_in(request, shown, 401)
        values = {
            "manager_name": self._desk.figures.status.get("name", "openmsmq"),
            "problem": problem,
            "title": STATUS_TEXTS.get(problem.status, "Refused"),
            "waits": problem.status == 503 and request.method == "GET",
        }
        return answer_with(request, "error.html", values, problem.status)


def _raw_path(page: Page, names: dict[str, str]) -> str:
    path = page.path
    for name, value in names.items():
        path = path.replace("{" + name + "}", segment(value))
    return path
