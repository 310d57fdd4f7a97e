"""Checking the signature of a message ([MS-MQQB] 3.1.5.8.3)."""

from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.security.security_header import signature_and_certificate

from .hash_forms import HashForm, SignatureVersion
from .hashes import DIGEST_INFO, Hash, new_hash
from .signed_fields import SignedFields, shape_of, signed_start

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

_SIG10: Final = SignatureVersion.SIG10
_SIG20: Final = SignatureVersion.SIG20
_SIG30: Final = SignatureVersion.SIG30


class Match(NamedTuple):
    """A signature that is good: what it covers, and how its signer wrote it."""

    version: SignatureVersion
    form: HashForm
    big_endian: bool = False

    def __str__(self) -> str:
        order = "big" if self.big_endian else "little"
        return f"{self.version.name.lower()}, {self.form}, {order}-endian"


class Block:
    """What an RSA block holds: a digest, and the byte order in which it was found."""

    __slots__ = ("big_endian", "digest")

    def __init__(self, digest: bytes, *, big_endian: bool) -> None:
        self.digest = digest
        self.big_endian = big_endian


class Verified(NamedTuple):
    """A signature that is good, and what the next one of its sender is likely to be like.

    `rest` is what a message with this `shape` has after `start`; an empty shape is that of none.
    """

    match: Match
    shape: bytes = b""
    rest: bytes = b""


def verify(
    message: UserMessage, key: "RSAPublicKey", algorithm: int, first: Match | None = None
) -> Match | None:
    """How the signature of a message fits; None if it does not.

    Args:
        message: whose body is clear.
        key: of the certificate in the message.
        algorithm: HashAlgorithm of the message, which must be an accepted one.
        first: is tried before the others.
    """
    last = None if first is None else Verified(first)
    verified = verify_after(last, message, header_signature(message), key, algorithm)
    return None if verified is None else verified.match


def verify_after(
    last: Verified | None,
    message: UserMessage,
    signature: bytes,
    key: "RSAPublicKey",
    algorithm: int,
) -> Verified | None:
    """As `verify`, after the `last` good message of this sender.

    One of the same shape differs from it in body, correlation and tag only, which is most often
    so: then there is one digest to compare.

    Args:
        signature: of the SecurityHeader.
    """
    size = key.key_size + 7 >> 3
    content = signed_start(message)
    if signature:
        # [MS-MQMP] 3.1.5.2: a 1.0 signature or zeros may stand before the 2.0 signature.
        last_item = signature if len(signature) == size else signature[-size:]
        block = recover_digest(last_item, key, algorithm)
        shape = shape_of(message)
        if (
            last is not None
            and block is not None
            and last.shape == shape
            and last.match.version is _SIG20
            and last.match.big_endian == block.big_endian
            and new_hash(algorithm, content + last.rest).digest() == block.digest
        ):
            return last
        start = new_hash(algorithm, content)
        first = None if last is None else last.match
        fields = SignedFields(message)
        match = _find(fields, start, _SIG20, block, first)
        if match is None:
            if len(signature) > size:
                block = recover_digest(signature[:size], key, algorithm)
            match = _find(fields, start, _SIG10, block, first)
        if match is None:
            return None
        return Verified(match, shape, fields.rest(match.version, match.form))
    names = message.multi_queue_format_header
    if names is None or not names.signature:
        return None
    block = recover_digest(names.signature[-size:], key, algorithm)
    start = new_hash(algorithm, content)
    first = None if last is None else last.match
    match = _find(SignedFields(message), start, _SIG30, block, first)
    return None if match is None else Verified(match)


def header_signature(message: UserMessage) -> bytes:
    """The signature in the SecurityHeader of a message; nothing if there is none."""
    at = message.security_offset
    return signature_and_certificate(message.packet, at)[0] if at else b""


def signature_of(message: UserMessage) -> bytes:
    """The signature of a message, in its SecurityHeader or in its list of names."""
    names = message.multi_queue_format_header
    return header_signature(message) or (b"" if names is None else names.signature)


def recover_digest(block: bytes, key: "RSAPublicKey", algorithm: int) -> Block | None:
    """The digest in an RSA block, little-endian or big-endian; None if there is none."""
    if len(block) != key.key_size + 7 >> 3:
        return None
    # [MS-MQMQ] 2.5: CryptoAPI writes numbers with the lowest byte first.
    digest = _recover_big_endian(block[::-1], key, algorithm)
    if digest is not None:
        return Block(digest, big_endian=False)
    digest = _recover_big_endian(block, key, algorithm)
    return None if digest is None else Block(digest, big_endian=True)


class _Library:
    """What is needed of `cryptography`, which is loaded when it is first needed."""

    __slots__ = ("faults", "padding")

    def __init__(self) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

        self.padding: PKCS1v15 = PKCS1v15()
        self.faults: tuple[type[Exception], ...] = (InvalidSignature, ValueError)


_libraries: Final[list[_Library]] = []


def _recover_big_endian(block: bytes, key: "RSAPublicKey", algorithm: int) -> bytes | None:
    if not _libraries:
        _libraries.append(_Library())
    library = _libraries[0]
    try:
        content = key.recover_data_from_signature(block, library.padding, None)
    except library.faults:
        return None
    prefix = DIGEST_INFO[algorithm]
    # The length in the prefix is that of the digest: nothing may follow it.
    if not content.startswith(prefix) or len(content) != len(prefix) + prefix[-1]:
        return None
    return content[len(prefix) :]


def _find(
    fields: SignedFields,
    start: Hash,
    version: SignatureVersion,
    block: Block | None,
    first: Match | None,
) -> Match | None:
    """The form of a version in which the fields have the digest of the block."""
    if block is None:
        return None
    digest = block.digest
    if first is not None and first.version is version:
        state = start.copy()
        state.update(fields.rest(version, first.form))
        if state.digest() == digest:
            return Match(version, first.form, block.big_endian)
    for choices, rest in fields.candidates(version):
        state = start.copy()
        state.update(rest)
        if state.digest() == digest:
            return Match(version, HashForm(*choices), block.big_endian)
    return None
