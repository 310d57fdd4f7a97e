"""The figures of a run, in a sentence and as a page of docs/conformance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.catalogue import CATALOGUES, read_table
from tools.conformance_report import escape, markdown_table

from .ledger import EQUIVALENT
from .mutant import Identity, Mutant
from .trial import LIMIT_SECONDS, Outcome, Verdict

PAGE: Final = CATALOGUES / "mutants.md"
RUNS: Final = CATALOGUES / "mutant-runs.tsv"
COLUMNS: Final = ["seed", "packages", "drawn", "caught at first", "equivalent", "caught now"]
# What is drawn from unless somebody says otherwise.
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Figures:
    """What became of the mutants that a seed drew."""

    seed: int
    drawn: int
    equivalent: int
    verdicts: Counter[Verdict]
    packages: str = ALL

    @property
    def tried(self) -> int:
        return self.drawn - self.equivalent

    @property
    def caught(self) -> int:
        return self.verdicts[Verdict.CAUGHT] + self.verdicts[Verdict.TIMEOUT]

    @property
    def percent(self) -> float:
        """Caught ones in percent of those tried, cut so that 100.0 means all of them."""
        return self.caught * 1000 // self.tried / 10 if self.tried else 100.0

    def sentence(self) -> str:
        verdicts = self.verdicts
        where = "" if self.packages == ALL else f", {self.packages}"
        return (
            f"Seed {self.seed}{where}: {self.drawn} mutants, {self.equivalent} of them equivalent; "
            f"of {self.tried} tried {self.caught} were caught ({self.percent} %), "
            f"{verdicts[Verdict.TIMEOUT]} of these by a timeout; "
            f"{verdicts[Verdict.SURVIVED]} survived, {verdicts[Verdict.UNREACHED]} are reached by "
            f"no test, {verdicts[Verdict.UNDECIDED]} were not decided in {LIMIT_SECONDS:.0f} s."
        )


def enter(figures: Figures, path: Path = RUNS) -> list[list[str]]:
    """Enter a run into the list of runs; what a seed caught at first stays there."""
    runs = {(run[0], run[1]): run for run in read_table(path, COLUMNS)} if path.exists() else {}
    drawn, caught = str(figures.drawn), str(figures.caught)
    key = str(figures.seed), figures.packages
    first = runs[key][3] if key in runs else caught
    runs[key] = [*key, drawn, first, str(figures.equivalent), caught]
    lines = sorted(runs.values(), key=lambda run: (run[1] != ALL, run[1], int(run[0])))
    path.write_text("".join("\t".join(line) + "\n" for line in (COLUMNS, *lines)), encoding="utf-8")
    return lines


def page(
    figures: Figures,
    outcomes: Mapping[Mutant, Outcome],
    equivalent: Mapping[Identity, str],
    runs: Sequence[Sequence[str]],
) -> str:
    by_package: dict[str, Counter[bool]] = {}
    for mutant, outcome in outcomes.items():
        package = mutant.identity.path.partition("/")[0]
        by_package.setdefault(package, Counter())[outcome.is_caught] += 1
    packages = [
        [package, str(counts.total()), str(counts[True])]
        for package, counts in sorted(by_package.items())
    ]
    left = [
        [*cells(mutant.identity), outcome.verdict.value]
        for mutant, outcome in sorted(outcomes.items(), key=lambda pair: pair[0].identity)
        if not outcome.is_caught
    ]
    known = [[*cells(identity), escape(reason)] for identity, reason in sorted(equivalent.items())]
    return (
        "<!-- Written by `make mutants WRITE=1`. Do not edit. -->\n\n"
        "# Mutants\n\n"
        "Whether the tests notice when the code is wrong. A mutant is one small change in the body "
        "of a function of wire, core, protocol, store or security, or of the packages that a run "
        "names: another comparison, `and` for `or`, a number one off, a call left out, two "
        "arguments swapped, another constant. "
        "`make mutants` draws some by a seed, runs the tests that reach the line, and lists those "
        "that no test noticed. A mutant that makes a test hang counts as caught.\n\n"
        "What a seed catches at first, with the equivalent ones among those that it does not, says "
        "how good the tests were; then its survivors get tests or a reason, so that the same seed "
        "says later only whether that is still so.\n\n"
        + markdown_table(COLUMNS, 0, runs)
        + f"\n## The latest run\n\n{figures.sentence()}\n\n"
        + markdown_table(["package", "tried", "caught"], 1, packages)
        + "\n## Not caught\n\n"
        + (markdown_table(["function", "before", "after", ""], 4, left) if left else "None.\n")
        + f"\n## Equivalent\n\nThese change nothing that anybody can see ([{EQUIVALENT.name}]"
        f"({EQUIVALENT.name})), so they are not counted.\n\n"
        + markdown_table(["function", "before", "after", "reason"], 4, known)
        + "\n## Why a tool of our own\n\n"
        "mutmut and cosmic-ray draw no sample by a seed; mutmut chooses tests by function and runs "
        "them in a changed copy of the project, cosmic-ray runs one command for all mutants and "
        "changes the sources in place.\n"
    )


def cells(identity: Identity) -> list[str]:
    where = f"{identity.path} `{identity.function}`"
    return [where, *(escape(text) for text in (identity.before, identity.after))]
