"""Clients that have connected and not yet shown that they speak TLS: only so many at a time."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

HANDSHAKE_SECONDS: Final = 10.0
# Each holds a file of this process, which has more to do than to wait for strangers.
MOST_HANDSHAKES: Final = 500
# How long to leave newcomers alone when this process may open no more files.
PAUSE_SECONDS: Final = 0.2

Factory = Callable[[], asyncio.BaseProtocol]
Refused = Callable[[str], None]


class Handshakes:
    """Accepts clients, and lets them in once TLS is agreed on.

    Beyond the most that may wait, the one that has waited longest goes: honest clients take
    milliseconds.

    Args:
        listening: a socket that listens and does not block; it is closed at the end.
        factory: makes what talks to a client that is in.
        context: certificate and rules of TLS.
        refused: told why somebody was not let in.
        most: how many may wait.
        seconds: how long one may wait.
    """

    def __init__(
        self,
        listening: socket.socket,
        factory: Factory,
        context: ssl.SSLContext,
        refused: Refused,
        *,
        most: int = MOST_HANDSHAKES,
        seconds: float = HANDSHAKE_SECONDS,
    ) -> None:
        self._listening = listening
        self._factory = factory
        self._context = context
        self._refused = refused
        self._most = most
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        # By age.
        self._waiting: dict[asyncio.Task[None], None] = {}
        self._accepting = self._loop.create_task(self._accept())

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        """Let nobody else in."""
        self._accepting.cancel()
        for task in self._waiting:
            task.cancel()

    async def _accept(self) -> None:
        # Closed here, when nobody waits for it any more.
        with self._listening:
            while True:
                try:
                    client, _ = await self._loop.sock_accept(self._listening)
                except OSError as exc:
                    self._refused(f"no connection could be accepted: {exc.strerror or exc}")
                    await asyncio.sleep(PAUSE_SECONDS)
                else:
                    self._begin(client)

    def _begin(self, client: socket.socket) -> None:
        if len(self._waiting) >= self._most:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            if oldest.cancel():
                self._refused(f"TLS was not agreed on while {self._most} others came")
        task = self._loop.create_task(self._agree(client))
        self._waiting[task] = None
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._waiting.pop(task, None)

    async def _agree(self, client: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._factory, client, ssl=self._context, ssl_handshake_timeout=self._seconds
            )
        except OSError as exc:  # failures of TLS and timeouts are such, too
            self._refused(f"TLS was not agreed on: {str(exc) or type(exc).__name__}")
