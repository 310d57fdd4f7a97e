"""Checks of the certificates of senders; each is parsed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.security.certificates.sender_certificate import (
    CertificateFault,
    SenderCertificate,
    parse_certificate,
)

if TYPE_CHECKING:
    from openmsmq.security.certificates.sender_policy import SenderPolicy

# Choice: the number of parsed certificates that are kept.
MAX_CERTIFICATES: Final = 256


class BadSignature(NamedTuple):
    """Why a signature proves nothing; `failed` if it was computed and is wrong."""

    reason: str
    failed: bool = False


class CertificateChecks:
    """The certificates of senders, judged by the policy of the queue manager.

    Shared by workers and the event loop.
    """

    __slots__ = ("_certificates", "policy")

    def __init__(self, policy: SenderPolicy) -> None:
        self.policy = policy
        # Certificates by their bytes; the text says why one is unusable.
        self._certificates: dict[bytes, SenderCertificate | BadSignature] = {}

    def usable(
        self, encoded: bytes, utc: float, *, known: bool
    ) -> SenderCertificate | BadSignature:
        """A certificate that proves the sender of a message, or the reason why it does not.

        Args:
            known: whether the directory has it with the SID of the message.
        """
        certificate = self._certificates.get(encoded)
        if certificate is None:
            certificate = self._parse(encoded)
        if isinstance(certificate, BadSignature):
            return certificate
        policy = self.policy
        if policy.check_dates and not certificate.is_valid(utc):
            return BadSignature("the certificate is outside of its dates")
        if known or policy.accept_unknown_certificates:
            fault = policy.trust.revocation_of(certificate, utc)
        else:
            fault = policy.trust.fault_of(certificate, utc)
        return BadSignature(fault) if fault else certificate

    def _parse(self, encoded: bytes) -> SenderCertificate | BadSignature:
        certificate: SenderCertificate | BadSignature
        try:
            certificate = parse_certificate(encoded, smallest_bits=self.policy.smallest_bits)
        except CertificateFault as exc:
            certificate = BadSignature(str(exc))
        if len(self._certificates) >= MAX_CERTIFICATES:
            self._certificates.clear()
        self._certificates[encoded] = certificate
        return certificate
