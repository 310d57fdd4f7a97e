"""What a queue manager writes into the packets that applications send through it."""

from collections.abc import Callable
from struct import Struct
from typing import Final
from uuid import UUID

from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.packets.base_header import PRIORITY_MASK

from .packet_fields import USER_FLAGS
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
    UserHeaderFlags,
)
from .user_message import UserMessage

_U32: Final = Struct("<I")
_LIFE_AND_SOURCE: Final = Struct("<I16s").pack
# Up to PacketSize, PacketSize, up to MessageID, MessageID.
_FIXED: Final = Struct("<8sI44sI").pack
# The byte with the priority, TimeToReachQueue and TimeToBeReceived of a checked packet.
read_life: Final[Callable[[bytes], tuple[int, int, int]]] = Struct("<2xB9xI32xI").unpack_from
MAX_ORDINAL: Final = 0xFFFFFFFF
_SIZE: Final = 8
# UserHeader.Flags.DQ in the second byte of the flags, and its value for PUBLIC names.
_DQ: Final = 0x1C
_PUBLIC: Final = int(QueueAddressType.PUBLIC) << 2
_TH: Final = int(UserHeaderFlags.TH)
_RECOVERABLE: Final = 1 << DELIVERY_MODE_SHIFT
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)


class Stamp:
    """The headers of a run of packets as the queue manager wants them, ordinal and size aside.

    Args:
        head: the first message of the run.
        owner: the queue manager that hosts the destination queue, if it is a public one.
        tag: of the transaction that the messages are sent in; None without one.
    """

    __slots__ = ("_between", "_growth", "_properties_offset", "_rest", "_start")

    def __init__(
        self,
        head: UserMessage,
        time_to_reach_queue: int,
        identity: bytes,
        owner: UUID,
        sent_time: int,
        tag: int | None,
    ) -> None:
        packet = head.packet if tag is None else make_transactional(head, tag)
        self._properties_offset = head.properties_offset
        self._growth = len(packet) - len(head.packet)
        self._start = packet[:_SIZE]
        self._between = _LIFE_AND_SOURCE(time_to_reach_queue, identity)
        self._between += _queue_manager_address(packet, owner) + packet[48:52]
        self._between += _U32.pack(sent_time)
        self._rest = packet[USER_FLAGS : head.properties_offset + self._growth]

    def write(self, packet: bytes, ordinal: int) -> bytes:
        """A packet of the run with these headers."""
        fixed = _FIXED(self._start, len(packet) + self._growth, self._between, ordinal)
        return b"".join((fixed, self._rest, packet[self._properties_offset :]))


def address_to_owner(packet: bytes, owner: UUID) -> bytes:
    """The packet with the queue manager that hosts its destination, if that is a public queue."""
    return packet[:32] + _queue_manager_address(packet, owner) + packet[48:]


def _queue_manager_address(packet: bytes, owner: UUID) -> bytes:
    # Of a public queue only the directory knows the owner; other names say it themselves.
    return owner.bytes_le if packet[USER_FLAGS + 1] & _DQ == _PUBLIC else packet[32:48]


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
        kept = message.transaction_flags & ~(TRANSACTION_ID_MASK | _FM | _LM)
        _U32.pack_into(packet, at, kept | tag << TRANSACTION_ID_SHIFT & TRANSACTION_ID_MASK)
        return bytes(packet)
    at = message.security_offset or message.properties_offset
    header = TRANSACTION_HEADER.pack(tag << TRANSACTION_ID_SHIFT & TRANSACTION_ID_MASK, 0, 0, 0, 0)
    packet[at:at] = header
    _U32.pack_into(packet, _SIZE, len(message.packet) + TRANSACTION_HEADER_SIZE)
    return bytes(packet)
