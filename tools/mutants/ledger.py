"""The results that are kept from run to run, and the list of equivalent mutants."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tools.catalogue import CATALOGUES, CatalogueError, read_table

from .mutant import SOURCES, Identity, Mutant, identities
from .recording import digest
from .trial import Outcome, Verdict

EQUIVALENT: Final = CATALOGUES / "equivalent-mutants.tsv"
COLUMNS: Final = ["file", "function", "before", "after", "number", "reason"]


def read_equivalent(path: Path = EQUIVALENT) -> dict[Identity, str]:
    """Mutants that change nothing anybody can see, with the reason."""
    equivalent = {}
    for *fields, number, reason in read_table(path, COLUMNS):
        file, function, before, after = fields
        if not number.isdigit():
            raise CatalogueError(f"{path.name}: {number} is no number")
        equivalent[Identity(file, function, before, after, int(number))] = reason
    return equivalent


def stale(equivalent: Iterable[Identity]) -> list[Identity]:
    """The equivalent mutants that the code does not have any more."""
    by_path: dict[str, list[Identity]] = {}
    for identity in equivalent:
        by_path.setdefault(identity.path, []).append(identity)
    gone = []
    for name, listed in by_path.items():
        path = SOURCES / name
        known = identities(path) if path.exists() else set()
        gone += [identity for identity in listed if identity not in known]
    return gone


class Ledger:
    """Outcomes by mutant, in a file.

    A caught mutant stays caught as long as its module is the same. Any other is tried again when
    the tests have changed, and at once if the time was too short.
    """

    def __init__(self, path: Path, tests: str) -> None:
        self.path = path
        self.tests = tests
        self._kept: dict[str, dict[str, str | float | int]] = {}
        self._modules: dict[Path, str] = {}

    def load(self) -> None:
        if self.path.exists():
            self._kept = json.loads(self.path.read_text())

    def _module(self, path: Path) -> str:
        if path not in self._modules:
            self._modules[path] = digest([path])
        return self._modules[path]

    def get(self, mutant: Mutant) -> Outcome | None:
        kept = self._kept.get(str(mutant.identity))
        if kept is None or kept["module"] != self._module(mutant.path):
            return None
        outcome = Outcome(
            Verdict(str(kept["verdict"])),
            str(kept["test"]),
            int(kept["tests"]),
            float(kept["seconds"]),
        )
        if outcome.verdict is Verdict.UNDECIDED:
            return None
        return outcome if outcome.is_caught or kept["suite"] == self.tests else None

    def keep(self, mutant: Mutant, outcome: Outcome) -> None:
        self._kept[str(mutant.identity)] = {
            **asdict(outcome),
            "module": self._module(mutant.path),
            "suite": self.tests,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self._kept, indent=1))
        new.replace(self.path)
