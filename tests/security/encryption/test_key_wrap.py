"""Session keys under RSA, judged by OpenSSL."""

import subprocess
from pathlib import Path

import pytest
from tests.security.encryption.keys import key_pair

from openmsmq.security.encryption.key_wrap import (
    RsaPrivateKey,
    load_public,
    unwrap_key,
    wrap_key,
)
from openmsmq.service.keys import RsaKey, render_pem
from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.security.key_blobs import CALG_RSA_KEYX, PublicKeyBlob, SimpleBlob

AES_256 = int(EncryptionAlgorithm.AES_256)
KEY = bytes(range(32))


def openssl(*arguments: object, data: bytes = b"") -> bytes:
    return subprocess.run(
        ["openssl", *map(str, arguments)], input=data, capture_output=True, check=True, timeout=20
    ).stdout


def blob_of(pair: RsaKey) -> bytes:
    return pair.public_blob(CALG_RSA_KEYX)


@pytest.mark.spec("MQQB-2.4.1-01", "MQQB-2.4.1-02", "MQQB-3.1.7.1.5.2-01")
@pytest.mark.parametrize("bits", [512, 1024, 2048])
def test_openssl_writes_the_same_public_key(bits: int) -> None:
    pair = key_pair(bits)
    pem = render_pem(pair).encode()
    assert openssl("rsa", "-pubout", "-outform", "MSBLOB", data=pem) == blob_of(pair)


@pytest.mark.spec("MQQB-2.4.2-03", "MQQB-3.1.7.1.5-10")
@pytest.mark.parametrize("bits", [512, 1024, 2048])
def test_openssl_opens_our_session_key(tmp_path: Path, bits: int) -> None:
    pair = key_pair(bits)
    file = tmp_path / "key.pem"
    file.write_text(render_pem(pair))
    blob, _ = SimpleBlob.parse(wrap_key(blob_of(pair), AES_256, KEY))
    assert blob.session_key_algorithm == AES_256
    block = blob.encrypted_key[::-1]
    assert len(block) == bits // 8
    opened = openssl(
        "pkeyutl", "-decrypt", "-inkey", file, "-pkeyopt", "rsa_padding_mode:pkcs1", data=block
    )
    assert opened == KEY
    theirs = openssl(
        "pkeyutl", "-encrypt", "-inkey", file, "-pkeyopt", "rsa_padding_mode:pkcs1", data=KEY
    )
    sent = SimpleBlob(AES_256, theirs[::-1]).serialize()
    assert unwrap_key(sent, AES_256, 32, [RsaPrivateKey(*pair)]) == [KEY]


def test_a_retired_key_opens_what_was_sent_before() -> None:
    old, new = key_pair(1024), key_pair(1024, 1)
    keys = [RsaPrivateKey(*new), RsaPrivateKey(*old)]
    assert KEY in unwrap_key(wrap_key(blob_of(old), AES_256, KEY), AES_256, 32, keys)
    assert [key.operations for key in keys] == [1, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda blob: blob[:0],
        lambda blob: blob[:11],
        lambda blob: blob[:-1],
        lambda blob: blob + b"\0",
        lambda blob: b"\x02" + blob[1:],
        lambda blob: blob[:4] + b"\x0e" + blob[5:],
        lambda blob: blob[:8] + b"\x01" + blob[9:],
        lambda blob: blob[:12] + bytes(65000),
    ],
)
def test_a_blob_of_another_form_costs_no_rsa(change: object) -> None:
    assert callable(change)
    pair = key_pair(1024)
    private = RsaPrivateKey(*pair)
    blob = change(wrap_key(blob_of(pair), AES_256, KEY))
    assert unwrap_key(blob, AES_256, 32, [private]) == []
    assert private.operations == 0


def test_a_damaged_block_gives_no_key_of_the_right_length() -> None:
    pair = key_pair(1024)
    private = RsaPrivateKey(*pair)
    blob = bytearray(wrap_key(blob_of(pair), AES_256, KEY))
    accepted = 0
    for position in range(12, 72):
        damaged = (
            bytes(blob[:position]) + bytes((blob[position] ^ 1,)) + bytes(blob[position + 1 :])
        )
        accepted += len(unwrap_key(damaged, AES_256, 32, [private]))
    # Random lengths: one of about 117 is 32.
    assert accepted < 10
    assert private.operations == 60


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (b"garbage", "needs 20 bytes"),
        (PublicKeyBlob(65537, bytes(127) + b"\x80").serialize(), "modulus"),
        (PublicKeyBlob(65537, b"\x01" * 32).serialize(), "modulus of"),
        (PublicKeyBlob(65537, b"\x01" + bytes(4095) + b"\x80").serialize(), "modulus of"),
        (PublicKeyBlob(1, b"\x81" * 128).serialize(), "exponent of 1"),
        (PublicKeyBlob(4, b"\x81" * 128).serialize(), "exponent of 4"),
    ],
)
def test_a_public_key_that_is_none_is_refused(blob: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        load_public(blob)


def test_a_library_that_tells_of_wrong_padding_is_not_believed() -> None:
    private = RsaPrivateKey(*key_pair(1024))
    # A block that is no number below the modulus.
    assert private.decrypt(b"\xff" * 128) == b""
