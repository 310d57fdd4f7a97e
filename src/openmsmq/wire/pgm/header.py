"""The header that all PGM packets share (RFC 3208, section 8), and addresses in packets."""

from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address
from struct import Struct
from typing import Final, NamedTuple, Self, TypeAlias

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

from .checksum import checksum_of

HEADER_SIZE: Final = 16
CHECKSUM_OFFSET: Final = 6
NLA_PREFIX_SIZE: Final = 4

# Bits of the field Options. Bit 0 of the text is the lowest here, unlike in its drawings: OpenPGM
# sends and accepts nothing else, and dissectors read it so.
OPTIONS_PRESENT: Final = 0x01
OPTIONS_NETWORK_SIGNIFICANT: Final = 0x02
OPTIONS_PARITY: Final = 0x80

_HEADER: Final = Struct(">HHBBH6sH")
_NLA_PREFIX: Final = Struct(">HH")
_AFI_IPV4: Final = 1
_AFI_IPV6: Final = 2
_AFI_SIZES: Final = {_AFI_IPV4: 4, _AFI_IPV6: 16}

# A network-layer address.
Nla: TypeAlias = IPv4Address | IPv6Address


class PacketType(IntEnum):
    """The packets that sources and receivers exchange."""

    SPM = 0x00
    ODATA = 0x04
    RDATA = 0x05
    NAK = 0x08
    NNAK = 0x09
    NCF = 0x0A


class TransportSessionId(NamedTuple):
    """Names a source: six bytes of a Global Source ID, and the port of the source."""

    global_source_id: bytes
    source_port: int

    def __str__(self) -> str:
        return f"{self.global_source_id.hex()}.{self.source_port}"


@dataclass(frozen=True, slots=True)
class Header:
    """The first 16 bytes of a packet; `type` may be one that PacketType does not have."""

    source_port: int
    destination_port: int
    type: int
    options: int
    checksum: int
    global_source_id: bytes
    tsdu_length: int

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, HEADER_SIZE, "Header")
        header = cls(*_HEADER.unpack_from(buf, offset))
        # The version is zero, and so are the two bits behind it.
        if header.type & 0xF0:
            raise MalformedPacket("Header.Type", offset + 4, f"{header.type:#04x} is not version 0")
        return header, end

    def serialize(self) -> bytes:
        return _HEADER.pack(
            self.source_port,
            self.destination_port,
            self.type,
            self.options,
            self.checksum,
            self.global_source_id,
            self.tsdu_length,
        )


def finish(header: Header, *parts: bytes) -> bytes:
    """The packet with its checksum; that of the given header is zero."""
    packet = b"".join((header.serialize(), *parts))
    checksum = checksum_of(packet).to_bytes(2, "big")
    return packet[:CHECKSUM_OFFSET] + checksum + packet[CHECKSUM_OFFSET + 2 :]


def parse_nla(buf: bytes | memoryview, offset: int, field: str) -> tuple[Nla, int]:
    """An address family and an address of it."""
    start = require(buf, offset, NLA_PREFIX_SIZE, field)
    family = _NLA_PREFIX.unpack_from(buf, offset)[0]
    size = _AFI_SIZES.get(family)
    if size is None:
        raise MalformedPacket(field, offset, f"address family {family} is not IPv4 or IPv6")
    end = require(buf, start, size, field)
    raw = bytes(buf[start:end])
    return (IPv4Address(raw) if family == _AFI_IPV4 else IPv6Address(raw)), end


def serialize_nla(nla: Nla) -> bytes:
    family = _AFI_IPV4 if nla.version == 4 else _AFI_IPV6
    return _NLA_PREFIX.pack(family, 0) + nla.packed
