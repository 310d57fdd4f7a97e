"""The part that starts and watches the console, a process of its own.

The socket is bound here, so that a taken port is an error of the start, and handed to the child.
Neither the web framework nor other modules of the console are loaded into this process.
"""

import asyncio
import ipaddress
import json
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from openmsmq.server.setting_values import Port
from openmsmq.server.settings import setting
from openmsmq.service.logs import CONSOLE_ENDED, CONSOLE_LINE, CONSOLE_STARTED, log_event
from openmsmq.wire.errors import ConfigError

from .local import LocalConfig
from .part import PartStatus, Premises, check_port

BACKLOG: Final = 128
# The delay before the console is started again after its end; it doubles each time.
FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 30.0
# After this running time the delay begins anew.
STEADY_SECONDS: Final = 60.0
# The time that it has to end by itself.
END_SECONDS: Final = 3.0
# The maximum length of a line of its log.
LINE_BYTES: Final = 64 * 1024
# Settings with the same names in `openmsmq.admin.settings`.
HANDED_OVER: Final = ("console_", "metrics_", "audit_")
# The place of persistent data of the console, in the data directory.
FOLDER: Final = "console"
WATCHED_CERTIFICATES: Final = (
    "console_certificate",
    "https_certificate",
    "local_certificate",
    "binary_certificate",
)
KEPT_HERE: Final = frozenset({"console_port", "console_bind"})
# Settings that a reload reads again: the thresholds of alerts.
THRESHOLDS: Final = (
    "console_unread_seconds",
    "console_age_seconds",
    "console_growth_messages",
    "console_quota_percent",
    "console_journal_messages",
    "console_certificate_days",
    "console_clock_seconds",
    "console_lag_seconds",
    "console_disk_bytes",
    "console_refused_seconds",
    "console_restart_seconds",
)


class ConsoleConfig(LocalConfig):
    """Settings of the console, which talks by the local protocol, and of the metrics."""

    console_port: Port = 8780
    # Without one: the address of the queue manager if that is a loopback address, else 127.0.0.1.
    console_bind: str | None = None
    # Trusted proxies before the console: their headers name the client.
    console_proxies: tuple[str, ...] = ()
    console_certificate: Path | None = None
    console_key: Path | None = None
    console_hosts: tuple[str, ...] = ()
    console_tokens: Path | None = None
    # Limits: requests per second for each token or address, bytes of a request, sign-ins per minute
    # for each address, concurrent live pages and searches, and messages of one export.
    console_request_rate: int = setting(default=100, ge=1, le=100_000)
    console_request_bytes: int = setting(default=8 * 1024 * 1024, ge=4096, le=64 * 1024 * 1024)
    console_sign_ins: int = setting(default=10, ge=1, le=1_000)
    console_streams: int = setting(default=200, ge=1, le=10_000)
    console_searches: int = setting(default=4, ge=1, le=100)
    console_export_messages: int = setting(default=10_000, ge=1, le=1_000_000)
    # Alert thresholds: time without a reader, age of a message, growth of a queue within an
    # hour, used part of a quota, and size of a journal without a quota.
    console_unread_seconds: float = setting(default=60.0, ge=1, le=31_622_400)
    console_age_seconds: float = setting(default=3600.0, ge=1, le=31_622_400)
    console_growth_messages: int = setting(default=1_000, ge=1, le=1_000_000_000)
    console_quota_percent: int = setting(default=90, ge=1, le=100)
    console_journal_messages: int = setting(default=100_000, ge=1, le=1_000_000_000)
    # Limits: concurrent connections, seconds to send a request, and bytes of a body shown at once.
    console_connections: int = setting(default=500, ge=10, le=100_000)
    console_request_seconds: float = setting(default=30.0, ge=1, le=3600)
    console_body_bytes: int = setting(default=256 * 1024, ge=1024, le=4 * 1024 * 1024)
    # More thresholds: days until a certificate ends, lead of the clock of a peer,
    # delay of the event loop, free disk space, and the time for which refused messages and a
    # restart of the console are shown.
    console_certificate_days: int = setting(default=30, ge=1, le=3650)
    console_clock_seconds: float = setting(default=60.0, ge=1, le=31_622_400)
    console_lag_seconds: float = setting(default=0.25, ge=0.001, le=3600)
    console_disk_bytes: int = setting(default=1 << 30, ge=0, le=1 << 50)
    console_refused_seconds: float = setting(default=900.0, ge=1, le=31_622_400)
    console_restart_seconds: float = setting(default=3600.0, ge=1, le=31_622_400)
    # Whether the audit log also records who viewed which message.
    audit_reads: bool = False
    metrics_access: Literal["loopback", "token", "anyone"] = "loopback"
    metrics_queues: int = setting(default=20_000, ge=0, le=1_000_000)
    metrics_windows_names: bool = False

    @property
    def console_host(self) -> str:
        if self.console_bind is not None:
            return self.console_bind
        return self.bind if _is_loopback(self.bind) else "127.0.0.1"


class ConsolePart:
    """Starts the console, and restarts it when it ends."""

    name: Final = "console"

    def __init__(self, config: ConsoleConfig, premises: Premises) -> None:  # noqa: ARG002 - as all
        self._config = config
        # The configuration with the current thresholds.
        self.thresholds = config
        self._endpoints: dict[str, str] = {}
        self._listener: socket.socket | None = None
        self._watching: asyncio.Task[None] | None = None
        self._child: asyncio.subprocess.Process | None = None
        self._fault = ""
        self.restarts = 0

    @staticmethod
    def check(config: ConsoleConfig) -> None:
        if config.console_port == "off":
            return
        if (config.console_certificate is None) != (config.console_key is None):
            raise ConfigError("console_certificate: needs console_key, and the other way round")
        host = config.console_host
        if not (_is_loopback(host) or config.console_certificate or config.console_proxies):
            raise ConfigError(
                f"console_bind: {host} is not a loopback address",
                remedy="Name console_certificate and console_key, or the proxies before the "
                "console in console_proxies.",
            )
        check_port("console_port", config.console_host, config.console_port)

    def status(self) -> PartStatus:
        return PartStatus(self._endpoints, fault=self._fault)

    @property
    def reloads(self) -> Mapping[str, Callable[[], None]]:
        return {} if self._listener is None else {"console": self._reload}

    def _reload(self) -> None:
        child = self._child
        if child is not None and child.stdin is not None and not child.stdin.is_closing():
            child.stdin.write(b"reload " + self._settings())

    async def listen(self) -> Mapping[str, str]:
        config = self._config
        if config.console_port == "off":
            return {}
        host = config.console_host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, config.console_port))
            listener.listen(BACKLOG)
        except OSError as exc:
            listener.close()
            raise ConfigError(
                f"console_port: {host}:{config.console_port}: {exc.strerror or exc}",
                remedy="Stop what uses it, or choose another console_port or console_bind.",
            ) from exc
        self._listener = listener
        where, port = listener.getsockname()[:2]
        self._endpoints["console"] = f"[{where}]:{port}" if ":" in where else f"{where}:{port}"
        self._watching = asyncio.create_task(self._watch(listener))
        return self._endpoints

    async def close(self) -> None:
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    # The child process

    async def _watch(self, listener: socket.socket) -> None:
        """Run the console for as long as the queue manager runs."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            started = time.monotonic()
            try:
                why = await self._run(listener)
            except OSError as exc:
                why = str(exc)
            if time.monotonic() - started >= STEADY_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            log_event(CONSOLE_ENDED, reason=why, restart_in_seconds=pause)
            self._fault = f"the console has ended ({why}); it is started again"
            await asyncio.sleep(pause)
            self.restarts += 1
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _run(self, listener: socket.socket) -> str:
        """Start the console and wait for its end; return the reason of its end."""
        child = await asyncio.create_subprocess_exec(
            # -P: no module is loaded from the working directory.
            *(sys.executable, "-P", "-m", "openmsmq.admin", str(listener.fileno())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
            pass_fds=(listener.fileno(),),
            # Ctrl-C is handled by the queue manager, which ends the console.
            start_new_session=True,
        )
        self._child = child
        self._fault = ""
        log_event(CONSOLE_STARTED, pid=child.pid, endpoint=self._endpoints["console"])
        try:
            if child.stdin is not None:
                child.stdin.write(self._settings())
            if child.stderr is not None:
                await pass_on(child.stderr)
            code = await child.wait()
        finally:
            await self._end(child)
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def _settings(self) -> bytes:
        """The line with the settings of the console."""
        config = self._config
        values = {
            key: value
            for key, value in config.as_json().items()
            if key.startswith(HANDED_OVER) and key not in KEPT_HERE
        }
        values |= {key: getattr(self.thresholds, key) for key in THRESHOLDS}
        values |= {
            "address": str(config.socket_path),
            "bound": config.console_host,
            "console_hosts": [*config.console_hosts, *config.names, *config.addresses],
            "folder": str(config.data / FOLDER),
            "restarts": self.restarts,
            "certificates": self._certificates(),
            "definitions": None if config.definitions is None else str(config.definitions),
            "configuration": config.shown(),
        }
        return json.dumps(values).encode() + b"\n"

    def _certificates(self) -> dict[str, str]:
        """Files with certificates whose expiry the console watches."""
        files = {key: getattr(self._config, key, None) for key in WATCHED_CERTIFICATES}
        return {key: str(file) for key, file in files.items() if file is not None}

    async def _end(self, child: asyncio.subprocess.Process) -> None:
        """Stop the console, with force if necessary."""
        self._child = None
        if child.returncode is not None:
            return
        if child.stdin is not None:
            child.stdin.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await child.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def pass_on(lines: asyncio.StreamReader) -> None:
    """Copy the log of the console into that of the queue manager, until it ends."""
    while True:
        try:
            line = await lines.readline()
        except ValueError:
            # Longer than the limit: the beginning of the line is dropped.
            continue
        if not line:
            return
        log_event(CONSOLE_LINE, line=line.decode(errors="replace").rstrip())
