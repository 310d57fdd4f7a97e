"""The web application of the console, from groups of routes."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from .console import Console
from .health import health_routes

RouteGroup = Callable[[Console], Sequence[BaseRoute]]
"""Makes the routes of one subject; it may add to `Console.services` what they need."""

GROUPS: Final[tuple[RouteGroup, ...]] = (health_routes,)


def build_app(console: Console) -> Starlette:
    """The application; what runs beside it starts and stops with it."""
    routes = [route for group in GROUPS for route in group(console)]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.console = console
        await console.start()
        try:
            yield
        finally:
            await console.stop()

    return Starlette(routes=routes, lifespan=lifespan)
