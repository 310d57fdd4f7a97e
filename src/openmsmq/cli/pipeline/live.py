"""Summaries of a running pipeline: in one place on a terminal, else one line each."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from openmsmq.cli.output import print_json
from openmsmq.terminal.quantities import time_text
from openmsmq.terminal.streams import is_terminal

if TYPE_CHECKING:
    from rich.console import Console

    from openmsmq.spark.pipelines.reporting.summary import Summary, Table

Tell = Callable[["Summary"], None]


@contextmanager
def live_summaries(*, as_json: bool) -> Iterator[Tell]:
    """A function to call with each new summary."""
    if as_json:
        yield _tell_json
    elif is_terminal(sys.stdout):
        with _live() as tell:
            yield tell
    else:
        yield _tell_line


def _tell_json(summary: "Summary") -> None:
    print_json({"time": datetime.now(UTC).isoformat(), **next(summary.objects())})


def _tell_line(summary: "Summary") -> None:
    typer.echo(f"{time_text(datetime.now(UTC))}  {summary.headline}")


@contextmanager
def _live() -> Iterator[Tell]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    start = Text("Reading what is there; Ctrl-C ends it.")
    with Live(start, console=console, auto_refresh=False, transient=True) as live:

        def tell(summary: "Summary") -> None:
            live.update(Text.from_ansi(screen(summary, console)), refresh=True)

        yield tell


def screen(summary: "Summary", console: "Console") -> str:
    """The headline, and what there is of the first table."""
    from rich.console import Console as RichConsole

    drawn = io.StringIO()
    tables = tuple(_filled(table) for table in summary.tables[:1])
    short = replace(summary, facts=(), tables=tables, outputs=())
    short.show(RichConsole(file=drawn, width=console.width, force_terminal=True, highlight=False))
    return f"{drawn.getvalue()}{time_text(datetime.now(UTC))}; Ctrl-C ends it."


def _filled(table: "Table") -> "Table":
    """Only rows that count something."""
    return replace(table, rows=tuple(row for row in table.rows if row[1]))
