"""UserCertCache: size, lifetime and timer."""

import pytest

from openmsmq.core.transfer.checks.user_cert_cache import (
    USER_CERT_CACHE_SIZE,
    USER_CERT_LIFETIME_SECONDS,
    UserCertCache,
)


@pytest.mark.spec("MQQB-3.1.3.1-04", "MQQB-3.1.5.8.3-08")
def test_the_oldest_half_makes_room_for_the_fifty_fourth() -> None:
    assert (USER_CERT_CACHE_SIZE, USER_CERT_LIFETIME_SECONDS) == (53, 1200.0)
    cache = UserCertCache()
    for number in reversed(range(53)):
        cache.add(b"sid", b"%d" % number, float(number))
    assert len(cache) == 53
    cache.add(b"sid", b"new", 100.0)
    assert len(cache) == 53 - 26 + 1
    assert (b"sid", b"25") not in cache
    assert (b"sid", b"26") in cache
    assert (b"sid", b"new") in cache


def test_a_certificate_is_known_with_its_own_sid_only() -> None:
    cache = UserCertCache()
    cache.add(b"alice", b"certificate", 1.0)
    assert (b"alice", b"certificate") in cache
    assert (b"mallory", b"certificate") not in cache
    assert (b"alice", b"certificatE") not in cache


@pytest.mark.spec("MQQB-3.1.5.8.3-09", "MQQB-3.1.6.13-01")
def test_the_timer_removes_what_is_too_old() -> None:
    cache = UserCertCache()
    assert cache.due is None
    cache.add(b"a", b"1", 100.0)
    cache.add(b"a", b"2", 700.0)
    assert cache.due == 1300.0
    cache.clean(1301.0)
    assert (b"a", b"1") not in cache
    assert (b"a", b"2") in cache
    # Lifetime and a minute, less the age of the oldest entry.
    assert cache.due == 1301.0 + 1200.0 + 60.0 - 601.0
    cache.clean(1960.0 + 60.0)
    assert len(cache) == 0
    assert cache.due is None
