"""Addresses of the host that a remotely read message came from ([MS-MQRR] 2.2.5.1, 2.2.5.5)."""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final, Self

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket

EXTENDED_ADDRESS_HEADER: Final = Struct("<IHHI16s")
EXTENDED_ADDRESS_HEADER_SIZE: Final = 28
ADDRESS_OVERLAY: Final = Struct("<HHI8s")
ADDRESS_OVERLAY_SIZE: Final = 16
OVERLAY_ADDRESS_SIZE: Final = 8


class HostAddressType(IntEnum):
    """AddressType; with NONE the other fields are ignored."""

    NONE = 0
    IP = 1
    IPV6 = 6


ADDRESS_SIZES: Final[dict[int, int]] = {
    HostAddressType.NONE: 0,
    HostAddressType.IP: 4,
    HostAddressType.IPV6: 16,
}


@dataclass(frozen=True, slots=True)
class ExtendedAddressHeader:
    """The whole address in network byte order, and the scope of an IPv6 address."""

    address_type: HostAddressType = HostAddressType.NONE
    address: bytes = b""
    address_scope: int = 0

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, EXTENDED_ADDRESS_HEADER_SIZE, "ExtendedAddressHeader")
        header_size, length, address_type, scope, address = EXTENDED_ADDRESS_HEADER.unpack_from(
            buf, offset
        )
        if header_size != EXTENDED_ADDRESS_HEADER_SIZE:
            raise MalformedPacket(
                "ExtendedAddressHeader.HeaderSize", offset, f"{header_size} is not 28"
            )
        checked_type = _check_address(length, address_type, "ExtendedAddressHeader", offset + 4)
        if checked_type is HostAddressType.NONE:
            return cls(), end
        return cls(checked_type, address[:length], scope), end

    def serialize(self) -> bytes:
        return EXTENDED_ADDRESS_HEADER.pack(
            EXTENDED_ADDRESS_HEADER_SIZE,
            len(self.address),
            self.address_type,
            self.address_scope,
            self.address,
        )


@dataclass(frozen=True, slots=True)
class AddressOverlay:
    """What stands in UserHeader.QueueManagerAddress when the destination is a direct name.

    `address` has at most eight bytes: an IPv6 address is cut.
    """

    address_type: HostAddressType = HostAddressType.NONE
    address: bytes = b""
    address_scope: int = 0

    @classmethod
    def of(cls, header: ExtendedAddressHeader) -> Self:
        """The overlay for the address in this header."""
        return cls(header.address_type, header.address[:OVERLAY_ADDRESS_SIZE], header.address_scope)

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = require(buf, offset, ADDRESS_OVERLAY_SIZE, "UserHeader.QueueManagerAddress")
        length, address_type, scope, address = ADDRESS_OVERLAY.unpack_from(buf, offset)
        checked_type = _check_address(length, address_type, "UserHeader", offset)
        if checked_type is HostAddressType.NONE:
            return cls(), end
        return cls(checked_type, address[:length], scope), end

    def serialize(self) -> bytes:
        # AddressLength is that of the whole address.
        return ADDRESS_OVERLAY.pack(
            ADDRESS_SIZES[self.address_type], self.address_type, self.address_scope, self.address
        )


def _check_address(length: int, address_type: int, field: str, offset: int) -> HostAddressType:
    size = ADDRESS_SIZES.get(address_type)
    if size is None:
        raise MalformedPacket(
            f"{field}.AddressType", offset + 2, f"{address_type} is not 0, 1 or 6"
        )
    if address_type != HostAddressType.NONE and length != size:
        raise MalformedPacket(
            f"{field}.AddressLength",
            offset,
            f"{length} is not {size}, the size for type {address_type}",
        )
    return HostAddressType(address_type)
