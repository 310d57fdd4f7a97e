"""Queue addresses as the UserHeader encodes them ([MS-MQMQ] 2.2.18.1.5, 2.2.19.2)."""

from enum import IntEnum
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import guid
from openmsmq.wire.wide_text import lenient_text, serialize_text

_U16: Final = Struct("<H").unpack_from
_pack_u16: Final = Struct("<H").pack
_U32: Final = Struct("<I")
_PRIVATE: Final = Struct("<16sI")
_COUNT_SIZE: Final = 2
_MAX_COUNT: Final = 0xFFFF
_MAX_CACHED_NAME: Final = 512


class QueueAddressType(IntEnum):
    """How an address is encoded: the values of UserHeader.Flags DQ, AQ and RQ."""

    NONE = 0
    SAME_AS_ADMIN = 1
    PRIVATE_ON_SOURCE = 2
    PRIVATE_ON_DESTINATION = 3
    PRIVATE_ON_ADMIN = 4
    PUBLIC = 5
    PRIVATE_ON_OTHER = 6
    DIRECT = 7


# Bytes of an address by type; a direct name says its own size.
_SIZES: Final = (0, 0, 4, 4, 4, 16, 20, 0)


class QueueAddress(NamedTuple):
    """One address: a number, a GUID, both, or the text of a direct format name.

    A `UserMessage` gives only resolved addresses: PUBLIC, PRIVATE_ON_OTHER (with the GUID filled
    in from wherever it stood) and DIRECT.
    """

    type: int
    guid: UUID | None = None
    number: int = 0
    direct: str | None = None

    @classmethod
    def parse(
        cls, buf: bytes | memoryview, offset: int, address_type: int, start: int = 0
    ) -> tuple["QueueAddress", int]:
        """Read the address of this type at `offset` in a UserHeader that begins at `start`."""
        end = address_end(buf, offset, address_type, start)
        match address_type:
            case 2 | 3 | 4:
                return cls(address_type, None, _U32.unpack_from(buf, offset)[0]), end
            case 5:
                return cls(address_type, guid(bytes(buf[offset:end]))), end
            case 6:
                raw, number = _PRIVATE.unpack_from(buf, offset)
                return cls(address_type, guid(raw), number), end
            case 7:
                return parse_direct(bytes(buf[offset:end]), 0), end
            case _:
                return cls(address_type), end

    def serialize(self) -> bytes:
        """The bytes of the address, padded as at a multiple of four from the UserHeader's start.

        Raises:
            ValueError: a part that this type needs is missing or does not fit.
        """
        match self.type:
            case 7:
                name = self.direct or ""
                return _cached_name(name) if len(name) <= _MAX_CACHED_NAME else _name(name)
            case 2 | 3 | 4:
                return _U32.pack(self.number)
            case 5:
                return self._guid_bytes()
            case 6:
                return _PRIVATE.pack(self._guid_bytes(), self.number)
            case _:
                return b""

    def _guid_bytes(self) -> bytes:
        if self.guid is None:
            raise ValueError("a public or private address needs a GUID")
        return self.guid.bytes_le


NO_QUEUE: Final = QueueAddress(0)


def public_address(queue: UUID) -> QueueAddress:
    """The address of PUBLIC=queue."""
    return QueueAddress(5, queue)


def private_address(queue_manager: UUID, number: int) -> QueueAddress:
    r"""The address of PRIVATE=queue_manager\number."""
    return QueueAddress(6, queue_manager, number)


def direct_address(name: str) -> QueueAddress:
    """The address of DIRECT=name; `name` is without that prefix, as on the wire."""
    return QueueAddress(7, None, 0, name)


def destination_encoding(
    destination: QueueAddress, queue_manager: UUID
) -> tuple[QueueAddress, UUID]:
    """Encode a resolved destination in the fewest bytes; return QueueManagerAddress with it.

    Args:
        queue_manager: QueueManagerAddress, unless the destination says it.
    """
    if destination.type == 6 and destination.guid is not None:
        return QueueAddress(3, None, destination.number), destination.guid
    return destination, queue_manager


def relative_address(
    address: QueueAddress, source: UUID, destination: UUID, admin: QueueAddress = NO_QUEUE
) -> QueueAddress:
    """Encode a resolved address in the fewest bytes.

    Args:
        address: the administration or response queue of a message.
        source: SourceQueueManager of the message.
        destination: QueueManagerAddress of the message.
        admin: the resolved administration queue, when `address` is the response queue.
    """
    if address.type and address == admin:
        return QueueAddress(1)
    if address.type != 6:
        return address
    if address.guid == source:
        return QueueAddress(2, None, address.number)
    if address.guid == destination:
        return QueueAddress(3, None, address.number)
    if admin.type == 6 and address.guid == admin.guid:
        return QueueAddress(4, None, address.number)
    return address


def address_end(buf: bytes | memoryview, offset: int, address_type: int, start: int = 0) -> int:
    """Return where the address ends, padding included, after checking that it fits."""
    if address_type != 7:
        return require(buf, offset, _SIZES[address_type], "UserHeader queue address")
    name = offset + _COUNT_SIZE
    if name > len(buf):
        require(buf, offset, _COUNT_SIZE, "DirectQueueFormatName.Count")
    count: int = _U16(buf, offset)[0]
    if count & 1 or not count:
        raise MalformedPacket(
            "DirectQueueFormatName.Count", offset, f"{count} is not the size of WCHARs with a NUL"
        )
    end = name + count
    if end > len(buf):
        require(buf, name, count, "DirectQueueFormatName.DirectFormatName")
    return end + (start - end & 3)


def parse_direct(buf: bytes, offset: int) -> QueueAddress:
    """Read a direct name whose bounds `address_end` has checked."""
    name = offset + _COUNT_SIZE
    raw = buf[name : name + _U16(buf, offset)[0]]
    return _cached_direct(raw) if len(raw) <= _MAX_CACHED_NAME else _direct(raw)


def _direct(raw: bytes) -> QueueAddress:
    return QueueAddress(7, None, 0, lenient_text(raw))


def _name(name: str) -> bytes:
    if not name or "\0" in name:
        raise ValueError(f"not a direct format name: {name!r}")
    raw = serialize_text(name)
    if len(raw) > _MAX_COUNT:
        raise ValueError(f"a direct format name of {len(raw)} bytes is too long")
    return _pack_u16(len(raw)) + raw + bytes(-(len(raw) + _COUNT_SIZE) % 4)


# Most messages go to few queues. Long names stay out, so that the caches stay small.
_cached_direct: Final = lru_cache(maxsize=1024)(_direct)
_cached_name: Final = lru_cache(maxsize=1024)(_name)
