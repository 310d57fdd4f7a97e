"""Forged messages among honest ones; and faults, put in on purpose, that let forgeries in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from openmsmq.core.transfer.checks.user_cert_cache import UserCertCache
from openmsmq.core.transfer.incoming import inlet
from openmsmq.security.encryption import body_decryption, ciphers
from openmsmq.security.encryption.key_cache import KeyCache, KeyCaches

from .forgeries import ForgeryStorm

SEEDS: Final = range(12)
Patch = pytest.MonkeyPatch


def run(*seeds: int) -> None:
    for seed in seeds:
        storm = ForgeryStorm(seed)
        assert storm.run() == storm.expected


@pytest.mark.parametrize("seed", SEEDS)
def test_forgeries_are_refused_and_honest_messages_arrive(seed: int) -> None:
    run(seed)


def believe_a_known_certificate_with_any_sid(patch: Patch) -> None:
    def contains(self: UserCertCache, entry: tuple[bytes, bytes]) -> bool:
        return any(certificate == entry[1] for _, certificate in self._entries)

    patch.setattr(UserCertCache, "__contains__", contains)


def keep_session_keys_without_their_source(patch: Patch) -> None:
    class Sourceless(KeyCache[Any, Any]):
        def find(self, key: Any, *, now: float) -> Any:
            return super().find((*key[:2], *key[3:]), now=now)

        def add(self, key: Any, value: Any, *, now: float) -> None:
            super().add((*key[:2], *key[3:]), value, now=now)

    class Caches(KeyCaches[Any, Any]):
        def __init__(self, size: int, lifetime: float, base_lifetime: float) -> None:
            super().__init__(size, lifetime, base_lifetime)
            self._enhanced = Sourceless(size, lifetime)
            self._base = Sourceless(size, base_lifetime)

    patch.setattr(body_decryption, "KeyCaches", Caches)


def decrypt_whatever_the_length(patch: Patch) -> None:
    patch.setattr(ciphers, "is_whole", lambda _text, _block: True)


def leave_claims_in_place(patch: Patch) -> None:
    patch.setattr(inlet, "drop_claims", lambda *_arguments: None)


@pytest.mark.parametrize(
    "mutation",
    [
        believe_a_known_certificate_with_any_sid,
        keep_session_keys_without_their_source,
        decrypt_whatever_the_length,
        leave_claims_in_place,
    ],
)
def test_the_storm_notices(
    mutation: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    with pytest.raises(AssertionError):
        run(*SEEDS)
