"""`openmsmq restore`: creates a data directory from a backup."""

from pathlib import Path
from typing import Annotated

import typer

from openmsmq.cli.failure import Refusal, reporting
from openmsmq.cli.options.data_directory import DataOption, data_directory, store_directory
from openmsmq.cli.output import JsonOption, print_json, say
from openmsmq.terminal.progress import progress
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import StoreError


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("restore")(reporting("restore", restore))


def restore(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Backup, as `openmsmq backup` wrote it.", exists=True),
    ],
    *,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create the data directory of a queue manager from a backup.

    The directory must have no store yet. The queue manager that starts there begins new sequences
    of transactional messages and skips message numbers ahead, so that no message is mistaken for
    a duplicate.
    """
    from openmsmq.store.backup import restore_backup
    from openmsmq.store.files import RealFiles

    target = data_directory(data)
    try:
        with progress("restoring", file.stat().st_size, in_bytes=True) as update:
            restore_backup(RealFiles(), file, store_directory(target), update)
    except StoreError as exc:
        raise Refusal(
            Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED,
            exc.detail,
            cause=exc.cause
            or "The directory is in use or not new, or the file is damaged or no backup.",
            remedy=exc.remedy or "Give a new directory with --data, or another backup.",
        ) from exc
    if as_json:
        print_json({"file": str(file), "data": str(target)})
    else:
        say(f"Restored {file} into {target}")
        say(f"Start it with: openmsmq serve --data {target}")
