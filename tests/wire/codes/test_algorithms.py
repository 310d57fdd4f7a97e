"""[MS-MQMQ] 2.2.1, 2.2.19.3, 2.2.20.6."""

import pytest

from openmsmq.wire.codes.algorithms import (
    PROVIDERS,
    EncryptionAlgorithm,
    HashAlgorithm,
    ProviderType,
    fits_privacy_level,
)
from openmsmq.wire.codes.message_enums import PrivacyLevel


@pytest.mark.spec("MQDMPR-3.1.7.1.31-15")
def test_encryption_algorithm_codes() -> None:
    codes = (0x6602, 0x6801, 0x6610, 0x660E, 0x660F)
    names = "RC2 RC4 AES_256 AES_128 AES_192"
    assert [EncryptionAlgorithm(code).name for code in codes] == names.split()


@pytest.mark.spec("MQDMPR-3.1.7.1.31-16")
def test_hash_algorithm_codes() -> None:
    codes = (0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E)
    names = "MD2 MD4 MD5 SHA1 SHA_256 SHA_512"
    assert [HashAlgorithm(code).name for code in codes] == names.split()


@pytest.mark.parametrize("algorithm", list(EncryptionAlgorithm))
def test_an_algorithm_belongs_to_the_levels_of_its_provider(algorithm: EncryptionAlgorithm) -> None:
    fitting = {level for level in PrivacyLevel if fits_privacy_level(algorithm, level)}
    assert fitting == (
        {PrivacyLevel.BODY_AES}
        if algorithm.name.startswith("AES")
        else {PrivacyLevel.BODY_BASE, PrivacyLevel.BODY_ENHANCED}
    )


def test_each_level_of_privacy_has_its_provider() -> None:
    assert [(int(level), int(p.type), p.rsa_bits) for level, p in PROVIDERS.items()] == [
        (1, 1, 512),
        (3, 1, 1024),
        (5, 0x18, 1024),
    ]
    assert PROVIDERS[PrivacyLevel.BODY_AES].type is ProviderType.RSA_AES
