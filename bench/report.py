"""What a benchmark found out, and how it is shown."""

import json
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Result:
    """One figure: how many a second, and how many times the time of the floor beside it."""

    name: str
    per_second: float
    ratio: float | None = None
    limit: float | None = None


def show(title: str, results: list[Result], *, as_json: bool) -> None:
    """Print one JSON object per line, or a table."""
    if as_json:
        for result in results:
            print(json.dumps({"benchmark": title, **asdict(result)}))
        return
    table = Table("measured", "per second", "times the floor", "at most", title=title)
    for result in results:
        colour = "red" if result.ratio and result.limit and result.ratio > result.limit else "green"
        table.add_row(
            result.name,
            f"{result.per_second:,.0f}",
            "" if result.ratio is None else f"[{colour}]{result.ratio:.2f}",
            "" if result.limit is None else f"{result.limit:.2f}",
        )
    Console().print(table)
