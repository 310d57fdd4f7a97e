"""`openmsmq serve`: a queue manager in the foreground."""

import contextlib
import gc
import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError, StoreError

# Longer than this, and the recovery shows how far it is.
QUIET_SECONDS: Final = 1.0
# Messages are many and in no cycles: the search for garbage finds none among them.
GARBAGE_THRESHOLDS: Final = (100_000, 50, 100)
# How long the event loop keeps the interpreter from the thread that writes to the disk, which
# needs it several times for each write: replies wait for that.
SWITCH_SECONDS: Final = 0.001
# A number, 0 for any free port, or off.
BinaryPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Messages of other queue managers, TCP [1801]."),
]
PingPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Pings of older queue managers, UDP [3527]."),
]
RpcPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Remote read (MS-MQRR) [2103]."),
]
Qm2qmPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Remote read (MS-MQQP) [2105]."),
]
EpmPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Endpoint mapper of RPC [135]."),
]
HttpPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Messages over HTTP (SRMP) [80]."),
]
HttpsPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Messages over HTTPS (SRMP) [off]."),
]
ConsolePort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Web console, metrics and health [8780]."),
]
LocalPort = Annotated[
    str | None,
    typer.Option(metavar="PORT", help="Clients over the network, with TLS and a token [off]."),
]


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    *,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file; every option is also a key.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory for all data of a queue manager.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Computer name [the stored one].")] = None,
    bind: Annotated[
        str | None, typer.Option(metavar="ADDR", help="Address to listen on and connect from.")
    ] = None,
    binary_port: BinaryPort = None,
    ping_port: PingPort = None,
    rpc_port: RpcPort = None,
    qm2qm_port: Qm2qmPort = None,
    epm_port: EpmPort = None,
    http_port: HttpPort = None,
    https_port: HttpsPort = None,
    console_port: ConsolePort = None,
    socket: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Unix socket [DIR/openmsmq.sock].")
    ] = None,
    local_port: LocalPort = None,
    definitions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Definitions to apply before it is ready."),
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(metavar="PATH", help="File of the endpoints (JSON), when ready.")
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
    log_format: Annotated[str | None, typer.Option(help="text or json.")] = None,
    log_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of the log [stderr].")
    ] = None,
) -> None:
    """Run a queue manager in the foreground until SIGTERM or SIGINT.

    SIGHUP makes it reload tokens and certificates and reopen the log file. A PORT is a number, 0
    for any free port, or off.
    """
    options = dict(locals())
    file = options.pop("config")
    raise typer.Exit(run(file, options))


def run(file: Path | None, options: dict[str, Any]) -> int:
    """Serve; return the exit code."""
    # It reloads once there is something to reload, and never kills.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    import uvloop

    from openmsmq.server.config import Config
    from openmsmq.server.serving import serve as serve_until_stopped
    from openmsmq.service.logs import configure_logs

    for key, value in options.items():
        if key.endswith("_port") and isinstance(value, str) and value != "off":
            options[key] = int(value) if value.isascii() and value.isdigit() else value
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    sys.setswitchinterval(SWITCH_SECONDS)
    # What the recovery makes stays: there is no garbage before the queue manager is ready.
    gc.disable()
    progress = RecoveryProgress()
    # Until the event loop listens to signals: a recovery may take a while.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_early)
    try:
        settings = Config.load(file, options, os.environ)
        configure_logs(settings)
        uvloop.run(
            serve_until_stopped(
                settings,
                progress=progress.update,
                ready=ready,
                reread=lambda: Config.load(file, options, os.environ),
            )
        )
    except MsmqError as exc:
        progress.close()
        typer.echo(f"openmsmq serve: {describe(exc)}", err=True)
        return 1
    except StoppedEarly:
        progress.close()
    return 0


class StoppedEarly(BaseException):
    """A signal came before the queue manager was ready."""


def stop_early(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
    raise StoppedEarly


def describe(error: MsmqError) -> str:
    """What went wrong, the likely cause and what to do."""
    if isinstance(error, QueueError):
        return f"{error}\n  cause: {error.cause}\n  remedy: {error.remedy}"
    if isinstance(error, ConfigError):
        remedy = "Correct the option or the key of the configuration file and start again."
    elif isinstance(error, StoreError):
        remedy = (
            "Nothing that was acknowledged is lost. Free the file or the disk that is named and "
            "start again; if the files are damaged, `openmsmq store check` shows how far, and "
            "`openmsmq restore` brings back a backup."
        )
    else:
        return str(error)
    return f"{error.detail}\n  remedy: {error.remedy or remedy}"


def ready(endpoints: dict[str, str]) -> None:
    """The queue manager serves: look for garbage from now on, but not in what was recovered."""
    gc.freeze()
    gc.enable()
    print_endpoints(endpoints)


def print_endpoints(endpoints: dict[str, str]) -> None:
    """One line for each endpoint, as soon as it listens."""
    if sys.stdout is None:
        return
    # The terminal may be closed by now.
    with contextlib.suppress(OSError):
        for name, where in endpoints.items():
            sys.stdout.write(f"{name:<10} {where}\n")
        sys.stdout.flush()


class RecoveryProgress:
    """A progress bar, shown when the recovery takes long."""

    def __init__(self, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._quiet_until = time.monotonic() + quiet_seconds
        self._bar: Any = None
        self._task: Any = None

    def update(self, completed: int, total: int) -> None:
        """Show progress; each part of the recovery counts from the start."""
        if time.monotonic() < self._quiet_until:
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=completed, total=total)
        if completed >= total:
            self.close()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._bar = Progress(
            TextColumn("recovering"),
            BarColumn(),
            TaskProgressColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("recovering")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
