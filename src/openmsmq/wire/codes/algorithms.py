"""Hash and cipher algorithms and the providers that offer them ([MS-MQMQ] 2.2.1, 2.2.19.3)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from .message_enums import PrivacyLevel


class HashAlgorithm(IntEnum):
    """CALG_* values of MessagePropertiesHeader.HashAlgorithm."""

    MD2 = 0x8001
    MD4 = 0x8002
    MD5 = 0x8003
    SHA1 = 0x8004
    SHA_256 = 0x800C
    SHA_512 = 0x800E


class EncryptionAlgorithm(IntEnum):
    """CALG_* values of MessagePropertiesHeader.EncryptionAlgorithm."""

    RC2 = 0x6602
    AES_128 = 0x660E
    AES_192 = 0x660F
    AES_256 = 0x6610
    RC4 = 0x6801


class ProviderType(IntEnum):
    """PROV_* values of SecurityData.ProviderInfo."""

    RSA_FULL = 0x01
    RSA_AES = 0x18


@dataclass(frozen=True, slots=True)
class Provider:
    """A cryptographic provider: its name on the wire and the key that it uses by default."""

    type: ProviderType
    name: str
    rsa_bits: int


PROVIDERS: Final[dict[PrivacyLevel, Provider]] = {
    PrivacyLevel.BODY_BASE: Provider(
        ProviderType.RSA_FULL, "Microsoft Base Cryptographic Provider v1.0", 512
    ),
    PrivacyLevel.BODY_ENHANCED: Provider(
        ProviderType.RSA_FULL, "Microsoft Enhanced Cryptographic Provider v1.0", 1024
    ),
    PrivacyLevel.BODY_AES: Provider(
        ProviderType.RSA_AES, "Microsoft Enhanced RSA and AES Cryptographic Provider", 1024
    ),
}

_AES: Final = frozenset(
    {EncryptionAlgorithm.AES_128, EncryptionAlgorithm.AES_192, EncryptionAlgorithm.AES_256}
)


def fits_privacy_level(algorithm: EncryptionAlgorithm, level: PrivacyLevel) -> bool:
    """Whether a body of this privacy level may be encrypted with this algorithm."""
    if level is PrivacyLevel.NONE:
        return False
    return (algorithm in _AES) == (level is PrivacyLevel.BODY_AES)
