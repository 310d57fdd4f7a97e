"""The rules of docs/conformance."""

from pathlib import Path

import pytest
from tools.catalogue import (
    Catalogue,
    CatalogueError,
    State,
    read_results,
    without_unreached,
    write_results,
)

HEADING = "id\tsection\tlevel\trole\tarea\trequirement\n"
ROWS = {
    "AA.tsv": HEADING
    + "".join(
        f"AA-1.{n}-01\t1.{n}\tMUST\tboth\t{area}\tText {n}.\n" for n, area in enumerate("xxy")
    ),
    "BB.tsv": HEADING + "BB-1-01\t1\tMUST\tboth\tx\tText.\n",
}
EXCLUDED = "id\tneeds\treason\n"
PASSING = {"tests/a.py::test_a": "passed", "tests/a.py::test_b": "passed"}


def catalogue(folder: Path, *, excluded: str = "", **files: str) -> Catalogue:
    texts = {**ROWS, "excluded.tsv": EXCLUDED + excluded, **files}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return Catalogue.read(folder)


def test_the_catalogues_of_the_repository_are_sound() -> None:
    ours = Catalogue.read()
    assert ours.specifications() == ["MQDMPR", "MQQB", "MQQP", "MQRR", "MQSRM"]
    assert ours.faults == ()


def test_a_row_without_a_test_is_untested(tmp_path: Path) -> None:
    rows = catalogue(tmp_path)
    assert rows.state(rows.rows["AA-1.0-01"], {}) is State.UNTESTED
    assert rows.state(rows.rows["AA-1.0-01"], {"AA-1.0-01": {}}) is State.UNTESTED


def test_a_row_passes_when_all_of_its_tests_pass(tmp_path: Path) -> None:
    rows = catalogue(tmp_path)
    assert rows.state(rows.rows["AA-1.0-01"], {"AA-1.0-01": PASSING}) is State.PASSING


@pytest.mark.parametrize("outcome", ["failed", "skipped", "unfinished"])
def test_a_row_fails_when_one_of_its_tests_does_not_pass(tmp_path: Path, outcome: str) -> None:
    rows = catalogue(tmp_path)
    results = {"AA-1.0-01": {**PASSING, "tests/a.py::test_c": outcome}}
    assert rows.state(rows.rows["AA-1.0-01"], results) is State.FAILING


def test_a_row_is_unreached_when_all_of_its_tests_are(tmp_path: Path) -> None:
    rows = catalogue(tmp_path)
    row = rows.rows["AA-1.0-01"]
    cases = {"tests/a.py::test_a[1]": "passed", "tests/a.py::test_a[2]": "passed"}
    alone = without_unreached({row.id: cases}, {"tests/a.py::test_a"})
    assert rows.state(row, alone) is State.UNREACHED
    tally = rows.tally(alone, "AA")
    assert (tally.tested, tally.passing, tally.unreached) == (1, 0, 1)
    beside = without_unreached({row.id: PASSING}, {"tests/a.py::test_a"})
    assert rows.state(row, beside) is State.PASSING
    failing = without_unreached({row.id: {"tests/a.py::test_a": "failed"}}, {"tests/a.py::test_a"})
    assert rows.state(row, failing) is State.FAILING


def test_figures_are_counted_by_area_by_specification_and_over_all(tmp_path: Path) -> None:
    rows = catalogue(tmp_path, excluded="AA-1.2-01\tSPX\tNo SPX.\n")
    results = {"AA-1.0-01": PASSING, "AA-1.1-01": {"tests/a.py::test_c": "failed"}}
    x, y, both = rows.tallies(results, "AA")
    assert (x.area, x.rows, x.tested, x.passing, x.excluded, x.percent) == ("x", 2, 2, 1, 0, 50.0)
    assert (y.area, y.rows, y.tested, y.passing, y.excluded, y.percent) == ("y", 1, 0, 0, 1, 100.0)
    assert (both.area, both.rows, both.tested, both.passing, both.excluded) == ("", 3, 2, 1, 1)
    assert both.percent == 50.0
    assert rows.tally(results).rows == 4
    assert rows.tally(results).percent == 33.3


@pytest.mark.parametrize("needs", ["ActiveDirectory", "DTC", "SPX"])
def test_a_row_may_be_excluded_for_what_nobody_has_here(tmp_path: Path, needs: str) -> None:
    rows = catalogue(tmp_path, excluded=f"BB-1-01\t{needs}\tReason.\n")
    assert rows.faults == ()
    assert rows.state(rows.rows["BB-1-01"], {}) is State.EXCLUDED


def test_any_other_exclusion_is_a_fault_and_does_not_count(tmp_path: Path) -> None:
    rows = catalogue(tmp_path, excluded="BB-1-01\tTime\tReason.\n")
    assert "BB-1-01 needs Time" in rows.faults[0]
    assert rows.tally({}, "BB").excluded == 0


def test_exclusions_of_unknown_and_repeated_rows_are_faults(tmp_path: Path) -> None:
    line = "BB-1-01\tDTC\tReason.\n"
    rows = catalogue(tmp_path, excluded=f"CC-1-01\tDTC\tReason.\n{line}{line}")
    assert rows.faults == (
        "excluded.tsv: CC-1-01 is in no catalogue",
        "excluded.tsv: BB-1-01 is listed twice",
    )


def test_an_excluded_row_must_not_have_a_test(tmp_path: Path) -> None:
    rows = catalogue(tmp_path, excluded="BB-1-01\tDTC\tReason.\n")
    assert rows.tested_exclusions({"AA-1.0-01": PASSING}) == []
    (fault,) = rows.tested_exclusions({"BB-1-01": PASSING})
    assert "BB-1-01 is excluded and has a test" in fault


def test_a_test_names_at_most_three_rows_that_exist(tmp_path: Path) -> None:
    rows = catalogue(tmp_path)
    assert rows.faults_of(["AA-1.0-01", "AA-1.1-01", "AA-1.2-01"]) == []
    assert rows.faults_of(["AA-1.0-01", "AA-9-01"]) == ["no catalogue has the row 'AA-9-01'"]
    (fault,) = rows.faults_of([*rows.rows])
    assert fault == "4 rows on one test, at most 3 are allowed"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("AA.tsv", "id\tsection\n", r"AA\.tsv:1: the heading is not id section level"),
        ("AA.tsv", "", r"AA\.tsv:1: "),
        ("AA.tsv", HEADING + "AA-1-01\t1\tMUST\tboth\tx\n", r"AA\.tsv:2: 6 filled fields"),
        ("AA.tsv", HEADING + "BB-1-01\t1\tMUST\tboth\tx\tText.\n", "twice or misplaced"),
        ("BB.tsv", ROWS["BB.tsv"] + "BB-1-01\t1\tMUST\tboth\tx\tText.\n", "twice or misplaced"),
        ("excluded.tsv", EXCLUDED + "BB-1-01\tDTC\t \n", r"excluded\.tsv:2: 3 filled fields"),
    ],
)
def test_a_damaged_catalogue_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    with pytest.raises(CatalogueError, match=complaint):
        catalogue(tmp_path, **{name: text})


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    write_results({"BB-1-01": PASSING}, path)
    assert read_results(path) == {"BB-1-01": PASSING}
