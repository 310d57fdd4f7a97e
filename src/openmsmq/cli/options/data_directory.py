"""The data directory of a queue manager that is not running."""

from pathlib import Path
from typing import Annotated

import typer

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


def store_directory(data: Path) -> Path:
    """Where the store is in a data directory."""
    from openmsmq.store.options import STORE_DIRECTORY

    return data / STORE_DIRECTORY
