"""Summaries of the packets that captures are full of, without a tree."""

from collections.abc import Callable
from struct import Struct
from typing import Final

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE, BaseHeaderFlags
from openmsmq.wire.packets.internal_header import InternalHeader
from openmsmq.wire.packets.order_ack import recognize_ack
from openmsmq.wire.packets.session_header import SESSION_HEADER_SIZE, SessionAck

from .internal import session_ack_text
from .names import show_name
from .summary import PacketSummary, message_text

# Flags and PacketSize of the BaseHeader.
_HEAD: Final[Callable[[bytes], tuple[int, int]]] = Struct("<2xH4xI").unpack_from
_IN: Final = int(BaseHeaderFlags.IN)
_SH: Final = int(BaseHeaderFlags.SH)


def quick_summary(data: bytes) -> PacketSummary | None:
    """What a tree would tell; None where only a tree can tell, as of everything malformed."""
    if len(data) < BASE_HEADER_SIZE:
        return None
    flags, packet_size = _HEAD(data)
    try:
        if flags & _IN:
            return _session_ack(data)
        if len(data) != packet_size + (SESSION_HEADER_SIZE if flags & _SH else 0):
            return None
        return _user_message(UserMessage(data[:packet_size]))
    except MalformedPacket:
        return None


def _session_ack(data: bytes) -> PacketSummary | None:
    packet, end = SessionAck.parse(data)
    if end != len(data) or InternalHeader.parse(data, BASE_HEADER_SIZE)[0].connection_refused:
        return None
    return PacketSummary("SessionAck", session_ack_text(packet))


def _user_message(message: UserMessage) -> PacketSummary | None:
    # Headers after the body may be at fault where the view does not look.
    if message.trailing is not None or message.end != len(message.packet):
        return None
    for address in (message.destination_queue, message.admin_queue, message.response_queue):
        if address is not None and show_name(address).fault:
            return None
    ack = None if message.encrypted else recognize_ack(message)
    name = "UserMessage" if ack is None else type(ack).__name__
    return PacketSummary(name, message_text(message, ack))
