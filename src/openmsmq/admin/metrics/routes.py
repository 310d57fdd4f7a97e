"""Access to the metrics, and their formats."""

import ipaddress
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from openmsmq.admin.console import Console
from openmsmq.admin.meters import Receive, Scope, Send

from .families import (
    console_families,
    count_families,
    manager_families,
    outgoing_families,
    store_families,
    surroundings_families,
)
from .queue_families import queue_families
from .shown_queues import ShownQueues
from .text import OPENMETRICS, PREFIX, PROMETHEUS, Family, listed, write
from .windows_families import windows_families

# The maximum age of the picture in a scrape.
FRESH_SECONDS: Final = 0.25
GZIP_LEVEL: Final = 1
# The largest window, with the header of gzip.
GZIP_BITS: Final = zlib.MAX_WBITS + 16
# The number of bytes written at once.
CHUNK_BYTES: Final = 256 * 1024


class PiecesResponse(Response):
    """An answer in pieces, which are joined only when they are sent."""

    def __init__(self, pieces: list[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(headers={**headers, "Content-Length": str(sum(map(len, pieces)))})
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        for chunk in chunks(self._pieces):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in larger pieces."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= CHUNK_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def metrics_routes(console: Console) -> Sequence[BaseRoute]:
    families = Families(console)

    async def metrics(request: Request) -> Response:
        if not may_read(console, request):
            return PlainTextResponse(
                "metrics need a token here; see metrics_access\n",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        await console.sampler.fresh(FRESH_SECONDS)
        query = request.query_params
        openmetrics = "application/openmetrics-text" in request.headers.get("accept", "")
        names = frozenset(query.getlist("family"))
        pieces = write(wanted(families.all(query.get("queue", "")), names), openmetrics=openmetrics)
        headers = {"Cache-Control": "no-store", "Vary": "Accept, Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            pieces = compressed(pieces)
            headers["Content-Encoding"] = "gzip"
        kind = OPENMETRICS if openmetrics else PROMETHEUS
        return PiecesResponse(list(pieces), {**headers, "Content-Type": kind})

    return [Route("/metrics", metrics)]


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as one gzip file."""
    compressor = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_BITS)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()


def may_read(console: Console, request: Request) -> bool:
    """Whether this request may read the metrics."""
    access = console.settings.metrics_access
    if access == "anyone" or request.scope.get("state", {}).get("person") is not None:
        return True
    return access == "loopback" and is_loopback(request)


def is_loopback(request: Request) -> bool:
    """Whether a request comes from this machine."""
    try:
        return ipaddress.ip_address(request.client.host if request.client else "").is_loopback
    except ValueError:
        return False


class Families:
    """All metrics."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: ShownQueues | None = None

    def all(self, pattern: str = "") -> Iterator[Family]:
        """All families; without a queue manager only those of the console."""
        console = self._console
        sampler = console.sampler
        picture = sampler.picture
        if not sampler.fault and picture.head:
            utc = picture.head["utc"] + time.monotonic() - (sampler.taken or 0.0)
            shown = self._queues(pattern)
            yield from manager_families(picture)
            yield from count_families(picture)
            yield from queue_families(shown, utc)
            yield from outgoing_families(picture, utc)
            yield from store_families(picture)
            if console.settings.metrics_windows_names:
                yield from windows_families(picture, shown)
        else:
            yield listed(
                "msmq_ready", "gauge", "1 when it is ready, else 0.", lambda: ("msmq_ready 0",)
            )
        yield from surroundings_families(console.surroundings)
        yield from console_families(console.meters, console.settings.restarts)

    def _queues(self, pattern: str) -> ShownQueues:
        """The shown queues: reused with their lines, as long as the queues are the same."""
        picture, limit = self._console.sampler.picture, self._console.settings.metrics_queues
        if pattern:
            return ShownQueues(picture, limit, pattern)
        if self._shown is None or self._shown.generation != picture.generation:
            self._shown = ShownQueues(picture, limit, before=self._shown)
        return self._shown


def wanted(families: Iterator[Family], names: frozenset[str]) -> Iterator[Family]:
    """The families of these names, with or without the prefix; all without any."""
    for family in families:
        if not names or family.name in names or family.name.removeprefix(PREFIX) in names:
            yield family
