"""The transport of a blocking client of remote read: a thread has the connections.

The thread also gives back what the program holds for too long, whatever the program does.
"""

import asyncio
import contextlib
import threading
import time
from typing import Final

from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait

from .address import RpcAddress
from .channel import RemoteChannel
from .links import Links


class RemoteTransport:
    """Runs what a driver asks of a channel with several connections, for any number of threads."""

    lingers: Final = True

    def __init__(self, address: RpcAddress, channel: RemoteChannel, timeout: float | None) -> None:
        self.channel: Final = channel
        self.lock: Final = threading.RLock()
        self._arrived = threading.Condition(self.lock)
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._links: Links
        self._ending: asyncio.Event
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(address.host, timeout)),
            name="openmsmq-remote-read",
            daemon=True,
        )
        self._thread.start()
        self._started.wait()

    async def _serve(self, host: str, timeout: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        self._links = Links(self.channel, host, timeout, self._wake, self.lock)
        self._started.set()
        await self._ending.wait()
        await self._links.close()

    def _wake(self) -> None:
        with self._arrived:
            self._arrived.notify_all()

    def wait(self, wait: Wait) -> object | None:
        """What an operation waits for; None when it did not come in time.

        Raises:
            ConnectionLost: it will never come.
        """
        self.flush()
        deadline = None if wait.seconds is None else time.monotonic() + wait.seconds
        with self._arrived:
            while not self.channel.is_over(wait):
                if self.channel.fault is not None:
                    raise ConnectionLost(str(self.channel.fault))
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                self._arrived.wait(left)
            return self.channel.take(wait.request)

    def flush(self) -> None:
        """Let the thread write everything that was posted."""
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            self._loop.call_soon_threadsafe(self._links.flush)

    def linger(self) -> None:
        """Nothing is sent."""

    def close(self) -> None:
        """Hang up; waiting calls in other threads end with an error."""
        with contextlib.suppress(RuntimeError):  # The loop is closed.
            self._loop.call_soon_threadsafe(self._ending.set)
        if self._thread is not threading.current_thread():
            self._thread.join()
        with self._arrived:
            self.channel.lose(f"the connection to {self.channel.description} was closed")
            self._arrived.notify_all()
