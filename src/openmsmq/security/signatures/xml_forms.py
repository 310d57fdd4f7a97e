"""The forms of an SRMP signature, where [MC-MQSRM] 2.2.7 leaves them open.

Verification tries them in the order of these tables; signing uses the first one unless a setting
names another.
"""

from enum import StrEnum
from itertools import product
from typing import Final, NamedTuple, Self

from .hash_forms import choices


class SignedPart(StrEnum):
    """Which bytes of the envelope SignatureValue covers."""

    # <SignedInfo> with its tags, as it was sent.
    ELEMENT = "element"
    # What is between its tags.
    CONTENT = "content"


class ValueOrder(StrEnum):
    """The byte order of an RSA block, or of each half of a DSA signature."""

    BIG = "big-endian"
    LITTLE = "little-endian"


class CertificatePlace(StrEnum):
    """How the certificate of the sender travels."""

    # KeyInfo/X509Data/X509Certificate in <Signature>.
    KEY_INFO = "key-info"
    # Not at all: the receiver knows it, as one of its trusted certificates.
    KNOWN = "known"


class XmlForm(NamedTuple):
    """One way to write a signature."""

    part: SignedPart = SignedPart.ELEMENT
    order: ValueOrder = ValueOrder.BIG
    certificate: CertificatePlace = CertificatePlace.KEY_INFO

    def __str__(self) -> str:
        return "/".join(self)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The form of a text such as `content/known`, as `HashForm.parse`.

        Raises:
            ValueError: it names something else, or two of one kind.
        """
        return cls(**choices(text, zip(cls._fields, cls(), strict=True)))


FIRST_XML_FORM: Final = XmlForm()
# Where the certificate was is known before a signature is verified.
XML_FORMS: Final = tuple(XmlForm(*form) for form in product(SignedPart, ValueOrder))
