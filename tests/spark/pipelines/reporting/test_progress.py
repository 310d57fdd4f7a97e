"""The progress bar of pipelines, without Spark."""

import io
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from openmsmq.spark.pipelines.reporting import progress as module
from openmsmq.spark.pipelines.reporting.progress import progress, silent, tasks


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Tracker:
    """Two stages that run, of which one has just ended and is forgotten."""

    def getActiveStageIds(self) -> list[int]:  # noqa: N802 - Spark's name
        return [1, 2, 3]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802 - Spark's name
        if stage == 3:
            return None
        return SimpleNamespace(numTasks=10 * stage, numCompletedTasks=5 * stage)


def test_tasks_of_all_running_stages_are_counted() -> None:
    tracker: Any = Tracker()
    assert tasks(tracker) == (15, 30)


def test_nobody_is_told_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    nothing: Any = None
    with progress(nothing, "audit", 2) as step:
        assert step is silent
        step("reading")


def test_a_terminal_shows_steps_and_the_share_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(module, "_tracker", lambda _spark: Tracker())
    nothing: Any = None
    with progress(nothing, "audit", 2) as step:
        step("reading")
        step("counting")
        deadline = time.monotonic() + 30
        # One step of two is done, and half of the tasks of the other.
        while "75 %" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    shown = terminal.getvalue()
    assert "audit: counting" in shown
    assert "75 %" in shown
