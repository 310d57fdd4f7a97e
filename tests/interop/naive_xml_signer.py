"""Signed SRMP requests straight from [MC-MQSRM] 2.2.7 and 3.1.7.2.4, with no code of the product.

RSA and DSA are done with Python's integers.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.dsa import DSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from tests.interop.naive_signer import rsa_sign
from tests.protocol.srmp.naive import PEER, envelope

DSIG = "http://www.w3.org/2000/02/xmldsig#"
DSA_METHOD = f'<SignatureMethod Algorithm="{DSIG}dsa"></SignatureMethod>'
MARK = b"--MSMQ - SOAP boundary, 9\r\n"


class Value(Protocol):
    """Signs the bytes of <SignedInfo>."""

    def __call__(self, data: bytes, /) -> bytes: ...


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def rsa(key: RSAPrivateKey, *, little_endian: bool = False) -> Value:
    def sign(data: bytes) -> bytes:
        digest = hashlib.sha1(data).digest()  # noqa: S324 - what SRMP has
        return rsa_sign(key, digest, "sha1", little_endian=little_endian)

    return sign


def dsa(key: DSAPrivateKey, *, little_endian: bool = False) -> Value:
    """FIPS 186: r and s as two numbers of 20 bytes."""

    def sign(data: bytes) -> bytes:
        numbers = key.private_numbers()
        p, q, g = (getattr(numbers.public_numbers.parameter_numbers, name) for name in "pqg")
        digest = int(hashlib.sha1(data).hexdigest(), 16)  # noqa: S324 - what SRMP has
        secret = 0x1234567890ABCDEF1234567890ABCDEF % q
        r = pow(g, secret, p) % q
        s = pow(secret, -1, q) * (digest + numbers.x * r) % q
        halves = [int(number).to_bytes(20, "big") for number in (r, s)]
        return b"".join(half[::-1] if little_endian else half for half in halves)

    return sign


def reference(part: str, data: bytes, *, method: str = "sha1", guid: UUID = PEER) -> str:
    digest = base64(hashlib.new(method, data).digest())
    return (
        f'<Reference URI="cid:{part}@{guid}">'
        f'<DigestMethod Algorithm="{DSIG}{method}"></DigestMethod>'
        f"<DigestValue>{digest}</DigestValue></Reference>"
    )


@dataclass
class NaiveXml:
    """A signed message; each piece of text can be replaced by another one."""

    to: str
    utc: float
    value: Value
    certificate: bytes = b""
    body: bytes | None = b"by hand"
    extension: bytes = b""
    number: int = 1
    msmq: str = "<HashAlgorithm>32772</HashAlgorithm>"
    entries: str = ""
    method: str = DSA_METHOD
    references: str | None = None
    # What was signed, if it is not the body that is sent.
    digest_method: str = "sha1"
    # Whether the tags of <SignedInfo> are signed with it.
    with_tags: bool = True
    replacements: tuple[tuple[str, str], ...] = field(default=())

    def signature(self) -> str:
        references = self.references
        if references is None:
            references = ""
            if self.body is not None:
                references += reference("body", self.body, method=self.digest_method)
            if self.extension:
                references += reference("extension", self.extension, method=self.digest_method)
        inside = f"{self.method}{references}"
        signed_info = f"<SignedInfo>{inside}</SignedInfo>"
        value = self.value((signed_info if self.with_tags else inside).encode())
        key_info = ""
        if self.certificate:
            encoded = base64(self.certificate)
            key_info = (
                f"<KeyInfo><X509Data><X509Certificate>{encoded}</X509Certificate>"
                "</X509Data></KeyInfo>"
            )
        return (
            f'<Signature xmlns="{DSIG}">{signed_info}'
            f"<SignatureValue>{base64(value)}</SignatureValue>{key_info}</Signature>"
        )

    def envelope(self) -> str:
        text = envelope(
            self.to, utc=self.utc, number=self.number, msmq=self.msmq, entries=self.entries
        )
        text = text.replace("</Msmq>", f"</Msmq>{self.signature()}")
        for old, new in self.replacements:
            assert old in text, old
            text = text.replace(old, new)
        return text

    def post(self, **changed: bytes) -> bytes:
        """The request; `body` and `extension` can differ from what was signed."""
        raw = self.envelope().encode()
        parts = [(b"Content-Type: text/xml; charset=UTF-8", b"", raw)]
        for name, own in (("body", self.body), ("extension", self.extension or None)):
            data = changed.get(name, own)
            if data is not None:
                content_id = f"Content-Id: {name}@{PEER}\r\n".encode()
                parts.append((b"Content-Type: application/octet-stream", content_id, data))
        content = b"".join(
            MARK + kind + b"\r\nContent-Length: %d\r\n" % len(data) + content_id + b"\r\n" + data
            for kind, content_id, data in parts
        )
        content += MARK.removesuffix(b"\r\n") + b"--\r\n"
        head = (
            "POST /msmq/private$/orders HTTP/1.1\r\nHost: beta\r\nContent-Type: "
            'multipart/related; boundary="MSMQ - SOAP boundary, 9"; type=text/xml\r\n'
            f'Content-Length: {len(content)}\r\nSOAPAction: "MSMQMessage"\r\n\r\n'
        )
        return head.encode() + content
