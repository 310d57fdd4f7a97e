"""What failed logons cost an address."""

import pytest

from openmsmq.security.logon_limiter import (
    FREE_FAILURES,
    LEAK_SECONDS,
    MAX_INTERVAL_SECONDS,
    MAX_WAIT_SECONDS,
    LogonLimiter,
    interval,
    source,
)

HERE, THERE = "192.0.2.1", "192.0.2.2"


def failing(limiter: LogonLimiter, times: int, *, now: float = 0.0) -> None:
    for _ in range(times):
        limiter.failed(HERE, now=now)


def test_an_unknown_address_does_not_wait() -> None:
    limiter = LogonLimiter()
    assert limiter.reserve(HERE, now=0.0) == 0.0
    assert len(limiter) == 0


def test_a_few_mistakes_cost_nothing() -> None:
    limiter = LogonLimiter()
    failing(limiter, FREE_FAILURES - 1)
    assert [limiter.reserve(HERE, now=0.0) for _ in range(3)] == [0.0] * 3


def test_each_further_failure_doubles_the_wait_up_to_a_limit() -> None:
    limiter = LogonLimiter()
    failing(limiter, FREE_FAILURES - 1)
    waits = []
    for _ in range(7):
        failing(limiter, 1)
        waits.append(interval(limiter._failures[HERE].count))
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert MAX_INTERVAL_SECONDS == 8.0


def test_logons_at_the_same_time_get_one_place_each() -> None:
    limiter = LogonLimiter()
    failing(limiter, FREE_FAILURES + 4)
    assert [limiter.reserve(HERE, now=0.0) for _ in range(5)] == [8.0, 16.0, 24.0, None, None]
    assert MAX_WAIT_SECONDS == 30.0


def test_other_addresses_do_not_wait() -> None:
    limiter = LogonLimiter()
    failing(limiter, 20)
    assert limiter.reserve(THERE, now=0.0) == 0.0


def test_failures_are_forgotten_one_by_one() -> None:
    limiter = LogonLimiter()
    failing(limiter, FREE_FAILURES + 1)
    assert limiter.reserve(HERE, now=0.0) == 1.0
    assert limiter.reserve(HERE, now=3 * LEAK_SECONDS) == 0.0
    assert limiter.reserve(HERE, now=3 * LEAK_SECONDS) == 0.0
    limiter.forget(now=4 * LEAK_SECONDS)
    assert len(limiter) == 1
    limiter.forget(now=6 * LEAK_SECONDS)
    assert len(limiter) == 0


def test_failures_without_end_are_forgotten_within_minutes() -> None:
    limiter = LogonLimiter()
    failing(limiter, 10_000)
    assert limiter.failed(HERE, now=0.0) == 20
    limiter.forget(now=20 * LEAK_SECONDS)
    assert len(limiter) == 0


def test_the_number_of_addresses_has_a_limit() -> None:
    limiter = LogonLimiter(max_addresses=3)
    for number in range(10):
        limiter.failed(f"192.0.2.{number}", now=float(number))
    assert len(limiter) == 3
    assert limiter.failed("192.0.2.9", now=9.0) == 2


def test_a_new_failure_keeps_an_address_longer() -> None:
    limiter = LogonLimiter(max_addresses=2)
    for address in (HERE, THERE, HERE, "192.0.2.3"):
        limiter.failed(address, now=0.0)
    assert limiter.failed(HERE, now=0.0) == 3
    assert limiter.failed(THERE, now=0.0) == 1


@pytest.mark.parametrize(
    ("address", "counts_as"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("a socket", "a socket"),
    ],
)
def test_a_network_of_ipv6_counts_as_one_address(address: str, counts_as: str) -> None:
    assert source(address) == counts_as
