"""`openmsmq pipeline replay`."""

from enum import StrEnum
from pathlib import Path
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


class Correlation(StrEnum):
    """The correlation id of a copy."""

    KEEP = "keep"
    NEW = "new"


def replay(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help=f"Source of the messages: {SOURCE_HELP}."),
    ],
    *,
    to: Annotated[
        str | None,
        typer.Option(metavar="QUEUE", help="Queue to send to; else the destination of each."),
    ] = None,
    send: Annotated[
        bool, typer.Option("--send", help="Send them; else only show the effect.")
    ] = False,
    label: Annotated[str | None, typer.Option(help="Label; * stands for any text.")] = None,
    message_class: Annotated[
        str | None, typer.Option("--class", help="Name or number of the class.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="Reason, such as 'NACK_RECEIVE_TIMEOUT' or 'NACK_*'.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Arrived at or after this time (ISO 8601, UTC)."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Arrived before this time (ISO 8601, UTC).")
    ] = None,
    correlation_id: Annotated[str | None, typer.Option(help="With this correlation id.")] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="Condition over the columns of a message.")
    ] = None,
    correlation: Annotated[
        Correlation,
        typer.Option(help="Keep the correlation id, or set it to the id of the original."),
    ] = Correlation.KEEP,
    no_timeouts: Annotated[
        bool, typer.Option("--no-timeouts", help="Remove the time limits of copies.")
    ] = False,
    no_mark: Annotated[
        bool, typer.Option("--no-mark", help="Do not mark copies in the extension.")
    ] = False,
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Maximum number of messages per second.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Name of the replay; it sends no message twice."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the record of sent messages."),
    ] = None,
    remove: Annotated[
        bool,
        typer.Option("--remove", help="Remove originals once the copies are accepted."),
    ] = False,
    output: OutputOption = None,
    as_json: JsonOption = False,
    master: MasterOption = None,
    socket: SocketOption = None,
) -> None:
    """Send archived messages or dead letters again. A dry run unless --send."""
    checks = begin_checks(master, socket)
    from openmsmq.spark.pipelines.replay.filter import ReplayFilter
    from openmsmq.spark.pipelines.replay.replaying import check_replay
    from openmsmq.spark.pipelines.replay.replaying import replay as run

    only = ReplayFilter(label, message_class, reason, since, until, correlation_id, where)
    check_replay(source, only, correlation, rate, key, remove=remove)
    checks.sources([source])
    checks.output(output, state)
    checks.destination(to, state, send=send)
    with spark_session(master) as spark:
        result = run(
            spark,
            source,
            to=to,
            send=send,
            only=only,
            correlation=correlation,
            keep_timeouts=not no_timeouts,
            mark=not no_mark,
            rate=rate,
            key=key,
            state=state,
            remove=remove,
            endpoint=str(socket) if socket else None,
            output=output,
            inputs=checks.inputs([source], command_line(context)),
        )
    show(result.summary(), as_json=as_json)
