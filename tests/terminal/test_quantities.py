"""Numbers, sizes and times for people."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from openmsmq.terminal.quantities import count_text, duration_text, size_text, time_text


@pytest.mark.parametrize(
    ("count", "word", "text"),
    [
        (0, "", "0"),
        (1204, "", "1,204"),
        (1, "message", "1 message"),
        (0, "message", "0 messages"),
        (1204, "message", "1,204 messages"),
    ],
)
def test_counts(count: int, word: str, text: str) -> None:
    assert count_text(count, word) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (5 << 20, "5.0 MiB"),
        (3 << 40, "3.0 TiB"),
        (3 << 50, "3072.0 TiB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0, "0.0 s"),
        (0.25, "0.2 s"),
        (42.4, "42 s"),
        (60, "1 min"),
        (83, "1 min 23 s"),
        (3600, "1 h"),
        (3660, "1 h 1 min"),
        (86400 * 3 + 7200 + 59, "3 d 2 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text


def test_times_are_in_utc() -> None:
    moment = datetime(2024, 2, 29, 12, 0, 0, 999, tzinfo=timezone(timedelta(hours=2)))
    assert time_text(moment) == "2024-02-29 10:00:00 UTC"
    assert time_text(datetime(2024, 1, 1, tzinfo=UTC)) == "2024-01-01 00:00:00 UTC"
