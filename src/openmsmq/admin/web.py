"""Routes by segments of the path, which may contain any character once decoded."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from .trust.problems import Problem

Handler = Callable[[Request, dict[str, str]], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class WebRoute:
    """A method and a path; `{name}` stands for one segment."""

    method: str
    path: str
    handler: Handler


def match(path: str, segments: list[str]) -> dict[str, str] | None:
    """The segments named in the path of a route, or None for another path."""
    wanted = path.strip("/").split("/")
    if len(wanted) != len(segments):
        return None
    values: dict[str, str] = {}
    for pattern, segment in zip(wanted, segments, strict=True):
        if pattern.startswith("{"):
            if not segment:
                return None
            values[pattern[1:-1]] = segment
        elif pattern != segment:
            return None
    return values


class WebRoutes:
    """An application of routes.

    Args:
        prefix: the prefix of all paths, such as `/api/v1`.
    """

    def __init__(self, prefix: str, routes: list[WebRoute]) -> None:
        self._prefix = prefix
        self._by_length: dict[int, list[WebRoute]] = {}
        for route in routes:
            length = len(route.path.strip("/").split("/"))
            self._by_length.setdefault(length, []).append(route)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive, send)
        response = await self.answer(request)
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        """The answer of the matching route.

        Raises:
            Problem: 404 for no such path, 405 for another method.
        """
        segments = segments_of(request.scope, self._prefix)
        methods = set()
        for route in self._by_length.get(len(segments), ()):
            values = match(route.path, segments)
            if values is None:
                continue
            methods.add(route.method)
            if route.method == request.method or (route.method, request.method) == ("GET", "HEAD"):
                return await route.handler(request, values)
        if methods:
            taken = sorted(methods)
            raise Problem(405, f"This takes {' and '.join(taken)}.", allow=taken)
        raise Problem(
            404,
            "There is no such path." if self._prefix else "There is no such page.",
            cause="The address is wrong, or what it named is gone.",
            remedy=f"{self._prefix}/openapi.json lists every path."
            if self._prefix
            else "Go to the overview, or search with Ctrl K.",
        )


def segments_of(scope: Mapping[str, Any], prefix: str) -> list[str]:
    """The segments of a path after the prefix, each decoded separately.

    Raises:
        Problem: 400, a segment is not UTF-8.
    """
    raw = scope.get("raw_path") or scope["path"].encode()
    path = raw.decode("latin-1").partition("?")[0].removeprefix(prefix)
    try:
        return [unquote(part, errors="strict") for part in path.strip("/").split("/")]
    except UnicodeDecodeError:
        raise Problem(400, "The address is not UTF-8.") from None


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="$;=:,!@~-._", errors="replace")
