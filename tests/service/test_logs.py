"""Log lines: permanent ids, bounded and printable fields, text and JSON."""

import json
import logging
import re
from pathlib import Path

import pytest

from openmsmq.service import logs
from openmsmq.service.logs import (
    CLIENT_FAULT,
    LOGGER,
    MAX_FIELD_LENGTH,
    READY,
    JsonFormatter,
    LogEvent,
    TextFormatter,
    configure_logs,
    log_event,
    shorten,
)

EVENTS = [value for value in vars(logs).values() if isinstance(value, LogEvent)]


def test_every_event_has_an_id_of_its_own() -> None:
    ids = [event.id for event in EVENTS]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"M\d{4}", each) for each in ids)


def test_the_manual_lists_every_event() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text()
    for event in EVENTS:
        level = logging.getLevelName(event.level).lower()
        assert f"| {event.id} | {level} | {event.text} |" in page


def test_fields_are_printable_and_bounded() -> None:
    assert shorten("a\nb\x1b[31m") == "a\\nb\\x1b[31m"
    assert len(shorten("x" * 1000)) == MAX_FIELD_LENGTH
    assert shorten(5) == "5"


@pytest.fixture
def record(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    with caplog.at_level(logging.INFO, "openmsmq"):
        log_event(READY, name="ALPHA\n", count=3)
    return caplog.records[0]


def test_a_line_for_people(record: logging.LogRecord) -> None:
    line = TextFormatter().format(record)
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00 INFO     M0001 queue manager is ready "
        r"name=ALPHA\\n count=3",
        line,
    )


def test_a_line_for_programs(record: logging.LogRecord) -> None:
    entry = json.loads(JsonFormatter().format(record))
    assert entry.pop("time").endswith("+00:00")
    assert entry == {
        "level": "info",
        "event": "M0001",
        "text": "queue manager is ready",
        "name": "ALPHA\\n",
        "count": 3,
    }


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_a_fault_of_ours_comes_with_its_trace(
    caplog: pytest.LogCaptureFixture, formatter: logging.Formatter
) -> None:
    try:
        raise KeyError("inside")
    except KeyError as exc:
        log_event(CLIENT_FAULT, exception=exc, reason=exc)
    line = formatter.format(caplog.records[0])
    assert "KeyError: 'inside'" in line
    assert "test_logs.py" in line


def test_lines_of_other_loggers_have_no_event(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("openmsmq.other").warning("plain")
    assert TextFormatter().format(caplog.records[0]).endswith("WARNING  - plain")
    assert json.loads(JsonFormatter().format(caplog.records[0]))["event"] is None


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_goes_to_standard_error(capsys: pytest.CaptureFixture[str], form: str) -> None:
    before = (LOGGER.handlers[:], LOGGER.level, LOGGER.propagate)
    try:
        configure_logs("warning", form)
        log_event(READY)
        log_event(CLIENT_FAULT, reason="x")
    finally:
        LOGGER.handlers[:], LOGGER.level, LOGGER.propagate = before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "M0001" not in captured.err
    assert "M0022" in captured.err
    assert captured.err.startswith("{") is (form == "json")
