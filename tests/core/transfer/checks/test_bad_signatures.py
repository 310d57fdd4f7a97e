"""Hostile certificates and signatures cost their message; mutations of the checks are caught."""

from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from tests.core.transfer.checks.test_signatures import everything, nacks, orders, receiver, user
from tests.security.signatures.signer import (
    ALICE,
    MALLORY,
    NOT_AFTER,
    NOT_BEFORE,
    private_key,
    signed,
    signing_key,
)

from openmsmq.client.certificates import SigningKey
from openmsmq.core.transfer.checks.user_cert_cache import UserCertCache
from openmsmq.core.transfer.incoming import claims, inlet
from openmsmq.security.certificates.sender_certificate import CertificateFault, parse_certificate
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.security.security_header import SecurityHeader


def certificate_with(key: Any) -> bytes:
    """A certificate for a key of any kind, issued with the key of somebody else."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "strange")])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key)
        .serial_number(5)
        .not_valid_before(NOT_BEFORE)
        .not_valid_after(NOT_AFTER)
        .sign(private_key("alice"), hashes.SHA256())
        .public_bytes(Encoding.DER)
    )


def rsa_with(n: int, e: int) -> bytes:
    """A certificate with these numbers; the library makes no such key, so they are put in."""
    good = private_key("alice").public_key()
    der = certificate_with(good)
    numbers = good.public_numbers()
    size = (numbers.n.bit_length() + 7) // 8
    der = der.replace(numbers.n.to_bytes(size, "big"), n.to_bytes(size, "big"))
    return der.replace(b"\x02\x03\x01\x00\x01", b"\x02\x03" + e.to_bytes(3, "big"))


N = private_key("alice").public_key().public_numbers().n
STRANGE = {
    "nothing": b"",
    "garbage": b"\x30\x82\xff\xff" + bytes(200),
    "64 KiB": b"\x30" * 0xFFFF,
    "elliptic curve": certificate_with(ec.generate_private_key(ec.SECP256R1()).public_key()),
    "DSA": certificate_with(dsa.generate_private_key(2048).public_key()),
    "exponent 1": rsa_with(N, 1),
    "even exponent": rsa_with(N, 0x10000),
    "even modulus": rsa_with(N - 1, 0x10001),
    "cut": signing_key().certificate[:-1],
    "longer": signing_key().certificate + b"\0",
}
SIGNATURES = [b"x", bytes(255), bytes(256), bytes(257), b"\xff" * 256, b"\xff" * 0xFFFC]


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("registered", [True, False])
def test_a_strange_certificate_costs_its_message(name: str, *, registered: bool) -> None:
    strange = SigningKey(STRANGE[name], private_key("alice"))
    users = [user(), user(MALLORY, strange)] if registered and STRANGE[name] else [user()]
    network, b, peer = receiver(*users)
    peer.send(signed(everything(), strange, sid=MALLORY), signed(everything(message_id=2)))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]
    assert nacks(peer) == [MessageClass.NACK_BAD_SIGNATURE]
    assert peer.closed is None


# Signatures of SRMP may have a DSA key.
@pytest.mark.parametrize("name", [name for name in STRANGE if name != "DSA"])
def test_a_strange_certificate_cannot_be_used(name: str) -> None:
    with pytest.raises(CertificateFault):
        parse_certificate(STRANGE[name])


def test_short_keys_are_for_legacy_only() -> None:
    short = certificate_with(rsa.generate_private_key(65537, 1024).public_key())  # noqa: S505
    assert parse_certificate(short).public_key.key_size == 1024
    with pytest.raises(CertificateFault, match="1024 bits is not in 2048"):
        parse_certificate(short, smallest_bits=2048)


def test_keys_above_16384_bits_cannot_be_used() -> None:
    largest, larger = (
        certificate_with(rsa.RSAPublicNumbers(0x10001, (1 << bits) - 1).public_key())
        for bits in (16_384, 16_385)
    )
    assert parse_certificate(largest).public_key.key_size == 16_384
    with pytest.raises(CertificateFault, match=r"16385 bits is not in 1024\.\.16384"):
        parse_certificate(larger)


@pytest.mark.parametrize("signature", SIGNATURES, ids=len)
def test_a_signature_of_any_length_costs_its_message(signature: bytes) -> None:
    network, b, peer = receiver(user())
    header = SecurityHeader(
        1, ALICE.serialize(), signature=signature, sender_cert=signing_key().certificate
    )
    bad = rebuild(UserMessage(everything()), security_header=header, hash_algorithm=0x800E)
    peer.send(bad, signed(everything(message_id=2)))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]
    assert nacks(peer) == [MessageClass.NACK_BAD_SIGNATURE]


@pytest.mark.parametrize("algorithm", [0, 1, 0x8005, 0x800D, 0xFFFFFFFF])
def test_an_unknown_hash_algorithm_costs_its_message(algorithm: int) -> None:
    network, b, peer = receiver(user())
    packet = UserMessage(signed(everything()))
    peer.send(rebuild(packet, hash_algorithm=algorithm), signed(everything(message_id=2)))
    network.advance(1)
    assert [each.message_id for each in b.take()] == [2]


# Mutations: what each rule is for


@pytest.mark.interpreted
def test_a_cache_without_the_sid_lets_others_in(monkeypatch: pytest.MonkeyPatch) -> None:
    mallory = signing_key("mallory")

    def forged(*, broken: bool) -> list[int]:
        with monkeypatch.context() as patch:
            if broken:
                patch.setattr(
                    UserCertCache,
                    "__contains__",
                    lambda self, entry: any(entry[1] == known[1] for known in self._entries),
                )
            network, b, peer = receiver(user(), user(MALLORY, mallory))
            peer.send(signed(everything(message_id=1), mallory, sid=MALLORY))
            peer.send(signed(everything(message_id=2), mallory, sid=ALICE))
            network.advance(1)
            return [each.message_id for each in b.take()]

    assert forged(broken=False) == [1]
    assert forged(broken=True) == [1, 2]


@pytest.mark.interpreted
def test_claims_that_are_not_dropped_let_others_in(monkeypatch: pytest.MonkeyPatch) -> None:
    unsigned = UserMessage(
        rebuild(UserMessage(everything()), security_header=SecurityHeader(1, ALICE.serialize()))
    )
    claim = patch_authentication(unsigned, authenticated=True, level=3)

    def forged(*, broken: bool) -> int:
        with monkeypatch.context() as patch:
            if broken:
                patch.setattr(inlet, "drop_claims", lambda *_: None)
            network, b, peer = receiver(user(), authentication=True)
            peer.send(claim)
            network.advance(1)
            return len(b.messages(orders(b)))

    assert claims.clear_authentication(claim) == unsigned.packet
    assert forged(broken=False) == 0
    assert forged(broken=True) == 1
