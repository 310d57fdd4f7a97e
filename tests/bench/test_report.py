"""Tables on a page."""

from pathlib import Path

import pytest
from bench.report import PAGE, markdown, write_tables
from rich.table import Table


def table() -> Table:
    made = Table("name", "value", title="Figures", caption="* noisy")
    made.add_row("express", "[green]1.50")
    return made


def test_a_table_becomes_markdown_without_colours() -> None:
    expected = "Figures:\n\n| name | value |\n| --- | --- |\n| express | 1.50 |\n\n\\* noisy\n"
    assert markdown(table()) == expected


def test_tables_take_the_place_of_those_of_the_last_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- x: begin -->\nold\n<!-- x: end -->\nrest\n")
    for _ in range(2):
        write_tables("x", [table()], page)
    shown = f"\n{markdown(table())}\n"
    assert page.read_text() == f"# Page\n<!-- x: begin -->\n{shown}<!-- x: end -->\nrest\n"


def test_a_page_without_a_place_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n")
    with pytest.raises(ValueError, match="no place for x"):
        write_tables("x", [table()], page)
    assert page.read_text() == "# Page\n"


@pytest.mark.parametrize("name", ["brokers", "transfer", "processor-time"])
def test_the_page_of_figures_has_a_place_for_each_benchmark(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert 0 < text.index(f"<!-- {name}: begin -->") < text.index(f"<!-- {name}: end -->")
