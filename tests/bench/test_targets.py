"""Targets of the benchmark against other brokers."""

import pytest
from bench.targets import TARGETS, Target, verdict

RATE = Target("faster", "ours", ("slow", "fast"), 2)
TIME = Target("sooner", "ours", ("slow", "fast"), 1, at_least=False)
SIZE = Target("small", "ours MB", (), 150, at_least=False)


def test_a_rate_is_compared_with_the_fastest_of_the_others() -> None:
    result = verdict(RATE, {"ours": 30.0, "slow": 5.0, "fast": 10.0})
    assert (result.value, result.met) == (3.0, True)
    assert verdict(RATE, {"ours": 15.0, "slow": 5.0, "fast": 10.0}).met is False


def test_a_time_is_compared_with_the_shortest_of_the_others() -> None:
    result = verdict(TIME, {"ours": 3.0, "slow": 5.0, "fast": 2.0})
    assert (result.value, result.met) == (1.5, False)


def test_a_size_stands_for_itself() -> None:
    result = verdict(SIZE, {"ours MB": 150.0})
    assert (result.value, result.met, result.wanted) == (150.0, True, "≤ 150 MB")


@pytest.mark.parametrize("known", [{"ours": 1.0, "slow": 1.0}, {"slow": 1.0, "fast": 1.0}])
def test_what_was_not_measured_is_neither_met_nor_missed(known: dict[str, float]) -> None:
    result = verdict(RATE, known)
    assert (result.value, result.met, result.shown) == (None, None, "")


def test_names_of_targets_are_told_apart() -> None:
    assert len({target.name for target in TARGETS}) == len(TARGETS)
