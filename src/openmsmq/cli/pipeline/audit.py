"""`openmsmq pipeline audit`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openmsmq.cli.messages.reading import FollowOption
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
from .live import live_summaries

if TYPE_CHECKING:
    from openmsmq.spark.pipelines.reporting.summary import Inputs


def audit(
    context: typer.Context,
    *,
    sends: Annotated[
        list[str],
        typer.Option(
            metavar="SOURCE", help=f"Sent messages; may be repeated. A source is {SOURCE_HELP}."
        ),
    ],
    evidence: Annotated[
        list[str],
        typer.Option(
            metavar="SOURCE",
            help="Administration and dead-letter queues, target queues and their journals.",
        ),
    ],
    follow: FollowOption = False,
    output: OutputOption = None,
    as_json: JsonOption = False,
    master: MasterOption = None,
    socket: SocketOption = None,
) -> None:
    r"""Determine the fate of each sent message.

    Every message is read, arrived unread, expired, rejected, dead-lettered, in doubt, delivered
    twice or out of order, or there is no evidence. It is called lost only if it asked for
    acknowledgments that did not arrive in time.

    With --follow it continues as messages arrive, and updates the numbers; Ctrl-C ends it and
    writes the report. The next run with the same --output continues there.

    Example: openmsmq pipeline audit --sends ';journal' --evidence '.\private$\admin'
    --evidence ';deadxact' --output audit
    """
    if follow and output is None:
        raise typer.BadParameter("--follow needs --output DIR, where it keeps how far it is")
    checks = begin_checks(master, socket)
    checks.sources([*sends, *evidence], follow=follow)
    checks.output(output)
    inputs = checks.inputs([*sends, *evidence], command_line(context))
    if follow and output is not None:
        _follow(sends, evidence, output, socket, master, inputs, as_json=as_json)
        return
    with spark_session(master) as spark:
        from openmsmq.spark.pipelines.audit.auditing import STEPS
        from openmsmq.spark.pipelines.audit.auditing import audit as run
        from openmsmq.spark.pipelines.reporting.progress import progress
        from openmsmq.spark.pipelines.sources import read_sources, united

        endpoint = str(socket) if socket else None
        with progress(spark, "audit", STEPS) as step:
            step("opening the sources")
            sent = united(read_sources(spark, sends, endpoint=endpoint))
            known = read_sources(spark, evidence, endpoint=endpoint)
            result = run(sent, known, output=output, step=step, inputs=inputs)
    show(result.summary, as_json=as_json)


def _follow(
    sends: list[str],
    evidence: list[str],
    output: Path,
    socket: Path | None,
    master: str | None,
    inputs: "Inputs",
    *,
    as_json: bool,
) -> None:
    from openmsmq.spark.pipelines.audit.follow import check_follow, follow_audit

    check_follow(output.absolute(), sends, evidence)
    with spark_session(master) as spark:
        endpoint = str(socket) if socket else None
        with live_summaries(as_json=as_json) as tell:
            result = follow_audit(
                spark, sends, evidence, output, endpoint=endpoint, tell=tell, inputs=inputs
            )
    show(result.summary, as_json=as_json)
