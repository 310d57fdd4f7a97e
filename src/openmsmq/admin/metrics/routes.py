"""Who may read the metrics, and in which format."""

import ipaddress
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from openmsmq.admin.console import Console

from .families import (
    console_families,
    count_families,
    manager_families,
    outgoing_families,
    store_families,
)
from .queue_families import queue_families, shown_queues
from .text import OPENMETRICS, PREFIX, PROMETHEUS, Family, write
from .windows_families import windows_families

# How old a picture may be that a scrape shows.
FRESH_SECONDS: Final = 0.25
GZIP_LEVEL: Final = 1
# The largest window, with the header of gzip.
GZIP_BITS: Final = zlib.MAX_WBITS + 16


def metrics_routes(console: Console) -> Sequence[BaseRoute]:
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
        families = wanted(
            all_families(console, query.get("queue", "")), frozenset(query.getlist("family"))
        )
        parts = write(families, openmetrics=openmetrics)
        headers = {"Cache-Control": "no-store", "Vary": "Accept, Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            parts = compressed(parts)
            headers["Content-Encoding"] = "gzip"
        content = b"".join(parts)
        kind = OPENMETRICS if openmetrics else PROMETHEUS
        return Response(content, headers={**headers, "Content-Type": kind})

    return [Route("/metrics", metrics)]


def compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts as one gzip file."""
    compressor = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_BITS)
    for part in parts:
        yield compressor.compress(part)
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


def all_families(console: Console, pattern: str = "") -> Iterator[Family]:
    """Everything that there is to show; without a queue manager only what the console knows."""
    sampler = console.sampler
    picture = sampler.picture
    if not sampler.fault and picture.head:
        utc = picture.head["utc"] + time.monotonic() - (sampler.taken or 0.0)
        shown = shown_queues(picture, console.settings.metrics_queues, pattern)
        yield from manager_families(picture)
        yield from count_families(picture)
        yield from queue_families(shown, utc)
        yield from outgoing_families(picture, utc)
        yield from store_families(picture)
        if console.settings.metrics_windows_names:
            yield from windows_families(picture, shown)
    else:
        yield Family(
            "msmq_ready", "gauge", "1 when it is ready, else 0.", lambda: ("msmq_ready 0",)
        )
    yield from console_families(console.meters, console.settings.restarts)


def wanted(families: Iterator[Family], names: frozenset[str]) -> Iterator[Family]:
    """The families of these names, with or without the prefix; all without any."""
    for family in families:
        if not names or family.name in names or family.name.removeprefix(PREFIX) in names:
            yield family
