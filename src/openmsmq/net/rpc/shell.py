"""Connections of RPC clients over TCP, around `RpcServer`."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from openmsmq.net.streams import Host, StreamShell
from openmsmq.protocol.rpc.server import Disconnect, Endpoint, LoggedOn, RpcServer
from openmsmq.wire.codes.queue_enums import ConnectionStatus

Told = Callable[[Disconnect, str], None]


class RpcHost(Host, Protocol):
    """The queue manager's turn of the event loop, for a protocol that mostly answers at once."""

    def send_at_once(self, output: Callable[[], None]) -> None:
        """Call `output`; a turn follows only if the queue manager needs one."""


class RpcShell:
    """Listens on the ports of a server, transfers bytes and drives its timer.

    Args:
        server: makes all decisions.
        host: calls `turn` in each of its turns, and is notified after every input.
        bind: the address to listen on.
        disconnected: called with the reason and the client's address when the server ends a
        connection.
        logged_on: called with a client that has authenticated.
    """

    def __init__(
        self,
        server: RpcServer,
        host: RpcHost,
        *,
        bind: str,
        disconnected: Told | None = None,
        logged_on: Callable[[LoggedOn], None] | None = None,
    ) -> None:
        self._server = server
        self._host = host
        self._disconnected = disconnected
        self._logged_on = logged_on
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self.streams = StreamShell(
            _ServerStreams(server), host, bind=bind, keep_alive=True, happened=self._send_at_once
        )

    async def listen(self, endpoint: Endpoint, port: int, *, key: str) -> str:
        """Serve an endpoint; return the address, and set the endpoint's port.

        Raises:
            ConfigError: the port cannot be opened.
        """

        def accept(address: str, local_address: str, now: float) -> int | None:
            return self._server.accept(
                address, local_address=local_address, endpoint=endpoint, now=now
            )

        where = await self.streams.listen(port, key=key, accept=accept)
        endpoint.port = int(where.rpartition(":")[2])
        return where

    async def close(self) -> None:
        """Close all connections and stop."""
        self._server.stop()
        self.turn()
        if self._timer is not None:
            self._timer.cancel()
        await self.streams.close()

    def has_output(self) -> bool:
        """Whether `turn` has work."""
        if self._server.has_output or self.streams.paused:
            return True
        due = self._server.next_timer()
        return due is not None and (self._timer is None or due < self._timer_at)

    def turn(self) -> None:
        """Carry out the requests of the server; see `has_output`."""
        if self.streams.closed:
            return
        while (event := self._server.next_event()) is not None:
            if isinstance(event, Disconnect):
                self._disconnect(event)
            elif self._logged_on is not None:
                self._logged_on(event)
        self.streams.move_bytes()
        self._set_timer()

    def _send_at_once(self) -> None:
        self._host.send_at_once(self.turn)

    def _disconnect(self, event: Disconnect) -> None:
        address = self.streams.hang_up(event.connection, event.data)
        if self._disconnected is not None:
            self._disconnected(event, address)

    def _set_timer(self) -> None:
        due = self._server.next_timer()
        if due is None:
            return
        if self._timer is not None:
            # The timer fires late instead of being moved for every connection.
            if self._timer_at <= due:
                return
            self._timer.cancel()
        delay = max(due - self._host.tick(), 0.0)
        self._timer_at = due
        self._timer = self._loop.call_later(delay, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._server.handle_timer(now=self._host.tick())
        self._host.wake()


class _ServerStreams:
    """The server as a `StreamProtocol` that never connects out."""

    def __init__(self, server: RpcServer) -> None:
        self.receive_data = server.receive_data
        self.may_read = server.may_read
        self.connection_lost = server.connection_lost
        self.take_ready = server.take_ready
        self.data_to_send = server.data_to_send

    def accept(self, address: str, *, now: float) -> int | None:  # noqa: ARG002 - not reached
        """Each listener has an `accept` of its own, which knows its endpoint."""
        return None

    def connected(self, number: int, address: str, *, now: float) -> None:
        """A server opens no connections."""

    def connect_failed(self, number: int, status: ConnectionStatus, *, now: float) -> None:
        """A server opens no connections."""
