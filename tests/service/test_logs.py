"""Log lines: permanent ids, bounded and printable fields, text and JSON."""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from openmsmq.server.config import Config
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
    plain,
    shorten,
)
from openmsmq.wire.errors import ConfigError

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
        configure_logs(Config.load(None, {"log_level": "warning", "log_format": form}))
        log_event(READY)
        log_event(CLIENT_FAULT, reason="x")
    finally:
        LOGGER.handlers[:], LOGGER.level, LOGGER.propagate = before
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "M0001" not in captured.err
    assert "M0022" in captured.err
    assert captured.err.startswith("{") is (form == "json")


@pytest.fixture
def _restored() -> Iterator[None]:
    before = (LOGGER.handlers[:], LOGGER.level, LOGGER.propagate)
    yield
    for handler in LOGGER.handlers:
        handler.close()
    LOGGER.handlers[:], LOGGER.level, LOGGER.propagate = before


@pytest.mark.usefixtures("_restored")
def test_a_log_file_is_opened_anew(tmp_path: Path) -> None:
    file = tmp_path / "qm.log"
    config = Config.load(None, {"log_file": file})
    configure_logs(config)
    log_event(READY)
    file.rename(tmp_path / "qm.log.1")
    log_event(CLIENT_FAULT, reason="still the old one")
    configure_logs(config)
    log_event(CLIENT_FAULT, reason="the new one")
    assert "still the old one" in (tmp_path / "qm.log.1").read_text()
    assert file.read_text().count("\n") == 1
    assert "the new one" in file.read_text()


@pytest.mark.usefixtures("_restored")
def test_a_log_file_that_cannot_be_opened_leaves_the_log_where_it_is(tmp_path: Path) -> None:
    configure_logs(Config.load(None, {"log_file": tmp_path / "qm.log"}))
    with pytest.raises(ConfigError, match=r"log_file: .*No such file or directory"):
        configure_logs(Config.load(None, {"log_file": tmp_path / "none" / "qm.log"}))
    log_event(READY)
    assert "M0001" in (tmp_path / "qm.log").read_text()


def test_guids_are_spelt_as_everywhere_else() -> None:
    guid = UUID("6af2cb82-0000-4000-8000-00000000000a")
    assert shorten(guid) == "{6AF2CB82-0000-4000-8000-00000000000A}"
    assert plain(guid) == "{6AF2CB82-0000-4000-8000-00000000000A}"
