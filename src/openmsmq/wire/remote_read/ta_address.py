"""TA_ADDRESS: one transport address of a machine ([MS-MQMQ] 2.2.4)."""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

TA_ADDRESS: Final = Struct("<HH")
TA_ADDRESS_SIZE: Final = 4


class TAAddressType(IntEnum):
    """TA_ADDRESS.AddressType."""

    IP = 1
    IP_RAS = 2
    IPX = 3
    FOREIGN = 5


ADDRESS_SIZES: Final[dict[int, int]] = {
    TAAddressType.IP: 4,
    TAAddressType.IP_RAS: 4,
    TAAddressType.IPX: 10,
    TAAddressType.FOREIGN: 16,
}


@dataclass(frozen=True, slots=True)
class TAAddress:
    """The address is as its network has it: IPv4, IPX network and node, or a GUID."""

    address_type: TAAddressType
    address: bytes

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        start = require(buf, offset, TA_ADDRESS_SIZE, "TA_ADDRESS")
        address_length, address_type = TA_ADDRESS.unpack_from(buf, offset)
        size = ADDRESS_SIZES.get(address_type)
        if size is None:
            raise MalformedPacket(
                "TA_ADDRESS.AddressType", offset + 2, f"{address_type} is not 1, 2, 3 or 5"
            )
        if address_length != size:
            raise MalformedPacket(
                "TA_ADDRESS.AddressLength",
                offset,
                f"{address_length} is not {size}, the size for type {address_type}",
            )
        end = require(buf, start, size, "TA_ADDRESS.Address")
        return cls(TAAddressType(address_type), bytes(buf[start:end])), end

    def serialize(self) -> bytes:
        return TA_ADDRESS.pack(len(self.address), self.address_type) + self.address
