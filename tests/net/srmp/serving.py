"""HTTP of a queue manager on loopback, used by something that answers as a test says."""

import asyncio
import ssl
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from tests.service import loops
from tests.service.loops import until

from openmsmq.net.srmp.shell import SrmpShell
from openmsmq.protocol.http import (
    Answered,
    Destination,
    Disconnect,
    HttpRequest,
    HttpSettings,
    HttpTransport,
    OutletFailed,
    OutletOpened,
)

HOST: Final = "127.0.0.1"
_open: Final[list["Serving"]] = []


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test, and close what it has opened, even if it fails."""

    async def closing() -> None:
        try:
            await main()
        finally:
            for serving in _open:
                await serving.close()

    loops.run(closing)


class User:
    """Answers every request with `status`; 0 leaves it unanswered. Writes down what happens."""

    def __init__(self, http: HttpTransport) -> None:
        self.http = http
        self.status = 200
        self.requests: list[HttpRequest] = []
        self.batches: list[int] = []
        self.opened: list[int] = []
        self.answers: list[tuple[object, int]] = []
        self.failures: list[OutletFailed] = []

    def turn(self, *, now: float) -> None:  # noqa: ARG002 - as every user
        requests = self.http.server.take_requests()
        if requests:
            self.batches.append(len(requests))
            self.requests += requests
        for request in requests:
            if self.status:
                self.http.server.answer(request, self.status)
        for event in self.http.client.take_events():
            if isinstance(event, OutletOpened):
                self.opened.append(event.outlet)
            elif isinstance(event, Answered):
                self.answers += event.answers
            else:
                self.failures.append(event)


class Serving:
    """A shell whose host takes a turn after each wake; make it where an event loop runs."""

    def __init__(
        self,
        settings: HttpSettings | None = None,
        *,
        client_tls: ssl.SSLContext | None = None,
        hosts: Mapping[str, str] | None = None,
        bind: str = HOST,
    ) -> None:
        self.http = HttpTransport(settings or HttpSettings())
        self.user = User(self.http)
        self.ended: list[Disconnect] = []
        self.refused: list[str] = []
        self.shell = SrmpShell(
            self.http,
            self.user,
            self,
            bind=bind,
            client_tls=client_tls or ssl.create_default_context(),
            hosts=hosts,
            disconnected=lambda event, _: self.ended.append(event),
            refused=lambda _, reason: self.refused.append(reason),
        )
        self._loop = asyncio.get_running_loop()
        self._awake = False
        self._timer: asyncio.TimerHandle | None = None
        _open.append(self)

    async def listen(self, tls: ssl.SSLContext | None = None) -> int:
        """Listen; returns the port."""
        where = await self.shell.listen(0, key="http_port", tls=tls)
        return int(where.rpartition(":")[2])

    # As a host

    def tick(self) -> float:
        return time.monotonic()

    def wake(self) -> None:
        if not self._awake:
            self._awake = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._awake = False
        self.shell.turn()
        if self._timer is not None:
            self._timer.cancel()
        due = self.http.next_timer()
        if due is not None and not self.shell.streams.closed:
            self._timer = self._loop.call_later(max(due - self.tick(), 0), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.http.handle_timer(now=self.tick())
        self._turn()

    # What tests do

    def open(self, host: str, port: int, *, secure: bool = False) -> int:
        outlet = self.http.client.open(Destination(host, port, secure))
        self.wake()
        return outlet

    def post(self, outlet: int, *bodies: bytes) -> None:
        for body in bodies:
            self.http.client.post(outlet, body, "/msmq/q", "text/xml", [body])
        self.wake()

    async def failure(self) -> OutletFailed:
        """The first failure, once it is there."""
        await until(lambda: bool(self.user.failures))
        return self.user.failures[0]

    async def close(self) -> None:
        _open.remove(self)
        await self.shell.close()
        if self._timer is not None:
            self._timer.cancel()
