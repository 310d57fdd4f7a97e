"""What pipelines tell, without Spark."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console
from tests.spark.pipelines.zones import TOKYO, machine_in

from openmsmq.spark.pipelines.reporting.summary import (
    SHOWN_ROWS,
    Column,
    Kind,
    Summary,
    Table,
    Value,
    json_value,
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


def shown(summary: Summary, width: int = 100) -> str:
    file = io.StringIO()
    summary.show(Console(file=file, width=width))
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


def test_moments_without_a_zone_are_those_of_this_machine() -> None:
    local = datetime(2026, 3, 1, 21)  # noqa: DTZ001 - as Spark hands it out
    with machine_in(TOKYO):
        assert value_text(local, Kind.TIME) == "2026-03-01 12:00:00 UTC"
        assert json_value(local) == "2026-03-01T12:00:00+00:00"


def test_sentences_stand_below_the_table_and_no_word_is_broken() -> None:
    columns = (
        Column("reason", "Reason"),
        Column("messages", "Messages", Kind.COUNT),
        Column("oldest", "Oldest", Kind.SECONDS),
        Column("cause", "Likely cause", Kind.PROSE),
        Column("replay", "Then send again", Kind.PROSE),
    )
    cause = "No application received the message within its time, and nobody has asked for it."
    table = Table("t", "T", columns, (("too late", 1234, 75, cause, True),), adds_up=True)
    text = shown(Summary("x", "x", tables=(table,)), width=60)
    assert cause in " ".join(text.split())
    assert "  Then send again: yes\n" in "\n".join(map(str.rstrip, text.splitlines())) + "\n"
    assert all(len(line) <= 60 for line in text.splitlines())
    (row,) = [line.split() for line in text.splitlines() if "1 min" in line]
    assert row == ["too", "late", "1,234", "1", "min", "15", "s"]
    _, found = Summary("x", "x", tables=(table,)).objects()
    assert (found["cause"], found["replay"]) == (cause, True)


def test_a_table_of_too_many_columns_is_shown_row_by_row() -> None:
    names = ("read", "arrived unread", "out of order", "expired in transit", "dead-lettered")
    columns = (
        Column("destination", "Destination"),
        *(Column(name, name.capitalize(), Kind.COUNT) for name in names),
    )
    rows: tuple[tuple[Value, ...], ...] = (
        (r"DIRECT=OS:beta\private$\orders", *(10_000 + number for number in range(5))),
    )
    summary = Summary("x", "x", tables=(Table("t", "T", columns, rows, adds_up=True),))
    text = shown(summary, width=60)
    assert "DIRECT=OS:beta\\private$\\orders\n" in text
    for number, name in enumerate(names):
        assert f"{name.capitalize()} {10_000 + number:,}" in text
    assert "Total\n" in text
    assert all(len(line) <= 60 for line in text.splitlines())
    # Side by side where there is room.
    (total,) = [line for line in shown(summary).splitlines() if "Total" in line]
    assert total.split() == ["Total", *(f"{10_000 + number:,}" for number in range(5))]


def test_long_tables_are_cut_for_people_and_say_so() -> None:
    rows = tuple((f"row {number}", number) for number in range(SHOWN_ROWS + 3))
    table = Table("t", "T", STATES.columns, rows)
    text = shown(Summary("x", "x", tables=(table,)))
    assert f"row {SHOWN_ROWS - 1}" in text
    assert f"row {SHOWN_ROWS} " not in text
    assert "3 more rows in the report" in text
    assert len(list(Summary("x", "x", tables=(table,)).objects())) == 1 + len(rows)


def test_a_table_may_show_fewer_rows_to_people() -> None:
    table = Table("t", "T", (Column("a", "A"),), (("one",), ("two",), ("three",)), shown=2)
    text = shown(Summary("x", "x", tables=(table,)))
    assert "two" in text
    assert "three" not in text
    assert "1 more row in the report" in text


def test_programs_get_facts_first_and_then_each_row() -> None:
    first, *rows = SUMMARY.objects()
    assert first == {
        "pipeline": "audit",
        "headline": "34 need attention.",
        "sends": 1234,
        "last": "2026-03-01T12:00:00+00:00",
        "warnings": ["Clocks differ."],
        "outputs": {"Report": "/tmp/report.html"},  # noqa: S108 - only shown
        "inputs": {},
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
        (TIME, Kind.TIME, "2026-03-01 12:00:00 UTC"),
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
