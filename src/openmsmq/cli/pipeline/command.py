"""`openmsmq pipeline`: the ready-made Spark pipelines, each in a module of its own."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, ParamSpec

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.output import print_json
from openmsmq.terminal.streams import is_terminal

from .noise import filtered_stderr, quiet_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from openmsmq.spark.pipelines.checks import ArgumentChecks
    from openmsmq.spark.pipelines.reporting.summary import Summary

P = ParamSpec("P")

_HELP: Final = "Archive, audit, triage, replay and measure messages with Spark."
# Their modules have a function of the same name, and load Spark only when it is called.
COMMANDS: Final = ("archive", "audit", "triage", "replay", "decode", "latency")
# Without it each operation on a column asks the JVM and the stack where it was called: half of the
# time that it takes to put an audit together, and of use only to those who write such code.
CONF: Final = {"spark.python.sql.dataFrameDebugging.enabled": False}
SOURCE_HELP: Final = (
    r"a queue ('.\private$\orders', ';deadletter', 'PATH;journal', 'outgoing:DEST', each after "
    "'ENDPOINT::' if another queue manager has it), an archive, or a folder of Parquet files"
)

MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark master or Spark Connect address; else $SPARK_REMOTE, else this machine.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the tables (Parquet) and the report (HTML)."),
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)
    for name in COMMANDS:
        function = getattr(import_module(f".{name}", __package__), name)
        group.command(name)(reporting(f"pipeline {name}", explaining(function)))
    app.add_typer(group, name="pipeline")


def explaining(function: Callable[P, None]) -> Callable[P, None]:
    """The function of a command, with failures inside Spark as what they are."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from openmsmq.spark.errors import SparkUnavailable
        from openmsmq.spark.pipelines.support.errors import PipelineError
        from openmsmq.spark.pipelines.support.failures import explained, refused_option
        from openmsmq.wire.errors import ConfigError

        try:
            with explained():
                function(*args, **kwargs)
        except SparkUnavailable as exc:
            raise PipelineError(
                "Spark cannot start", cause=f"{exc.cause}.", remedy=f"{exc.remedy}."
            ) from exc
        except ConfigError as exc:
            raise refused_option(str(exc)) from exc

    return run


def begin_checks(master: str | None, socket: Path | None) -> "ArgumentChecks":
    """The checks of arguments, which all come before Spark starts.

    Raises:
        SparkUnavailable: PySpark is missing.
        PipelineError: there is no such master.
    """
    from openmsmq.spark.session import check_installed

    # The checks themselves need what is installed with it.
    check_installed()
    from openmsmq.spark.pipelines.checks import ArgumentChecks

    return ArgumentChecks.begin(master, str(socket) if socket else None)


def command_line(context: typer.Context) -> str:
    """The command as somebody could type it, with all that was given."""
    words = ["openmsmq", "pipeline", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        # A parameter that may be repeated has a tuple or a list, as typer's version likes.
        values = list(map(str, value)) if isinstance(value, tuple | list) else [str(value)]
        if parameter.param_type_name == "argument":
            words += values
        elif isinstance(value, bool):
            words.append(parameter.opts[0])
        else:
            words += [word for text in values for word in (parameter.opts[0], text)]
    return shlex.join(words)


@contextmanager
def spark_session(master: str | None) -> "Iterator[SparkSession]":
    """A session for one command, with its failures explained; one that was there stays.

    Raises:
        SparkUnavailable: PySpark or Java is missing.
        QueueError: a failure inside Spark, as what it was.
    """
    from openmsmq.spark import session
    from openmsmq.spark.pipelines.support.failures import explained
    from openmsmq.spark.session import place

    new = not _has_session()
    # A server of Spark Connect has settings of its own.
    conf = {} if "spark.remote" in place(master, os.environ) else CONF
    with explained():
        if new:
            typer.echo("openmsmq pipeline: starting Spark ...", err=True)
        with filtered_stderr() if new else nullcontext():
            spark = session(master, app_name="openmsmq pipeline", **conf)
        try:
            with quiet_python():
                yield spark
        finally:
            if new:
                spark.stop()


def _has_session() -> bool:
    # Nobody can have one without having loaded it.
    sql = sys.modules.get("pyspark.sql")
    return sql is not None and sql.SparkSession.getActiveSession() is not None


def say(text: str) -> None:
    """Show progress to a user at a terminal."""
    if is_terminal(sys.stderr):
        typer.echo(text, err=True)


def show(summary: "Summary", *, as_json: bool) -> None:
    """Print a summary for people, or as one JSON object per line."""
    if as_json:
        for entry in summary.objects():
            print_json(entry)
    else:
        summary.show()
