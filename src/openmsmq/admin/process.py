"""The process of the console: a listening socket, the web application, and its parent.

`openmsmq serve` binds the socket and starts this program with it. The first line of its standard
input has the settings; a line of `reload` and settings makes it read these and files again, and
the end of the input means that the queue manager has ended.
"""

import asyncio
import contextlib
import io
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import uvicorn

from openmsmq.wire.errors import ConfigError

from .app import build_app
from .connections import limited_protocol
from .console import Console
from .settings import ConsoleSettings, decode_settings

RELOAD: Final = b"reload"
# The time that requests have to end when the queue manager ends.
GRACE_SECONDS: Final = 1
# The process ends this long after its parent, whatever the state of the event loop.
LAST_SECONDS: Final = 1.75


def _from_parent() -> io.RawIOBase:
    """Standard input without a buffer: its lock would abort a process that ends while it reads."""
    return io.FileIO(0, closefd=False)


def run_as_child(arguments: Sequence[str]) -> int:
    """Serve on the inherited socket until the parent ends or closes standard input."""
    number = int(arguments[0])
    try:
        settings = decode_settings(_from_parent().readline())
        listener = socket.socket(fileno=number)
        with listener:
            ConsoleServer(settings, listener, watch_parent=True).run()
    except ConfigError as exc:
        sys.stderr.write(f"{exc.detail}\n")
        return 1
    return 0


class SignalledServer(uvicorn.Server):
    """Ends with exit code 0 after a signal; uvicorn itself would send it again at its end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        yield

    def stop(self) -> None:
        """Stop; requests in progress have a moment to finish."""
        self.should_exit = True


class ConsoleServer:
    """The web application on a listening socket.

    Raises:
        ConfigError: the certificate cannot be used.
    """

    def __init__(
        self, settings: ConsoleSettings, listener: socket.socket, *, watch_parent: bool
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._watch_parent = watch_parent
        self._server: SignalledServer
        self._console: Console

    def run(self) -> None:
        """Serve until a signal, or the parent, ends it."""
        import uvloop

        uvloop.run(self._serve())

    async def _serve(self) -> None:
        settings = self._settings
        self._console = Console(settings)
        config = uvicorn.Config(
            build_app(self._console),
            http=limited_protocol(
                settings.console_connections,
                settings.console_request_seconds,
                self._console.meters.add_refusal,
            ),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=settings.console_certificate,
            ssl_keyfile=settings.console_key,
        )
        self._server = SignalledServer(config)
        if self._watch_parent:
            loop = asyncio.get_running_loop()

            def call(action: Callable[[], None]) -> None:
                loop.call_soon_threadsafe(action)

            threading.Thread(target=self._listen_to_parent, args=(call,), daemon=True).start()
        await self._server.serve(sockets=[self._listener])

    def _listen_to_parent(self, call: Callable[[Callable[[], None]], None]) -> None:
        """Runs in a thread, so that a busy event loop does not outlive the queue manager."""
        for line in _from_parent():
            word, _, settings = line.partition(b" ")
            if word == RELOAD:
                call(partial(self.reload, settings))
        threading.Timer(LAST_SECONDS, os._exit, (1,)).start()
        call(self._server.stop)

    def reload(self, line: bytes) -> None:
        """Read settings, certificate and tokens again; report failures."""
        self._console.settings = decode_settings(line)
        context, settings = self._server.config.ssl, self._settings
        if context is not None and settings.console_certificate is not None:
            try:
                context.load_cert_chain(settings.console_certificate, settings.console_key)
            except OSError as exc:
                sys.stderr.write(f"console_certificate: {exc}\n")
        for action in self._console.reloads:
            action()
