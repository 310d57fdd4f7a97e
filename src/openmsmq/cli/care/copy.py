"""`openmsmq copy`: sends copies of messages to another queue."""

from typing import Annotated

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption, YesOption
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption

from .options import (
    FirstOption,
    LookupIdsOption,
    RateOption,
    SourceArgument,
    StepOption,
    WhereOption,
)
from .running import run_spec
from .specs import LimitsOption, spec_of


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("copy")(reporting("copy", copy))


def copy(
    source: SourceArgument,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Queue for the copies.")],
    *,
    where: WhereOption = None,
    lookup_id: LookupIdsOption = None,
    first: FirstOption = None,
    rate: RateOption = None,
    limits: LimitsOption = "restart",
    step: StepOption = 1000,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Send copies of messages to another queue; the originals stay."""
    spec = spec_of(
        "copy",
        [source],
        target,
        where=where,
        lookup_ids=lookup_id,
        first=first,
        rate=rate,
        limits=limits,
        step=step,
    )
    run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)
