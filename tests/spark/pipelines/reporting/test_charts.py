"""Charts of a report: what is on their axes."""

import re
from datetime import UTC, datetime, timedelta

from openmsmq.spark.pipelines.reporting.charts import draw
from openmsmq.spark.pipelines.reporting.report import report_html
from openmsmq.spark.pipelines.reporting.summary import Bars, Column, Lines, Summary, Table

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def ticks(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg)


def test_a_moment_alone_stands_among_seconds() -> None:
    shown = ticks(draw(Lines("Depth", {"orders": [(NOON, 5.0)]}), 0))
    assert not [text for text in shown if re.fullmatch(r"20\d\d|Jul|Jan", text)]
    # As 11:59:50, or 50 beside the time of the whole.
    assert "12:00" in shown or "12:00:00" in shown


def test_longer_times_have_the_span_of_their_points() -> None:
    points = [(NOON + timedelta(minutes=minute), 1.0) for minute in range(0, 60, 10)]
    shown = ticks(draw(Lines("Depth", {"orders": points}), 0))
    assert {"12:00", "12:30"} <= set(shown)


def test_texts_of_others_are_drawn_without_a_word_from_the_fonts() -> None:
    label = "注文\x1b[31m\x00"
    for chart in (
        Bars("Bars", (label,), (1.0,)),
        Lines("Lines", {label: [(NOON, 1.0), (NOON + timedelta(hours=1), 2.0)]}),
    ):
        svg = draw(chart, 0)
        assert r"注文\x1b[31m\x00" in ticks(svg)
        assert "\x1b" not in svg


def test_long_names_in_tables_break_between_their_words() -> None:
    rows = (("(MQMSG_CLASS_NACK_Q)", "<b>", "a - b"),)
    columns = tuple(Column(name, name) for name in ("reason", "text", "plain"))
    page = report_html(Summary("audit", "All well", tables=(Table("t", "T", columns, rows),)), NOON)
    assert "(MQMSG_<wbr/>CLASS_<wbr/>NACK_<wbr/>Q)" in page
    assert ">&lt;b&gt;<" in page
    assert ">a - b<" in page
    path = (("/data/in/file.pcap", r".\private$\orders;journal", "a: b"),)
    page = report_html(Summary("x", "x", tables=(Table("t", "T", columns, path),)), NOON)
    assert ">/data/<wbr/>in/<wbr/>file.pcap<" in page
    assert r">.\private$\<wbr/>orders;<wbr/>journal<" in page
    assert ">a: b<" in page


def test_what_is_empty_is_not_drawn_and_has_no_notes() -> None:
    table = Table("t", "T", (Column("a", "A"),), (), note="Their rows are elsewhere.")
    charts = (Bars("Bars", (), ()), Lines("Lines", {}), Lines("Quiet", {"orders": []}))
    page = report_html(Summary("audit", "All well", tables=(table,), charts=charts), NOON)
    assert "<svg" not in page
    assert "None." in page
    assert "elsewhere" not in page
