"""A port that speaks TLS only, with a limit on pending handshakes."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

BACKLOG: Final = 512
HANDSHAKE_SECONDS: Final = 10.0
# Each holds a file of this process, which needs files for other purposes, too.
MOST_HANDSHAKES: Final = 500
# The pause in accepting connections when this process may open no more files.
PAUSE_SECONDS: Final = 0.2

Factory = Callable[[], asyncio.BaseProtocol]
Refused = Callable[[str, str], None]


class TlsListener:
    """Accepts connections, and passes them on after the TLS handshake.

    Above the limit, the oldest pending handshake is cut off: honest peers take
    milliseconds. Must be created in a running event loop.

    Args:
        factory: creates the protocol for an accepted peer.
        host: the address to listen on.
        port: the port, or 0 for any.
        context: certificate and rules of TLS.
        refused: called with the address of a refused peer, and the reason.
        most: the limit of pending handshakes.
        seconds: the time limit of a handshake.

    Raises:
        OSError: the port cannot be opened.
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
        """TLS context for new connections."""
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
        """The number of pending handshakes."""
        return len(self._waiting)

    def close(self) -> None:
        """Stop listening."""
        self._accepting.cancel()
        for task in self._waiting:
            task.cancel()

    async def _accept(self) -> None:
        # Closed here, when no task waits for it any more.
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
