"""A client's connection to an RPC server over TCP, for asyncio."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any, Final, Self, cast

from openmsmq.net.streams import keep_alive, resolving
from openmsmq.protocol.rpc.client import (
    Answered,
    ClientConnection,
    ClientSecurity,
    ClientSettings,
    Closed,
    Failed,
)
from openmsmq.protocol.rpc.errors import ConnectionClosed
from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.ndr import Call

CONNECT_SECONDS: Final = 30.0


class RpcChannel(asyncio.Protocol):
    """One connection; create it with `open`.

    Many calls may wait at the same time, unless the server takes one at a time.
    """

    def __init__(self, connection: ClientConnection, address: str) -> None:
        self.connection = connection
        self._address = address
        self._transport: asyncio.Transport | None = None
        self._bound: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lost = asyncio.Event()
        # Any: the response of any operation.
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    @classmethod
    async def open(
        cls,
        host: str,
        port: int,
        interfaces: Sequence[RpcInterface],
        *,
        security: ClientSecurity | None = None,
        assoc_group_id: int = 0,
        settings: ClientSettings | None = None,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> Self:
        """Connect, bind and authenticate.

        Args:
            host, port: where the server listens.
            interfaces, security, assoc_group_id, settings: as for `ClientConnection`.
            connect_seconds: the time limit for all of this.

        Raises:
            ConnectionClosed: the server cannot be reached or refuses the bind; `InterfaceUnknown`
                when it does not offer the interfaces.
            RpcFault: the server refuses the credentials.
            AuthenticationFailed: the server cannot be authenticated.
        """
        if security is not None and security.prepare is not None:
            await asyncio.to_thread(security.prepare)
        connection = ClientConnection(
            interfaces, security=security, assoc_group_id=assoc_group_id, settings=settings
        )
        channel = cls(connection, f"{host}:{port}")
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(connect_seconds):
                with resolving(host):
                    await loop.create_connection(lambda: channel, host, port)
                await channel._bound
        except (OSError, TimeoutError) as exc:
            channel.abort()
            reason = f"no answer within {connect_seconds:g} seconds"
            if not isinstance(exc, TimeoutError):
                reason = exc.strerror or str(exc)
            raise ConnectionClosed(f"{host}:{port}: {reason}") from exc
        except MsmqError:
            channel.abort()
            raise
        return channel

    @property
    def is_open(self) -> bool:
        """Whether calls can be made."""
        return not self._lost.is_set()

    # Any: request and response of any operation.
    async def call(self, interface: RpcInterface, call: Call, request: Any) -> Any:
        """Make a call and wait for its response; cancellation orphans it.

        Raises:
            RpcFault: the server answered with a fault.
            ConnectionClosed: the connection closed first.
        """
        call_id = self.connection.call(interface, call, request)
        future = asyncio.get_running_loop().create_future()
        self._waiting[call_id] = future
        self._move()
        try:
            return await future
        except asyncio.CancelledError:
            self.connection.orphan(call_id)
            self._move()
            if not self.connection.keeps_on_orphan:
                self.abort()
            raise
        finally:
            self._waiting.pop(call_id, None)

    async def close(self) -> None:
        """Close the connection; waiting calls fail."""
        self.connection.connection_lost("the connection was closed here")
        self._deliver()
        if self._transport is not None:
            await self._lost.wait()

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # Callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        self._transport = stream
        sock = stream.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(sock)
        self._move()

    def data_received(self, data: bytes) -> None:
        self.connection.receive_data(data)
        self._move()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost.set()
        why = f": {exc}" if exc is not None else ""
        self.connection.connection_lost(f"{self._address}: the connection was closed{why}")
        self._deliver()

    def _move(self) -> None:
        """Send pending output of the connection, and report events."""
        data = self.connection.data_to_send()
        if data and self._transport is not None:
            self._transport.writelines(data)
        self._deliver()

    def _deliver(self) -> None:
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, Answered):
                self._settle(event.call_id, event.response, None)
            elif isinstance(event, Failed):
                self._settle(event.call_id, None, event.error)
            elif isinstance(event, Closed):
                if not self._bound.done():
                    self._bound.set_exception(event.error)
                if self._transport is not None:
                    self._transport.close()
            elif not self._bound.done():
                self._bound.set_result(None)

    # Any: the response of any operation.
    def _settle(self, call_id: int, response: Any, error: MsmqError | None) -> None:
        future = self._waiting.get(call_id)
        if future is None or future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(response)
