"""The ciphers for bodies, judged by OpenSSL and by the vectors of RFC 2268."""

import builtins
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from Cryptodome.Cipher import ARC2

from openmsmq.security.encryption.ciphers import (
    KEY_BYTES,
    SALT,
    CipherMissing,
    ReducedRc2Cipher,
    aes_cipher,
    candidate_ciphers,
    is_reduced,
    make_cipher,
    rc2_cipher,
    unpad,
)
from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.codes.message_enums import PrivacyLevel

AES, ENHANCED, BASE = (
    PrivacyLevel.BODY_AES,
    PrivacyLevel.BODY_ENHANCED,
    PrivacyLevel.BODY_BASE,
)
RC2, RC4 = EncryptionAlgorithm.RC2, EncryptionAlgorithm.RC4
ALL = [(level, algorithm) for level in KEY_BYTES for algorithm in KEY_BYTES[level]]
BODIES = [b"", b"x", bytes(range(16)), b"secret " * 300]


def openssl(*arguments: str, data: bytes) -> bytes:
    return subprocess.run(
        ["openssl", *arguments], input=data, capture_output=True, check=True, timeout=20
    ).stdout


@pytest.mark.parametrize(("level", "algorithm"), ALL)
def test_every_body_comes_back(level: PrivacyLevel, algorithm: int) -> None:
    cipher = make_cipher(level, algorithm, bytes(range(1, KEY_BYTES[level][algorithm] + 1)))
    for body in BODIES:
        cipher_text = cipher.encrypt(body)
        assert cipher.decrypt(cipher_text) == body
        assert len(body) < 16 or body not in cipher_text


@pytest.mark.spec("MQQB-3.1.5.8.3-19")
@pytest.mark.parametrize("size", [16, 24, 32])
@pytest.mark.parametrize("body", BODIES)
def test_openssl_opens_our_aes(size: int, body: bytes) -> None:
    key = bytes(range(size))
    cipher_text = aes_cipher(key).encrypt(body)
    options = ("-K", key.hex(), "-iv", "00" * 16)
    assert openssl("enc", "-d", f"-aes-{8 * size}-cbc", *options, data=cipher_text) == body
    theirs = openssl("enc", f"-aes-{8 * size}-cbc", *options, data=body)
    assert theirs == cipher_text
    assert aes_cipher(key).decrypt(theirs) == body


@pytest.mark.parametrize("body", BODIES)
def test_openssl_opens_our_rc2_and_rc4(body: bytes) -> None:
    legacy = ("-provider", "legacy", "-provider", "default")
    key = bytes(range(1, 17))
    rc2 = rc2_cipher(key).encrypt(body)
    options = ("-K", key.hex(), "-iv", "00" * 8)
    assert openssl("enc", "-d", "-rc2-cbc", *options, *legacy, data=rc2) == body
    rc4 = make_cipher(ENHANCED, RC4, key).encrypt(body)
    assert openssl("enc", "-d", "-rc4", "-K", key.hex(), *legacy, data=rc4) == body
    # 40 bits and eleven bytes of zero salt.
    short = make_cipher(BASE, RC4, key[:5]).encrypt(body)
    salted = (key[:5] + bytes(11)).hex()
    assert openssl("enc", "-d", "-rc4", "-K", salted, *legacy, data=short) == body


@pytest.mark.parametrize(
    ("key", "bits", "clear", "cipher_text"),
    [
        ("88bca90e90875a7f0f79c384627bafb2", 128, "0000000000000000", "2269552ab0f85ca6"),
        ("88bca90e90875a", 64, "0000000000000000", "6ccf4308974c267f"),
    ],
)
def test_the_library_of_weak_ciphers_follows_rfc_2268(
    key: str, bits: int, clear: str, cipher_text: str
) -> None:
    new: Any = ARC2.new  # Its type leaves out the effective length of the key.
    cipher = new(bytes.fromhex(key), ARC2.MODE_ECB, effective_keylen=bits)
    assert cipher.encrypt(bytes.fromhex(clear)).hex() == cipher_text


def test_rc2_of_128_bits_follows_rfc_2268() -> None:
    key = bytes.fromhex("88bca90e90875a7f0f79c384627bafb2")
    assert rc2_cipher(key).encrypt(bytes(8))[:8].hex() == "2269552ab0f85ca6"


@pytest.mark.spec("MQQB-3.1.1.3-04")
def test_only_40_bits_of_a_reduced_key_count() -> None:
    key = bytes(range(1, 6)) + SALT
    reduced = ReducedRc2Cipher(key).encrypt(b"body")
    assert reduced != rc2_cipher(key).encrypt(b"body")
    assert make_cipher(ENHANCED, RC2, key).encrypt(b"body") == reduced
    new: Any = ARC2.new  # As above.
    judge = new(key, ARC2.MODE_CBC, iv=bytes(8), effective_keylen=40)
    assert judge.decrypt(reduced) == b"body\4\4\4\4"
    assert is_reduced(key)
    assert not is_reduced(bytes(range(16)))


@pytest.mark.parametrize("cipher_text", [b"", bytes(15), bytes(17), bytes(8)])
def test_cipher_text_that_is_not_whole_blocks_is_refused(cipher_text: bytes) -> None:
    assert aes_cipher(bytes(32)).decrypt(cipher_text) is None
    if len(cipher_text) != 8:
        assert rc2_cipher(bytes(range(16))).decrypt(cipher_text) is None
        assert ReducedRc2Cipher(bytes(range(16))).decrypt(cipher_text) is None


@pytest.mark.parametrize(
    ("clear", "expected"),
    [
        (b"body\x04\x04\x04\x04", b"body"),
        (b"\x08" * 8, b""),
        (b"bodybody", None),
        (b"bodybod\x00", None),
        (b"body\x04\x03\x04\x04", None),
        (b"bodybod\x09", None),
        (b"bodybod\x10", None),
    ],
)
def test_padding_must_be_right(clear: bytes, expected: bytes | None) -> None:
    assert unpad(clear, 8) == expected


def test_what_another_form_of_the_key_has_made_is_read() -> None:
    whole = bytes(range(1, 17))
    weakened = ReducedRc2Cipher(whole).encrypt(b"body")
    assert [each.decrypt(weakened) for each in candidate_ciphers(ENHANCED, RC2, whole)] == [
        None,
        b"body",
    ]
    unsalted = ReducedRc2Cipher(whole[:5]).encrypt(b"body")
    readings = [each.decrypt(unsalted) for each in candidate_ciphers(BASE, RC2, whole[:5])]
    assert readings == [None, b"body"]


@pytest.mark.interpreted
def test_without_the_library_weak_keys_are_not_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(
        name: str,
        globals_: Mapping[str, object] | None = None,
        locals_: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if name.startswith("Cryptodome"):
            raise ImportError(name)
        return original(name, globals_, locals_, fromlist or (), level)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CipherMissing, match="legacy"):
        make_cipher(BASE, RC2, bytes(5))
