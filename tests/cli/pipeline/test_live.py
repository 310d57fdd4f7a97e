"""Summaries that change, on a terminal."""

import io
import re
import sys

import pytest
from rich.console import Console

from openmsmq.cli.pipeline.live import live_summaries, screen
from openmsmq.spark.pipelines.reporting.summary import Column, Kind, Summary, Table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def summary(read: int) -> Summary:
    columns = (Column("state", "State"), Column("messages", "Messages", Kind.COUNT))
    rows = (("read", read), ("in doubt", 0), ("duplicate", 1))
    states = Table("states", "What became of the messages", columns, rows, adds_up=True)
    reasons = Table("reasons", "Reasons", columns, rows)
    outputs = (("Report", "report.html"),)
    return Summary("audit", f"{read} were read", tables=(states, reasons), outputs=outputs)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_screen_has_the_headline_and_the_states_that_there_are() -> None:
    shown = plain(screen(summary(4), Console(width=80)))
    assert "4 were read" in shown
    assert re.findall(r"^ *(read|in doubt|duplicate|Total) +(\d+)", shown, re.MULTILINE) == [
        ("read", "4"),
        ("duplicate", "1"),
        ("Total", "5"),
    ]
    assert shown.endswith("Ctrl-C ends it.")
    assert "Reasons" not in shown
    assert "report.html" not in shown


def test_a_terminal_shows_each_summary_in_the_place_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with live_summaries(as_json=False) as tell:
        tell(summary(1))
        tell(summary(2))
    written = terminal.getvalue()
    assert "Reading what is there" in plain(written)
    assert plain(written).index("1 were read") < plain(written).index("2 were read")
    # The lines of the first one are gone over, those of the last are deleted.
    assert written.count("\x1b[1A\x1b[2K") >= 10
