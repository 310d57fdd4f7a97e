"""The transport of an asynchronous client of remote read."""

import asyncio
from typing import Final

from openmsmq.client.asynchronous.arrival import wait_for_answer
from openmsmq.client.operations import Wait

from .address import RpcAddress
from .channel import RemoteChannel
from .links import Links


class RemoteTransport:
    """Runs what a driver asks of a channel with several connections."""

    def __init__(self, address: RpcAddress, channel: RemoteChannel, timeout: float | None) -> None:
        self.channel: Final = channel
        self._loop = asyncio.get_running_loop()
        self._waiting: set[asyncio.Future[None]] = set()
        self._links = Links(channel, address.host, timeout, self._wake)

    def _wake(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, wait: Wait) -> object | None:
        """What an operation waits for; None when it did not come in time.

        Raises:
            ConnectionLost: it will never come.
        """
        self.flush()
        return await wait_for_answer(self.channel, wait, self._arrival)

    async def _arrival(self, request: int, seconds: float | None) -> None:  # noqa: ARG002 - any
        future = self._loop.create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait((future,), timeout=seconds)
        finally:
            self._waiting.discard(future)

    def flush(self) -> None:
        """Write everything that was posted."""
        self._links.flush()

    def linger(self) -> None:
        """Nothing is sent."""

    async def close(self) -> None:
        """Let everything leave and hang up."""
        await self._links.close()
        self.channel.lose(f"the connection to {self.channel.description} was closed")
        self._wake()
