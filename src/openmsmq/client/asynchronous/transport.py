"""Bytes of one channel over one asyncio connection."""

import asyncio
from typing import TYPE_CHECKING, Final, cast

from openmsmq.client.address import Address, TcpAddress, hung_up, nobody_answers
from openmsmq.client.backend import Channel
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait
from openmsmq.client.remote.address import RpcAddress

from .arrival import wait_for_answer

if TYPE_CHECKING:
    from openmsmq.client.remote.asynchronous_transport import RemoteTransport

# Parts of ranges that the program has not taken yet; at this limit reading pauses.
MAX_HELD_BYTES: Final = 16 * 1024 * 1024


class Transport(asyncio.Protocol):
    """Moves the bytes of a channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel: Final = channel
        self._loop = asyncio.get_running_loop()
        self._stream: asyncio.Transport
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}
        self._lingering = False
        self._gone = self._loop.create_future()

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Stream connections have no other; uvloop's is no subclass of it.
        self._stream = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            answered = self.channel.receive_data(data)
        except ConnectionLost:
            self._stream.abort()
            return
        for request in (*answered, 0):
            self._wake(request)
        self.flush()
        if self.channel.held_bytes > MAX_HELD_BYTES and not self._waiting:
            self._stream.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.channel.lose(hung_up(self.channel.description, exc))
        for request in list(self._waiting):
            self._wake(request)
        if not self._gone.done():
            self._gone.set_result(None)

    def _wake(self, request: int) -> None:
        for future in self._waiting.pop(request, ()):
            if not future.done():
                future.set_result(None)

    # What operations need

    async def wait(self, wait: Wait) -> object | None:
        """What an operation waits for; None when it did not come in time.

        Raises:
            ConnectionLost: it will never come.
        """
        self.flush()
        return await wait_for_answer(self.channel, wait, self._arrival)

    async def _arrival(self, request: int, seconds: float | None) -> None:
        future = self._loop.create_future()
        self._waiting.setdefault(request, []).append(future)
        if not self._stream.is_reading():
            self._stream.resume_reading()
        timer = None if seconds is None else self._loop.call_later(seconds, _finish, future)
        try:
            await future
        finally:
            if timer is not None:
                timer.cancel()
            waiting = self._waiting.get(request)
            if waiting and future in waiting:
                waiting.remove(future)
                if not waiting:
                    del self._waiting[request]

    def flush(self) -> None:
        """Write everything that was posted."""
        if self.channel.has_data and self.channel.fault is None:
            self._stream.write(self.channel.data_to_send())

    def linger(self) -> None:
        """Let the messages that come together in this turn of the loop leave after it."""
        if not self._lingering:
            self._lingering = True
            self._loop.call_soon(self._flush_sends)

    def _flush_sends(self) -> None:
        self._lingering = False
        self.channel.close_sends()
        self.flush()

    async def close(self) -> None:
        """Let everything leave and hang up."""
        if self.channel.fault is None:
            self._flush_sends()
            self.channel.lose(f"the connection to {self.channel.description} was closed")
        self._stream.close()
        await self._gone


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def open_transport(
    address: Address, channel: Channel, timeout: float | None
) -> "Transport | RemoteTransport":
    """Connect to a queue manager.

    Raises:
        ConnectionLost: no queue manager answers there.
    """
    if isinstance(address, RpcAddress):
        return await _remote_transport(address, channel, timeout)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            if isinstance(address, TcpAddress):
                _, transport = await loop.create_connection(
                    lambda: Transport(channel), address.host, address.port, ssl=address.context
                )
            else:
                _, transport = await loop.create_unix_connection(
                    lambda: Transport(channel), str(address.path)
                )
    except TimeoutError as exc:
        raise nobody_answers(address, f"no answer in {timeout} seconds") from exc
    except OSError as exc:
        raise nobody_answers(address, exc) from exc
    return transport


async def _remote_transport(
    address: RpcAddress, channel: Channel, timeout: float | None
) -> "RemoteTransport":
    # Only now: most programs need no RPC.
    from openmsmq.client.remote.asynchronous_transport import RemoteTransport
    from openmsmq.client.remote.channel import RemoteChannel

    assert isinstance(channel, RemoteChannel)  # noqa: S101 - its backend made it
    if channel.needs_preparation:
        await asyncio.to_thread(channel.prepare)
    return RemoteTransport(address, channel, timeout)
