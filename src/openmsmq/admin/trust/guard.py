"""The guard before every page and endpoint."""

import ipaddress
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import Response

from openmsmq.wire.errors import MsmqError

from .headers import headers_of, new_nonce
from .hosts import Hosts
from .limits import RateLimit
from .person import Person
from .problems import Problem, problem_of
from .sessions import Session, Sessions
from .tokens import Tokens

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
CSRF_HEADER: Final = "x-csrf-token"
# Live updates repeat without a user at the keyboard.
BACKGROUND_PATHS: Final = ("/live", "/figures")


def cookie_name(*, tls: bool) -> str:
    """The name of the session's cookie; under TLS browsers bind it to this host."""
    return "__Host-openmsmq" if tls else "openmsmq"


class Guard:
    """Checks requests, identifies the caller, and adds headers to answers.

    Args:
        app: the guarded application.
        refuse: creates the answer of a refusal: JSON for programs, a page for people.
        largest: the maximum size of a request in bytes.
    """

    def __init__(
        self,
        app: App,
        *,
        hosts: Hosts,
        tokens: Tokens,
        sessions: Sessions,
        requests: RateLimit,
        proxies: frozenset[str],
        largest: int,
        refuse: Callable[[Scope, Problem], Response],
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._tokens = tokens
        self._sessions = sessions
        self._requests = requests
        self._proxies = proxies
        self._largest = largest
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nonce = new_nonce()
        state = scope.setdefault("state", {})
        headers = Headers(scope=scope)
        self._take_forwarded(scope, headers)
        tls = scope["scheme"] == "https"
        state.update(nonce=nonce, person=None, session=None)
        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                answer = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in headers_of(nonce, tls=tls):
                    answer[name.decode()] = value.decode()
            await send(message)

        try:
            self._check(scope, headers)
            await self._app(scope, _Limited(receive, self._largest), send_with_headers)
        except MsmqError as error:
            if begun:
                raise
            await self._refuse(scope, problem_of(error))(scope, receive, send_with_headers)

    def _take_forwarded(self, scope: Scope, headers: Headers) -> None:
        """Trust the headers of a configured proxy about the client."""
        client = scope.get("client")
        if client is None or client[0] not in self._proxies:
            return
        # Each proxy appends the address of its client, to the line or as a new one.
        addresses = [each.strip() for each in _listed(headers, "x-forwarded-for")]
        while len(addresses) > 1 and addresses[-1] in self._proxies:
            del addresses[-1]
        with suppress(ValueError):
            ipaddress.ip_address(addresses[-1])
            scope["client"] = (addresses[-1], 0)
        if _listed(headers, "x-forwarded-proto")[-1].strip() == "https":
            scope["scheme"] = "https"

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Refuse forged or excessive requests; record the caller.

        Raises:
            Problem: it is refused.
        """
        if len(headers.getlist("host")) != 1 or not self._hosts.allows(headers.get("host")):
            raise Problem(
                421,
                "This console is not known by that name.",
                cause="The Host header names another machine.",
                remedy="Use the address that `openmsmq status` shows, or add the name to "
                "console_hosts.",
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._largest:
            raise Problem(
                413,
                f"The request has more than {self._largest} bytes.",
                remedy="Send less at a time, or raise console_request_bytes.",
            )
        try:
            person, session = self._identify(scope, headers)
        except MsmqError:
            self._count(address_of(scope))
            raise
        scope["state"].update(person=person, session=session)
        self._count(
            address_of(scope) if person is None else f"{person.principal} {person.credential}"
        )
        if scope["method"] not in SAFE_METHODS:
            self._check_forgery(scope, headers, session)

    def _count(self, key: str) -> None:
        """Refuse more requests of an address or a token than the limit allows."""
        wait = self._requests.take(key, time.monotonic())
        if wait:
            raise Problem(
                429,
                "There are too many requests.",
                remedy="Wait a moment, or raise console_request_rate.",
                retry_after=wait,
            )

    def _identify(self, scope: Scope, headers: Headers) -> tuple[Person | None, Session | None]:
        """The caller: by a token in the request, else by the session of the cookie."""
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            entry = self._tokens.find(value.strip(), datetime.now(UTC))
            if entry is None:
                raise Problem(
                    401,
                    "The token is not valid.",
                    cause="It is unknown, was removed, or has ended.",
                    remedy="Ask an administrator of this console for another one.",
                )
            return entry.person(address_of(scope)), None
        cookies = cookie_parser(headers.get("cookie", ""))
        key = cookies.get(cookie_name(tls=scope["scheme"] == "https"))
        if key is None:
            return None, None
        background = scope["path"].startswith(BACKGROUND_PATHS)
        session = self._sessions.find(key, time.monotonic(), background=background)
        return (None, None) if session is None else (session.person, session)

    def _check_forgery(self, scope: Scope, headers: Headers, session: Session | None) -> None:
        """Refuse a change that another site requests with the cookie of this one."""
        origin = headers.get("origin")
        own = f"{scope['scheme']}://{headers['host'].lower()}"
        site = headers.get("sec-fetch-site", "same-origin")
        if (origin is not None and origin.lower() != own) or site not in ("same-origin", "none"):
            raise Problem(
                403,
                "The request comes from another site.",
                cause="Its Origin is not this console.",
                remedy="Open the console itself and try again there.",
            )
        if session is None:
            return
        if origin is None or not session.matches(headers.get(CSRF_HEADER, "")):
            raise Problem(
                403,
                "The request does not carry this session's token.",
                cause="The page is older than the session.",
                remedy="Load the page again.",
            )


class _Limited:
    """A request's body, cut off at the limit."""

    def __init__(self, receive: Receive, largest: int) -> None:
        self._receive = receive
        self._left = largest
        self._largest = largest

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise Problem(413, f"The request has more than {self._largest} bytes.")
        return message


def _listed(headers: Headers, name: str) -> list[str]:
    """The entries of a header, separated by commas, over all of its lines; at least one."""
    return ",".join(headers.getlist(name)).split(",")


def address_of(scope: Scope) -> str:
    """The address of the client; empty over a Unix socket."""
    client = scope.get("client")
    return "" if client is None else str(client[0])
