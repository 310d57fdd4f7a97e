"""Counters of the console."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

REQUEST_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# The first words of paths that are counted separately; all others are counted together.
ROUTES: Final = frozenset(
    ("api", "audit", "healthz", "jobs", "live", "metrics", "outgoing", "queues", "readyz", "static")
)
# The route of requests that never got to the application.
NO_ROUTE: Final = "(none)"


class ConsoleMeters:
    """Counts since the start of the console.

    Attributes:
        requests: by route and status.
        request_seconds: the number of requests in each bucket of `REQUEST_BOUNDS`; one more for all
            slower ones.
        sign_ins: by result.
        streams: how many live streams are open.
        jobs: returns the number of jobs by state.
        drift: the number of definitions that differ; None if it was never computed.
    """

    def __init__(self) -> None:
        self.requests: Final[Counter[tuple[str, int]]] = Counter()
        self.request_seconds: Final = [0] * (len(REQUEST_BOUNDS) + 1)
        self.request_seconds_sum = 0.0
        self.sign_ins: Final[Counter[str]] = Counter({"accepted": 0, "refused": 0})
        self.streams = 0
        self.jobs: Callable[[], dict[str, int]] = dict
        self.drift: int | None = None

    def add_request(self, route: str, status: int, seconds: float) -> None:
        self.requests[route, status] += 1
        self.request_seconds[bisect_left(REQUEST_BOUNDS, seconds)] += 1
        self.request_seconds_sum += seconds

    def add_refusal(self, status: int) -> None:
        """Count a request that was refused before its path was known."""
        self.requests[NO_ROUTE, status] += 1


class CountedApp:
    """An application whose requests are counted; those of live streams when they begin."""

    def __init__(self, app: App, meters: ConsoleMeters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        first = scope["path"].strip("/").partition("/")[0]
        route = f"/{first}" if first in ROUTES or not first else "(other)"
        streams = 0

        async def counted(message: Message) -> None:
            nonlocal streams
            if message["type"] == "http.response.start":
                self._meters.add_request(route, message["status"], time.perf_counter() - started)
                if first == "live" and not streams:
                    streams = 1
                    self._meters.streams += 1
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            self._meters.streams -= streams
