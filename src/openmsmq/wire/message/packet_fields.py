"""Fields of a checked packet that are read or changed without a view of the whole message."""

from typing import Final

from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE, BaseHeaderFlags

from .user_header import DELIVERY_MODE_SHIFT

# The low byte of UserHeader.Flags, and the bit of DM that says recoverable.
USER_FLAGS: Final = BASE_HEADER_SIZE + 44
RECOVERABLE_BIT: Final = 1 << DELIVERY_MODE_SHIFT
# The low byte of BaseHeader.Flags, and two of its bits.
BASE_FLAGS: Final = 2
INTERNAL_BIT: Final = int(BaseHeaderFlags.IN)
SESSION_HEADER_BIT: Final = int(BaseHeaderFlags.SH)


def source_of(packet: bytes) -> bytes:
    """SourceQueueManager as it stands in the packet."""
    return packet[16:32]


def identifier_of(packet: bytes) -> bytes:
    """The message identifier as packets have it: SourceQueueManager and MessageID."""
    return packet[16:32] + packet[56:60]


def with_session_header(packet: bytes) -> bytes:
    """The packet, saying that a SessionHeader follows it."""
    return packet[:2] + bytes((packet[2] | SESSION_HEADER_BIT,)) + packet[3:]


def without_session_header(packet: bytes) -> bytes:
    """The packet, saying that no SessionHeader follows it."""
    return packet[:2] + bytes((packet[2] & ~SESSION_HEADER_BIT,)) + packet[3:]
