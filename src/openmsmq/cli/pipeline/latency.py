"""`openmsmq pipeline latency`."""

from typing import Annotated

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


def latency(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help=f"Target queues. A source is {SOURCE_HELP}."),
    ],
    *,
    journal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE", help="Journals of these queues: the times when messages left them."
        ),
    ] = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
    master: MasterOption = None,
    socket: SocketOption = None,
) -> None:
    """Measure transit times and waiting messages per queue.

    Messages that seem to arrive before they were sent are counted as clock skew, not hidden.
    """
    checks = begin_checks(master, socket)
    checks.sources([*sources, *(journal or ())])
    checks.output(output)
    with spark_session(master) as spark:
        from openmsmq.spark.pipelines.latency import STEPS
        from openmsmq.spark.pipelines.latency import latency as run
        from openmsmq.spark.pipelines.reporting.progress import progress
        from openmsmq.spark.pipelines.sources import read_sources

        endpoint = str(socket) if socket else None
        with progress(spark, "latency", STEPS) as step:
            messages = read_sources(spark, sources, endpoint=endpoint)
            journals = read_sources(spark, journal or (), endpoint=endpoint)
            inputs = checks.inputs([*sources, *(journal or ())], command_line(context))
            result = run(messages, journals=journals, output=output, step=step, inputs=inputs)
    show(result.summary, as_json=as_json)
