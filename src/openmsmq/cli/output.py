"""What commands print: tables and properties for people, JSON for programs."""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple
from unicodedata import combining, east_asian_width

import typer

from openmsmq.terminal.printable import printable
from openmsmq.terminal.streams import is_terminal

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object per line.")]

_GAP: Final = "  "
_CUT: Final = "…"
# How narrow a column becomes before others are left out, and at all.
_COMFORTABLE_COLUMN: Final = 20
_SMALLEST_COLUMN: Final = 8
_WIDE: Final = frozenset("WF")
# One for all: `json.dumps` would make one for each object.
_encode: Final = json.JSONEncoder(ensure_ascii=False).encode


class Column(NamedTuple):
    """A column of a table.

    Args:
        title: what stands above it.
        right: whether the cells end at the same place, as numbers do.
        cut: whether long cells may be cut short where the table is too wide.
        optional: whether the column is left out where the table is too wide; the last one first.
    """

    title: str
    right: bool = False
    cut: bool = False
    optional: bool = False


def say(text: str, *, err: bool = False) -> None:
    """Print a sentence, in which names and other text of others are made harmless."""
    typer.echo("\n".join(map(printable, text.split("\n"))), err=err)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object in one line."""
    typer.echo(json_line(value), nl=False)


def json_line(value: Mapping[str, Any]) -> bytes:
    """A JSON object and the end of its line; text that is no Unicode is escaped."""
    return _encode(value).encode("utf-8", "backslashreplace") + b"\n"


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows below their titles, within the width of the terminal if it is one."""
    for line in table_lines(columns, list(rows), screen_width()):
        typer.echo(line)


def print_properties(properties: Iterable[tuple[str, str]]) -> None:
    """Print names and values below each other; a value with several lines stays in its column."""
    rows = list(properties)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        first, *more = map(printable, value.split("\n"))
        blank = " " * (width - len(name))
        typer.echo(f"{typer.style(name, bold=True)}{blank}{_GAP}{first}".rstrip())
        for line in more:
            typer.echo(f"{'':{width}}{_GAP}{line}")


def screen_width() -> int | None:
    """How many characters a line may have; None where there is no terminal to fill."""
    if is_terminal(sys.stdout) or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None
) -> list[str]:
    """The lines of a table; titles in bold, on terminals only."""
    cells = [[printable(cell) for cell in row] for row in rows]
    chosen = _choose(columns, cells, width)
    widths = _shrink(columns, chosen, _natural_widths(columns, cells), width)
    titles = [column.title for column in columns]
    lines = [typer.style(_line(columns, titles, widths), bold=True)]
    lines += [_line(columns, row, widths) for row in cells]
    return lines


def _natural_widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(text_width(column.title), *(text_width(row[index]) for row in cells), 0)
        for index, column in enumerate(columns)
    ]


def _choose(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int | None
) -> list[int]:
    """The columns that have room, if those that may be cut are cut within reason."""
    chosen = list(range(len(columns)))
    if width is None:
        return chosen
    needed = [
        min(natural, _COMFORTABLE_COLUMN) if column.cut else natural
        for column, natural in zip(columns, _natural_widths(columns, cells), strict=True)
    ]
    for index in reversed(range(len(columns))):
        if _total([needed[position] for position in chosen]) <= width:
            break
        if columns[index].optional:
            chosen.remove(index)
    return chosen


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _shrink(
    columns: Sequence[Column], chosen: Sequence[int], natural: Sequence[int], width: int | None
) -> dict[int, int]:
    """The width of each column; the widest of those that may be cut gives way first."""
    widths = {index: natural[index] for index in chosen}
    while width is not None and _total(list(widths.values())) > width:
        soft = [
            column for column in chosen if columns[column].cut and widths[column] > _SMALLEST_COLUMN
        ]
        if not soft:
            break
        widths[max(soft, key=widths.__getitem__)] -= 1
    return widths


def _line(columns: Sequence[Column], cells: Sequence[str], widths: Mapping[int, int]) -> str:
    parts = []
    for index, width in widths.items():
        text = cut(cells[index], width)
        blank = " " * (width - text_width(text))
        parts.append(blank + text if columns[index].right else text + blank)
    return _GAP.join(parts).rstrip()


def text_width(text: str) -> int:
    """How many places a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_places(character) for character in text)


def _places(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in _WIDE else 1


def cut(text: str, width: int) -> str:
    """The text, or as much of it as fits before a mark that there is more."""
    if text_width(text) <= width:
        return text
    beginning = ""
    room = width - len(_CUT)
    for character in text:
        room -= _places(character)
        if room < 0:
            break
        beginning += character
    return beginning + _CUT
