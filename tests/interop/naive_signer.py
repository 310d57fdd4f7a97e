"""Builds signed packets straight from the documents, with no code of the product.

[MS-MQMQ] 2.2.19, 2.2.20 and 2.5: the layout of a UserMessage packet and what its signature covers.
RSA is done with Python's integers.
"""

import hashlib
from dataclasses import dataclass, field
from struct import pack
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

CALG = {"sha512": 0x800E, "sha256": 0x800C, "sha1": 0x8004, "md5": 0x8003}
# PKCS #1: DigestInfo before the digest.
DIGEST_INFO = {
    "sha512": "3051300d060960864801650304020305000440",
    "sha256": "3031300d060960864801650304020105000420",
    "sha1": "3021300906052b0e03021a05000414",
    "md5": "3020300c06082a864886f70d020505000410",
}


def wide(text: str) -> bytes:
    return text.encode("utf-16-le") + b"\0\0"


def pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def rsa_sign(key: RSAPrivateKey, digest: bytes, name: str, *, little_endian: bool = True) -> bytes:
    """PKCS #1 v1.5 by hand."""
    numbers = key.private_numbers()
    size = (numbers.public_numbers.n.bit_length() + 7) // 8
    content = bytes.fromhex(DIGEST_INFO[name]) + digest
    block = b"\0\1" + b"\xff" * (size - len(content) - 3) + b"\0" + content
    signed = pow(int.from_bytes(block, "big"), numbers.d, numbers.public_numbers.n)
    return signed.to_bytes(size, "little" if little_endian else "big")


@dataclass
class NaiveMessage:
    """A message to a direct name, with all that a signature covers."""

    source: UUID
    destination: str
    body: bytes
    key: RSAPrivateKey
    certificate: bytes
    label: str = ""
    sid: bytes = b""
    admin: str = ""
    response: str = ""
    version: str = "2.0"
    hash_name: str = "sha512"
    little_endian: bool = True
    correlation: bytes = bytes(20)
    tag: int = 0
    body_type: int = 0
    extension: bytes = b""
    priority: int = 3
    delivery: int = 0
    acknowledge: int = 0
    message_id: int = 1
    sent_time: int = 0
    # Bytes before the signature in its item.
    before: bytes = b""
    connector: UUID | None = None
    names: tuple[str, ...] = field(default=())

    def signed_bytes(self) -> bytes:
        data = self.correlation + pack("<I", self.tag) + self.body
        data += wide(self.label) if self.label else b""
        data += wide(f"DIRECT={self.response}") if self.response else b""
        data += wide(f"DIRECT={self.admin}") if self.admin else b""
        if self.version == "1.0":
            return data
        if self.version == "3.0":
            data += self.extension
            data += b"".join(pack("<H", 3) + wide(name) for name in self.names)
        data += self.source.bytes_le
        data += pack(
            "<BBBBHI", self.delivery, self.priority, 0, self.acknowledge, 0, self.body_type
        )
        data += self.connector.bytes_le if self.connector else bytes(16)
        if self.version == "2.0":
            data += wide(f"DIRECT={self.destination}")
        return data

    def packet(self) -> bytes:
        digest = hashlib.new(self.hash_name, self.signed_bytes()).digest()
        signature = rsa_sign(self.key, digest, self.hash_name, little_endian=self.little_endian)
        in_list = self.version == "3.0"
        item = b"" if in_list else self.before + signature
        flags = 0x0028_0000 | self.delivery << 5 | 7 << 10
        flags |= (7 << 13 if self.admin else 0) | (7 << 16 if self.response else 0)
        flags |= (0x0040_0000 if self.connector else 0) | (0x0080_0000 if in_list else 0)
        user = self.source.bytes_le + bytes(16)
        user += pack("<IIII", 0xFFFFFFFF, self.sent_time, self.message_id, flags)
        for name in (self.destination, self.admin, self.response):
            if name:
                user = pad(user + pack("<H", len(wide(name))) + wide(name))
        user += self.connector.bytes_le if self.connector else b""
        security = pack(
            "<HHHHII", 1 if self.sid else 0, len(self.sid), 0, len(item), len(self.certificate), 0
        )
        security += pad(self.sid) + pad(item) + pad(self.certificate)
        label = wide(self.label) if self.label else b""
        properties = pack("<BBH", self.acknowledge, len(label) // 2, 0) + self.correlation
        properties += pack("<IIII", self.body_type, self.tag, len(self.body), len(self.body))
        properties += pack("<IIII", 0, CALG[self.hash_name], 0, len(self.extension))
        properties = pad(properties + label + self.extension + self.body)
        after = self.list_header(signature) if in_list else b""
        size = 16 + len(user) + len(security) + len(properties) + len(after)
        base = pack("<BBH4sII", 0x10, 0, self.priority, b"LIOR", size, 0xFFFFFFFF)
        return base + user + security + properties + after

    def list_header(self, signature: bytes) -> bytes:
        """MultiQueueFormatHeader: three lists and the signature."""
        elements = b"".join(pack("<H", 3) + wide(name) for name in self.names)
        header = b""
        for identifier, content in ((0x64, elements), (0xC8, b""), (0x12C, b"")):
            count = len(self.names) if content else 0
            size = 12 + len(pad(content))
            header += pack("<IHHI", size, identifier, 0, count) + pad(content)
        return header + pad(pack("<HHI", 0x15E, 0, len(signature)) + signature)
