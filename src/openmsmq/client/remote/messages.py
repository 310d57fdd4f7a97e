"""Messages of remote read as those of a queue manager."""

from struct import Struct
from typing import Final

from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.remote_read.client import RemoteMessage
from openmsmq.wire.packets.base_header import INFINITE

from .snapshot import Header

_TIME: Final = Struct("<I")
# Where every UserMessage has them.
_TIME_TO_REACH_QUEUE_OFFSET: Final = 12
_SENT_TIME_OFFSET: Final = 52


def received(message: RemoteMessage) -> ReceivedMessage:
    """The message that a caller gets."""
    return ReceivedMessage(
        relative(message.packet), message.lookup_id, float(message.arrived), message.counters
    )


def header(message: RemoteMessage) -> Header:
    """What is kept of a message that was read without its body."""
    return Header(message.lookup_id, len(message.packet), float(message.arrived))


def relative(packet: bytes) -> bytes:
    """The packet with TimeToReachQueue as its sender wrote it, counted from SentTime on.

    A server of [MS-MQRR] sends the time of expiry (2.2.5.1), one of [MS-MQQP] what the sender
    wrote. A lifetime is shorter than the time from 1970 to SentTime, which tells them apart.
    """
    time_to_reach_queue = _TIME.unpack_from(packet, _TIME_TO_REACH_QUEUE_OFFSET)[0]
    remaining = time_to_reach_queue - _TIME.unpack_from(packet, _SENT_TIME_OFFSET)[0]
    if time_to_reach_queue == INFINITE or remaining < 0:
        return packet
    out = bytearray(packet)
    _TIME.pack_into(out, _TIME_TO_REACH_QUEUE_OFFSET, remaining)
    return bytes(out)
