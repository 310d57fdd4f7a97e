"""Tables, properties and JSON."""

import json
import re
from itertools import pairwise

import pytest

from openmsmq.cli.output import (
    Column,
    cut,
    json_line,
    print_properties,
    print_table,
    screen_width,
    table_lines,
    text_width,
)

COLUMNS = (
    Column("Queue", cut=True),
    Column("Messages", right=True),
    Column("Size", right=True, optional=True),
    Column("Label", cut=True, optional=True),
)
ROWS = [("orders", "12", "1.0 KiB", "incoming"), ("a", "1,204", "3 B", "")]


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[\d+m", "", line) for line in lines]


def test_numbers_end_and_words_begin_at_the_same_place() -> None:
    assert plain(table_lines(COLUMNS, ROWS, None)) == [
        "Queue   Messages     Size  Label",
        "orders        12  1.0 KiB  incoming",
        "a          1,204      3 B",
    ]


def test_titles_are_bold_and_rows_are_not() -> None:
    title, *rows = table_lines(COLUMNS, ROWS, None)
    assert title != plain([title])[0]
    assert rows == plain(rows)


def test_a_table_without_rows_has_its_titles() -> None:
    assert plain(table_lines(COLUMNS, [], None)) == ["Queue  Messages  Size  Label"]


def test_optional_columns_go_from_the_right_where_there_is_no_room() -> None:
    rows = [("q" * 30, "1", "1 B", "l" * 30)]
    shown = [plain(table_lines(COLUMNS, rows, width))[0].split() for width in (80, 50, 35, 20)]
    assert shown == [
        ["Queue", "Messages", "Size", "Label"],
        ["Queue", "Messages", "Size"],
        ["Queue", "Messages"],
        ["Queue", "Messages"],
    ]


def test_no_line_is_longer_than_the_terminal() -> None:
    rows = [("q" * 60, "1", "1 B", "世" * 40), ("orders", "1,000,000", "1 B", "label")]
    for width in range(20, 120):
        lines = plain(table_lines(COLUMNS, rows, width))
        assert max(map(text_width, lines)) <= width


def test_a_wider_terminal_shows_at_least_as_much() -> None:
    rows = [("q" * 60, "1", "1 B", "l" * 40)]
    widths = [len(plain(table_lines(COLUMNS, rows, width))[1]) for width in range(40, 140)]
    assert all(small <= large for small, large in pairwise(widths))


def test_columns_that_may_not_be_cut_stay_whole_on_the_smallest_terminal() -> None:
    lines = plain(table_lines((Column("Name"),), [("x" * 100,)], 20))
    assert lines[1] == "x" * 100


def test_cells_cannot_move_the_cursor() -> None:
    assert plain(table_lines((Column("Name"),), [("a\x1b[2J\nb",)], None))[1] == "a\\x1b[2J\\nb"


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("世界", 4), ("e\u0301", 1), ("größe", 5), ("", 0)]
)
def test_text_takes_as_many_places_as_on_a_terminal(text: str, width: int) -> None:
    assert text_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("世界世界", 6, "世界…"), ("世界", 3, "世…")],
)
def test_long_text_is_cut_with_a_mark(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


def test_json_is_one_line_of_utf8() -> None:
    line = json_line({"body": "größe\n世界", "none": None})
    assert line == '{"body": "größe\\n世界", "none": null}\n'.encode()


def test_text_that_is_no_unicode_is_escaped_in_json() -> None:
    line = json_line({"body": "a\ud800b"})
    assert json.loads(line.decode("utf-8")) == {"body": "a\ud800b"}


def test_properties_show_what_hides_or_turns_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_properties([("Name", "a\u202eb\x9b31m\nmore\x1b[31m")])
    assert capsys.readouterr().out == "Name  a\\u202eb\\x9b31m\n      more\\x1b[31m\n"


def test_values_with_several_lines_stay_in_their_column(capsys: pytest.CaptureFixture[str]) -> None:
    print_properties([("Name", "a"), ("Endpoints", "one\ntwo"), ("Empty", "")])
    assert capsys.readouterr().out == "Name       a\nEndpoints  one\n           two\nEmpty\n"


def test_tables_are_as_wide_as_they_are_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table((Column("Name", cut=True),), [("x" * 300,)])
    assert capsys.readouterr().out == f"Name\n{'x' * 300}\n"


def test_the_variable_columns_counts_as_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert screen_width() is None
    monkeypatch.setenv("COLUMNS", "30")
    assert screen_width() == 30
    print_table((Column("Name", cut=True),), [("x" * 300,)])
    assert capsys.readouterr().out.splitlines()[1] == "x" * 29 + "…"
