"""The HTML report, without Spark."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

from openmsmq.spark.pipelines.reporting.report import SHOWN_ROWS, report_html, write_report
from openmsmq.spark.pipelines.reporting.summary import (
    Bars,
    Column,
    Kind,
    Lines,
    Summary,
    Table,
    Tone,
)

TIME = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVIL = '<script>alert("1")</script>'
COLUMNS = (Column("state", "State"), Column("messages", "Messages", Kind.COUNT))
SUMMARY = Summary(
    "audit",
    f"All is well {EVIL}",
    facts=((Column("sends", "Sent", Kind.COUNT), 1234),),
    tables=(Table("states", "States", COLUMNS, (("read", 1200), (EVIL, 34)), adds_up=True),),
    charts=(
        Bars("Bars", (r"DIRECT=OS:.\private$\a$", EVIL), (1, 2), tones=(Tone.GOOD, Tone.BAD)),
        Bars("More bars", ("a" * 80, "b"), (1, 2)),
        Lines("Lines", {"a": [(TIME, 1.0), (TIME + timedelta(hours=1), 5.0)]}, steps=True),
        Lines("No lines", {}),
    ),
    warnings=(EVIL,),
    outputs=(("Tables", EVIL),),
)


class Page(HTMLParser):
    """Collects what a page has, and whether every element is closed."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href"):
                self.links.append(value or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = report_html(SUMMARY, TIME)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert all(link.startswith("#") for link in page.links)
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\((?!#)", text)
    # One has nothing to show, and is left out.
    assert page.tags.count("svg") == 3


def test_a_chart_of_one_number_is_left_out() -> None:
    charts = (
        Bars("One bar", ("a",), (1,)),
        Lines("One point each", {"a": [(TIME, 1.0)], "b": [(TIME, 2.0)]}),
    )
    page = Page(report_html(Summary("latency", "x", charts=charts), TIME))
    assert "svg" not in page.tags
    assert "One bar" not in "".join(page.words)


def test_what_people_type_is_code_without_backticks() -> None:
    columns = (Column("action", "What to do", Kind.PROSE),)
    table = Table(
        "t", "T", columns, (("Look at `openmsmq outgoing`.",), ("a ` alone",)), note="`x`"
    )
    text = report_html(Summary("triage", "x", tables=(table,), warnings=("`y<z>`",)), TIME)
    assert "Look at <code>openmsmq outgoing</code>." in text
    assert "<code>x</code>" in text
    assert "<code>y&lt;z&gt;</code>" in text
    assert "a ` alone" in text


def test_the_page_says_what_was_read_and_how() -> None:
    inputs = (("Queue manager", f"ALPHA {EVIL}"), ("Command", "`openmsmq pipeline triage`"))
    text = report_html(Summary("triage", "x", inputs=inputs), TIME)
    words = "".join(Page(text).words)
    assert f"ALPHA {EVIL}" in words
    assert "<code>openmsmq pipeline triage</code>" in text
    assert 'class="inputs"' not in report_html(Summary("triage", "x"), TIME)


def test_words_are_broken_only_where_a_line_has_no_room() -> None:
    """`anywhere` lets a column become as narrow as a letter, beside empty space."""
    assert "overflow-wrap: anywhere" not in report_html(SUMMARY, TIME)


def test_ids_of_charts_do_not_meet() -> None:
    page = Page(report_html(SUMMARY, TIME))
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_text_of_others_stays_text() -> None:
    text = report_html(SUMMARY, TIME)
    assert "<script" not in text
    assert "".join(Page(text).words).count(EVIL) >= 5


def test_labels_of_charts_keep_their_dollars() -> None:
    assert r"DIRECT=OS:.\private$\a$" in "".join(Page(report_html(SUMMARY, TIME)).words)


def test_the_last_line_of_a_table_adds_up() -> None:
    text = report_html(SUMMARY, TIME)
    foot = re.search(r"<tfoot>(.*?)</tfoot>", text, re.DOTALL)
    assert foot
    assert re.findall(r">([^<]+)<", foot[1]) == ["Total", "1,234"]


def test_the_same_summary_gives_the_same_page() -> None:
    assert report_html(SUMMARY, TIME) == report_html(SUMMARY, TIME)


def test_long_tables_are_cut_and_empty_ones_say_so() -> None:
    rows = tuple((f"row {number}", 1) for number in range(SHOWN_ROWS + 1200))
    tables = (Table("a", "A", COLUMNS, rows), Table("b", "B", COLUMNS, (), adds_up=True))
    text = report_html(Summary("x", "x", tables=tables), TIME)
    assert f"row {SHOWN_ROWS}<" not in text
    assert "1,200 more rows are in the tables." in text
    assert "None." in text


def test_the_file_is_written_whole_into_a_new_folder(tmp_path: Path) -> None:
    path = write_report(tmp_path / "new" / "report.html", SUMMARY)
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert [each.name for each in path.parent.iterdir()] == ["report.html"]
