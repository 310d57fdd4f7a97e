"""Progress bars."""

import io
from contextlib import redirect_stderr

import pytest

from openmsmq.terminal import progress as module
from openmsmq.terminal.progress import progress


class Screen(io.StringIO):
    """A terminal that remembers what was on it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Screen()


def test_what_is_quick_shows_nothing(screen: Screen) -> None:
    with redirect_stderr(screen), progress("sending", 10) as update:
        for number in range(10):
            update(number)
    assert screen.getvalue() == ""


def test_what_takes_long_shows_how_far_it_is(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    with redirect_stderr(screen), progress("sending", 10) as update:
        update(3)
    assert "sending" in screen.getvalue()
    assert "3/10" in screen.getvalue()


def test_bytes_are_counted_in_units(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    with redirect_stderr(screen), progress("restoring", None, in_bytes=True) as update:
        update(500_000, 2_000_000)
    assert "0.5/2.0 MB" in screen.getvalue()


def test_the_clock_starts_with_the_work(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([100.0, 100.5, 101.5])
    monkeypatch.setattr("openmsmq.terminal.progress.time.monotonic", lambda: next(times))
    with redirect_stderr(screen), progress("sending", 10) as update:
        update(1)
        update(2)
        assert screen.getvalue() == ""
        monkeypatch.undo()


def test_without_a_terminal_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.0)
    with progress("sending", 10) as update:
        update(5)
        update(5, 10)
    assert capsys.readouterr().err == ""
