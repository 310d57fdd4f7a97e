"""The settings of signatures: the accepted ones, from whom."""

from pathlib import Path

from openmsmq.security.certificates.sender_certificate import LARGEST_BITS, SMALLEST_BITS
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.security.certificates.trust import TrustStore
from openmsmq.security.signatures.hash_forms import HashForm
from openmsmq.security.signatures.hashes import DEFAULT_ACCEPTED, accepted_hashes
from openmsmq.security.signatures.xml_forms import XmlForm
from openmsmq.wire.errors import ConfigError

from .common_config import CommonConfig
from .settings import setting


def check_hashes(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse unknown hash algorithms."""
    accepted_hashes(names)
    return names


def check_form(form: str) -> str:
    """Refuse an unknown form of signatures."""
    HashForm.parse(form)
    return form


def check_srmp_form(form: str) -> str:
    """Refuse an unknown form of signatures over HTTP."""
    XmlForm.parse(form)
    return form


class SignatureConfig(CommonConfig):
    """The accepted signatures, and the claims accepted of an unsigned message."""

    accepted_hash_algorithms: tuple[str, ...] = setting(
        default=DEFAULT_ACCEPTED, check=check_hashes
    )
    trusted_certificates: tuple[Path, ...] = ()
    certificate_revocation_lists: tuple[Path, ...] = ()
    accept_unknown_certificates: bool = False
    check_certificate_dates: bool = True
    smallest_certificate_bits: int = setting(default=SMALLEST_BITS, ge=512, le=LARGEST_BITS)
    srmp_accepts_sha1: bool = True
    # The form of signatures of local clients, where the specifications leave a choice.
    signature_form: str = setting(default="", max_length=200, check=check_form)
    srmp_signature_form: str = setting(default="", max_length=200, check=check_srmp_form)
    trust_claimed_senders: bool = True
    # Signatures and decryptions of one address that may fail per minute.
    max_failed_checks: int = setting(default=20, ge=1, le=1_000_000)

    @property
    def sender_policy(self) -> SenderPolicy:
        """The policy for signatures.

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
