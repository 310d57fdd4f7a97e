"""The data directory of a queue manager."""

import os
from pathlib import Path
from typing import Annotated

import typer

from openmsmq.wire.errors import ConfigError

from .connection import connect

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="Data directory of the queue manager; else the default one."
    ),
]


def data_directory(directory: Path | None) -> Path:
    """The directory that the user means."""
    from openmsmq.net.local.paths import default_data_directory

    return directory or default_data_directory()


def managed_directory(directory: Path | None, socket: Path | None = None) -> Path:
    """The directory that is named, else that of the queue manager that is, else the default.

    Raises:
        ConfigError: it is not on this machine.
        ConnectionLost: a queue manager is named and does not answer.
    """
    from openmsmq.net.local.paths import SOCKET_VARIABLE

    if directory is not None or (socket is None and not os.environ.get(SOCKET_VARIABLE)):
        return data_directory(directory)
    with connect(socket) as manager:
        path = Path(manager.status()["data"])
    if not path.is_dir():
        raise ConfigError(
            f"{path}, the data directory of the queue manager, is not on this machine",
            remedy="Run the command on the machine of the queue manager.",
        )
    return path


def store_directory(data: Path) -> Path:
    """Where the store is in a data directory."""
    from openmsmq.store.options import STORE_DIRECTORY

    return data / STORE_DIRECTORY
