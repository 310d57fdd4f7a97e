"""The catalogues of requirements in docs/conformance, and how far the tests prove them.

A row is one requirement of a specification. It passes when it has tests, all of them pass, and at
least one of them keeps to code that a running queue manager, client or tool reaches. It is excluded
only by a line of excluded.tsv that says which of three things it needs.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, Self, TypeAlias

ROOT: Final = Path(__file__).resolve().parent.parent
CATALOGUES: Final = ROOT / "docs" / "conformance"
RESULTS: Final = ROOT / "build" / "conformance" / "results.json"
EXCLUDED: Final = "excluded.tsv"
ROW_COLUMNS: Final = ["id", "section", "level", "role", "area", "requirement"]
EXCLUSION_COLUMNS: Final = ["id", "needs", "reason"]
NEEDS: Final = ("ActiveDirectory", "DTC", "SPX")
MAX_IDS_PER_TEST: Final = 3
PASSED: Final = "passed"
# Passed, on code that nothing but tests runs.
UNREACHED: Final = "unreached"

# Row id -> test -> outcome.
Results: TypeAlias = Mapping[str, Mapping[str, str]]


class CatalogueError(Exception):
    """A catalogue that cannot be read; the text names file and line."""


class State(Enum):
    """What the tests say about a row."""

    PASSING = "passing"
    UNREACHED = "unreached"
    FAILING = "failing"
    UNTESTED = "untested"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement."""

    id: str
    section: str
    level: str
    role: str
    area: str
    requirement: str

    @property
    def specification(self) -> str:
        return self.id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A row that cannot be tested, what it needs, and why."""

    id: str
    needs: str
    reason: str


@dataclass(frozen=True, slots=True)
class Tally:
    """The figures of one area, of one specification (area is empty) or of all."""

    specification: str
    area: str
    rows: int
    tested: int
    passing: int
    unreached: int
    excluded: int

    @property
    def percent(self) -> float:
        """Passing rows in percent of those not excluded, cut so that 100.0 means all of them."""
        wanted = self.rows - self.excluded
        return self.passing * 1000 // wanted / 10 if wanted else 100.0


def read_table(path: Path, columns: list[str]) -> list[list[str]]:
    """Read tab-separated lines below the heading `columns`; no field may be empty."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or lines[0].split("\t") != columns:
        raise CatalogueError(f"{path.name}:1: the heading is not {' '.join(columns)}")
    table = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        if len(fields) != len(columns) or not all(field.strip() for field in fields):
            raise CatalogueError(f"{path.name}:{number}: {len(columns)} filled fields are needed")
        table.append(fields)
    return table


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All rows and exclusions. `faults` are exclusions that the rules do not allow."""

    rows: dict[str, Row]
    excluded: dict[str, Exclusion]
    faults: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path = CATALOGUES) -> Self:
        rows: dict[str, Row] = {}
        # A catalogue has the name of its specification; other tables are written small.
        for path in sorted(folder.glob("[A-Z]*.tsv")):
            for fields in read_table(path, ROW_COLUMNS):
                row = Row(*fields)
                if row.id in rows or row.specification != path.stem:
                    raise CatalogueError(f"{path.name}: {row.id} is listed twice or misplaced")
                rows[row.id] = row
        excluded: dict[str, Exclusion] = {}
        faults = []
        for fields in read_table(folder / EXCLUDED, EXCLUSION_COLUMNS):
            exclusion = Exclusion(*fields)
            if exclusion.id not in rows:
                faults.append(f"{EXCLUDED}: {exclusion.id} is in no catalogue")
            elif exclusion.id in excluded:
                faults.append(f"{EXCLUDED}: {exclusion.id} is listed twice")
            elif exclusion.needs not in NEEDS:
                faults.append(
                    f"{EXCLUDED}: {exclusion.id} needs {exclusion.needs}, "
                    f"which is not one of {', '.join(NEEDS)}; the row counts as failing"
                )
            else:
                excluded[exclusion.id] = exclusion
        return cls(rows, excluded, tuple(faults))

    def specifications(self) -> list[str]:
        return sorted({row.specification for row in self.rows.values()})

    def faults_of(self, ids: Iterable[str]) -> list[str]:
        """Say what is wrong with the ids that one test carries."""
        ids = list(ids)
        faults = [f"no catalogue has the row {id_!r}" for id_ in ids if id_ not in self.rows]
        if len(ids) > MAX_IDS_PER_TEST:
            faults.append(f"{len(ids)} rows on one test, at most {MAX_IDS_PER_TEST} are allowed")
        return faults

    def tested_exclusions(self, results: Results) -> list[str]:
        """A row that has a test is not out of reach, so its exclusion has to go."""
        return [
            f"{EXCLUDED}: {id_} is excluded and has a test; one of the two is wrong"
            for id_ in self.excluded
            if results.get(id_)
        ]

    def state(self, row: Row, results: Results) -> State:
        if row.id in self.excluded:
            return State.EXCLUDED
        outcomes = set(results.get(row.id, {}).values())
        if not outcomes:
            return State.UNTESTED
        if not outcomes <= {PASSED, UNREACHED}:
            return State.FAILING
        return State.PASSING if PASSED in outcomes else State.UNREACHED

    def tally(self, results: Results, specification: str = "", area: str = "") -> Tally:
        """Count the rows of one area, of one specification, or of all."""
        states = [
            self.state(row, results)
            for row in self.rows.values()
            if specification in ("", row.specification) and area in ("", row.area)
        ]
        excluded = states.count(State.EXCLUDED)
        return Tally(
            specification,
            area,
            rows=len(states),
            tested=len(states) - states.count(State.UNTESTED) - excluded,
            passing=states.count(State.PASSING),
            unreached=states.count(State.UNREACHED),
            excluded=excluded,
        )

    def tallies(self, results: Results, specification: str) -> list[Tally]:
        """The figures of each area of a specification, and then of the whole of it."""
        areas = {row.area for row in self.rows.values() if row.specification == specification}
        return [self.tally(results, specification, area) for area in (*sorted(areas), "")]


def without_unreached(results: Results, tests: Collection[str]) -> dict[str, dict[str, str]]:
    """The results in which these tests, if they passed, did so on unreached code."""
    return {
        id_: {
            test: UNREACHED if outcome == PASSED and test.partition("[")[0] in tests else outcome
            for test, outcome in outcomes.items()
        }
        for id_, outcomes in results.items()
    }


def read_results(path: Path = RESULTS) -> dict[str, dict[str, str]]:
    results: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return results


def write_results(results: Results, path: Path = RESULTS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
