"""Signatures of SRMP messages: making and checking them ([MC-MQSRM] 2.2.7.2, 3.1.5.1.6.1).

The kind of the key in the certificate decides, RSA or DSA, whatever <SignatureMethod> says; the
hash is SHA-1.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from openmsmq.wire.codes.algorithms import HashAlgorithm

from .hashes import new_hash
from .verification import recover_digest
from .xml_forms import XML_FORMS, SignedPart, ValueOrder, XmlForm

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.dsa import DSAPublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

_OPENING: Final = b"<SignedInfo>"
_CLOSING: Final = b"</SignedInfo>"


def sign_xml(signed_info: bytes, key: "RSAPrivateKey", form: XmlForm) -> bytes:
    """The SignatureValue of a <SignedInfo> that was just written."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

    covered = signed_info
    if form.part is SignedPart.CONTENT:
        covered = signed_info.removeprefix(_OPENING).removesuffix(_CLOSING)
    value = key.sign(covered, PKCS1v15(), hashes.SHA1())  # noqa: S303 - SRMP has nothing better
    return value if form.order is ValueOrder.BIG else value[::-1]


def verify_xml(
    parts: dict[SignedPart, bytes],
    value: bytes,
    key: "RSAPublicKey | DSAPublicKey",
    first: XmlForm | None = None,
) -> XmlForm | None:
    """How a SignatureValue fits; None if it does not.

    Args:
        parts: the bytes that it may cover.
        key: of the certificate.
        first: is tried before the others, as the last message of this sender was like that.
    """
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    digests = {
        part: new_hash(HashAlgorithm.SHA1, covered).digest() for part, covered in parts.items()
    }
    if isinstance(key, RSAPublicKey):
        block = recover_digest(value, key, HashAlgorithm.SHA1)
        if block is None:
            return None
        order = ValueOrder.BIG if block.big_endian else ValueOrder.LITTLE
        for part, digest in digests.items():
            if digest == block.digest:
                return XmlForm(part, order)
        return None
    for form in _forms(first):
        if _fits_dsa(value, key, digests[form.part], form.order):
            return form
    return None


def _forms(first: XmlForm | None) -> Iterator[XmlForm]:
    if first is not None:
        yield first
    yield from XML_FORMS


def _fits_dsa(value: bytes, key: "DSAPublicKey", digest: bytes, order: ValueOrder) -> bool:
    """Whether a value of two numbers, r and s, is the signature of a digest."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature

    size = key.parameters().parameter_numbers().q.bit_length() + 7 >> 3
    if len(value) != 2 * size:
        return False
    halves = (value[:size], value[size:])
    if order is ValueOrder.LITTLE:
        halves = (halves[0][::-1], halves[1][::-1])
    r, s = (int.from_bytes(half, "big") for half in halves)
    try:
        key.verify(encode_dss_signature(r, s), digest, Prehashed(hashes.SHA1()))  # noqa: S303 - SRMP has nothing better
    except (InvalidSignature, ValueError):
        return False
    return True
