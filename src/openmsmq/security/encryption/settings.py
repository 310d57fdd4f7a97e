"""What can be set about encryption; the defaults are those of [MS-MQQB] 3.1.3.1."""

from dataclasses import dataclass
from typing import Final

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.codes.message_enums import PrivacyLevel

SYMMETRIC_KEY_SHORT_LIFETIME: Final = 600.0
SYMMETRIC_KEY_LONG_LIFETIME: Final = 43_200.0
SEND_SYMMETRIC_KEY_CACHE_SIZE: Final = 53
RECEIVE_SYMMETRIC_KEY_CACHE_SIZE: Final = 127

_AES: Final = frozenset(
    (EncryptionAlgorithm.AES_256, EncryptionAlgorithm.AES_192, EncryptionAlgorithm.AES_128)
)
_OLD: Final = frozenset((EncryptionAlgorithm.RC4, EncryptionAlgorithm.RC2))
# [MS-MQQB] 3.1.1.3: what PreferredAdvancedAlgorithm and its like may be.
ALLOWED_ALGORITHMS: Final = {
    PrivacyLevel.BODY_AES: _AES,
    PrivacyLevel.BODY_ENHANCED: _OLD,
    PrivacyLevel.BODY_BASE: _OLD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionSettings:
    """Algorithms, and how many session keys are kept and how long; times are in seconds.

    Raises:
        ValueError: a preferred algorithm is not one of its provider.
    """

    preferred_advanced_algorithm: EncryptionAlgorithm = EncryptionAlgorithm.AES_256
    preferred_enhanced_algorithm: EncryptionAlgorithm = EncryptionAlgorithm.RC4
    preferred_base_algorithm: EncryptionAlgorithm = EncryptionAlgorithm.RC4
    # Whether RC4 and RC2, which protect little, are used and accepted.
    legacy: bool = False
    send_enhanced_rc2_using_40_bit_keys: bool = False
    reject_enhanced_rc2_using_40_bit_keys: bool = False
    send_symmetric_key_cache_size: int = SEND_SYMMETRIC_KEY_CACHE_SIZE
    receive_symmetric_key_cache_size: int = RECEIVE_SYMMETRIC_KEY_CACHE_SIZE
    # Notes 63, 64: Windows XP and Server 2003 keep keys to send for the long lifetime.
    send_key_lifetime: float = SYMMETRIC_KEY_SHORT_LIFETIME
    receive_key_lifetime: float = SYMMETRIC_KEY_SHORT_LIFETIME

    def __post_init__(self) -> None:
        for level, allowed in ALLOWED_ALGORITHMS.items():
            if self.preferred(level) not in allowed:
                names = ", ".join(sorted(algorithm.name for algorithm in allowed))
                raise ValueError(f"{self.preferred(level).name} must be one of {names}")

    def preferred(self, level: PrivacyLevel) -> EncryptionAlgorithm:
        """The algorithm that is used with the provider of a privacy level."""
        if level is PrivacyLevel.BODY_AES:
            return self.preferred_advanced_algorithm
        if level is PrivacyLevel.BODY_ENHANCED:
            return self.preferred_enhanced_algorithm
        return self.preferred_base_algorithm

    def uses(self, level: PrivacyLevel) -> bool:
        """Whether the provider of a privacy level is used at all."""
        return self.legacy or level is PrivacyLevel.BODY_AES
