"""A message with only the beginning of its body, for lists of messages."""

from struct import Struct
from typing import Final

from .user_message import UserMessage

_SIZE: Final = Struct("<I")
# PacketSize in the BaseHeader; MessageSize and AllocationBodySize in the MessagePropertiesHeader.
_PACKET_SIZE: Final = 8
_MESSAGE_SIZE: Final = 32
_ALLOCATION_BODY_SIZE: Final = 36


def shorten_body(packet: bytes, head_bytes: int) -> tuple[bytes, int]:
    """The packet with at most so many bytes of its body, and how many the body has.

    The result is a packet like any other, with every header. A packet with the headers of SRMP,
    which have the body once more, stays whole.
    """
    message = UserMessage(packet)
    start, trailing = message.body_offset, message.trailing
    if trailing is not None and trailing.srmp_envelope:
        return packet, len(message.body)
    size = message.body_end - start
    if size <= head_bytes:
        return packet, size
    after = b""
    if trailing is not None:
        first = trailing.debug or trailing.soap or trailing.multi_queue_format or trailing.end
        after = packet[first:]
    short = bytearray(packet[: start + head_bytes])
    short += bytes(-len(short) & 3)
    short += after
    _SIZE.pack_into(short, _PACKET_SIZE, len(short))
    _SIZE.pack_into(short, message.properties_offset + _MESSAGE_SIZE, head_bytes)
    _SIZE.pack_into(short, message.properties_offset + _ALLOCATION_BODY_SIZE, head_bytes)
    return bytes(short), size
