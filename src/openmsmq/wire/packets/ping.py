"""Ping: asks over UDP whether a session would be accepted ([MS-MQQB] 2.2.7)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import guid

PING: Final = Struct("<HHI16s")
PING_SIZE: Final = 24
PING_SIGNATURE: Final = 0x5548


class PingFlags(IntFlag):
    """Ping.Flags; the other bits hold anything."""

    RC = 0x0001
    RF = 0x0002


PING_FLAGS_MASK: Final = PingFlags.RC | PingFlags.RF


@dataclass(frozen=True, slots=True)
class Ping:
    """A request or its response, which has the same cookie."""

    flags: PingFlags
    cookie: int
    qm_guid: UUID

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, PING_SIZE, "Ping")
        flags, signature, cookie, qm_guid = PING.unpack_from(buf, offset)
        if signature != PING_SIGNATURE:
            raise MalformedPacket("Ping.Signature", offset + 2, f"is 0x{signature:04X}, not 0x5548")
        return cls(PingFlags(flags & PING_FLAGS_MASK), cookie, guid(qm_guid)), end

    def serialize(self) -> bytes:
        return PING.pack(self.flags, PING_SIGNATURE, self.cookie, self.qm_guid.bytes_le)
