"""`openmsmq pipeline triage`."""

from typing import Annotated, Final

import typer

from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption

from .command import (
    SOURCE_HELP,
    MasterOption,
    OutputOption,
    begin_checks,
    command_line,
    show,
    spark_session,
)

_DEFAULT: Final = (";deadletter", ";deadxact")


def triage(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...",
            help="Dead-letter and administration queues; else both dead-letter queues of the "
            f"machine. A source is {SOURCE_HELP}.",
        ),
    ] = None,
    *,
    output: OutputOption = None,
    as_json: JsonOption = False,
    master: MasterOption = None,
    socket: SocketOption = None,
) -> None:
    """Group dead letters by reason and other properties, with remedies."""
    chosen = sources or list(_DEFAULT)
    checks = begin_checks(master, socket)
    checks.sources(chosen)
    checks.output(output)
    with spark_session(master) as spark:
        from openmsmq.spark.pipelines.reporting.progress import progress
        from openmsmq.spark.pipelines.sources import read_sources
        from openmsmq.spark.pipelines.triage import STEPS
        from openmsmq.spark.pipelines.triage import triage as run

        endpoint = str(socket) if socket else None
        with progress(spark, "triage", STEPS) as step:
            failed = read_sources(spark, chosen, endpoint=endpoint)
            inputs = checks.inputs(chosen, command_line(context))
            result = run(failed, output=output, step=step, inputs=inputs)
    show(result.summary, as_json=as_json)
