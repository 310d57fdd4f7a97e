"""What pipelines tell, without Spark."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from openmsmq.spark.pipelines.summary import (
    SHOWN_ROWS,
    Column,
    Kind,
    Summary,
    Table,
    Value,
    span_text,
    value_text,
)

TIME = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATES = Table(
    "states",
    "States",
    (Column("state", "State"), Column("messages", "Messages", Kind.COUNT)),
    (("read", 1200), ("[bold]rejected\x1b", 34)),
    adds_up=True,
    note="Each once.",
)
SUMMARY = Summary(
    "audit",
    "34 need attention.",
    facts=((Column("sends", "Sent", Kind.COUNT), 1234), (Column("last", "Last", Kind.TIME), TIME)),
    tables=(STATES,),
    warnings=("Clocks differ.",),
    outputs=(("Report", "/tmp/report.html"),),  # noqa: S108 - only shown
)


def shown(summary: Summary) -> str:
    file = io.StringIO()
    summary.show(Console(file=file, width=100))
    return file.getvalue()


def test_people_see_headline_notes_facts_rows_sums_and_paths() -> None:
    text = shown(SUMMARY)
    for part in (
        *("34 need attention.", "Note: Clocks differ.", "1,234", "2026-03-01 12:00:00 UTC"),
        *("read", "1,200", "Each once.", "Report  /tmp/report.html"),
    ):
        assert part in text
    (total,) = [line.split() for line in text.splitlines() if "Total" in line]
    assert total == ["Total", "1,234"]


def test_text_of_others_is_neither_markup_nor_a_control_character() -> None:
    assert r"[bold]rejected\x1b" in shown(SUMMARY)


def test_long_tables_are_cut_for_people_and_say_so() -> None:
    rows = tuple((f"row {number}", number) for number in range(SHOWN_ROWS + 3))
    table = Table("t", "T", STATES.columns, rows)
    text = shown(Summary("x", "x", tables=(table,)))
    assert f"row {SHOWN_ROWS - 1}" in text
    assert f"row {SHOWN_ROWS} " not in text
    assert "3 more rows in the report" in text
    assert len(list(Summary("x", "x", tables=(table,)).objects())) == 1 + len(rows)


def test_programs_get_facts_first_and_then_each_row() -> None:
    first, *rows = SUMMARY.objects()
    assert first == {
        "pipeline": "audit",
        "headline": "34 need attention.",
        "sends": 1234,
        "last": "2026-03-01T12:00:00+00:00",
        "warnings": ["Clocks differ."],
        "outputs": {"Report": "/tmp/report.html"},  # noqa: S108 - only shown
    }
    assert rows[0] == {"table": "states", "state": "read", "messages": 1200}
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, Kind.COUNT, "-"),
        (1234567, Kind.COUNT, "1,234,567"),
        (2048, Kind.BYTES, "2.0 KiB"),
        (0.125, Kind.SHARE, "12.5%"),
        (0.0042, Kind.SECONDS, "4 ms"),
        (2.5, Kind.COUNT, "2.50"),
        (1234, Kind.NUMBER, "1,234"),
        (True, Kind.TEXT, "yes"),
        (False, Kind.TEXT, "no"),
        (TIME.replace(tzinfo=None), Kind.TIME, "2026-03-01 12:00:00 UTC"),
    ],
)
def test_values_are_shown_as_people_read_them(value: Value, kind: Kind, text: str) -> None:
    assert value_text(value, kind) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0000004, "< 1 ms"),
        (0.25, "250 ms"),
        (-0.25, "-250 ms"),
        (1.239, "1.24 s"),
        (75, "1 min 15 s"),
        (-75, "-1 min 15 s"),
    ],
)
def test_time_spans_have_few_digits_and_keep_their_sign(seconds: float, text: str) -> None:
    assert span_text(seconds) == text
