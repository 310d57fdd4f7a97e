"""The certificates of a user and their private keys, by which messages are signed.

Each is one PEM file that only the user may read: the certificate, and its key if there is one.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.wire.errors import ConfigError, file_fault

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import KeySerializationEncryption
    from cryptography.x509 import Certificate

DIRECTORY_VARIABLE: Final = "OPENMSMQ_CERTIFICATES"
DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600
SMALLEST_BITS: Final = 1024
LONGEST_NAME: Final = 64
PUBLIC_EXPONENT: Final = 65537
# Clocks of other machines may be behind.
BACKDATED: Final = timedelta(minutes=5)
PKCS12_SUFFIXES: Final = (".p12", ".pfx")
DER_SUFFIXES: Final = (".cer", ".der")
PRIVATE_KEY: Final = re.compile(
    rb"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class UserCertificate:
    """A certificate that the user has.

    Args:
        digest: MD5 of the encoded certificate, by which the directory names it.
        bits: length of its RSA key.
        private: whether the private key is there, too.
    """

    digest: str
    subject: str
    issuer: str
    not_before: datetime
    not_after: datetime
    bits: int
    private: bool
    file: Path


class SigningKey:
    """A certificate with its private key, to sign messages with.

    Args:
        certificate: DER.
        key: its private key.
    """

    __slots__ = ("certificate", "key")

    def __init__(self, certificate: bytes, key: "RSAPrivateKey") -> None:
        self.certificate = certificate
        self.key = key

    def __repr__(self) -> str:
        digest = hashlib.md5(self.certificate, usedforsecurity=False).hexdigest()
        return f"<SigningKey {digest}>"


def default_certificate_directory() -> Path:
    """`$OPENMSMQ_CERTIFICATES`, else in the user's configuration."""
    if directory := os.environ.get(DIRECTORY_VARIABLE):
        return Path(directory)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base, "openmsmq", "certificates")


class CertificateStore:
    """Certificates in one directory, which is made when the first one comes."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = directory or default_certificate_directory()

    def __iter__(self) -> Iterator[UserCertificate]:
        """All certificates, those that last longest first.

        Raises:
            ConfigError: a file is damaged or cannot be read.
        """
        certificates = [self._read(file) for file in sorted(self.directory.glob("*.pem"))]
        return iter(
            sorted(certificates, key=lambda certificate: certificate.not_after, reverse=True)
        )

    def create(self, name: str, *, days: int, bits: int) -> UserCertificate:
        """Make a key pair and a certificate for it that it signs itself.

        Raises:
            ConfigError: it cannot be kept.
        """
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import rsa

        key = rsa.generate_private_key(PUBLIC_EXPONENT, bits)
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        start = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start - BACKDATED)
            .not_valid_after(start + timedelta(days=days))
            .sign(key, hashes.SHA256())
        )
        return self._keep(certificate, key)

    def find(self, wanted: str) -> UserCertificate:
        """The certificate with this digest, the beginning of it, or this common name.

        Raises:
            ConfigError: there is none, or more than one.
        """
        text = wanted.lower()
        certificates = [
            certificate
            for certificate in self
            if certificate.digest.startswith(text)
            or certificate.subject.lower() in (text, f"cn={text}")
        ]
        if len(certificates) != 1:
            what = "no certificate" if not certificates else f"{len(certificates)} certificates"
            raise ConfigError(f"{what} {wanted!r} in {self.directory}; see `openmsmq key list`")
        return certificates[0]

    def signing_key(self, wanted: str | None = None) -> SigningKey:
        """The certificate to sign with, and its key; that which is valid longest by default.

        Raises:
            ConfigError: there is none, or its private key is not here.
        """
        from cryptography.hazmat.primitives.serialization import Encoding

        if wanted is None:
            chosen = next((candidate for candidate in self if candidate.private), None)
            if chosen is None:
                raise ConfigError(
                    f"no certificate with a private key in {self.directory}; "
                    "`openmsmq key create` creates one"
                )
        else:
            chosen = self.find(wanted)
        certificate, key = _parse_pem(chosen.file.read_bytes())
        if key is None:
            raise ConfigError(f"the private key of {chosen.subject} is not in {self.directory}")
        return SigningKey(certificate.public_bytes(Encoding.DER), key)

    def encoded(self, certificate: UserCertificate) -> bytes:
        """A certificate as DER."""
        from cryptography.hazmat.primitives.serialization import Encoding

        return _parse_pem(certificate.file.read_bytes())[0].public_bytes(Encoding.DER)

    def export_to(
        self, wanted: str, file: Path, *, private: bool, password: str | None = None
    ) -> UserCertificate:
        """Write a certificate to a new file: PEM, DER or PKCS #12, as the name of the file says.

        Raises:
            ConfigError: there is no such certificate or key, or the file is there already.
        """
        chosen = self.find(wanted)
        certificate, key = _parse_pem(chosen.file.read_bytes())
        if private and key is None:
            raise ConfigError(f"{wanted!r} has no private key here")
        data = _serialize(file, certificate, key if private else None, password)
        _write_new(file, data)
        return chosen

    def import_from(self, file: Path, *, password: str | None = None) -> UserCertificate:
        """Keep the certificate, and the key if there is one, of a PEM, DER or PKCS #12 file.

        Raises:
            ConfigError: it cannot be read, or holds nothing that can be used.
        """
        try:
            data = file.read_bytes()
            certificate, key = _parse(file, data, password)
        except (OSError, ValueError, TypeError) as exc:
            raise ConfigError(f"{file}: {file_fault(exc)}") from exc
        if key is not None and key.public_key() != certificate.public_key():
            raise ConfigError(f"{file}: the key is not that of the certificate")
        return self._keep(certificate, key)

    # Files

    def _keep(self, certificate: "Certificate", key: "RSAPrivateKey | None") -> UserCertificate:
        described = _describe(certificate, key, self.directory)
        file = described.file
        if file.exists() and (key is None or self._read(file).private):
            return self._read(file)
        try:
            self.directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            new = file.with_suffix(".new")
            new.unlink(missing_ok=True)
            _write_new(new, _pem(certificate, key, None))
            new.replace(file)
        except OSError as exc:
            raise ConfigError(f"{self.directory}: {exc.strerror or exc}") from exc
        return described

    def _read(self, file: Path) -> UserCertificate:
        try:
            return _describe(*_parse_pem(file.read_bytes()), self.directory)
        except (OSError, ValueError) as exc:
            raise ConfigError(f"{file}: {file_fault(exc)}") from exc


def _describe(
    certificate: "Certificate", key: "RSAPrivateKey | None", directory: Path
) -> UserCertificate:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import Encoding

    public = certificate.public_key()
    if not isinstance(public, RSAPublicKey):
        raise ConfigError("the certificate's key is not RSA, which MSMQ needs")
    encoded = certificate.public_bytes(Encoding.DER)
    # [MS-MQDMPR] 3.1.1.15: MD5; it names the certificate and protects nothing.
    digest = hashlib.md5(encoded, usedforsecurity=False).hexdigest()
    return UserCertificate(
        digest=digest,
        subject=certificate.subject.rfc4514_string(),
        issuer=certificate.issuer.rfc4514_string(),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
        bits=public.key_size,
        private=key is not None,
        file=directory / f"{digest}.pem",
    )


def _parse(
    file: Path, data: bytes, password: str | None
) -> "tuple[Certificate, RSAPrivateKey | None]":
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import pkcs12

    secret = None if password is None else password.encode()
    if b"-----BEGIN " in data:
        return _parse_pem(data, secret)
    if file.suffix.lower() in PKCS12_SUFFIXES:
        key, certificate, others = pkcs12.load_key_and_certificates(data, secret)
        if certificate is None and len(others) == 1:
            certificate = others[0]
        if certificate is None or not isinstance(key, RSAPrivateKey | None):
            raise ValueError("no certificate with an RSA key in it")
        return certificate, key
    return x509.load_der_x509_certificate(data), None


def _parse_pem(
    data: bytes, secret: bytes | None = None
) -> "tuple[Certificate, RSAPrivateKey | None]":
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    certificate = x509.load_pem_x509_certificate(data)
    block = PRIVATE_KEY.search(data)
    if block is None:
        return certificate, None
    key = load_pem_private_key(block[0], secret)
    if not isinstance(key, RSAPrivateKey):
        raise ValueError("the private key is not RSA, which MSMQ needs")  # noqa: TRY004 - a file
    return certificate, key


def _serialize(
    file: Path, certificate: "Certificate", key: "RSAPrivateKey | None", password: str | None
) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

    suffix = file.suffix.lower()
    if suffix in PKCS12_SUFFIXES:
        return pkcs12.serialize_key_and_certificates(
            None, key, certificate, None, _encryption(password)
        )
    if suffix in DER_SUFFIXES:
        if key is not None:
            raise ConfigError(f"{file}: private keys go into .pem, .p12 or .pfx files")
        return certificate.public_bytes(Encoding.DER)
    return _pem(certificate, key, password)


def _pem(certificate: "Certificate", key: "RSAPrivateKey | None", password: str | None) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat

    text = certificate.public_bytes(Encoding.PEM)
    if key is not None:
        text += key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password))
    return text


def _encryption(password: str | None) -> "KeySerializationEncryption":
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, NoEncryption

    return NoEncryption() if password is None else BestAvailableEncryption(password.encode())


def _write_new(file: Path, data: bytes) -> None:
    """Nobody else may read it."""
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(handle)
    except OSError as exc:
        raise ConfigError(f"{file}: {exc.strerror or exc}") from exc
