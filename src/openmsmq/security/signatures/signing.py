"""Making the signature of a message ([MS-MQQB] 3.1.7.1.4)."""

from typing import TYPE_CHECKING

from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.message.user_message import UserMessage

from .hash_forms import FIRST_FORM, HashForm, SignatureVersion
from .hashes import new_hash
from .signed_fields import SignedFields

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.hashes import HashAlgorithm as LibraryHash


def sign(
    message: UserMessage,
    key: "RSAPrivateKey",
    *,
    version: SignatureVersion,
    algorithm: HashAlgorithm,
    form: HashForm = FIRST_FORM,
) -> bytes:
    """The signature of a message with everything that it covers in place, as packets have it."""
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

    fields = SignedFields(message)
    digest = new_hash(algorithm, fields.start + fields.rest(version, form)).digest()
    signature = key.sign(digest, PKCS1v15(), Prehashed(_library_hash(algorithm)))
    # [MS-MQMQ] 2.5: CryptoAPI writes numbers with the lowest byte first.
    return signature[::-1]


def _library_hash(algorithm: HashAlgorithm) -> "LibraryHash":
    from cryptography.hazmat.primitives import hashes

    match algorithm:
        case HashAlgorithm.SHA_512:
            return hashes.SHA512()
        case HashAlgorithm.SHA_256:
            return hashes.SHA256()
        case HashAlgorithm.SHA1:
            return hashes.SHA1()  # noqa: S303 - what old peers accept
        case HashAlgorithm.MD5:
            return hashes.MD5()  # noqa: S303 - what old peers accept
        case _:
            raise ValueError(f"nothing is signed with {algorithm.name}")
