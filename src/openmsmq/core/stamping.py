"""What a queue manager writes into the packets that applications send through it."""

from collections.abc import Callable
from struct import Struct
from typing import Final

from openmsmq.wire.base_header import PRIORITY_MASK
from openmsmq.wire.transaction_header import (
    TRANSACTION_HEADER,
    TRANSACTION_HEADER_SIZE,
    TRANSACTION_ID_MASK,
    TRANSACTION_ID_SHIFT,
    TransactionHeaderFlags,
)
from openmsmq.wire.user_header import (
    DELIVERY_MODE_MASK,
    DELIVERY_MODE_SHIFT,
    UserHeaderFlags,
)
from openmsmq.wire.user_message import UserMessage

_U32: Final = Struct("<I")
_LIFE_AND_SOURCE: Final = Struct("<I16s").pack
_TIME_AND_ORDINAL: Final = Struct("<II").pack
# The byte with the priority, TimeToReachQueue and TimeToBeReceived of a checked packet.
read_life: Final[Callable[[bytes], tuple[int, int, int]]] = Struct("<2xB9xI32xI").unpack_from
MAX_ORDINAL: Final = 0xFFFFFFFF
_SIZE: Final = 8
_FLAGS: Final = 60
_TH: Final = int(UserHeaderFlags.TH)
_RECOVERABLE: Final = 1 << DELIVERY_MODE_SHIFT
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)


def stamp(
    packet: bytes, time_to_reach_queue: int, identity: bytes, ordinal: int, sent_time: int
) -> bytes:
    """The packet with the identity and the times that the queue manager gives to a message."""
    return (
        packet[:12]
        + _LIFE_AND_SOURCE(time_to_reach_queue, identity)
        + packet[32:52]
        + _TIME_AND_ORDINAL(sent_time, ordinal)
        + packet[60:]
    )


def make_transactional(message: UserMessage, tag: int) -> bytes:
    """The packet with a TransactionHeader that carries the tag of its transaction.

    The message becomes recoverable with priority 0, as [MS-MQMQ] 2.2.19 asks of it.
    """
    packet = bytearray(message.packet)
    packet[2] &= ~PRIORITY_MASK
    flags = message.flags & ~DELIVERY_MODE_MASK | _RECOVERABLE | _TH
    _U32.pack_into(packet, _FLAGS, flags)
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
