"""<Signature> of an envelope: the XML signature in the draft of February 2000 ([MC-MQSRM] 2.2.7).

The bytes of <SignedInfo> are signed as they stand in the envelope; they are cut out, never written
anew. They hold the digests of the body and of the extension, and nothing else of the message.
"""

import hashlib
import re
from base64 import b64decode, b64encode
from binascii import Error
from typing import Final, NamedTuple
from xml.parsers import expat

from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage

from .elements import SEPARATOR, SIGNATURE
from .formats import guid_text

# [MC-MQSRM] 2.2.7.1.1: always this name, whatever kind of key signs.
SIGNATURE_METHOD: Final = f"{SIGNATURE}dsa"
DIGEST_METHODS: Final = {
    f"{SIGNATURE}sha1": HashAlgorithm.SHA1,
    f"{SIGNATURE}md5": HashAlgorithm.MD5,
}
BODY_URI: Final = "cid:body"
EXTENSION_URI: Final = "cid:extension"
MAX_REFERENCES: Final = 2
# As the fields of a SecurityHeader can hold them.
MAX_VALUE_SIZE: Final = 0xFFFF
_FIELD: Final = "Signature"
_WHITE_SPACE: Final = re.compile("[ \t\r\n]+")
# Choice: how the certificate of the sender travels, which the specification leaves open.
CERTIFICATE_PATH: Final = ("Signature", "KeyInfo", "X509Data", "X509Certificate")
_SIGNED_INFO: Final = ("Signature", "SignedInfo")
_METHOD: Final = (*_SIGNED_INFO, "SignatureMethod")
_REFERENCE: Final = (*_SIGNED_INFO, "Reference")
_DIGEST_METHOD: Final = (*_REFERENCE, "DigestMethod")
_DIGEST_VALUE: Final = (*_REFERENCE, "DigestValue")
_VALUE: Final = ("Signature", "SignatureValue")
_ONCE: Final = frozenset((_SIGNED_INFO, _METHOD, _VALUE, CERTIFICATE_PATH))
_WITH_TEXT: Final = frozenset((_DIGEST_VALUE, _VALUE, CERTIFICATE_PATH))


class Reference(NamedTuple):
    """<Reference>: the digest of the body or of the extension, in base 64.

    Attributes:
        extension: whether it is that of the extension.
    """

    extension: bool
    algorithm: HashAlgorithm
    digest: str

    def fits(self, data: bytes) -> bool:
        """Whether this is the digest of the data."""
        name = "sha1" if self.algorithm is HashAlgorithm.SHA1 else "md5"
        return self.digest == _base64(hashlib.new(name, data, usedforsecurity=False).digest())


class XmlSignature(NamedTuple):
    """What a <Signature> says.

    Attributes:
        signed_info: the bytes of <SignedInfo>, tags included.
        content: the bytes between its tags.
        certificate: of the sender; empty if it is not there.
    """

    signed_info: bytes
    content: bytes
    references: tuple[Reference, ...]
    value: bytes
    certificate: bytes

    def check_parts(self, *, body: bytes | None, extension: bytes) -> None:
        """Compare the references with the parts of the message.

        Args:
            body: None if the message has no part for it.

        Raises:
            MalformedPacket: a part is missing; or, which the specification leaves open, a part
                that is not empty has no reference, so that the signature does not cover it.
        """
        covered = [reference.extension for reference in self.references]
        for extends, part, name in ((False, body, "body"), (True, extension or None, "extension")):
            if extends in covered and part is None:
                raise _fault(f"a reference to the {name}, which is not there")
            if part and extends not in covered:
                raise _fault(f"no reference to the {name}")


def read_signature(raw: bytes) -> XmlSignature:
    """Read a <Signature>, which declares its namespace itself.

    Raises:
        MalformedPacket: an element is missing or does not hold what it must.
    """
    reader = _Reader(raw)
    elements = reader.elements
    for path, name in ((_SIGNED_INFO, "SignedInfo"), (_METHOD, "SignatureMethod")):
        if path not in elements:
            raise _fault(f"<{name}> is missing")
    method = elements[_METHOD].get("Algorithm", "")
    if method != SIGNATURE_METHOD:
        raise _fault(f"{method[:80]!r} is not {SIGNATURE_METHOD}")
    if not 1 <= len(reader.references) <= MAX_REFERENCES:
        raise _fault(f"{len(reader.references)} references instead of one or two")
    references = tuple(map(_reference, reader.references))
    if len({reference.extension for reference in references}) != len(references):
        raise _fault("two references to the same part")
    if _VALUE not in elements:
        raise _fault("<SignatureValue> is missing")
    value = _decode(reader.texts[_VALUE], "SignatureValue")
    if not value:
        raise _fault("<SignatureValue> is empty")
    start, first, last, end = reader.signed_info
    return XmlSignature(
        raw[start:end],
        raw[first:last],
        references,
        value,
        _decode(reader.texts.get(CERTIFICATE_PATH, ""), "X509Certificate"),
    )


def signed_info_of(message: UserMessage) -> bytes:
    """The <SignedInfo> that a sender of a message signs, with SHA-1 digests."""
    # Content-Id of the parts has the queue manager that sends the message.
    guid = guid_text(message.source_queue_manager)
    parts = [
        f'<SignedInfo><SignatureMethod Algorithm="{SIGNATURE_METHOD}"></SignatureMethod>',
        _reference_text(f"{BODY_URI}@{guid}", message.body),
    ]
    extension = message.extension
    if extension:
        parts.append(_reference_text(f"{EXTENSION_URI}@{guid}", extension))
    parts.append("</SignedInfo>")
    return "".join(parts).encode()


def signature_text(signed_info: bytes, value: bytes, certificate: bytes) -> bytes:
    """A <Signature>; without <KeyInfo> if there is no certificate."""
    key_info = ""
    if certificate:
        opening = "".join(f"<{name}>" for name in CERTIFICATE_PATH[1:])
        closing = "".join(f"</{name}>" for name in reversed(CERTIFICATE_PATH[1:]))
        key_info = f"{opening}{_base64(certificate)}{closing}"
    return b"".join(
        (
            f'<Signature xmlns="{SIGNATURE}">'.encode(),
            signed_info,
            f"<SignatureValue>{_base64(value)}</SignatureValue>{key_info}</Signature>".encode(),
        )
    )


class _Reader:
    """The elements of a <Signature>: attributes and texts by path, and where <SignedInfo> is."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._path: list[str] = []
        self.elements: dict[tuple[str, ...], dict[str, str]] = {}
        self.texts: dict[tuple[str, ...], str] = {}
        # Of each reference: its URI, DigestMethod and DigestValue, as far as they are there.
        self.references: list[dict[str, str]] = []
        # Start and end of <SignedInfo>, and of what is between its tags.
        self.signed_info = (0, 0, 0, 0)
        self._parser = parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            parser.Parse(raw, True)
        except expat.ExpatError as exc:
            raise MalformedPacket(_FIELD, parser.ErrorByteIndex, str(exc)) from exc
        finally:
            # Without the handlers there is no cycle to collect.
            parser.StartElementHandler = None
            parser.EndElementHandler = None
            parser.CharacterDataHandler = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(SEPARATOR)
        # An element of another namespace is none of these.
        self._path.append(local if namespace == SIGNATURE else name)
        path = tuple(self._path)
        if path in _ONCE and path in self.elements:
            raise _fault(f"<{local}> is there twice")
        if path == _SIGNED_INFO:
            start = self._parser.CurrentByteIndex
            # Expat has checked the tag, and <SignedInfo> has no attribute with a `>`.
            first = self._raw.index(b">", start) + 1
            if attributes:
                raise _fault("<SignedInfo> has attributes")
            self.signed_info = (start, first, first, first)
        elif path == _REFERENCE:
            self.references.append({"URI": attributes.get("URI", "")})
        elif path == _DIGEST_METHOD:
            self._note("DigestMethod", attributes.get("Algorithm", ""))
        elif path == _DIGEST_VALUE:
            self._note("DigestValue", "")
        self.elements.setdefault(path, attributes)

    def _note(self, name: str, value: str) -> None:
        if name in self.references[-1]:
            raise _fault(f"<{name}> is there twice in a reference")
        self.references[-1][name] = value

    def _text(self, text: str) -> None:
        path = tuple(self._path)
        if path == _DIGEST_VALUE:
            self.references[-1]["DigestValue"] += text
        elif path in _WITH_TEXT:
            self.texts[path] = self.texts.get(path, "") + text

    def _end(self, _: str) -> None:
        if tuple(self._path) == _SIGNED_INFO:
            start, first, _last, _end = self.signed_info
            last = self._parser.CurrentByteIndex
            self.signed_info = (start, first, last, self._raw.index(b">", last) + 1)
        self._path.pop()


def _reference(elements: dict[str, str]) -> Reference:
    uri = elements["URI"]
    if not uri.startswith((BODY_URI, EXTENSION_URI)):
        raise _fault(f"a reference to {uri[:80]!r}")
    for name in ("DigestMethod", "DigestValue"):
        if name not in elements:
            raise _fault(f"<{name}> is missing in a reference")
    algorithm = DIGEST_METHODS.get(elements["DigestMethod"])
    if algorithm is None:
        raise _fault(f"the digest method {elements['DigestMethod'][:80]!r} is not known")
    digest = _WHITE_SPACE.sub("", elements["DigestValue"])
    return Reference(uri.startswith(EXTENSION_URI), algorithm, digest)


def _reference_text(uri: str, data: bytes) -> str:
    digest = _base64(hashlib.sha1(data, usedforsecurity=False).digest())
    return (
        f'<Reference URI="{uri}"><DigestMethod Algorithm="{SIGNATURE}sha1"></DigestMethod>'
        f"<DigestValue>{digest}</DigestValue></Reference>"
    )


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _decode(text: str, field: str) -> bytes:
    try:
        data = b64decode(_WHITE_SPACE.sub("", text), validate=True)
    except (Error, ValueError) as exc:
        raise _fault(f"<{field}> is not base 64") from exc
    if len(data) > MAX_VALUE_SIZE:
        raise _fault(f"<{field}> has {len(data)} bytes, more than {MAX_VALUE_SIZE}")
    return data


def _fault(reason: str) -> MalformedPacket:
    return MalformedPacket(_FIELD, 0, reason)
