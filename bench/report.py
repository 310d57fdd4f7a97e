"""What a benchmark found out, and how it is shown."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


@dataclass(frozen=True, slots=True)
class Result:
    """One figure: how many a second, and how many times the time of the floor beside it."""

    name: str
    per_second: float
    ratio: float | None = None
    limit: float | None = None


def show(name: str, results: Sequence[Result], *, as_json: bool) -> None:
    """Print one JSON object per line, or a table."""
    if as_json:
        for result in results:
            print(json.dumps({"benchmark": name, **asdict(result)}))
    else:
        Console().print(result_table(name, results))


def result_table(title: str, results: Sequence[Result]) -> Table:
    """Red is what takes longer than it may."""
    table = Table("measured", "per second", "times the floor", "at most", title=title)
    for result in results:
        colour = "red" if result.ratio and result.limit and result.ratio > result.limit else "green"
        table.add_row(
            result.name,
            f"{result.per_second:,.0f}",
            "" if result.ratio is None else f"[{colour}]{result.ratio:.2f}",
            "" if result.limit is None else f"{result.limit:.2f}",
        )
    return table


def markdown(table: Table) -> str:
    """A table as a page shows it: title, head and rows without colours, caption."""
    rows = [[str(column.header) for column in table.columns], ["---"] * len(table.columns)]
    rows += [list(cells) for cells in zip(*[column.cells for column in table.columns], strict=True)]
    lines = [f"| {' | '.join(Text.from_markup(str(cell)).plain for cell in row)} |" for row in rows]
    # A star at the start of a line would begin a list.
    caption = f"\n{str(table.caption).replace('*', chr(92) + '*')}\n" if table.caption else ""
    return f"{table.title}:\n\n" + "".join(f"{line}\n" for line in lines) + caption


def write_tables(name: str, tables: Sequence[Table], page: Path = PAGE) -> None:
    """Put tables between the marks of a benchmark on its page, in place of those of the last run.

    Raises:
        ValueError: the page has no such marks.
    """
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, mark, rest = text.partition(begin)
    _, other_mark, after = rest.partition(end)
    if not mark or not other_mark:
        raise ValueError(f"{page} has no place for {name}")
    shown = "\n".join(markdown(table) for table in tables)
    page.write_text(f"{before}{begin}\n{shown}\n{end}{after}", encoding="utf-8")
