"""What a queue manager writes into the packets that applications send through it."""

from collections.abc import Callable
from struct import Struct
from typing import Final
from uuid import UUID

from openmsmq.wire.names.queue_address import (
    QueueAddress,
    QueueAddressType,
    destination_encoding,
)
from openmsmq.wire.packets.base_header import PRIORITY_MASK
from openmsmq.wire.scalars import GUID_NULL, guid_bytes

from .transaction_header import (
    TRANSACTION_HEADER,
    TRANSACTION_HEADER_SIZE,
    TRANSACTION_ID_MASK,
    TRANSACTION_ID_SHIFT,
    TransactionHeaderFlags,
)
from .user_header import (
    DELIVERY_MODE_MASK,
    DELIVERY_MODE_SHIFT,
    DESTINATION_SHIFT,
    UserHeaderFlags,
)
from .user_message import UserMessage
from .user_message_patch import USER_FLAGS

_U32: Final = Struct("<I")
_LIFE_AND_SOURCE: Final = Struct("<I16s").pack
# Up to PacketSize, PacketSize, up to MessageID, MessageID.
_FIXED: Final = Struct("<8sI44sI").pack
# The byte with the priority, TimeToReachQueue and TimeToBeReceived of a checked packet.
read_life: Final[Callable[[bytes], tuple[int, int, int]]] = Struct("<2xB9xI32xI").unpack_from
MAX_ORDINAL: Final = 0xFFFFFFFF
_SIZE: Final = 8
# UserHeader.Flags.DQ, and its value for PUBLIC names.
_DQ: Final = 7 << DESTINATION_SHIFT
_PUBLIC: Final = int(QueueAddressType.PUBLIC) << DESTINATION_SHIFT
_TH: Final = int(UserHeaderFlags.TH)
_RECOVERABLE: Final = 1 << DELIVERY_MODE_SHIFT
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)


class DestinationStamp:
    """A destination as the queue manager writes it into packets that name none.

    Raises:
        ValueError: no packet can carry the address.
    """

    __slots__ = ("address", "flags", "queue_manager")

    def __init__(self, destination: QueueAddress) -> None:
        encoded, queue_manager = destination_encoding(destination, GUID_NULL)
        # DQ in its place among the flags of the UserHeader.
        self.flags = encoded.type << DESTINATION_SHIFT
        self.address = encoded.serialize()
        # QueueManagerAddress; that of a public queue only the directory knows.
        self.queue_manager = guid_bytes(queue_manager)


class Stamp:
    """The headers of a run of packets as the queue manager wants them, ordinal and size aside.

    `direct` must say where the packets go before the first of them is written.

    Args:
        head: the first message of the run.
        tag: of the transaction that the messages are sent in; None without one.
    """

    __slots__ = (
        "_after_address",
        "_before_address",
        "_between",
        "_directed",
        "_flags",
        "_growth",
        "_header_growth",
        "_headers",
        "_properties_offset",
        "_rest",
        "_start",
        "_target",
    )

    def __init__(
        self,
        head: UserMessage,
        time_to_reach_queue: int,
        identity: bytes,
        sent_time: int,
        tag: int | None,
    ) -> None:
        packet = head.packet if tag is None else make_transactional(head, tag)
        at = head.properties_offset
        self._properties_offset = at
        self._growth = self._header_growth = len(packet) - len(head.packet)
        self._start = packet[:_SIZE]
        self._before_address = _LIFE_AND_SOURCE(time_to_reach_queue, identity)
        self._target = packet[32:48]
        self._after_address = packet[48:52] + _U32.pack(sent_time)
        # What lies between for the queue manager that the last packets were directed to.
        self._directed = b""
        self._between = b""
        self._flags: int = _U32.unpack_from(packet, USER_FLAGS)[0]
        self._rest = packet[USER_FLAGS : at + self._growth]
        self._headers = self._rest[_U32.size :]

    @property
    def addressed(self) -> bool:
        """Whether the packets name a destination themselves."""
        return self._flags & _DQ != 0

    def direct(self, destination: DestinationStamp | None, owner: UUID) -> None:
        """Say where the packets that are written next go.

        Args:
            destination: for packets that name none.
            owner: the queue manager that hosts the destination queue, if it is a public one.
        """
        kind = self._flags & _DQ
        target = self._target
        if destination is not None and not kind:
            kind = destination.flags
            target = destination.queue_manager
            address = destination.address
            self._rest = b"".join((_U32.pack(self._flags | kind), address, self._headers))
            self._growth = self._header_growth + len(address)
        if kind == _PUBLIC:
            # Of a public queue only the directory knows the owner; other names say it themselves.
            target = owner.bytes_le
        if target != self._directed:
            self._directed = target
            self._between = b"".join((self._before_address, target, self._after_address))

    def write(self, packet: bytes, ordinal: int) -> bytes:
        """A packet of the run with these headers."""
        fixed = _FIXED(self._start, len(packet) + self._growth, self._between, ordinal)
        return b"".join((fixed, self._rest, packet[self._properties_offset :]))


def address_to_owner(packet: bytes, owner: UUID) -> bytes:
    """The packet with the queue manager that hosts its destination, if that is a public queue."""
    if _U32.unpack_from(packet, USER_FLAGS)[0] & _DQ != _PUBLIC:
        return packet
    return packet[:32] + owner.bytes_le + packet[48:]


def make_transactional(message: UserMessage, tag: int) -> bytes:
    """The packet with a TransactionHeader that carries the tag of its transaction.

    The message becomes recoverable with priority 0, as [MS-MQMQ] 2.2.19 asks of it.
    """
    packet = bytearray(message.packet)
    packet[2] &= ~PRIORITY_MASK
    flags = message.flags & ~DELIVERY_MODE_MASK | _RECOVERABLE | _TH
    _U32.pack_into(packet, USER_FLAGS, flags)
    at = message.transaction_offset
    if at:
        transaction_flags = message.transaction_flags & ~(TRANSACTION_ID_MASK | _FM | _LM)
        _U32.pack_into(
            packet, at, transaction_flags | tag << TRANSACTION_ID_SHIFT & TRANSACTION_ID_MASK
        )
        return bytes(packet)
    at = message.security_offset or message.properties_offset
    header = TRANSACTION_HEADER.pack(tag << TRANSACTION_ID_SHIFT & TRANSACTION_ID_MASK, 0, 0, 0, 0)
    packet[at:at] = header
    _U32.pack_into(packet, _SIZE, len(message.packet) + TRANSACTION_HEADER_SIZE)
    return bytes(packet)
