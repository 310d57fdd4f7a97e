"""Key pairs of a queue manager: lengths, files, and that others can read them."""

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from openmsmq.service.keys import (
    EXCHANGE,
    KeyFiles,
    is_prime,
    make_key,
    parse_pem,
    render_pem,
    slug,
)
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.key_blobs import CALG_RSA_KEYX, CALG_RSA_SIGN, PublicKeyBlob

BASE = PROVIDERS[PrivacyLevel.BODY_BASE]
ENHANCED = PROVIDERS[PrivacyLevel.BODY_ENHANCED]


@pytest.mark.parametrize("bits", [512, 1024])
def test_a_key_pair_fits_together(bits: int) -> None:
    key = make_key(bits)
    assert key.bits == bits
    assert key.p * key.q == key.n
    secret = 0x1234567890
    assert pow(pow(secret, key.e, key.n), key.d, key.n) == secret


def test_primes_are_told_from_other_numbers() -> None:
    assert [number for number in range(3, 60, 2) if is_prime(number)] == [
        *(3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)
    ]
    # Above those that are looked up.
    above = range(2001, 12_001, 2)
    primes = [n for n in above if all(n % d for d in range(3, int(n**0.5) + 1, 2))]
    assert [number for number in above if is_prime(number)] == primes
    assert is_prime((1 << 127) - 1)
    assert not is_prime((1 << 129) - 1)
    # A Carmichael number without small factors, which passes Fermat's test.
    carmichael = 9091 * 18181 * 27271
    assert pow(2, carmichael - 1, carmichael) == 1
    assert not is_prime(carmichael)
    assert not is_prime(((1 << 61) - 1) * ((1 << 89) - 1))


@pytest.mark.spec("MQDMPR-3.1.3-09")
@pytest.mark.parametrize(("provider", "bits"), [(BASE, 512), (ENHANCED, 1024)])
def test_public_keys_have_the_length_of_their_provider(
    tmp_path: Path, provider: object, bits: int
) -> None:
    keys = KeyFiles(tmp_path)
    found = next(each for each in PROVIDERS.values() if each is provider)
    exchange, _ = PublicKeyBlob.parse(keys.exchange_key(found))
    signing, _ = PublicKeyBlob.parse(keys.signing_key(found))
    assert (exchange.bit_len, exchange.key_algorithm) == (bits, CALG_RSA_KEYX)
    assert (signing.bit_len, signing.key_algorithm) == (bits, CALG_RSA_SIGN)
    assert exchange.modulus != signing.modulus


def test_keys_are_made_once_and_kept_from_others(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first = KeyFiles(folder).exchange_key(BASE)
    assert KeyFiles(folder).exchange_key(BASE) == first
    assert folder.stat().st_mode & 0o777 == 0o700
    (file,) = folder.iterdir()
    assert file.name == "exchange-microsoft-base-cryptographic-provider-v1-0.pem"
    assert file.stat().st_mode & 0o777 == 0o600
    assert KeyFiles(folder).private_key(EXCHANGE, BASE).public_blob(CALG_RSA_KEYX) == first


def test_a_key_is_on_disk_before_its_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flush(handle: int) -> None:
        flushed.append([path.suffix for path in tmp_path.iterdir()])
        fsync(handle)

    flushed: list[list[str]] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", flush)
    KeyFiles(tmp_path).exchange_key(BASE)
    assert flushed == [[".new"]]
    assert [path.suffix for path in tmp_path.iterdir()] == [".pem"]


def test_the_files_are_what_other_tools_read() -> None:
    key = make_key(1024)
    loaded = load_pem_private_key(render_pem(key).encode(), None)
    assert isinstance(loaded, rsa.RSAPrivateKey)
    assert loaded.private_numbers().d == key.d
    assert parse_pem(render_pem(key)) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----",
        "not base 64!",
        "MAA=",
        "AgEB",
        "MAMEAQE=",
        "MIIB",
        "MBsCAQACAQECAQECAQECAQICAQICAQECAQECAQE=",
    ],
)
def test_a_file_that_is_no_key_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / f"exchange-{slug(BASE.name)}.pem"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"exchange-.*\.pem"):
        KeyFiles(tmp_path).exchange_key(BASE)
    assert file.read_text() == text


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("in the way")
    with pytest.raises(ConfigError, match="keys"):
        KeyFiles(tmp_path / "keys").exchange_key(BASE)
