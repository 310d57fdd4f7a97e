"""SecurityHeader: sender, keys, signature and certificate ([MS-MQMQ] 2.2.20.6)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.wide_text import lenient_text, serialize_text

SECURITY_HEADER: Final = Struct("<HHHHII")
SECURITY_HEADER_SIZE: Final = 16
SENDER_ID_TYPE_MASK: Final = 0x000F
AUTHENTICATION_MASK: Final = 0x0F00
AUTHENTICATION_SHIFT: Final = 8

_U32: Final = Struct("<I")
_PROVIDER_TYPE_SIZE: Final = 4
_MAX_SENDER_CERT_SIZE: Final = 0xFFFF
_ITEMS: Final = (
    "SecurityHeader.SecurityID",
    "SecurityHeader.EncryptionKey",
    "SecurityHeader.Signature",
    "SecurityHeader.SenderCert",
    "SecurityHeader.ProviderInfo",
)


class SecurityHeaderFlags(IntFlag):
    """SecurityHeader.Flags without ST and AS."""

    AU = 0x0010
    EB = 0x0020
    DE = 0x0040
    AI = 0x0080


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """The cryptographic service provider that made the signature."""

    provider_type: int
    provider_name: str

    @classmethod
    def parse(cls, raw: bytes | memoryview) -> Self:
        """Read the whole ProviderInfo item, whose size was checked with the SecurityHeader."""
        provider_type = _U32.unpack_from(raw)[0]
        return cls(provider_type, lenient_text(bytes(raw[_PROVIDER_TYPE_SIZE:])))

    def serialize(self) -> bytes:
        return _U32.pack(self.provider_type) + serialize_text(self.provider_name)


@dataclass(frozen=True, slots=True)
class SecurityHeader:
    """Flags and the five items of SecurityData; an absent item is empty."""

    flags: int
    security_id: bytes = b""
    encryption_key: bytes = b""
    signature: bytes = b""
    sender_cert: bytes = b""
    provider_info: ProviderInfo | None = None

    @property
    def sender_id_type(self) -> int:
        return self.flags & SENDER_ID_TYPE_MASK

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        slices, end = security_layout(buf, offset)
        security_id, encryption_key, signature, sender_cert, provider = (
            bytes(buf[item]) for item in slices
        )
        header = cls(
            SECURITY_HEADER.unpack_from(buf, offset)[0],
            security_id,
            encryption_key,
            signature,
            sender_cert,
            ProviderInfo.parse(provider) if provider else None,
        )
        return header, end

    def serialize(self) -> bytes:
        provider = b"" if self.provider_info is None else self.provider_info.serialize()
        items = (
            self.security_id,
            self.encryption_key,
            self.signature,
            self.sender_cert,
            provider,
        )
        parts = [SECURITY_HEADER.pack(self.flags, *map(len, items))]
        for item in items:
            parts += (item, bytes(-len(item) % 4))
        return b"".join(parts)


def signature_place(buf: bytes, offset: int) -> tuple[int, int]:
    """Where the Signature of a checked header starts and ends."""
    _, sender, key, size, _, _ = SECURITY_HEADER.unpack_from(buf, offset)
    start: int = offset + SECURITY_HEADER_SIZE + (sender + 3 & ~3) + (key + 3 & ~3)
    return start, start + size


def signature_and_certificate(buf: bytes, offset: int) -> tuple[bytes, bytes]:
    """Signature and SenderCert of a checked header, without the rest of it."""
    _, sender, key, size, certificate_size, _ = SECURITY_HEADER.unpack_from(buf, offset)
    start = offset + SECURITY_HEADER_SIZE + (sender + 3 & ~3) + (key + 3 & ~3)
    certificate = start + (size + 3 & ~3)
    return buf[start : start + size], buf[certificate : certificate + certificate_size]


def security_header_end(buf: bytes | memoryview, offset: int) -> int:
    """Return where the header ends, after checking all sizes."""
    end = offset + SECURITY_HEADER_SIZE
    if end <= len(buf):
        size: int
        _, size, key, signature, certificate, provider = SECURITY_HEADER.unpack_from(buf, offset)
        if not (key or signature or certificate or provider):
            # Most messages have nothing but the identifier of their sender.
            end += size + (-size & 3)
            if end <= len(buf):
                return end
        elif certificate <= _MAX_SENDER_CERT_SIZE and (
            not provider or (provider >= _PROVIDER_TYPE_SIZE and not provider & 1)
        ):
            for item in (size, key, signature, certificate, provider):
                end += item + (-item & 3)
            if end <= len(buf):
                return end
    return security_layout(buf, offset)[1]


def security_layout(buf: bytes | memoryview, offset: int) -> tuple[list[slice], int]:
    """Return where each item of SecurityData lies and where the header ends.

    The sizes decide. Flags.AI is not trusted: it is clear in [MS-MQQB] 4.1.7, where a SID follows.
    """
    position = require(buf, offset, SECURITY_HEADER_SIZE, "SecurityHeader")
    sizes = SECURITY_HEADER.unpack_from(buf, offset)[1:]
    if sizes[3] > _MAX_SENDER_CERT_SIZE:
        raise MalformedPacket(
            "SecurityHeader.SenderCertSize", offset + 8, f"{sizes[3]} is more than 65535"
        )
    if sizes[4] and (sizes[4] < _PROVIDER_TYPE_SIZE or sizes[4] & 1):
        raise MalformedPacket(
            "SecurityHeader.ProviderInfoSize", offset + 12, f"{sizes[4]} is not 4 plus WCHARs"
        )
    slices = []
    for field, size in zip(_ITEMS, sizes, strict=True):
        end = require(buf, position, size, field)
        slices.append(slice(position, end))
        position = padded_end(buf, offset, end)
    return slices, position
