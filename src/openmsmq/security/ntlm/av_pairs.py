"""AV_PAIR: what a server says of itself, and what a client adds to it ([MS-NLMP] 2.2.2.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

AV_HEADER: Final = Struct("<HH")
MAX_AV_PAIRS: Final = 64

# Bits of MsvAvFlags.
MIC_PRESENT: Final = 0x00000002
UNVERIFIED_TARGET_NAME: Final = 0x00000004


class AvId(IntEnum):
    """What an AV_PAIR holds."""

    MSV_AV_EOL = 0
    MSV_AV_NB_COMPUTER_NAME = 1
    MSV_AV_NB_DOMAIN_NAME = 2
    MSV_AV_DNS_COMPUTER_NAME = 3
    MSV_AV_DNS_DOMAIN_NAME = 4
    MSV_AV_DNS_TREE_NAME = 5
    MSV_AV_FLAGS = 6
    MSV_AV_TIMESTAMP = 7
    MSV_AV_SINGLE_HOST = 8
    MSV_AV_TARGET_NAME = 9
    MSV_AV_CHANNEL_BINDINGS = 10


_SIZES: Final = {
    AvId.MSV_AV_FLAGS: 4,
    AvId.MSV_AV_TIMESTAMP: 8,
    AvId.MSV_AV_CHANNEL_BINDINGS: 16,
}


@dataclass(frozen=True, slots=True)
class AvPairs:
    """A sequence of AV_PAIRs without its MsvAvEOL; each id occurs once."""

    pairs: Mapping[int, bytes]

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        pairs: dict[int, bytes] = {}
        while True:
            start = require(buf, offset, AV_HEADER.size, "AV_PAIR")
            av_id, size = AV_HEADER.unpack_from(buf, offset)
            end = require(buf, start, size, "AV_PAIR.Value")
            if av_id == AvId.MSV_AV_EOL:
                if size:
                    raise MalformedPacket("AV_PAIR.AvLen", offset + 2, "MsvAvEOL has a value")
                return cls(pairs), end
            if av_id in pairs or len(pairs) == MAX_AV_PAIRS:
                raise MalformedPacket(
                    "AV_PAIR.AvId", offset, f"{av_id} is repeated or one too many"
                )
            if size != _SIZES.get(av_id, size):
                raise MalformedPacket("AV_PAIR.AvLen", offset + 2, f"{size} does not fit {av_id}")
            pairs[av_id] = bytes(buf[start:end])
            offset = end

    def serialize(self) -> bytes:
        parts: list[bytes] = []
        for av_id, value in self.pairs.items():
            parts += (AV_HEADER.pack(av_id, len(value)), value)
        return b"".join((*parts, AV_HEADER.pack(AvId.MSV_AV_EOL, 0)))

    @property
    def flags(self) -> int:
        """MsvAvFlags, 0 without one."""
        return int.from_bytes(self.pairs.get(AvId.MSV_AV_FLAGS, b""), "little")

    @property
    def timestamp(self) -> bytes | None:
        """MsvAvTimestamp, as FILETIME."""
        return self.pairs.get(AvId.MSV_AV_TIMESTAMP)

    @property
    def has_names(self) -> bool:
        """Whether the NetBIOS names of server and domain are there."""
        return (
            AvId.MSV_AV_NB_COMPUTER_NAME in self.pairs and AvId.MSV_AV_NB_DOMAIN_NAME in self.pairs
        )
