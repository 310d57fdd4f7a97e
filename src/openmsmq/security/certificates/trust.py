"""Which certificates are trusted without a directory: those of authorities, less the revoked."""

from typing import TYPE_CHECKING, Final

from .sender_certificate import SenderCertificate

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, CertificateRevocationList, KeyUsage

# Certificates between that of a sender and the last authority.
MAX_CHAIN: Final = 8


class TrustStore:
    """Certificates of authorities, and lists of certificates that are no longer valid.

    Every certificate of the store is an end of a chain, so that a store may hold an intermediate
    authority or the certificate of a single sender. Messages carry no chain: all authorities
    between must be in the store.
    """

    __slots__ = ("_authorities", "_lists")

    def __init__(self) -> None:
        self._authorities: list[Certificate] = []
        self._lists: list[CertificateRevocationList] = []

    def add_authorities(self, content: bytes) -> None:
        """Trust the certificates of a PEM file.

        Raises:
            ValueError: it holds something else.
        """
        from cryptography import x509

        self._authorities += x509.load_pem_x509_certificates(content)

    def add_revocation_list(self, content: bytes) -> None:
        """Refuse the certificates of a list, PEM or DER, of an authority.

        Raises:
            ValueError: it holds something else.
        """
        from cryptography import x509

        pem = b"-----BEGIN" in content
        self._lists.append(
            x509.load_pem_x509_crl(content) if pem else x509.load_der_x509_crl(content)
        )

    def encoded_certificates(self) -> list[bytes]:
        """The certificates of the store, for a signature that comes without one."""
        from cryptography.hazmat.primitives.serialization import Encoding

        return [authority.public_bytes(Encoding.DER) for authority in self._authorities]

    def fault_of(self, sender: SenderCertificate, utc: float) -> str:
        """Why the certificate of a sender is not trusted; nothing if it is."""
        certificate = sender.certificate
        if not _may_sign(certificate):
            return "its key usage allows no signatures"
        if certificate not in self._authorities and self._issuer(certificate, utc, 0) is None:
            return f"no trusted authority {certificate.issuer.rfc4514_string()} has issued it"
        return self.revocation_of(sender, utc)

    def _issuer(self, certificate: "Certificate", utc: float, below: int) -> "Certificate | None":
        """The authority that has issued a certificate, with `below` authorities between."""
        for authority in self._authorities:
            if (
                authority.subject == certificate.issuer
                and _may_issue(authority, below)
                and _valid_at(authority, utc)
                and _issued(authority, certificate)
            ):
                return authority
        return None

    def revocation_of(self, sender: SenderCertificate, utc: float) -> str:
        """Why a certificate is no longer valid; nothing if no list of its chain has it."""
        if not self._lists:
            return ""
        certificate = sender.certificate
        for below in range(MAX_CHAIN):
            issuer = self._issuer(certificate, utc, below)
            if issuer is None:
                return ""
            for revoked in self._lists:
                if (
                    revoked.issuer == certificate.issuer
                    and revoked.is_signature_valid(issuer.public_key())  # type: ignore[arg-type]
                    and revoked.get_revoked_certificate_by_serial_number(certificate.serial_number)
                    is not None
                ):
                    return "it is revoked"
            if issuer == certificate:
                return ""
            certificate = issuer
        return "its chain is too long"


def _issued(authority: "Certificate", certificate: "Certificate") -> bool:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError):
        return False
    return True


def _valid_at(certificate: "Certificate", utc: float) -> bool:
    return (
        certificate.not_valid_before_utc.timestamp()
        <= utc
        <= certificate.not_valid_after_utc.timestamp()
    )


def _may_issue(authority: "Certificate", below: int) -> bool:
    """Whether a certificate is that of an authority, over so many others."""
    from cryptography import x509

    try:
        constraints = authority.extensions.get_extension_for_class(x509.BasicConstraints).value
    except (x509.ExtensionNotFound, ValueError):
        # A certificate of version 1 cannot say it.
        return authority.version is x509.Version.v1
    if not constraints.ca or (
        constraints.path_length is not None and below > constraints.path_length
    ):
        return False
    usage = _usage(authority)
    return usage is None or usage.key_cert_sign


def _may_sign(certificate: "Certificate") -> bool:
    usage = _usage(certificate)
    return usage is None or usage.digital_signature or usage.content_commitment


def _usage(certificate: "Certificate") -> "KeyUsage | None":
    from cryptography import x509

    try:
        return certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except (x509.ExtensionNotFound, ValueError):
        return None
