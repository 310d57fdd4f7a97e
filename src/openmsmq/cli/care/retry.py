"""`openmsmq retry`: sends messages again, each once."""

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
    ToOption,
    WhereOption,
)
from .running import run_spec
from .specs import LimitsOption, spec_of


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("retry")(reporting("retry", retry))


def retry(
    source: SourceArgument,
    *,
    to: ToOption = None,
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
    """Send messages again, each once, and remove the originals.

    A message that would be refused stays in its queue; then the exit code is 1.
    """
    spec = spec_of(
        "retry",
        [source],
        to or "",
        where=where,
        lookup_ids=lookup_id,
        first=first,
        rate=rate,
        limits=limits,
        step=step,
    )
    run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)
