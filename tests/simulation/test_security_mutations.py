"""Faults of signatures and encryption, put in on purpose: runs with such messages notice them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openmsmq.core.transfer.checks import message_checks
from openmsmq.core.transfer.checks.checks import Verdict
from openmsmq.core.transfer.checks.message_checks import MessageCheck
from openmsmq.protocol.binary.encrypting import Encrypting
from openmsmq.security.encryption.body_encryption import BodyEncryption
from openmsmq.security.encryption.published_keys import CannotEncrypt
from openmsmq.wire.message.user_message import UserMessage

from .run import Simulation

SEEDS = range(1, 60, 3)
Patch = pytest.MonkeyPatch


def say_nothing_of_a_good_signature(patch: Patch) -> None:
    patch.setattr(message_checks, "authenticated", lambda message, _match: message.packet)


def verify_before_decrypting(patch: Patch) -> None:
    def make(self: MessageCheck) -> Verdict:
        decryption, self._decryption = self._decryption, None
        verdict = original(self)
        if decryption is not None and verdict.refusal is None:
            clear = decryption.make()
            assert clear is not None
            return Verdict(clear)
        return verdict

    original = MessageCheck.make
    patch.setattr(MessageCheck, "make", make)


def send_the_clear_body_when_encryption_fails(patch: Patch) -> None:
    def encrypted(self: Encrypting, transfer: Any, message: UserMessage, now: float) -> bytes:
        try:
            if int(message.label) % 5 == 0:
                raise CannotEncrypt(0, "a key that cannot be used")  # type: ignore[arg-type]
            return original(self, transfer, message, now)
        except CannotEncrypt:
            return message.packet

    original = Encrypting._encrypted
    patch.setattr(Encrypting, "_encrypted", encrypted)


def use_one_session_key_for_all_destinations(patch: Patch) -> None:
    def key(self: BodyEncryption, choice: Any, _destination: object, now: float) -> Any:
        entry = next(iter(self._caches.of_level(choice.level)._entries.values()), None)
        return original(self, choice, None, now) if entry is None else entry[0]  # type: ignore[arg-type]

    original = BodyEncryption._key
    patch.setattr(BodyEncryption, "_key", key)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("mutation", "words"),
    [
        (say_nothing_of_a_good_signature, "authenticated at level 0"),
        (verify_before_decrypting, "lost|acknowledged|dead"),
        (send_the_clear_body_when_encryption_fails, "left in the clear"),
        (use_one_session_key_for_all_destinations, "lost|acknowledged|dead"),
    ],
)
def test_the_simulation_notices(
    mutation: Callable[[Patch], None], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    with pytest.raises(AssertionError, match=words):
        _run_all()


def _run_all() -> None:
    for seed in SEEDS:
        Simulation(seed).run()


def test_messages_are_signed_encrypted_and_both_in_a_third_of_the_seeds() -> None:
    kinds: set[tuple[str, bool]] = set()
    for seed in range(3):
        simulation = Simulation(seed)
        secure = [node.ways.secure for node in simulation.nodes]
        assert set(secure) == {seed % 3 == 1}
        if seed % 3 == 1:
            simulation.run()
            entries = simulation.ledger.entries.values()
            kinds |= {(entry.signed, entry.encrypted) for entry in entries if entry.received}
    versions = ("", "1.0", "2.0", "3.0")
    assert kinds == {(version, secret) for version in versions for secret in (False, True)}


def test_signed_and_encrypted_messages_pass_routers() -> None:
    simulation = Simulation(8)
    assert simulation.sites is not None
    simulation.run()
    routed = [entry for entry in simulation.ledger.entries.values() if entry.number]
    kinds = {(bool(entry.signed), entry.encrypted) for entry in routed if entry.received}
    assert kinds == {(signed, secret) for signed in (False, True) for secret in (False, True)}
    assert sum(node.forwarded for node in simulation.ledger.hops) > 0
