"""Connections to coordinators on other machines, around `Participant`."""

import asyncio
from collections.abc import Callable
from functools import partial

from openmsmq.core.model.timers import earlier
from openmsmq.net.streams import Host
from openmsmq.protocol.coordinator import CoordinatorRequest, CoordinatorServer, Participant
from openmsmq.protocol.rpc.client import ClientSecurity
from openmsmq.protocol.rpc.errors import ConnectionClosed
from openmsmq.wire.codes.endpoints import COORDINATOR
from openmsmq.wire.errors import ConfigError, MsmqError
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

from .client import RpcChannel


class CoordinatorShell:
    """Makes the calls of a participant, over one connection to each coordinator.

    Args:
        participant: makes calls to coordinators.
        coordinator: answers calls of participants; its timer runs here.
        host: notified after every input, and calls `turn` in each turn.
        security: how this queue manager authenticates to a host.
    """

    def __init__(
        self,
        participant: Participant,
        coordinator: CoordinatorServer,
        host: Host,
        *,
        security: Callable[[str], ClientSecurity | None],
    ) -> None:
        self._participant = participant
        self._coordinator = coordinator
        self._host = host
        self._security = security
        self._channels: dict[CoordinatorUrl, asyncio.Task[RpcChannel]] = {}
        self._calls: set[asyncio.Task[None]] = set()
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def has_output(self) -> bool:
        """Whether `turn` has calls to make, or a timer to set."""
        due = self._next_timer()
        return due is not None and (self._timer is None or due < self._timer_at)

    def turn(self) -> None:
        """Make the calls that are due; see `has_output`."""
        if self._closed:
            return
        for request in self._participant.take_requests():
            task = asyncio.create_task(self._call(request))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)
        self._set_timer()

    def _next_timer(self) -> float | None:
        return earlier(self._participant.next_timer(), self._coordinator.next_timer())

    def _set_timer(self) -> None:
        due = self._next_timer()
        if due is None or (self._timer is not None and self._timer_at <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        delay = max(due - self._host.tick(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(delay, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now = self._host.tick()
        self._participant.handle_timer(now=now)
        self._coordinator.handle_timer(now=now)
        self._host.wake()

    async def _call(self, request: CoordinatorRequest) -> None:
        reason = ""
        response = None
        try:
            async with asyncio.timeout(request.seconds):
                channel = await self._channel(request.url)
                response = await channel.call(COORDINATOR, request.call, request.request)
        except TimeoutError:
            reason = f"no answer within {request.seconds:g} seconds"
        except MsmqError as exc:
            reason = str(exc)
        if self._closed:
            return
        self._host.tick()
        if response is None:
            self._participant.failed(request.number, reason)
        else:
            self._participant.answered(request.number, response)
        self._host.wake()

    async def _channel(self, url: CoordinatorUrl) -> RpcChannel:
        """The connection to a coordinator, a new one if there is none or it was lost."""
        opening = self._channels.get(url)
        if opening is None or (opening.done() and not opening.result().is_open):
            opening = asyncio.create_task(self._open(url))
            opening.add_done_callback(partial(self._opened, url))
            self._channels[url] = opening
        return await asyncio.shield(opening)

    def _opened(self, url: CoordinatorUrl, opening: asyncio.Task[RpcChannel]) -> None:
        """Drop a connection that could not be opened: the next call tries again."""
        failed = opening.cancelled() or opening.exception() is not None
        if failed and self._channels.get(url) is opening:
            del self._channels[url]

    async def _open(self, url: CoordinatorUrl) -> RpcChannel:
        try:
            return await RpcChannel.open(
                url.host, url.port, (COORDINATOR,), security=self._security(url.host)
            )
        except ConfigError as exc:
            # The password can no longer be read.
            raise ConnectionClosed(str(exc)) from exc

    async def close(self) -> None:
        """Close all connections; calls in progress are abandoned."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = [*self._calls, *self._channels.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for opening in self._channels.values():
            if not opening.cancelled() and opening.exception() is None:
                await opening.result().close()
        self._channels.clear()
