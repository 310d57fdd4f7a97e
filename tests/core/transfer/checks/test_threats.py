"""The threat model in docs/security.md: some lines as tests, and all tests that it names exist."""

import re
from pathlib import Path

from tests.core.transfer.checks.test_signatures import everything, receiver, user
from tests.security.encryption.keys import AES, Owner, private_message
from tests.security.encryption.test_bodies import altered, sent
from tests.security.signatures.signer import private_key, signed

from openmsmq.security.encryption.body_decryption import BodyDecryption
from openmsmq.security.signatures.verification import verify
from openmsmq.wire.message.user_message import UserMessage

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "security.md"


def test_a_signed_message_can_be_sent_again_with_another_identifier() -> None:
    """Nothing in a signature says how often a message may come."""
    network, b, peer = receiver(user())
    packet = signed(everything())
    again = bytearray(packet)
    # MessageID of the UserHeader, which no signature covers.
    again[56:60] = (2).to_bytes(4, "little")
    peer.send(packet, bytes(again), packet)
    network.advance(1)
    assert [each.message_id for each in b.take()] == [1, 2]


def test_a_changed_cipher_text_is_noticed_only_if_the_message_is_signed() -> None:
    """CBC without a check of its own: a changed block becomes garbage, and the padding is right."""
    owner = Owner(AES)
    message = UserMessage(signed(private_message(b"x" * 64).packet))
    wire = sent(message, owner)
    changed = bytes((wire.body[0] ^ 1,)) + wire.body[1:]
    clear = BodyDecryption(owner).begin(altered(wire, cipher_text=changed), now=0.0).make()
    assert clear is not None
    forged = UserMessage(clear)
    assert forged.body != message.body
    assert forged.body[32:] == message.body[32:]
    key = private_key("alice").public_key()
    assert verify(forged, key, forged.hash_algorithm) is None
    assert verify(message, key, message.hash_algorithm) is not None


def test_every_test_that_the_threat_model_names_exists() -> None:
    section = PAGE.read_text().partition("## Signed and encrypted messages")[2]
    section = section.partition("\n## ")[0]
    names = set(re.findall(r"`(test_\w+)(?:\.py)?`", section))
    files = set(re.findall(r"`(tests/[\w/]+\.py)`", section))
    assert len(names) > 20
    written = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        written.add(file.stem)
        written.update(re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE))
    assert names - written == set()
    assert [file for file in files if not (ROOT / file).is_file()] == []
