"""Session keys are kept for a while, and not too many of them."""

from typing import Any

import pytest

from openmsmq.security.encryption.key_cache import KeyCache
from openmsmq.security.encryption.settings import (
    SYMMETRIC_KEY_LONG_LIFETIME,
    SYMMETRIC_KEY_SHORT_LIFETIME,
    EncryptionSettings,
)
from openmsmq.wire.codes.algorithms import EncryptionAlgorithm


@pytest.mark.spec("MQQB-3.1.3.1-05", "MQQB-3.1.3.1-06", "MQQB-3.1.3.1-07")
def test_sizes_and_lifetimes() -> None:
    settings = EncryptionSettings()
    assert settings.receive_symmetric_key_cache_size == 127
    assert settings.send_symmetric_key_cache_size == 53
    assert settings.send_key_lifetime == settings.receive_key_lifetime == 600.0
    assert (SYMMETRIC_KEY_SHORT_LIFETIME, SYMMETRIC_KEY_LONG_LIFETIME) == (600.0, 43_200.0)


@pytest.mark.spec("MQQB-3.1.3.1-08", "MQQB-3.1.3.1-09")
def test_algorithms() -> None:
    settings = EncryptionSettings()
    assert settings.preferred_advanced_algorithm == 0x6610
    assert settings.preferred_enhanced_algorithm == 0x6801
    assert settings.preferred_base_algorithm == 0x6801
    assert not settings.send_enhanced_rc2_using_40_bit_keys
    assert not settings.reject_enhanced_rc2_using_40_bit_keys


@pytest.mark.spec("MQQB-3.1.1.3-03")
@pytest.mark.parametrize("algorithm", list(EncryptionAlgorithm))
def test_a_preferred_algorithm_is_one_of_its_provider(algorithm: EncryptionAlgorithm) -> None:
    is_aes = algorithm.name.startswith("AES")
    for name, fits in (
        ("preferred_advanced_algorithm", is_aes),
        ("preferred_enhanced_algorithm", not is_aes),
        ("preferred_base_algorithm", not is_aes),
    ):
        options: dict[str, Any] = {name: algorithm}
        if fits:
            assert getattr(EncryptionSettings(**options), name) is algorithm
        else:
            with pytest.raises(ValueError, match="must be one of"):
                EncryptionSettings(**options)


@pytest.mark.parametrize("size", [53, 127])
@pytest.mark.spec("MQQB-3.1.5.8.3-16", "MQQB-3.1.7.1.5-12")
def test_a_full_cache_gives_up_its_older_half(size: int) -> None:
    cache: KeyCache[int, int] = KeyCache(size, 600.0)
    for number in range(size):
        cache.add(number, number, now=float(number))
    assert len(cache) == size
    cache.add(size, size, now=float(size))
    assert len(cache) == size - size // 2 + 1
    kept = [number for number in range(size + 1) if cache.find(number, now=100.0) is not None]
    assert kept == list(range(size // 2, size + 1))


@pytest.mark.spec("MQQB-3.1.6.10-01", "MQQB-3.1.6.11-01", "MQQB-3.1.6.12-01")
def test_the_timer_removes_old_keys_and_waits_for_the_oldest_that_is_left() -> None:
    cache: KeyCache[str, int] = KeyCache(53, 600.0)
    assert cache.timer is None
    cache.add("a", 1, now=1000.0)
    cache.add("b", 2, now=1400.0)
    assert cache.timer == 1600.0
    assert cache.find("a", now=1599.0) == 1
    assert cache.find("a", now=1600.0) is None
    cache.clean(now=1600.0)
    assert len(cache) == 1
    # Lifetime and one minute, less the age of the oldest: 600 + 60 - 200.
    assert cache.timer == 1600.0 + 460.0
    cache.clean(now=2060.0)
    assert (len(cache), cache.timer) == (0, None)


def test_a_key_that_is_added_again_counts_as_new() -> None:
    cache: KeyCache[str, int] = KeyCache(2, 600.0)
    cache.add("a", 1, now=0.0)
    cache.add("b", 2, now=1.0)
    cache.add("a", 3, now=2.0)
    cache.add("c", 4, now=3.0)
    assert cache.find("a", now=4.0) == 3
    assert cache.find("b", now=4.0) is None
