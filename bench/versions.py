"""This checkout beside another one of openmsmq, in one run, as ratios.

Reproduce with `python -m bench versions --other FOLDER`: a checkout of another commit in which
`make setup` and `make compile` ran, as they must have here. `--rounds` and `--quick` say how much
is measured.

Each round runs the benchmarks `brokers` and `transfer` of both checkouts, each with its own code,
programs and compiled modules and without the other brokers, first one and then the other; the next
round begins with the one that came last. So both see the same machine at about the same time.
Figures are medians over the rounds; a ratio above 1 is better here, for rates and for times.
"""

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

HERE: Final = Path(__file__).resolve().parents[1]
ROUNDS: Final = 5
LEAST: Final = 0.97
# Figures of which less is better.
TIMES: Final = ("latency p50", "latency p99", "µs", "MB", "seconds")
# Those of other programs, which stand for nothing of ours.
OTHERS: Final = frozenset(("split µs",))

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of both checkouts, over all rounds."""

    name: str
    here: float
    other: float

    @property
    def is_time(self) -> bool:
        return self.name.endswith(TIMES)

    @property
    def ratio(self) -> float:
        """How much better it is here."""
        return self.other / self.here if self.is_time else self.here / self.other


def measure(checkout: Path, names: tuple[str, ...], *, quick: bool) -> Figures:
    """The figures of one checkout's own benchmarks.

    Raises:
        SystemExit: a benchmark failed.
    """
    python = checkout / ".venv" / "bin" / "python"
    command = [str(python), "-m", "bench", *names, "--json", "--only", "openmsmq", "--no-install"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command + ["--quick"] * quick,
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(command)} in {checkout} ended with {done.returncode}")
    return read_figures(done.stdout)


def read_figures(output: str) -> Figures:
    """The medians out of what benchmarks printed.

    Raises:
        SystemExit: something was not measured.
    """
    figures: Figures = {}
    for line in output.splitlines():
        found = json.loads(line)
        if found.get("missing"):
            raise SystemExit(f"bench: not measured: {found['missing']}")
        figures.update(found.get("figures", {}))
    return {name: value for name, value in figures.items() if name not in OTHERS}


def compare(here: list[Figures], other: list[Figures]) -> list[Comparison]:
    """Medians of the figures that both have."""
    names = [name for name in here[0] if name in other[0]]
    return [
        Comparison(
            name,
            statistics.median([figures[name] for figures in here]),
            statistics.median([figures[name] for figures in other]),
        )
        for name in names
    ]


def table(found: list[Comparison]) -> Table:
    """Red is what is worse here by more than it may be."""
    shown = Table("measured", "here", "other", "times better", title="versions")
    for each in found:
        colour = "green" if each.ratio >= LEAST else "red"
        shown.add_row(
            each.name,
            f"{each.here:,.4g}" if each.is_time else f"{each.here:,.0f}",
            f"{each.other:,.4g}" if each.is_time else f"{each.other:,.0f}",
            f"[{colour}]{each.ratio:.2f}",
        )
    return shown


def present(
    other: Path, names: tuple[str, ...], *, rounds: int, quick: bool, as_json: bool
) -> None:
    """Measure both checkouts in turn and print the ratios."""
    console = Console(stderr=as_json)
    kept: dict[Path, list[Figures]] = {HERE: [], other: []}
    order = [HERE, other]
    for number in range(rounds):
        for checkout in order:
            console.print(f"round {number + 1} of {rounds}: {checkout}", style="dim")
            kept[checkout].append(measure(checkout, names, quick=quick))
        order.reverse()
    found = compare(kept[HERE], kept[other])
    if as_json:
        for each in found:
            line = {"here": each.here, "other": each.other, "ratio": each.ratio}
            json.dump({"benchmark": "versions", "name": each.name, **line}, sys.stdout)
            print()
    else:
        console.print(table(found))
