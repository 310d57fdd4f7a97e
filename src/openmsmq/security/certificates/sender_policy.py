"""Which signatures are accepted, from whom."""

from dataclasses import dataclass, field

from openmsmq.security.signatures.hashes import DEFAULT_ACCEPTED, accepted_hashes

from .sender_certificate import SMALLEST_BITS
from .trust import TrustStore


def _default_hashes() -> frozenset[int]:
    return accepted_hashes(DEFAULT_ACCEPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderPolicy:
    """What the owner of a queue manager decides about signatures.

    Args:
        accepted_hashes: HashAlgorithm of signatures that are accepted.
        trust: authorities whose certificates are accepted without a SID.
        accept_unknown_certificates: accept every certificate without a SID.
        check_dates: refuse certificates outside of their dates.
        smallest_bits: of the key of a certificate.
        srmp_accepts_sha1: accept signatures of SRMP, which has nothing better.
    """

    accepted_hashes: frozenset[int] = field(default_factory=_default_hashes)
    trust: TrustStore = field(default_factory=TrustStore)
    accept_unknown_certificates: bool = False
    check_dates: bool = True
    smallest_bits: int = SMALLEST_BITS
    srmp_accepts_sha1: bool = True
