"""Mutated packets through every parser: only MalformedPacket, no hang, no growth in memory.

Input number N of a seed is always the same bytes, so a run can be repeated, split and resumed.
An input that breaks a rule is saved in build/fuzz, and the exit code is 1.
"""

import argparse
import importlib
import os
import secrets
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from tests.fuzz.campaign import Report

FOLDER: Final = ROOT / "build" / "fuzz"
COUNT: Final = 1_000_000
CHUNK: Final = 1000
# Caches are full after so many chunks; what a process holds then must be enough.
WARM_CHUNKS: Final = 5
MAX_GROWTH_BYTES: Final = 8 << 20
SHOWN_VIOLATIONS: Final = 10
LINE_EVERY: Final = 100_000
INTERRUPTED: Final = 130
ATHERIS_MEMORY_MIB: Final = 2048

console = Console()


@dataclass(slots=True)
class Totals:
    """All reports of a run together."""

    inputs: int = 0
    accepted: int = 0
    slowest_share: float = 0.0
    slowest: str = ""
    violations: list[str] = field(default_factory=list)
    memory: dict[int, list[int]] = field(default_factory=dict)

    def add(self, report: "Report") -> None:
        self.inputs += report.inputs
        self.accepted += report.accepted
        if report.slowest_share > self.slowest_share:
            self.slowest_share, self.slowest = report.slowest_share, report.slowest
        for found in report.violations:
            path = FOLDER / f"{found.source}-{found.target}.bin"
            path.write_bytes(found.data)
            self.violations.append(f"{found.target}: {found.reason} ({path.relative_to(ROOT)})")
        if report.process:
            self.memory.setdefault(report.process, []).append(report.memory_bytes)

    @property
    def growth_bytes(self) -> int:
        """By how much the process that grew most has grown since it was warm."""
        return max(
            (
                max(held[WARM_CHUNKS:]) - held[WARM_CHUNKS - 1]
                for held in self.memory.values()
                if len(held) > WARM_CHUNKS
            ),
            default=0,
        )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="inputs (default %(default)s)")
    parser.add_argument("--seed", type=int, help="names the inputs (default: a new one)")
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="WORD", help="mutate seeds with this in their name"
    )
    parser.add_argument(
        "--through", nargs="+", default=(), metavar="WORD", help="parsers with this in their name"
    )
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="saved inputs only")
    parser.add_argument("--atheris", type=int, metavar="SECONDS", help="guided by coverage instead")
    return parser.parse_args()


def run_giants(totals: Totals) -> None:
    campaign = importlib.import_module("tests.fuzz.campaign")
    with progress() as bar:
        for size in bar.track(campaign.GIANT_SIZES, description="slow packets"):
            totals.add(campaign.run_giants(size))


def run_mutated(options: argparse.Namespace, seed: int, totals: Totals) -> int:
    """Check the inputs; return the number of the first one that was not checked."""
    campaign = importlib.import_module("tests.fuzz.campaign")
    stop = options.start + options.count
    only, through = tuple(options.only), tuple(options.through)
    deadline = time.monotonic() + options.seconds if options.seconds else None
    chunks = iter(range(options.start, stop, CHUNK))
    running: dict[Future[Report], int] = {}
    executor = ProcessPoolExecutor(options.workers, mp_context=get_context("spawn"))
    try:
        with executor, progress() as bar:
            task = bar.add_task("mutated packets", total=options.count)
            while True:
                for start in take(chunks, 2 * options.workers - len(running), deadline):
                    end = min(start + CHUNK, stop)
                    future = executor.submit(campaign.run_mutated, seed, start, end, only, through)
                    running[future] = start
                if not running:
                    return next(chunks, stop)
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    report = done.result()
                    del running[done]
                    before = totals.inputs
                    totals.add(report)
                    bar.update(task, advance=report.inputs)
                    # In a log there is no bar.
                    if (
                        not console.is_terminal
                        and before // LINE_EVERY < totals.inputs // LINE_EVERY
                    ):
                        console.print(f"{totals.inputs:,} inputs")
    except KeyboardInterrupt:
        executor.shutdown(wait=False, cancel_futures=True)
        return min([*running.values(), next(chunks, stop)])


def take(chunks: Iterator[int], count: int, deadline: float | None) -> Iterator[int]:
    """The next chunks, none after the deadline."""
    for _ in range(count):
        if deadline is not None and time.monotonic() > deadline:
            return
        start = next(chunks, None)
        if start is None:
            return
        yield start


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def conclude(totals: Totals, elapsed: float) -> int:
    growth = totals.growth_bytes
    if growth > MAX_GROWTH_BYTES:
        totals.violations.append(f"memory grew by {growth / 2**20:.1f} MiB in one process")
    console.print(
        f"{totals.inputs:,} inputs in {elapsed:.0f} s ({totals.inputs / elapsed:,.0f} per second), "
        f"{totals.accepted:,} times accepted by a parser"
    )
    if totals.slowest:
        console.print(f"slowest: {totals.slowest}, {totals.slowest_share:.0%} of what it may take")
    if totals.memory:
        console.print(f"memory: {growth / 2**20:+.1f} MiB in the process that grew most")
    for violation in totals.violations[:SHOWN_VIOLATIONS]:
        console.print(f"violation: {violation}", style="red", markup=False)
    if totals.violations:
        console.print(f"{len(totals.violations)} violations", style="red")
        return 1
    console.print("only MalformedPacket, in time, without growth", style="green")
    return 0


def run_atheris(seconds: int) -> None:
    """Let coverage guide the mutations; ends the process."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["openmsmq"]):
        targets = importlib.import_module("tests.fuzz.targets").TARGETS
    corpus = importlib.import_module("tests.fuzz.seeds").CORPUS

    def check(data: bytes) -> None:
        for target in targets:
            target(data)

    found = FOLDER / "atheris"
    found.mkdir(parents=True, exist_ok=True)
    options = (
        f"-max_total_time={seconds}",
        "-max_len=65536",
        "-timeout=10",
        f"-rss_limit_mb={ATHERIS_MEMORY_MIB}",
        "-error_exitcode=1",
        "-timeout_exitcode=1",
        f"-artifact_prefix={FOLDER}{os.sep}",
    )
    # New inputs go to the first folder; the kept corpus is only read.
    atheris.Setup([sys.argv[0], *options, str(found), str(corpus)], check)
    atheris.Fuzz()


def main() -> int:
    options = arguments()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if options.atheris:
        run_atheris(options.atheris)
    totals = Totals()
    started = time.monotonic()
    if options.replay:
        totals.add(importlib.import_module("tests.fuzz.campaign").run_files(options.replay))
        return conclude(totals, time.monotonic() - started)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    console.print(f"seed {seed}, inputs {options.start} to {options.start + options.count}")
    run_giants(totals)
    started = time.monotonic()
    following = run_mutated(options, seed, totals)
    code = conclude(totals, time.monotonic() - started)
    left = options.start + options.count - following
    if left > 0:
        words = [*(("--only", *options.only) if options.only else ())]
        words += ("--through", *options.through) if options.through else ()
        console.print(
            f"to go on: tools/fuzz.py --seed {seed} --start {following} --count {left}",
            *words,
        )
        return code or (0 if options.seconds else INTERRUPTED)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
