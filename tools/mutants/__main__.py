"""Draw mutants by a seed, run the tests that reach them, list those that no test notices."""

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tools.catalogue import ROOT

from .ledger import EQUIVALENT, Ledger, read_equivalent, stale
from .mutant import PACKAGES, Mutant, draw, source_files
from .recording import FOLDERS, Recording, digest, test_files
from .report import ALL, PAGE, Figures, enter, page
from .trial import Outcome, Trial

FOLDER: Final = ROOT / "build" / "mutants"
INTERRUPTED: Final = 130


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", default=PACKAGES, help="folders of src/openmsmq, files")
    parser.add_argument("--number", type=int, default=150, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are tried side by side")
    parser.add_argument("--list", action="store_true", help="show the mutants, try none")
    parser.add_argument("--restart", action="store_true", help="forget earlier results")
    parser.add_argument(
        "--record", action="store_true", help="record again which test reaches what"
    )
    parser.add_argument(
        "--tests",
        nargs="+",
        default=FOLDERS,
        metavar="FOLDER",
        help="folders of tests/ whose tests are recorded; fewer take less time and notice less",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    return parser.parse_args()


@contextmanager
def bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar; the function that comes with it is told of what is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


def record(console: Console, tests: Sequence[str], jobs: int, *, anew: bool) -> Recording:
    """What test reaches which line; recorded now as far as it is not known or to be done anew."""
    folder = FOLDER / "recording"
    if anew:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    recording = Recording(folder)
    recording.load()
    files = test_files(tests)
    missing = recording.missing(files)
    if missing:
        with bar(console, "recording which test reaches which line", len(missing)) as recorded:
            recording.record(files, jobs, recorded)
    return recording


def try_all(
    mutants: Sequence[Mutant], recording: Recording, ledger: Ledger, jobs: int, console: Console
) -> dict[Mutant, Outcome]:
    """Try the mutants of which nothing is known yet; the results of all."""
    outcomes = {mutant: kept for mutant in mutants if (kept := ledger.get(mutant)) is not None}
    pending = [mutant for mutant in mutants if mutant not in outcomes]
    with (
        bar(console, "mutants", len(mutants)) as done,
        ThreadPoolExecutor(jobs) as pool,
    ):
        done(len(outcomes))
        trials = {pool.submit(Trial(mutant, recording).run): mutant for mutant in pending}
        try:
            for trial in as_completed(trials):
                mutant = trials[trial]
                outcome = outcomes[mutant] = trial.result()
                ledger.keep(mutant, outcome)
                done(1)
                if not outcome.is_caught:
                    show(console, mutant, outcome)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return outcomes


def show(console: Console, mutant: Mutant, outcome: Outcome) -> None:
    path = mutant.path.relative_to(ROOT)
    console.print(
        f"{outcome.verdict:9} {path}:{mutant.site.line} in {mutant.identity.function}\n"
        f"          {mutant.identity.before}\n       -> {mutant.identity.after}\n"
        f"          {outcome.tests} tests ran in {outcome.seconds} s",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def main() -> int:
    options = arguments()
    # Every trial starts Python anew, which would compile everything anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    console = Console()
    mutants = draw(source_files(options.paths), options.number, options.seed)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.site.line:5} {mutant.identity}")
        return 0
    equivalent = read_equivalent()
    for identity in stale(equivalent):
        console.print(
            f"{EQUIVALENT.name} lists a mutant that is no more: {identity}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    tried = [mutant for mutant in mutants if mutant.identity not in equivalent]
    recording = record(console, options.tests, options.jobs, anew=options.record)
    ledger = Ledger(FOLDER / "results.json", digest(sorted((ROOT / "tests").rglob("*.py"))))
    if not options.restart:
        ledger.load()
    try:
        outcomes = try_all(tried, recording, ledger, options.jobs, console)
    except KeyboardInterrupt:
        console.print("Interrupted. The same command goes on from here.")
        return INTERRUPTED
    counts = Counter(outcome.verdict for outcome in outcomes.values())
    packages = ALL if options.paths == PACKAGES else " ".join(options.paths)
    equal = len(mutants) - len(tried)
    figures = Figures(options.seed, len(mutants), equal, counts, packages)
    console.print(figures.sentence(), markup=False, highlight=False, soft_wrap=True)
    if options.write:
        text = page(figures, outcomes, equivalent, enter(figures))
        PAGE.write_text(text, encoding="utf-8")
    return 0 if all(outcome.is_caught for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
