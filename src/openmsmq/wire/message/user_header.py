"""UserHeader: identity, times and addresses of a message ([MS-MQMQ] 2.2.19.2)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.names.queue_address import NO_QUEUE, QueueAddress
from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.scalars import GUID_NULL, GUID_SIZE, guid

USER_HEADER: Final = Struct("<16s16sIIII")
USER_HEADER_SIZE: Final = 48
ROUTING_COUNT_MASK: Final = 0x0000001F
DELIVERY_MODE_MASK: Final = 0x00000060
DELIVERY_MODE_SHIFT: Final = 5
DESTINATION_SHIFT: Final = 10
ADMIN_SHIFT: Final = 13
RESPONSE_SHIFT: Final = 16
ADDRESS_MASK: Final = 0x0007FC00
# Choice: one of the reserved bits (X4) says inside a queue manager, and never between two, that
# the body is clear here but travels encrypted: it must be encrypted, or it was.
PRIVATE_BODY: Final = 0x80000000

_DESTINATION_TYPES: Final = (0, 3, 5, 7)
_ADMIN_TYPES: Final = (0, 2, 3, 5, 6, 7)
# UserHeader.Flags with defined types only, as far as DQ and AQ are concerned.
DEFINED_TYPES: Final = frozenset(
    destination << DESTINATION_SHIFT | admin << ADMIN_SHIFT
    for destination in _DESTINATION_TYPES
    for admin in _ADMIN_TYPES
)
TYPES_MASK: Final = 7 << DESTINATION_SHIFT | 7 << ADMIN_SHIFT


class UserHeaderFlags(IntFlag):
    """The one-bit fields of UserHeader.Flags."""

    JN = 0x00000100
    JP = 0x00000200
    SH = 0x00080000
    TH = 0x00100000
    MP = 0x00200000
    CQ = 0x00400000
    MQ = 0x00800000
    AH = 0x02000000
    HH = 0x10000000


_CQ: Final = int(UserHeaderFlags.CQ)
# The flags that follow from the addresses.
DERIVED_FLAGS: Final = ADDRESS_MASK | _CQ


@dataclass(frozen=True, slots=True)
class UserHeader:
    """All fields of the header; addresses are as encoded, not resolved.

    `flags` is kept without DQ, AQ, RQ and CQ (`DERIVED_FLAGS`).
    """

    flags: int
    source_queue_manager: UUID
    message_id: int
    sent_time: int
    destination_queue: QueueAddress
    admin_queue: QueueAddress = NO_QUEUE
    response_queue: QueueAddress = NO_QUEUE
    queue_manager_address: UUID = GUID_NULL
    time_to_be_received: int = INFINITE
    connector_type: UUID | None = None

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, USER_HEADER_SIZE, "UserHeader")
        source, address, time_to_be_received, sent_time, message_id, flags = (
            USER_HEADER.unpack_from(buf, offset)
        )
        check_address_types(flags, offset + 44)
        destination, end = QueueAddress.parse(buf, end, flags >> DESTINATION_SHIFT & 7, offset)
        admin, end = QueueAddress.parse(buf, end, flags >> ADMIN_SHIFT & 7, offset)
        response, end = QueueAddress.parse(buf, end, flags >> RESPONSE_SHIFT & 7, offset)
        connector_type = None
        if flags & _CQ:
            start, end = end, require(buf, end, GUID_SIZE, "UserHeader.ConnectorType")
            connector_type = guid(bytes(buf[start:end]))
        header = cls(
            flags & ~DERIVED_FLAGS,
            guid(source),
            message_id,
            sent_time,
            destination,
            admin,
            response,
            guid(address),
            time_to_be_received,
            connector_type,
        )
        return header, end

    def serialize(self) -> bytes:
        connector_type = b"" if self.connector_type is None else self.connector_type.bytes_le
        flags = (
            self.flags
            | self.destination_queue.type << DESTINATION_SHIFT
            | self.admin_queue.type << ADMIN_SHIFT
            | self.response_queue.type << RESPONSE_SHIFT
            | (_CQ if connector_type else 0)
        )
        fixed = USER_HEADER.pack(
            self.source_queue_manager.bytes_le,
            self.queue_manager_address.bytes_le,
            self.time_to_be_received,
            self.sent_time,
            self.message_id,
            flags,
        )
        return b"".join(
            (
                fixed,
                self.destination_queue.serialize(),
                self.admin_queue.serialize(),
                self.response_queue.serialize(),
                connector_type,
            )
        )


def check_address_types(flags: int, offset: int) -> None:
    """Refuse an undefined DQ or AQ: [MS-MQMQ] 2.2.19.2 has the session closed."""
    if flags & TYPES_MASK in DEFINED_TYPES:
        return
    field, shift = "DQ", DESTINATION_SHIFT
    if flags >> shift & 7 in _DESTINATION_TYPES:
        field, shift = "AQ", ADMIN_SHIFT
    raise MalformedPacket(
        f"UserHeader.Flags.{field}", offset, f"{flags >> shift & 7} is not defined"
    )
