"""Notifications to the service manager: sd_notify, without a library."""

import asyncio
import contextlib
import os
import socket
import time
from typing import Final

SOCKET_VARIABLE: Final = "NOTIFY_SOCKET"
WATCHDOG_VARIABLE: Final = "WATCHDOG_USEC"
WATCHDOG_PROCESS_VARIABLE: Final = "WATCHDOG_PID"
MICROSECONDS: Final = 1_000_000


class Notifier:
    """Notifies the service manager, if one started the process.

    The event loop feeds the watchdog: a loop that hangs is detected.
    """

    def __init__(self) -> None:
        self._address = os.environ.get(SOCKET_VARIABLE, "")
        self._timer: asyncio.TimerHandle | None = None
        self._pause = watchdog_seconds() / 2

    def ready(self, status: str) -> None:
        """Report that it serves; from now on the watchdog is fed."""
        self._send("READY=1", f"STATUS={status}")
        if self._pause and self._address:
            self._feed()

    def _feed(self) -> None:
        self._send("WATCHDOG=1")
        self._timer = asyncio.get_running_loop().call_later(self._pause, self._feed)

    def reloading(self) -> None:
        """Report that it reloads; `ready` follows."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send("RELOADING=1", f"MONOTONIC_USEC={now}")

    def reloaded(self, status: str) -> None:
        self._send("READY=1", f"STATUS={status}")

    def stopping(self) -> None:
        """Report that it stops."""
        self._send("STOPPING=1", "STATUS=stopping")
        if self._timer is not None:
            self._timer.cancel()

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        # A name in the abstract namespace begins with @.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        # A service manager that does not listen is no reason to stop.
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out,
        ):
            out.setblocking(False)
            out.sendto("\n".join(lines).encode(), address)


def watchdog_seconds() -> float:
    """The watchdog time-out of the service manager; 0 without one."""
    process = os.environ.get(WATCHDOG_PROCESS_VARIABLE)
    if process and process != str(os.getpid()):
        return 0.0
    try:
        return int(os.environ.get(WATCHDOG_VARIABLE, "0")) / MICROSECONDS
    except ValueError:
        return 0.0
