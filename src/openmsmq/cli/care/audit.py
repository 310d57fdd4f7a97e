"""`openmsmq audit`: the actions of users at the console."""

from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.options.data_directory import DataOption, managed_directory
from openmsmq.cli.output import Column, JsonOption, print_json, print_table
from openmsmq.terminal.printable import printable
from openmsmq.wire.errors import ConfigError

FOLDER: Final = "console"
NAME: Final = "audit"
_COLUMNS: Final = (
    Column("Time"),
    Column("Who"),
    Column("What"),
    Column("Target", cut=True),
    Column("Messages", right=True),
    Column("Result"),
    Column("From", optional=True),
    Column("Job", optional=True),
)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("audit")(reporting("audit", audit))


def audit(
    *,
    data: DataOption = None,
    last: Annotated[
        int | None, typer.Option("--last", min=1, metavar="N", help="Only the last N entries.")
    ] = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Show the actions of users at the console and over the HTTP API, with their results."""
    directory = managed_directory(data, socket)
    if not directory.is_dir():
        raise ConfigError(
            f"{directory}: there is no such directory",
            remedy="Name the data directory of the queue manager with --data DIR.",
        )
    entries = read_entries(directory / FOLDER)
    if last is not None:
        entries = entries[-last:]
    if as_json:
        for entry in entries:
            print_json(entry)
        return
    if entries:
        print_table(_COLUMNS, [_row(entry) for entry in entries])
    else:
        typer.echo(f"There are no actions at the console of {printable(str(directory))}.")


def read_entries(folder: Path) -> list[dict[str, Any]]:
    """The entries of the audit log, the oldest first; a line that was cut short is left out."""
    entries: list[dict[str, Any]] = []
    # A full file is renamed to `audit.1.jsonl`, that one to `audit.2.jsonl`, and so on.
    for path in sorted(folder.glob(f"{NAME}*.jsonl"), key=_number, reverse=True):
        for line in path.read_bytes().splitlines():
            try:
                entry = msgspec.json.decode(line)
            except msgspec.MsgspecError:
                continue
            if isinstance(entry, dict):
                entries.append(entry)
    return entries


def _number(path: Path) -> int:
    part = path.name.removeprefix(NAME).removesuffix(".jsonl").strip(".")
    return int(part) if part.isdigit() else 0


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    count = entry.get("count")
    return (
        str(entry.get("time", "")),
        str(entry.get("principal", "")),
        str(entry.get("action", "")),
        str(entry.get("target", "")),
        "" if count is None else f"{count:,}",
        str(entry.get("result", "")),
        str(entry.get("address", "")),
        str(entry.get("job", "")),
    )
