"""`openmsmq pipeline decode`."""

from enum import StrEnum
from typing import Annotated

import typer

from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption

from .command import MasterOption, OutputOption, begin_checks, command_line, show, spark_session


class BodyFormat(StrEnum):
    """The format of decoded bodies."""

    BINARY = "binary"
    TEXT = "text"
    AUTO = "auto"
    XML = "xml"
    JSON = "json"


def decode(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Files, folders or patterns: Parquet with a column of packets, pcap and pcapng "
            "captures, raw packets with or without a length before each.",
        ),
    ],
    *,
    column: Annotated[
        str, typer.Option(metavar="NAME", help="Column of the packets in Parquet files.")
    ] = "raw_packet",
    port: Annotated[
        list[int] | None,
        typer.Option(min=1, max=65535, help="TCP port of queue managers in captures; repeatable."),
    ] = None,
    body_format: Annotated[
        BodyFormat, typer.Option(help="Content of the column body_text.")
    ] = BodyFormat.BINARY,
    output: OutputOption = None,
    as_json: JsonOption = False,
    master: MasterOption = None,
    socket: SocketOption = None,
) -> None:
    """Decode captured packets into a table. Malformed ones are counted and kept."""
    # No queue manager is needed; every command takes the option.
    checks = begin_checks(master, socket)
    checks.packet_files(paths, column)
    checks.output(output)
    with spark_session(master) as spark:
        from openmsmq.spark.pipelines.decode import decode as run
        from openmsmq.wire.capture import BINARY_PORT

        result = run(
            spark,
            paths,
            output,
            packet_column=column,
            ports=port or (BINARY_PORT,),
            body_format=body_format,
            inputs=checks.inputs(paths, command_line(context)),
        )
    show(result.summary(), as_json=as_json)
