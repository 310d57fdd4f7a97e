"""Messages of remote read as those of a queue manager."""

from struct import Struct
from typing import Final

from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.remote_read.client import RemoteMessage
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import INFINITE

from .snapshot import Header

_TIME_TO_REACH_QUEUE: Final = Struct("<I")
_TIME_TO_REACH_QUEUE_OFFSET: Final = 12


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
    view = UserMessage(packet)
    left = view.time_to_reach_queue - view.sent_time
    if view.time_to_reach_queue == INFINITE or left < 0:
        return packet
    out = bytearray(packet)
    _TIME_TO_REACH_QUEUE.pack_into(out, _TIME_TO_REACH_QUEUE_OFFSET, left)
    return bytes(out)
