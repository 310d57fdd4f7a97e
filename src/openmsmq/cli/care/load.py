"""`openmsmq load`: sends the messages of a file to a queue."""

from typing import Annotated

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption, YesOption
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption

from .options import FileArgument, FirstOption, RateOption, StepOption, WhereOption
from .running import run_spec
from .specs import LimitsOption, spec_of


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("load")(reporting("load", load))


def load(
    file: FileArgument,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Queue for the messages.")],
    *,
    where: WhereOption = None,
    first: FirstOption = None,
    rate: RateOption = None,
    limits: LimitsOption = "restart",
    step: StepOption = 1000,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Send the messages of a file that `save` wrote, each once."""
    spec = spec_of(
        "load", [], target, where=where, first=first, rate=rate, limits=limits, step=step, file=file
    )
    run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)
