"""Rates of sessions and clients."""

from array import array
from typing import Any

import pytest

from openmsmq.admin.picture import TRAFFIC, Picture
from openmsmq.admin.traffic import NAMES, WINDOW_SECONDS, TrafficRates

CLIENT = ("local", 7)


def counts(messages: int) -> dict[tuple[str, int], tuple[int, ...]]:
    return {CLIENT: (messages, 2 * messages, 100 * messages, 200 * messages)}


def incoming(rates: TrafficRates) -> float | None:
    return rates.of(CLIENT)["incoming_messages_per_second"]


def test_nothing_is_said_before_two_samples() -> None:
    rates = TrafficRates()
    assert incoming(rates) is None
    rates.add(counts(100), 50.0, complete=True)
    assert incoming(rates) is None


def test_rates_are_those_of_the_last_seconds() -> None:
    rates = TrafficRates()
    rates.add(counts(1_000), 50.0, complete=True)
    rates.add(counts(1_010), 51.0, complete=False)
    assert rates.of(CLIENT) == dict(zip(NAMES, (10, 20, 1_000, 2_000), strict=True))
    for second in range(52, 64):
        rates.add(counts(1_010), float(second), complete=False)
    assert incoming(rates) == 0


def test_a_window_is_long_enough_for_a_mean() -> None:
    rates = TrafficRates()
    rates.add(counts(0), 50.0, complete=True)
    for second in range(1, 40):
        rates.add(counts(100 * (second // 2)), 50.0 + second, complete=False)
        if second > 2 * WINDOW_SECONDS:
            assert incoming(rates) == pytest.approx(50, rel=0.25)


def test_a_client_that_came_meanwhile_has_a_rate_after_a_while() -> None:
    rates = TrafficRates()
    rates.add({}, 50.0, complete=True)
    for second in range(51, 60):
        rates.add(counts(10 * second), float(second), complete=False)
    assert incoming(rates) == pytest.approx(10)


def test_counts_that_begin_again_make_no_rate() -> None:
    rates = TrafficRates()
    rates.add(counts(1_000), 50.0, complete=True)
    rates.add(counts(5), 56.0, complete=False)
    assert incoming(rates) == 0
    rates.add(counts(10_000), 60.0, complete=True)
    assert incoming(rates) is None


def test_one_who_left_has_none() -> None:
    rates = TrafficRates()
    rates.add(counts(1), 50.0, complete=True)
    rates.add({}, 51.0, complete=False)
    assert incoming(rates) is None


def test_a_picture_has_the_counts_of_the_newest_sample() -> None:
    def part(protocol: str, *rows: tuple[int, ...]) -> dict[str, Any]:
        columns = zip(("number", *TRAFFIC), zip(*rows, strict=True), strict=True)
        packed = {name: array("Q", column).tobytes() for name, column in columns}
        return {"part": "traffic", "protocol": protocol, "columns": packed}

    picture = Picture()
    picture.take([part("local", (1, 2, 3, 4, 5), (2, 0, 0, 0, 0)), part("binary", (1, 6, 7, 8, 9))])
    assert picture.traffic == {
        ("local", 1): (2, 3, 4, 5),
        ("local", 2): (0, 0, 0, 0),
        ("binary", 1): (6, 7, 8, 9),
    }
    picture.take([])
    assert picture.traffic == {}
