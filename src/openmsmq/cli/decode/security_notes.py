"""What certificate, signature and cipher of a dissected message say, and why a signature fails.

What takes long to load is loaded only for messages that have it.
"""

from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.dissect import Node
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.srmp.document import Document
from openmsmq.wire.srmp.signature import read_signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    from openmsmq.security.certificates.sender_certificate import SenderCertificate

# The shortest key that has ever been used.
_ANY_BITS: Final = 512
_AH: Final = int(UserHeaderFlags.AH)
_AES_BLOCK: Final = 16
_CIPHERS: Final = {int(algorithm): algorithm.name for algorithm in EncryptionAlgorithm}
_GOOD: Final = "good"
_BAD: Final = "BAD"
_OPEN: Final = "not checked"


def explain_security(root: Node, message: UserMessage) -> None:
    """Add to the tree of a message what its SecurityHeader means."""
    header = message.security_header
    if header is None:
        return
    # A request has its signature in the envelope, a packet in its SecurityHeader.
    place = root.find("SecurityHeader") or root.find("Envelope", "signature") or root
    if message.encrypted:
        name, size = _cipher(message.encryption_algorithm), len(message.body)
        whole = size > 0 and size % _AES_BLOCK == 0
        text = f"{size} bytes of cipher text"
        if name.startswith("AES") and not whole:
            text += ", which is not whole blocks"
        _note(place, "Cipher", name, text)
    certificate: SenderCertificate | str = "it came without a certificate"
    if header.sender_cert:
        node = place.find("SenderCert") or _note(place, "SenderCert")
        certificate = _explain_certificate(node, header.sender_cert)
    listed = message.multi_queue_format_header
    if header.signature:
        node = place.find("Signature") or place
    elif listed is not None and listed.signature:
        node = root.find("MultiQueueFormatHeader", "Signature") or place
    else:
        return
    _note(node, "Check", *_check(message, certificate))


def _note(node: Node, name: str, value: str | None = None, meaning: str = "") -> Node:
    """Add something that all of a node says."""
    return node.add(name, node.offset, node.size, value, meaning)


def _cipher(algorithm: int) -> str:
    return _CIPHERS.get(algorithm, f"unknown, 0x{algorithm:04X}")


def _explain_certificate(node: Node, encoded: bytes) -> "SenderCertificate | str":
    """The certificate; a text if it cannot be used."""
    from openmsmq.security.certificates.sender_certificate import (
        CertificateFault,
        parse_certificate,
    )

    try:
        certificate = parse_certificate(encoded, smallest_bits=_ANY_BITS)
    except CertificateFault as exc:
        node.meaning = f"cannot be used: {exc}"
        return "its certificate cannot be used"
    x509 = certificate.certificate
    subject, issuer = x509.subject.rfc4514_string(), x509.issuer.rfc4514_string()
    kind = "DSA" if certificate.rsa_key is None else "RSA"
    dates = (x509.not_valid_before_utc, x509.not_valid_after_utc)
    _note(node, "Subject", subject)
    _note(node, "Issuer", issuer, "itself" if issuer == subject else "")
    _note(node, "Key", kind, f"{certificate.public_key.key_size} bits")
    _note(node, "Valid", " to ".join(f"{date:%Y-%m-%d}" for date in dates))
    return certificate


def _check(message: UserMessage, certificate: "SenderCertificate | str") -> tuple[str, str]:
    """Whether the signature fits the message and in which form, or why it does not."""
    if isinstance(certificate, str):
        return _OPEN, certificate
    if message.encrypted:
        return _OPEN, "it covers the clear body, and this one is encrypted"
    if message.flags & _AH:
        return _check_xml(message, certificate)
    if certificate.rsa_key is None:
        return _BAD, "the key of the certificate is not RSA"
    from openmsmq.security.signatures.hashes import (
        DIGEST_INFO,
        LEGACY_HASHES,
        NAMES_OF_HASHES,
        has_legacy,
    )
    from openmsmq.security.signatures.verification import verify

    algorithm = message.hash_algorithm
    if algorithm not in DIGEST_INFO:
        return _BAD, f"hash algorithm 0x{algorithm:04X} does not exist"
    name = NAMES_OF_HASHES[algorithm]
    if name in LEGACY_HASHES and not has_legacy():
        return _OPEN, f"{name} needs the extra: pip install 'openmsmq[legacy]'"
    match = verify(message, certificate.rsa_key, algorithm)
    if match is not None:
        return _GOOD, _words(f"{match}/{name}")
    return _BAD, _why(message, certificate.rsa_key, algorithm, name)


def _words(form: str) -> str:
    """The parts of a form, so that lines can be broken between them."""
    return form.replace("/", ", ")


def _why(message: UserMessage, key: "RSAPublicKey", algorithm: int, name: str) -> str:
    """Why no form of a signature fits."""
    from openmsmq.security.signatures.verification import recover_digest, signature_of

    size = key.key_size + 7 >> 3
    signature = signature_of(message)
    if len(signature) < size:
        return f"it has {len(signature)} bytes, the key {size}"
    if recover_digest(signature[-size:], key, algorithm) is None:
        return f"no digest of {name} is in it: another key or another hash has made it"
    return f"its {name} digest is that of another message: something was changed"


def _check_xml(message: UserMessage, certificate: "SenderCertificate") -> tuple[str, str]:
    from openmsmq.security.signatures.xml_forms import SignedPart
    from openmsmq.security.signatures.xml_signing import verify_xml

    envelope = message.srmp_envelope_header
    assert envelope is not None  # noqa: S101 - AH says so
    signature = read_signature(Document(envelope.data.encode(), lenient=True).signature)
    for reference in signature.references:
        part, data = ("body", message.body)
        if reference.extension:
            part, data = ("extension", message.extension)
        if not reference.fits(data):
            return _BAD, f"the digest is that of another {part}"
    parts = {SignedPart.ELEMENT: signature.signed_info, SignedPart.CONTENT: signature.content}
    form = verify_xml(parts, signature.value, certificate.public_key)
    if form is None:
        return _BAD, "another key has signed, or <SignedInfo> was changed"
    return _GOOD, _words(f"sigxml/{form}/sha1")
