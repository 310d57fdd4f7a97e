"""The certificate that a signed message carries ([MS-MQMQ] 2.2.20.6, SenderCert)."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.dsa import DSAPublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.x509 import Certificate

SMALLEST_BITS: Final = 1024
LARGEST_BITS: Final = 16_384
# As a PUBLICKEYBLOB can hold it.
LARGEST_EXPONENT: Final = 0xFFFFFFFF
SMALLEST_EXPONENT: Final = 3


class CertificateFault(ValueError):
    """A certificate cannot be used; the text says why."""


class SenderCertificate:
    """A certificate with a key that can be used; times are seconds since 1970.

    Attributes:
        rsa_key: None if the key is DSA, which only signatures of SRMP may have.
        public_key: RSA or DSA.
    """

    __slots__ = ("certificate", "encoded", "not_after", "not_before", "public_key", "rsa_key")

    def __init__(
        self,
        encoded: bytes,
        certificate: "Certificate",
        public_key: "RSAPublicKey | DSAPublicKey",
        rsa_key: "RSAPublicKey | None",
    ) -> None:
        self.encoded = encoded
        self.certificate = certificate
        self.public_key = public_key
        self.rsa_key = rsa_key
        self.not_before = certificate.not_valid_before_utc.timestamp()
        self.not_after = certificate.not_valid_after_utc.timestamp()

    def is_valid(self, utc: float) -> bool:
        """Whether it may be used at this time."""
        return self.not_before <= utc <= self.not_after


def parse_certificate(encoded: bytes, *, smallest_bits: int = SMALLEST_BITS) -> SenderCertificate:
    """Read a certificate.

    Args:
        encoded: DER.
        smallest_bits: of a key that is taken.

    Raises:
        CertificateFault: it is no certificate, or its key cannot be used.
    """
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.dsa import DSAPublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    try:
        certificate = x509.load_der_x509_certificate(encoded)
        key = certificate.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm) as exc:
        raise CertificateFault(f"not a certificate: {exc}") from exc
    if not isinstance(key, RSAPublicKey | DSAPublicKey):
        raise CertificateFault("the key is neither RSA nor DSA")
    if not smallest_bits <= key.key_size <= LARGEST_BITS:
        raise CertificateFault(
            f"a key of {key.key_size} bits is not in {smallest_bits}..{LARGEST_BITS}"
        )
    rsa_key = key if isinstance(key, RSAPublicKey) else None
    if rsa_key is not None:
        _check_numbers(rsa_key)
    try:
        return SenderCertificate(encoded, certificate, key, rsa_key)
    except ValueError as fault:
        raise CertificateFault(f"the dates cannot be read: {fault}") from fault


def is_self_issued(encoded: bytes) -> bool:
    """Whether a certificate names itself as its issuer; one that cannot be read does not."""
    from cryptography import x509

    try:
        certificate = x509.load_der_x509_certificate(encoded)
        return certificate.issuer == certificate.subject
    except ValueError:
        return False


def _check_numbers(key: "RSAPublicKey") -> None:
    numbers = key.public_numbers()
    if (
        not numbers.e & 1
        or not numbers.n & 1
        or not SMALLEST_EXPONENT <= numbers.e <= LARGEST_EXPONENT
    ):
        raise CertificateFault("the numbers of the key are not those of an RSA key")
