"""`openmsmq bench`: measures a queue manager on this machine, or runs the suites of a checkout."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from openmsmq.cli.failure import FAILED, reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_table
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.errors import MsmqError

if TYPE_CHECKING:
    from .measuring import Measured

CHECKOUT: Final = Path(__file__).resolve().parents[4]
SUITES: Final = Path("bench", "__main__.py")
EVERYTHING: Final = "all"
_SOCKET_VARIABLE: Final = "OPENMSMQ_SOCKET"
_PORTS: Final = ("binary", "ping", "rpc", "qm2qm", "epm", "http", "https", "console")
_START_SECONDS: Final = 60.0
_LARGEST_BODY: Final = 4_000_000
_COLUMNS: Final = (
    Column("Measurement", cut=True),
    Column("Messages/s", right=True),
    Column("p50 ms", right=True),
    Column("p99 ms", right=True),
)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("bench")(reporting("bench", bench))


def bench(
    suite: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUITE]...",
            help="In a checkout: benchmarks of its bench folder, such as brokers; 'all' for all.",
        ),
    ] = None,
    *,
    seconds: Annotated[
        float, typer.Option(min=0.01, max=600, help="Approximate time of each measurement.")
    ] = 2.0,
    size: Annotated[
        int, typer.Option(min=0, max=_LARGEST_BODY, metavar="BYTES", help="Size of the bodies.")
    ] = 1024,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Data directory of the queue manager that it starts [temporary].",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="With a suite: shorter runs.")] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Measure rates and latencies of a queue manager, for one client.

    Starts a queue manager with its data in a temporary folder. With --socket, or $OPENMSMQ_SOCKET,
    measures the one that runs there, with queues created for it.
    """
    if suite:
        raise typer.Exit(_run_suites(suite, quick=quick, as_json=as_json))
    named = socket or (
        Path(os.environ[_SOCKET_VARIABLE]) if _SOCKET_VARIABLE in os.environ else None
    )
    if named is not None:
        _measure(named, seconds, size, as_json=as_json)
        return
    with started(data) as own:
        _measure(own, seconds, size, as_json=as_json)


def _run_suites(names: list[str], *, quick: bool, as_json: bool) -> int:
    if not (CHECKOUT / SUITES).is_file():
        typer.echo(
            "openmsmq bench: this is an installed package, without the suites.\n"
            "Likely cause: the command was not run from a checkout of openmsmq.\n"
            "Remedy: clone the repository and run `make bench` in it, or leave out the name.",
            err=True,
        )
        return FAILED
    words = [name for name in names if name != EVERYTHING]
    words += [word for word, wanted in (("--quick", quick), ("--json", as_json)) if wanted]
    # Our own program; it refuses names that it does not know.
    command = [sys.executable, "-m", "bench", *words]
    return subprocess.run(command, cwd=CHECKOUT, check=False).returncode  # noqa: S603


@contextmanager
def started(folder: Path | None) -> Iterator[Path]:
    """A queue manager in a process of its own while the block runs; gives its socket.

    Raises:
        MsmqError: it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="openmsmq-bench-", dir=folder) as name:
        place = Path(name)
        # The path of a socket is short, whatever the folder for the data is called.
        with tempfile.TemporaryDirectory(prefix="openmsmq-") as short:
            socket = Path(short, "qm.sock")
            process = _serve(place, socket)
            try:
                _await_ready(process, place)
                yield socket
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait()


def _serve(place: Path, socket: Path) -> "subprocess.Popen[bytes]":
    program = "from openmsmq.cli import main; main()"
    options = [f"--data={place / 'data'}", f"--socket={socket}", f"--ready-file={place / 'ready'}"]
    options += [f"--{name}-port=off" for name in _PORTS]
    with (place / "output.log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-c", program, "serve", *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _await_ready(process: "subprocess.Popen[bytes]", place: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while not (place / "ready").exists():
        if process.poll() is not None or time.monotonic() > end:
            text = (place / "output.log").read_text(errors="replace").strip()
            raise MsmqError(f"the queue manager for the benchmark does not start: {text}")
        time.sleep(0.01)


def _measure(socket: Path, seconds: float, size: int, *, as_json: bool) -> None:
    # Loaded only here: the suites need no client.
    from .measuring import MEASUREMENTS, Load, measure

    results: list[Measured] = []
    with connect(socket) as manager, progress("measuring", MEASUREMENTS) as update:
        load = Load(seconds, os.urandom(size))
        for measured in measure(manager, load):
            results.append(measured)
            update(len(results))
    if as_json:
        for result in results:
            print_json(
                {
                    "measurement": result.name,
                    "body_size": size,
                    "messages": result.messages,
                    "seconds": result.seconds,
                    "per_second": result.per_second,
                    "p50_seconds": result.p50,
                    "p99_seconds": result.p99,
                }
            )
        return
    typer.echo(f"One client, bodies of {count_text(size)} bytes")
    print_table(_COLUMNS, [_row(result) for result in results])


def _row(result: "Measured") -> tuple[str, ...]:
    times = ["" if time is None else f"{time * 1e3:.3f}" for time in (result.p50, result.p99)]
    return (result.name, count_text(round(result.per_second)), *times)
