"""The web application of the console, from groups of routes."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

from openmsmq.wire.errors import MsmqError

from .api.application import PREFIX, Api
from .console import Console
from .front_desk import FrontDesk
from .health import health_routes
from .meters import CountedApp
from .metrics.routes import metrics_routes
from .pages.extras import Extras
from .pages.live import Live
from .pages.site import Site
from .trust.guard import App, Guard, Receive, Scope, Send
from .trust.problems import Problem, problem_of
from .web import WebRoutes

RouteGroup = Callable[[Console], Sequence[BaseRoute]]
"""Creates the routes of one subject; it may register services in `Console.services`."""

GROUPS: Final[tuple[RouteGroup, ...]] = (health_routes, metrics_routes)
# Paths of programs that need no page.
PLAIN_PATHS: Final = ("/metrics", "/healthz", "/readyz")


def build_app(console: Console) -> App:
    """The application behind its guard; background services start and stop with it."""
    desk = FrontDesk(console)
    console.services.append(desk)
    site = Site(desk)
    pages = [*site.routes(), *Live(desk, site).routes(), *Extras(desk, site).routes()]
    routes = [route for group in GROUPS for route in group(console)]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.console = console
        await console.start()
        try:
            yield
        finally:
            await console.stop()

    async def refuse(request: Request, error: Exception) -> Response:
        known = (
            error
            if isinstance(error, MsmqError)
            else Problem(500, "There is no answer to this request.")
        )
        return _refusal(site, request.scope, problem_of(known))

    app = Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={MsmqError: refuse, Exception: refuse}
    )
    # All other paths, with any characters.
    app.router.redirect_slashes = False
    app.router.default = _Rest(WebRoutes(PREFIX, Api(desk).routes()), WebRoutes("", pages))
    settings = console.settings
    guard = Guard(
        app,
        hosts=desk.hosts,
        tokens=desk.tokens,
        sessions=desk.sessions,
        requests=desk.requests,
        proxies=frozenset(settings.console_proxies),
        largest=settings.console_request_bytes,
        refuse=lambda scope, problem: _refusal(site, scope, problem),
    )
    return CountedApp(guard, console.meters)


class _Rest:
    """Endpoints of the API below its prefix, pages elsewhere."""

    def __init__(self, api: App, pages: App) -> None:
        self._api = api
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        of_api = scope["path"].startswith(f"{PREFIX}/")
        await (self._api if of_api else self._pages)(scope, receive, send)


def _refusal(site: Site, scope: Scope, problem: Problem) -> Response:
    """A refusal: JSON for programs, a page for people."""
    path = scope["path"]
    if path.startswith("/api/"):
        content = msgspec.json.encode({"error": problem.record})
        response = Response(content, problem.status, media_type="application/json")
    elif path in PLAIN_PATHS:
        response = PlainTextResponse(problem.detail + "\n", problem.status)
    else:
        response = site.problem_page(Request(scope), problem)
    if problem.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if problem.allow:
        response.headers["Allow"] = ", ".join(problem.allow)
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(max(1, round(problem.retry_after)))
    return response
