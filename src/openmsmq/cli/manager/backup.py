"""`openmsmq backup`: copies the store while it is in use."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json, say
from openmsmq.terminal.progress import Update, progress
from openmsmq.terminal.quantities import size_text

_LOOK_SECONDS: Final = 0.2


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("backup")(reporting("backup", backup))


def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File on the machine of the queue manager.")
    ],
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Back up the store of a running queue manager to a file.

    The file has no express messages: they are never on disk.
    """
    target = file.absolute()
    with (
        connect(socket) as manager,
        progress("backing up", None, in_bytes=True) as update,
        watching(target.with_name(f"{target.name}.part"), update),
    ):
        info = manager.backup(target)
    if as_json:
        print_json(info)
    else:
        say(f"Backed up {size_text(info['bytes'])} to {info['file']}")


@contextmanager
def watching(file: Path, update: Update) -> Iterator[None]:
    """Report the size of a file while it grows."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            with suppress(OSError):
                update(file.stat().st_size)

    watcher = threading.Thread(target=look, name="openmsmq-backup-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
