"""A port that speaks TLS only, with a bound on those who have connected and not shown it yet."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

BACKLOG: Final = 512
HANDSHAKE_SECONDS: Final = 10.0
# Each holds a file of this process, which has more to do than to wait for strangers.
MOST_HANDSHAKES: Final = 500
# How long to leave newcomers alone when this process may open no more files.
PAUSE_SECONDS: Final = 0.2

Factory = Callable[[], asyncio.BaseProtocol]
Refused = Callable[[str, str], None]


class TlsListener:
    """Accepts connections, and lets them in once TLS is agreed on.

    Beyond the most that may wait, the one that has waited longest goes: honest peers take
    milliseconds. Must be made where the event loop runs.

    Args:
        factory: makes what talks to a peer that is in.
        host: the address to listen at.
        port: the port, or 0 for any.
        context: certificate and rules of TLS.
        refused: told the address of somebody who was not let in, and why.
        most: how many may wait.
        seconds: how long one may wait.

    Raises:
        OSError: the port cannot be had.
    """

    def __init__(
        self,
        factory: Factory,
        host: str,
        port: int,
        context: ssl.SSLContext,
        refused: Refused,
        *,
        most: int = MOST_HANDSHAKES,
        seconds: float = HANDSHAKE_SECONDS,
    ) -> None:
        self._factory = factory
        self.context = context
        """Certificate and rules for new connections."""
        self._refused = refused
        self._most = most
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket: Final = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self.socket.setblocking(False)
        # By age, with their addresses.
        self._waiting: dict[asyncio.Task[None], str] = {}
        self._accepting = self._loop.create_task(self._accept())

    @property
    def waiting(self) -> int:
        """How many have connected and not agreed on TLS yet."""
        return len(self._waiting)

    def close(self) -> None:
        """Stop listening."""
        self._accepting.cancel()
        for task in self._waiting:
            task.cancel()

    async def _accept(self) -> None:
        # Closed here, when nothing waits for it any more.
        with self.socket:
            while True:
                try:
                    peer, address = await self._loop.sock_accept(self.socket)
                except OSError as exc:
                    self._refused("", f"no connection could be accepted: {exc.strerror or exc}")
                    await asyncio.sleep(PAUSE_SECONDS)
                else:
                    self._begin(peer, str(address[0]))

    def _begin(self, peer: socket.socket, address: str) -> None:
        if len(self._waiting) >= self._most:
            oldest, whose = next(iter(self._waiting.items()))
            del self._waiting[oldest]
            if oldest.cancel():
                self._refused(whose, f"TLS was not agreed on while {self._most} others came")
        task = self._loop.create_task(self._agree(peer, address))
        self._waiting[task] = address
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._waiting.pop(task, None)

    async def _agree(self, peer: socket.socket, address: str) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._factory, peer, ssl=self.context, ssl_handshake_timeout=self._seconds
            )
        except OSError as exc:  # failures of TLS and timeouts are such, too
            self._refused(address, f"TLS was not agreed on: {str(exc) or type(exc).__name__}")
