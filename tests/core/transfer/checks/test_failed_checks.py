"""How many checks of an address may fail in a minute."""

from openmsmq.core.transfer.checks.failed_checks import (
    MAX_ADDRESSES,
    WINDOW_SECONDS,
    FailedChecks,
)

PEER = "10.0.0.9"


def test_an_address_may_fail_as_often_as_the_limit_says() -> None:
    checks = FailedChecks(3)
    checks.add(PEER, 3, 10.0)
    assert not checks.exceeded(PEER, 10.0)
    checks.add(PEER, 1, 10.0)
    assert checks.exceeded(PEER, 10.0)
    assert not checks.exceeded("10.0.0.8", 10.0)


def test_each_failure_counts_for_a_minute() -> None:
    checks = FailedChecks(1)
    for now in (0.0, 30.0, 59.0):
        checks.add(PEER, 1, now)
    assert checks.exceeded(PEER, WINDOW_SECONDS + 29.0)
    # Only the last one is younger than a minute.
    assert not checks.exceeded(PEER, WINDOW_SECONDS + 30.0)
    checks.add(PEER, 1, WINDOW_SECONDS + 30.0)
    assert checks.exceeded(PEER, WINDOW_SECONDS + 30.0)


def test_a_flood_of_failures_is_forgotten_after_a_minute() -> None:
    checks = FailedChecks(2)
    checks.add(PEER, 1_000_000, 0.0)
    assert checks.exceeded(PEER, WINDOW_SECONDS - 1.0)
    assert not checks.exceeded(PEER, WINDOW_SECONDS)


def test_the_address_that_failed_first_is_forgotten_for_another() -> None:
    checks = FailedChecks(0)
    for number in range(MAX_ADDRESSES + 1):
        checks.add(str(number), 1, 0.0)
    assert not checks.exceeded("0", 0.0)
    assert checks.exceeded("1", 0.0)
    assert checks.exceeded(str(MAX_ADDRESSES), 0.0)
