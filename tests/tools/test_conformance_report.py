"""The conformance figures as people see them."""

from pathlib import Path

import pytest
from rich.console import Console
from tools.catalogue import Catalogue
from tools.conformance_report import json_lines, page, readme, terminal_table

HEADING = "id\tsection\tlevel\trole\tarea\trequirement\n"
RESULTS = {
    "AA-1-01": {"tests/a.py::test_a[1]": "passed", "tests/a.py::test_a[2]": "passed"},
    "AA-2-01": {"tests/a.py::test_b": "failed"},
    "AA-5-01": {"tests/a.py::test_c": "unreached"},
}


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    lines = [
        "AA-1-01\t1\tMUST\tboth\tx\tA | bar.",
        "AA-2-01\t2\tMUST\tboth\tx\tUse <id>.",
        "AA-3-01\t3\tMAY\tboth\ty\tC.",
        "AA-4-01\t4\tMAY\tboth\ty\tD.",
        "AA-5-01\t5\tMAY\tboth\ty\tE.",
    ]
    (tmp_path / "AA.tsv").write_text(HEADING + "\n".join(lines) + "\n")
    (tmp_path / "excluded.tsv").write_text("id\tneeds\treason\nAA-4-01\tSPX\tNo SPX.\n")
    return Catalogue.read(tmp_path)


def test_the_table_has_a_line_for_each_area_each_specification_and_all(
    catalogue: Catalogue,
) -> None:
    console = Console(width=100, file=None)
    with console.capture() as capture:
        console.print(terminal_table(catalogue, RESULTS, ["AA"]))
    assert [line.split() for line in capture.get().splitlines()] == [
        ["specification", "area", "rows", "tested", "passing", "unreached", "excluded", "%"],
        ["AA", "x", "2", "2", "1", "0", "0", "50.0"],
        ["AA", "y", "3", "1", "0", "1", "1", "0.0"],
        ["AA", "all", "5", "3", "1", "1", "1", "25.0"],
        ["all", "all", "5", "3", "1", "1", "1", "25.0"],
    ]


def test_json_has_the_figures_of_the_table(catalogue: Catalogue) -> None:
    lines = list(json_lines(catalogue, RESULTS, ["AA"]))
    assert [line["area"] for line in lines] == ["x", "y", "all"]
    assert lines[-1] == {
        "specification": "AA",
        "area": "all",
        "rows": 5,
        "tested": 3,
        "passing": 1,
        "unreached": 1,
        "excluded": 1,
        "percent": 25.0,
    }


def test_the_page_shows_each_row_with_its_state_and_tests(catalogue: Catalogue) -> None:
    lines = {
        line.split("</a>")[-1].split(" ")[0]: line
        for line in page(catalogue, RESULTS, "AA").splitlines()
    }
    assert lines["AA-1-01"].endswith(
        r"| MUST | both | A \| bar. | **passing**<br>`tests/a.py::test_a` (2 cases) |"
    )
    assert lines["AA-2-01"].endswith(r"| Use \<id>. | **failing**<br>`tests/a.py::test_b` |")
    assert lines["AA-3-01"].endswith("| C. | untested |")
    assert lines["AA-4-01"].endswith("| D. | excluded (SPX): No SPX. |")
    assert lines["AA-5-01"].endswith("| E. | **unreached**<br>`tests/a.py::test_c` |")


def test_the_readme_has_the_figures_and_the_exclusions(catalogue: Catalogue) -> None:
    text = readme(catalogue, RESULTS)
    assert "| [AA](AA.md) | x | 2 | 2 | 1 | 0 | 0 | 50.0 |\n" in text
    assert "| all |  | 5 | 3 | 1 | 1 | 1 | 25.0 |\n" in text
    assert "| AA-4-01 | SPX | No SPX. |\n" in text
