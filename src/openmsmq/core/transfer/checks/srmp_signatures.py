"""Checking the signature of a message that came by SRMP ([MC-MQSRM] 3.1.5.1.6.1).

The reader of requests has checked that all elements exist and name existing parts; here
the digests and the signature are computed, in the stage of checks as for the binary protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.security.signatures.hashes import NAMES_OF_HASHES
from openmsmq.security.signatures.xml_forms import CertificatePlace, SignedPart, XmlForm
from openmsmq.security.signatures.xml_signing import verify_xml
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.srmp.document import Document
from openmsmq.wire.srmp.signature import (
    XmlSignature,
    read_signature,
    signature_text,
    signed_info_of,
)

from .certificate_checks import BadSignature, CertificateChecks

if TYPE_CHECKING:
    from openmsmq.wire.message.user_message import UserMessage

# Choice: the number of trusted certificates tried for a signature without a certificate.
MAX_TRIED_CERTIFICATES: Final = 16
_NOT_THERE: Final = BadSignature("it has no certificate, and no trusted certificate fits")


def judge_srmp(
    message: UserMessage, certificates: CertificateChecks, utc: float, first: XmlForm | None
) -> XmlForm | BadSignature:
    """The form in which the signature of an SRMP message is valid, or why it proves nothing.

    Args:
        first: the form to try first.
    """
    policy = certificates.policy
    if not policy.srmp_accepts_sha1:
        return BadSignature("signatures of SRMP are not accepted: they need SHA-1")
    signature = _signature(message)
    for reference in signature.references:
        algorithm = reference.algorithm
        if algorithm is not HashAlgorithm.SHA1 and algorithm not in policy.accepted_hashes:
            return BadSignature(f"digests with {NAMES_OF_HASHES[algorithm]} are not accepted")
        extension = reference.extension
        if not reference.fits(message.extension if extension else message.body):
            part = "extension" if extension else "body"
            return BadSignature(f"the digest of the {part} does not fit", failed=True)
    if signature.certificate:
        return _verify(signature, signature.certificate, certificates, utc, first)
    verdict = _NOT_THERE
    for encoded in policy.trust.encoded_certificates()[:MAX_TRIED_CERTIFICATES]:
        form = _verify(signature, encoded, certificates, utc, first)
        if isinstance(form, XmlForm):
            return form._replace(certificate=CertificatePlace.KNOWN)
        if form.failed:
            verdict = _NOT_THERE._replace(failed=True)
    return verdict


def _signature(message: UserMessage) -> XmlSignature:
    """The <Signature> of a message: as received, or as it would leave if a local client signed it.

    Raises:
        MalformedPacket: never for a packet that was made from a request.
    """
    envelope = message.srmp_envelope_header
    if envelope is not None:
        # UTF-16 in the packet: these are the received bytes.
        return read_signature(Document(envelope.data.encode(), lenient=True).signature)
    security = message.security_header
    assert security is not None  # noqa: S101 - its signature is why this is called
    raw = signature_text(signed_info_of(message), security.signature, security.sender_cert)
    return read_signature(raw)


def _verify(
    signature: XmlSignature,
    encoded: bytes,
    certificates: CertificateChecks,
    utc: float,
    first: XmlForm | None,
) -> XmlForm | BadSignature:
    certificate = certificates.usable(encoded, utc, known=False)
    if isinstance(certificate, BadSignature):
        return certificate
    parts = {SignedPart.ELEMENT: signature.signed_info, SignedPart.CONTENT: signature.content}
    form = verify_xml(parts, signature.value, certificate.public_key, first)
    if form is None:
        return BadSignature("the signature does not fit the message", failed=True)
    return form
