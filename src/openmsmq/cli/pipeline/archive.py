"""`openmsmq pipeline archive`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from openmsmq.cli.failure import FAILED
from openmsmq.cli.messages.reading import FollowOption
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption

from .command import MasterOption, begin_checks, command_line, say, show, spark_session


class Kind(StrEnum):
    """A kind of queue."""

    QUEUE = "queue"
    JOURNAL = "journal"
    DEADLETTER = "deadletter"
    XACT_DEADLETTER = "xact_deadletter"
    OUTGOING = "outgoing"


class Consume(StrEnum):
    """Whether messages are removed once they are archived."""

    NONE = "none"
    EXCLUSIVE = "exclusive"
    LEASE = "lease"


class TableFormat(StrEnum):
    """The format of the table."""

    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


def archive(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the archive; created if missing.")
    ],
    *,
    queue: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Queue; may be repeated.")
    ] = None,
    pattern: Annotated[
        str | None, typer.Option(help=r"All queues that match, such as 'private$\orders*'.")
    ] = None,
    kind: Annotated[Kind, typer.Option(help="Kind of queue.")] = Kind.QUEUE,
    consume: Annotated[
        Consume, typer.Option(help="How to remove archived messages.")
    ] = Consume.NONE,
    consumer_name: Annotated[
        str | None, typer.Option(help="Name of this consumer, for --consume lease.")
    ] = None,
    table: Annotated[
        TableFormat | None, typer.Option(help="Table format; parquet for a new archive.")
    ] = None,
    follow: FollowOption = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Merge small files at the end.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the whole archive at the end.")
    ] = False,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss", help="Continue without lost messages; the manifest names them."
        ),
    ] = False,
    as_json: JsonOption = False,
    master: MasterOption = None,
    socket: SocketOption = None,
) -> None:
    """Add messages to an archive. A manifest proves that each is in it, once.

    Without a queue, --compact and --verify work on an existing archive.
    """
    reads = bool(queue or pattern or kind is not Kind.QUEUE)
    if not reads and not (compact or verify):
        raise typer.BadParameter("say what to archive: --queue NAME, --pattern TEXT or --kind KIND")
    if (consume is Consume.LEASE) != (consumer_name is not None):
        raise typer.BadParameter("--consume lease and --consumer-name NAME go together")
    if queue and pattern:
        raise typer.BadParameter("--queue and --pattern exclude each other")
    checks = begin_checks(master, socket)
    from openmsmq.spark.pipelines.archive.archiving import archive as run
    from openmsmq.spark.pipelines.archive.archiving import look_after, queue_options

    options = {"endpoint": str(socket)} if socket else {}
    if reads:
        chosen = queue_options(queue or (), pattern, kind, consume, consumer_name)
        is_new = checks.archive(directory.absolute(), table)
        checks.queues([chosen | options], later=follow or not is_new)
    else:
        checks.existing_archive(directory)
    read = [*(queue or ()), *filter(None, [pattern])] or ([f"kind {kind}"] if reads else [])
    inputs = checks.inputs(read, command_line(context))
    with spark_session(master) as spark:
        if reads:
            if follow:
                say("Archiving messages as they arrive, until Ctrl-C.")
            result = run(
                spark,
                directory,
                queues=queue or (),
                queue_pattern=pattern,
                kind=kind,
                consume=consume,
                consumer_name=consumer_name,
                table=table,
                follow=follow,
                compact=compact,
                verify=verify,
                accept_loss=accept_loss,
                options=options,
                inputs=inputs,
            )
        else:
            result = look_after(spark, directory, compact=compact, verify=verify, inputs=inputs)
    show(result.summary(), as_json=as_json)
    incomplete = result.verification is not None and not result.verification.complete
    if result.interrupted or incomplete:
        raise typer.Exit(FAILED)
