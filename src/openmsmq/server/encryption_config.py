"""The settings of encryption between queue managers, and of the keys for it."""

from typing import Final, Literal

from openmsmq.security.encryption.settings import EncryptionSettings
from openmsmq.wire.codes.algorithms import PROVIDERS, EncryptionAlgorithm, Provider
from openmsmq.wire.codes.message_enums import PrivacyLevel

from .common_config import CommonConfig
from .settings import setting

SECONDS_PER_MINUTE: Final = 60.0
_ALGORITHMS: Final = {
    "aes256": EncryptionAlgorithm.AES_256,
    "aes192": EncryptionAlgorithm.AES_192,
    "aes128": EncryptionAlgorithm.AES_128,
    "rc4": EncryptionAlgorithm.RC4,
    "rc2": EncryptionAlgorithm.RC2,
}
OldAlgorithm = Literal["rc4", "rc2"]


class EncryptionConfig(CommonConfig):
    """The ciphers in use, and the lifetime of keys."""

    encryption_algorithm: Literal["aes256", "aes192", "aes128"] = "aes256"
    # RC4 and RC2, for Windows before Vista.
    legacy_encryption: bool = False
    enhanced_algorithm: OldAlgorithm = "rc4"
    base_algorithm: OldAlgorithm = "rc4"
    send_enhanced_rc2_using_40_bit_keys: bool = False
    reject_enhanced_rc2_using_40_bit_keys: bool = False
    session_key_minutes: int = setting(default=10, ge=1, le=720)
    # Of the AES provider; the lengths of the others are fixed by the specification.
    encryption_key_bits: int = setting(default=2048, ge=1024, le=16384)
    key_retention_days: int = setting(default=30, ge=0, le=3650)

    @property
    def encryption_settings(self) -> EncryptionSettings:
        lifetime = self.session_key_minutes * SECONDS_PER_MINUTE
        return EncryptionSettings(
            preferred_advanced_algorithm=_ALGORITHMS[self.encryption_algorithm],
            preferred_enhanced_algorithm=_ALGORITHMS[self.enhanced_algorithm],
            preferred_base_algorithm=_ALGORITHMS[self.base_algorithm],
            legacy=self.legacy_encryption,
            send_enhanced_rc2_using_40_bit_keys=self.send_enhanced_rc2_using_40_bit_keys,
            reject_enhanced_rc2_using_40_bit_keys=self.reject_enhanced_rc2_using_40_bit_keys,
            send_key_lifetime=lifetime,
            receive_key_lifetime=lifetime,
        )

    @property
    def providers(self) -> dict[PrivacyLevel, Provider]:
        """The providers in use; others get no keys, so that senders cannot encrypt with them."""
        settings = self.encryption_settings
        return {level: provider for level, provider in PROVIDERS.items() if settings.uses(level)}
