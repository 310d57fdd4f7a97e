"""The summary of a pipeline: facts, tables and charts, as text for people and JSON for programs."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, duration_text, size_text, time_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

# Longer tables are cut for people, and say so; files and JSON have every row.
SHOWN_ROWS: Final = 20
# How many messages are named that need attention; the tables on disk have all.
SHOWN_MESSAGES: Final = 20
NAMED_MESSAGES: Final = 5
# What a column of texts needs to be readable, and what stands between columns.
LEAST_TEXT: Final = 24
GAP: Final = 2

Value = str | int | float | bool | datetime | None
# What was read and how, as names and texts.
Inputs = tuple[tuple[str, str], ...]


class Kind(StrEnum):
    """How the values of a column are shown."""

    TEXT = "text"
    # Sentences, which stand below the table where lines are short.
    PROSE = "prose"
    COUNT = "count"
    # A count that is not to be added up.
    NUMBER = "number"
    BYTES = "bytes"
    SECONDS = "seconds"
    # Seconds of which one end is known to the second only: more digits would pretend.
    LATENCY = "latency"
    SHARE = "share"
    TIME = "time"


class Tone(StrEnum):
    """What a bar means, which gives it its colour."""

    GOOD = "good"
    WAITING = "waiting"
    BAD = "bad"
    UNKNOWN = "unknown"
    PLAIN = "plain"


class Column(NamedTuple):
    """A column of a table; `name` is its key in JSON."""

    name: str
    title: str
    kind: Kind = Kind.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a summary.

    Args:
        name: what JSON calls it.
        title: what stands above it.
        columns: its columns.
        rows: its rows, each as long as the columns.
        adds_up: whether a last line with the sums of the counts belongs to it.
        note: a sentence below it.
        shown: how many rows people see at once; the report has more.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    adds_up: bool = False
    note: str = ""
    shown: int = SHOWN_ROWS

    def sums(self) -> tuple[Value, ...]:
        """The last line: the sum of each column that counts something, shares included."""
        summed: list[Value] = [
            sum(_number(row[index]) for row in self.rows)
            if column.kind in (Kind.COUNT, Kind.BYTES, Kind.SHARE)
            else None
            for index, column in enumerate(self.columns)
        ]
        if self.columns[0].kind is Kind.TEXT:
            summed[0] = "Total"
        return tuple(summed)


@dataclass(frozen=True, slots=True)
class Bars:
    """A chart of one horizontal bar per label; `tones` says what is good and what is bad."""

    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    kind: Kind = Kind.COUNT
    tones: tuple[Tone, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """A chart of values over time, one line per name; `steps` holds a value until the next."""

    title: str
    series: Mapping[str, Sequence[tuple[datetime, float]]]
    kind: Kind = Kind.COUNT
    steps: bool = False


Chart = Bars | Lines


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of a pipeline.

    Args:
        pipeline: its name, as in `openmsmq pipeline NAME`.
        headline: the outcome in one sentence.
        facts: names (as in JSON), titles and values that matter most.
        tables: the rest.
        charts: pictures of the report.
        warnings: what people must know, a sentence each.
        outputs: what was written, as name and path.
        inputs: which queue manager and sources were read, and the command.
    """

    pipeline: str
    headline: str
    facts: tuple[tuple[Column, Value], ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    warnings: tuple[str, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    inputs: Inputs = ()

    def objects(self) -> Iterator[dict[str, Any]]:
        """JSON objects: the facts first, then each row with the name of its table."""
        yield {
            "pipeline": self.pipeline,
            "headline": self.headline,
            **{column.name: json_value(value) for column, value in self.facts},
            "warnings": list(self.warnings),
            "outputs": dict(self.outputs),
            "inputs": dict(self.inputs),
        }
        for table in self.tables:
            names = [column.name for column in table.columns]
            for row in table.rows:
                yield {"table": table.name} | dict(zip(names, map(json_value, row), strict=True))

    def show(self, console: "Console | None" = None) -> None:
        """Print it for people."""
        screen = console or _console()
        screen.print()
        screen.print(f"[bold]{_safe(self.headline)}[/bold]")
        for warning in self.warnings:
            screen.print(f"[yellow]Note:[/yellow] {_safe(warning)}")
        if self.facts:
            screen.print(_facts_grid(self.facts))
        for table in self.tables:
            _show_table(screen, table)
        if self.outputs:
            screen.print()
        for name, path in self.outputs:
            # Paths stay whole, so that they can be copied.
            screen.print(f"[bold]{_safe(name)}[/bold]  {_safe(path)}", soft_wrap=True)


def json_value(value: Value) -> Any:
    """A value as JSON has it; moments in ISO 8601, UTC."""
    # One without a zone, as Spark hands it out, is in that of this machine.
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def value_text(value: Value, kind: Kind) -> str:
    """A value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value)
    return _number_text(value, kind)


def _number_text(value: float, kind: Kind) -> str:
    if kind is Kind.BYTES:
        return size_text(value)
    if kind is Kind.SECONDS:
        return span_text(value)
    if kind is Kind.LATENCY:
        return latency_text(value)
    if kind is Kind.SHARE:
        return f"{value:.1%}"
    return count_text(value) if isinstance(value, int) else f"{value:,.2f}"


def span_text(seconds: float) -> str:
    """A time span; below ten seconds in the unit that leaves few digits."""
    size = abs(seconds)
    sign = "-" if seconds < 0 else ""
    if size >= 10:
        return sign + duration_text(size)
    if size >= 1:
        return f"{sign}{size:.2f} s"
    return f"{sign}{size * 1000:.0f} ms" if size >= 0.001 or not size else f"{sign}< 1 ms"


def latency_text(seconds: float) -> str:
    """A latency: hundredths of a second at most."""
    return f"{seconds:.2f} s" if abs(seconds) < 10 else span_text(seconds)


def _number(value: Value) -> float:
    return value if isinstance(value, int | float) else 0


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(printable(text))


def _console() -> "Console":
    # Loaded only here, as reports and JSON do without.
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False)


def _facts_grid(facts: Iterable[tuple[Column, Value]]) -> "RichTable":
    from rich.table import Table as RichTable

    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(justify="right")
    for column, value in facts:
        grid.add_row(_safe(column.title), _safe(value_text(value, column.kind)))
    return grid


def _show_table(console: "Console", table: Table) -> None:
    console.print()
    console.print(f"[bold]{_safe(table.title)}[/bold]")
    if not table.rows:
        console.print("[dim]None.[/dim]")
        return
    places = [index for index, column in enumerate(table.columns) if column.kind is not Kind.PROSE]
    columns = [table.columns[index] for index in places]
    lines = [_texts(columns, [row[index] for index in places]) for row in table.rows[: table.shown]]
    sums = table.sums() if table.adds_up else ()
    total = _texts(columns, [sums[index] for index in places], blank="") if sums else []
    if _least_width(columns, [*lines, total]) <= console.width:
        console.print(_grid(columns, lines, total))
    else:
        _show_records(console, columns, [*lines, total] if total else lines)
    _show_prose(console, table)
    if len(table.rows) > table.shown:
        hidden = count_text(len(table.rows) - table.shown, "more row")
        console.print(f"[dim]… {hidden} in the report and the tables[/dim]")
    if table.note:
        console.print(f"[dim]{_safe(table.note)}[/dim]")


def _texts(columns: Sequence[Column], row: Sequence[Value], blank: str = "-") -> list[str]:
    return [
        blank if value is None else value_text(value, column.kind)
        for column, value in zip(columns, row, strict=True)
    ]


def _least_width(columns: Sequence[Column], lines: Sequence[Sequence[str]]) -> int:
    """How wide a table is at least, if neither words of its head nor numbers are broken."""
    total = 0
    for index, column in enumerate(columns):
        widest = max((len(line[index]) for line in lines if line), default=0)
        head = max(map(len, column.title.split()))
        total += max(head, min(widest, LEAST_TEXT) if column.kind is Kind.TEXT else widest) + GAP
    return total


def _grid(
    columns: Sequence[Column], lines: Sequence[Sequence[str]], total: Sequence[str]
) -> "RichTable":
    from rich import box
    from rich.table import Table as RichTable

    drawn = RichTable(
        box=box.SIMPLE_HEAD, show_footer=bool(total), pad_edge=False, padding=(0, 1, 0, 0)
    )
    for index, column in enumerate(columns):
        is_text = column.kind is Kind.TEXT
        drawn.add_column(
            _safe(column.title),
            justify="left" if is_text or column.kind is Kind.TIME else "right",
            footer=_safe(total[index]) if total else "",
            min_width=None
            if is_text
            else max(len(line[index]) for line in [*lines, total] if line),
            overflow="fold",
        )
    for line in lines:
        drawn.add_row(*map(_safe, line))
    return drawn


def _show_records(
    console: "Console", columns: Sequence[Column], lines: Sequence[Sequence[str]]
) -> None:
    """Each row as a few lines, where its columns do not fit side by side."""
    from rich.columns import Columns
    from rich.padding import Padding

    for line in lines:
        cells = [
            f"[dim]{_safe(column.title)}[/dim] {_safe(text)}"
            for column, text in zip(columns, line, strict=True)
            if text
        ]
        console.print(_safe(line[0]))
        console.print(Padding(Columns(cells[1:], padding=(0, 3)), (0, 0, 0, 2)))


def _show_prose(console: "Console", table: Table) -> None:
    """The sentences of each row below its first cell."""
    from rich.padding import Padding

    prose = [index for index, column in enumerate(table.columns) if column.kind is Kind.PROSE]
    for row in table.rows[: table.shown] if prose else ():
        console.print(_safe(value_text(row[0], table.columns[0].kind)))
        for index in prose:
            column = table.columns[index]
            text = _safe(value_text(row[index], column.kind))
            console.print(Padding(f"[dim]{_safe(column.title)}:[/dim] {text}", (0, 0, 0, 2)))
