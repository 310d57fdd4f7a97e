"""The conformance plugin, run in small suites of its own."""

import json
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
IDS: Final = [f"AA-{number}-01" for number in range(1, 6)]
SUITE: Final = """
import pytest

@pytest.mark.spec("AA-1-01")
@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.spec("AA-2-01")), 2])
def test_numbers(number):
    assert number == 1

@pytest.mark.spec("AA-3-01", "AA-2-01")
def test_right():
    pass

@pytest.mark.spec("AA-4-01")
@pytest.mark.xdist_group("one")
def test_torn_down(broken):
    pass

@pytest.fixture
def broken():
    yield
    raise ValueError

@pytest.mark.spec("AA-5-01")
@pytest.mark.xfail
def test_expected_to_fail():
    assert False

def test_of_no_row():
    pass
"""
RESULTS: Final = {
    "AA-1-01": {"test_numbers[1]": "passed", "test_numbers[2]": "failed"},
    "AA-2-01": {"test_numbers[1]": "passed", "test_right": "passed"},
    "AA-3-01": {"test_right": "passed"},
    "AA-4-01": {"test_torn_down": "failed"},
    "AA-5-01": {"test_expected_to_fail": "failed"},
}


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a catalogue of five rows in which our plugin runs."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    rows = "".join(f"{id_}\t1\tMUST\tboth\tx\tText.\n" for id_ in IDS)
    heading = "id\tsection\tlevel\trole\tarea\trequirement\n"
    pytester.path.joinpath("AA.tsv").write_text(heading + rows)
    exclude(pytester)
    pytester.makeini(
        "[pytest]\naddopts = -p tests.plugins.conformance --strict-markers\n"
        "markers = spec(*ids): rows\n"
    )
    return pytester


def exclude(suite: pytest.Pytester, *lines: str) -> None:
    text = "".join(f"{line}\n" for line in ("id\tneeds\treason", *lines))
    suite.path.joinpath("excluded.tsv").write_text(text)


def run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    folder = suite.path
    return suite.runpytest(
        *("--conformance", "--conformance-catalogues", str(folder)),
        *("--conformance-results", str(folder / "results.json"), *arguments),
    )


def results(suite: pytest.Pytester) -> dict[str, dict[str, str]]:
    found = json.loads(suite.path.joinpath("results.json").read_text())
    return {
        id_: {test.partition("::")[2]: outcome for test, outcome in tests.items()}
        for id_, tests in found.items()
    }


@pytest.mark.parametrize("processes", ["0", "2"])
def test_outcomes_are_collected_in_one_process_and_in_many(
    suite: pytest.Pytester, processes: str
) -> None:
    suite.makepyfile(SUITE)
    outcome = run(suite, "-n", processes, "--dist", "loadgroup")
    assert results(suite) == RESULTS
    outcome.stdout.fnmatch_lines(
        ["*= conformance =*", "AA * x *5 *5 *2 *0 *0 *40.0", "all * all *5 *5 *2 *0 *0 *40.0"]
    )
    outcome.assert_outcomes(passed=4, failed=1, errors=1, xfailed=1)


def test_the_figures_are_printed_only_when_asked_for(suite: pytest.Pytester) -> None:
    suite.makepyfile(SUITE)
    outcome = suite.runpytest("--conformance-catalogues", str(suite.path))
    outcome.stdout.no_fnmatch_line("*conformance*")


@pytest.mark.parametrize("processes", ["0", "2"])
def test_an_unknown_row_is_a_collection_error(suite: pytest.Pytester, processes: str) -> None:
    suite.makepyfile(
        test_wrong="""
        import pytest

        class TestWrong:
            @pytest.mark.spec("AA-9-01")
            def test_nothing(self):
                pass
        """
    )
    outcome = run(suite, "-n", processes)
    outcome.stdout.fnmatch_lines(
        ["test_wrong.py::TestWrong::test_nothing: no catalogue has the row 'AA-9-01'"]
    )
    outcome.stdout.fnmatch_lines(["Not counted: test_wrong.py::TestWrong could not be collected."])
    assert not suite.path.joinpath("results.json").exists()
    outcome.assert_outcomes(errors=1)
    assert outcome.ret != 0


def test_more_than_three_rows_on_a_test_are_a_collection_error(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_greedy="""
        import pytest

        pytestmark = pytest.mark.spec("AA-1-01", "AA-2-01")

        @pytest.mark.spec("AA-2-01", "AA-3-01")
        def test_three():
            pass

        @pytest.mark.spec("AA-3-01", "AA-4-01")
        def test_four():
            pass
        """
    )
    outcome = run(suite)
    outcome.stdout.fnmatch_lines(
        ["test_greedy.py::test_four: 4 rows on one test, at most 3 are allowed"]
    )
    outcome.stdout.no_fnmatch_line("*test_three:*")
    outcome.assert_outcomes(errors=1)


def test_each_case_of_a_test_may_name_rows_of_its_own(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest

        ROWS = ["AA-1-01", "AA-2-01", "AA-3-01", "AA-4-01", "AA-5-01"]

        @pytest.mark.parametrize(
            "number", [pytest.param(n, marks=pytest.mark.spec(row)) for n, row in enumerate(ROWS)]
        )
        def test_case(number):
            pass
        """
    )
    run(suite).assert_outcomes(passed=5)
    assert sorted(results(suite)) == IDS


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("AA-1-01\tTime\tNone left.", "excluded.tsv: AA-1-01 needs Time, which is not one of *"),
        ("AA-3-01\tDTC\tNo DTC.", "excluded.tsv: AA-3-01 is excluded and has a test; *"),
    ],
)
def test_an_exclusion_against_the_rules_fails_the_run(
    suite: pytest.Pytester, line: str, complaint: str
) -> None:
    suite.makepyfile(SUITE)
    exclude(suite, line)
    outcome = run(suite, "-k", "right")
    outcome.stdout.fnmatch_lines([complaint, "ERROR docs/conformance*", "*1 passed*1 error*"])
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


def test_tests_are_chosen_by_the_beginning_of_their_rows(suite: pytest.Pytester) -> None:
    suite.makepyfile(SUITE)
    run(suite, "--spec", "AA-2").assert_outcomes(passed=2, deselected=4)
