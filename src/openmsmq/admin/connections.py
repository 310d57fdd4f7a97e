"""Connections of browsers and programs: their number, and the time limit of a request."""

import asyncio
import logging
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .trust.headers import headers_of, new_nonce

# A client that does not read for this time, or has vanished, is disconnected.
UNREAD_MILLISECONDS: Final = 60_000
TOO_MANY: Final = (
    b"The console has too many connections. Try again, or raise console_connections.\n"
)
TIMEOUT: Final = "408 Request Timeout"
TOO_SLOW: Final = (
    b"The request did not come in time. console_request_seconds says how long it has.\n"
)
# Address and headers of a request; the limit of its body is a setting.
LARGEST_HEAD: Final = 64 * 1024
TOO_LONG: Final = b"The address and headers of a request have up to 65536 bytes.\n"
NOT_HTTP: Final = b"This is not HTTP.\n"
# The log has one line in so many seconds about requests that never get to the application.
LOGGED_SECONDS: Final = 60.0
# What uvicorn says of single requests: only faults of the application are logged.
REQUEST_LOG: Final = "uvicorn.error.requests"


def plain_answer(status: str, content: bytes, *, tls: bool) -> bytes:
    """A complete answer for connections that never reach the application, with every header."""
    lines = [f"HTTP/1.1 {status}".encode()]
    lines += [name + b": " + value for name, value in headers_of(new_nonce(), tls=tls)]
    lines += [
        b"content-type: text/plain; charset=utf-8",
        b"content-length: " + str(len(content)).encode(),
        b"retry-after: 5",
        b"connection: close",
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + content


class Refusals:
    """Counts requests that never get to the application, and logs them now and then.

    Args:
        count: called with the status of each.
    """

    def __init__(self, count: Callable[[int], None]) -> None:
        self._count = count
        self._logged = float("-inf")
        self._unlogged: Counter[str] = Counter()

    def add(self, status: str, address: str, now: float) -> None:
        """One more, from an address.

        Args:
            status: with its words, such as `400 Bad Request`.
            now: monotonic time in seconds.
        """
        self._count(int(status[:3]))
        if status == TIMEOUT:
            # Browsers open spare connections and leave them.
            return
        self._unlogged[status] += 1
        if now - self._logged >= LOGGED_SECONDS:
            counts = ", ".join(f"{each} ({count})" for each, count in self._unlogged.items())
            sys.stderr.write(f"Requests that were refused unread: {counts}; last from {address}\n")
            self._logged = now
            self._unlogged.clear()


class LimitedProtocol(HttpToolsProtocol):
    """HTTP with limits of connections, headers and the time of each request.

    Attributes:
        most: the maximum number of connections.
        seconds: the time limit of a request, its body included.
        refusals: counts the requests that are refused here.
    """

    most: ClassVar[int]
    seconds: ClassVar[float]
    refusals: ClassVar[Refusals]
    _timer: asyncio.TimerHandle | None = None
    _in_head = False
    _begun = 0
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        self.logger = logging.getLogger(REQUEST_LOG)
        super().connection_made(transport)
        _watch_reading(transport)
        if len(self.connections) > self.most:
            self._refuse("503 Service Unavailable", TOO_MANY)
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0
        self._begun += 1
        self._wait()

    def on_headers_complete(self) -> None:
        self._in_head = False
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > LARGEST_HEAD:
            self._refuse("431 Request Header Fields Too Large", TOO_LONG)
            raise ValueError("the parser is not to go on")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._done()
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        # Bytes after a refusal are not read.
        if self.transport.is_closing():
            return
        begun = self._begun
        super().data_received(data)
        if self._in_head and self._begun == begun:
            # The parser does not expose an incomplete header.
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self._refuse("431 Request Header Fields Too Large", TOO_LONG)

    def send_400_response(self, msg: str) -> None:
        del msg
        self._refuse("400 Bad Request", NOT_HTTP)

    def _wait(self) -> None:
        self._done()
        self._timer = self.loop.call_later(self.seconds, self._too_slow)

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._refuse(TIMEOUT, TOO_SLOW)

    def _refuse(self, status: str, content: bytes) -> None:
        self._done()
        if not self.transport.is_closing():
            address = self.client[0] if self.client else ""
            self.refusals.add(status, address, time.monotonic())
            self.transport.write(plain_answer(status, content, tls=self.scheme == "https"))
            self.transport.close()


def limited_protocol(
    most: int, seconds: float, refused: Callable[[int], None]
) -> type[asyncio.Protocol]:
    """The protocol of uvicorn with limits; see `LimitedProtocol`.

    Args:
        refused: called with the status of each request that never gets to the application.
    """
    logging.getLogger(REQUEST_LOG).setLevel(logging.ERROR)

    class ConsoleProtocol(LimitedProtocol):
        """With the limits of the settings."""

    ConsoleProtocol.most, ConsoleProtocol.seconds = most, seconds
    ConsoleProtocol.refusals = Refusals(refused)
    return ConsoleProtocol


def _watch_reading(transport: Any) -> None:
    """Let the kernel end a connection whose peer does not read."""
    found = transport.get_extra_info("socket")
    if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MILLISECONDS)
