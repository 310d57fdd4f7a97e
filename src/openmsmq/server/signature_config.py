"""The settings of signatures: which are accepted, from whom."""

from pathlib import Path

from pydantic import Field, field_validator

from openmsmq.security.certificates.sender_certificate import LARGEST_BITS, SMALLEST_BITS
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.security.certificates.trust import TrustStore
from openmsmq.security.signatures.hash_forms import HashForm
from openmsmq.security.signatures.hashes import DEFAULT_ACCEPTED, accepted_hashes
from openmsmq.security.signatures.xml_forms import XmlForm
from openmsmq.wire.errors import ConfigError

from .common_config import AbsolutePath, CommonConfig


class SignatureConfig(CommonConfig):
    """Which signatures are accepted, and what an unsigned message can claim."""

    accepted_hash_algorithms: tuple[str, ...] = DEFAULT_ACCEPTED
    trusted_certificates: tuple[AbsolutePath, ...] = ()
    certificate_revocation_lists: tuple[AbsolutePath, ...] = ()
    accept_unknown_certificates: bool = False
    check_certificate_dates: bool = True
    smallest_certificate_bits: int = Field(default=SMALLEST_BITS, ge=512, le=LARGEST_BITS)
    srmp_accepts_sha1: bool = True
    # How local clients write signatures, where the specifications leave it open.
    signature_form: str = Field(default="", max_length=200)
    srmp_signature_form: str = Field(default="", max_length=200)
    trust_claimed_senders: bool = True
    # Signatures and decryptions of one address that may fail in a minute.
    max_failed_checks: int = Field(default=20, ge=1, le=1_000_000)

    @field_validator("accepted_hash_algorithms")
    @classmethod
    def _hash_algorithms_are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        accepted_hashes(value)
        return value

    @field_validator("signature_form")
    @classmethod
    def _signature_form_is_known(cls, value: str) -> str:
        HashForm.parse(value)
        return value

    @field_validator("srmp_signature_form")
    @classmethod
    def _srmp_signature_form_is_known(cls, value: str) -> str:
        XmlForm.parse(value)
        return value

    @property
    def sender_policy(self) -> SenderPolicy:
        """Which signatures are accepted, from whom.

        Raises:
            ConfigError: a file cannot be used; the text names it.
        """
        trust = TrustStore()
        for file in self.trusted_certificates:
            try:
                trust.add_authorities(file.read_bytes())
            except (OSError, ValueError) as exc:
                raise _fault("trusted_certificates", file, exc) from exc
        for file in self.certificate_revocation_lists:
            try:
                trust.add_revocation_list(file.read_bytes())
            except (OSError, ValueError) as exc:
                raise _fault("certificate_revocation_lists", file, exc) from exc
        return SenderPolicy(
            accepted_hashes=accepted_hashes(self.accepted_hash_algorithms),
            trust=trust,
            accept_unknown_certificates=self.accept_unknown_certificates,
            check_dates=self.check_certificate_dates,
            smallest_bits=self.smallest_certificate_bits,
            srmp_accepts_sha1=self.srmp_accepts_sha1,
        )


def _fault(key: str, file: Path, error: Exception) -> ConfigError:
    reason = error.strerror if isinstance(error, OSError) else error
    return ConfigError(f"{key}: {file}: {reason}")
