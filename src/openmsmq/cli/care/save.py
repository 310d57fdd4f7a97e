"""`openmsmq save`: saves messages of queues to a file."""

from typing import Annotated

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption
from openmsmq.terminal.printable import printable

from .options import (
    FileArgument,
    FirstOption,
    LookupIdsOption,
    RateOption,
    StepOption,
    WhereOption,
)
from .running import run_spec
from .specs import spec_of


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("save")(reporting("save", save))


def save(
    file: FileArgument,
    source: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Queues whose messages are saved.")
    ],
    *,
    where: WhereOption = None,
    lookup_id: LookupIdsOption = None,
    first: FirstOption = None,
    rate: RateOption = None,
    step: StepOption = 1000,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Save messages with all their properties to a file; they stay in their queues."""
    spec = spec_of(
        "save",
        source,
        where=where,
        lookup_ids=lookup_id,
        first=first,
        rate=rate,
        step=step,
        file=file,
    )
    if not dry_run and file.is_file():
        confirm(f"Replace {printable(str(file))}?", yes=yes)
    run_spec(socket, spec, dry_run=dry_run, yes=True, as_json=as_json)
