"""DebugHeader: where trace reports of a message go ([MS-MQMQ] 2.2.20.8)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import GUID_SIZE, guid

DEBUG_HEADER: Final = Struct("<HH")
QUEUE_TYPE_MASK: Final = 0x0003
_NO_QUEUE: Final = 0
_PUBLIC_QUEUE: Final = 1


@dataclass(frozen=True, slots=True)
class DebugHeader:
    """The public queue for trace reports, if there is one."""

    queue_identifier: UUID | None = None

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, DEBUG_HEADER.size, "DebugHeader")
        queue_type = DEBUG_HEADER.unpack_from(buf, offset)[0] & QUEUE_TYPE_MASK
        if queue_type == _NO_QUEUE:
            return cls(), end
        if queue_type != _PUBLIC_QUEUE:
            raise MalformedPacket("DebugHeader.Flags.QT", offset, f"{queue_type} is not defined")
        identifier = end
        end = require(buf, identifier, GUID_SIZE, "DebugHeader.QueueIdentifier")
        return cls(guid(bytes(buf[identifier:end]))), end

    def serialize(self) -> bytes:
        if self.queue_identifier is None:
            return DEBUG_HEADER.pack(_NO_QUEUE, 0)
        return DEBUG_HEADER.pack(_PUBLIC_QUEUE, 0) + self.queue_identifier.bytes_le
