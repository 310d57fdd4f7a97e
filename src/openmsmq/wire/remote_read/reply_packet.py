"""The packet that answers a remote read, made from the stored packet by patching
([MS-MQRR] 2.2.5, 3.1.4.7)."""

from struct import Struct
from typing import Final

from openmsmq.wire.checks import pad4
from openmsmq.wire.message.srmp_headers import COMPOUND_MESSAGE_HEADER_SIZE, compound_message_end
from openmsmq.wire.message.user_header import DESTINATION_SHIFT
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.ndr.pieces import Pieces
from openmsmq.wire.packets.base_header import INFINITE, BaseHeaderFlags

from .dead_letter_header import DeadLetterHeader
from .extended_address_header import (
    EXTENDED_ADDRESS_HEADER_SIZE,
    ExtendedAddressHeader,
)
from .extension_header import ExtensionHeader, ExtensionHeaderFlags
from .section_buffer import SectionBuffer, SectionType
from .subqueue_header import SUBQUEUE_HEADER_SIZE, SubqueueHeader

U16: Final = Struct("<H")
U32: Final = Struct("<I")
FLAGS_OFFSET: Final = 2
PACKET_SIZE_OFFSET: Final = 8
TIME_TO_REACH_QUEUE_OFFSET: Final = 12
QUEUE_MANAGER_ADDRESS: Final = slice(32, 48)
USER_FLAGS_OFFSET: Final = 60
SH: Final = int(BaseHeaderFlags.SH)
# BaseHeader and the fixed part of UserHeader: everything that is patched.
HEAD_SIZE: Final = 64


def is_direct(packet: bytes | bytearray) -> bool:
    """Whether the destination of a UserMessage is a direct format name."""
    flags: int = U32.unpack_from(packet, USER_FLAGS_OFFSET)[0]
    return flags >> DESTINATION_SHIFT & 7 == QueueAddressType.DIRECT


def plain_packet(message: UserMessage) -> Pieces:
    """A message in a queue as a reader by [MS-MQQP] gets it, without a copy of its body.

    It is one UserMessage packet: TimeToReachQueue stays relative, and nothing follows.
    """
    head = bytearray(message.packet[:HEAD_SIZE])
    U16.pack_into(head, FLAGS_OFFSET, message.base_flags & ~SH)
    U32.pack_into(head, PACKET_SIZE_OFFSET, message.end)
    return Pieces((bytes(head), memoryview(message.packet)[HEAD_SIZE : message.end]))


def serialize_extension_headers(
    *,
    subqueue_header: SubqueueHeader,
    extended_address_header: ExtendedAddressHeader,
    dead_letter_header: DeadLetterHeader | None = None,
    dead_letter_invalid: bool = False,
) -> bytes:
    """Return what follows the UserMessage: the ExtensionHeader and the headers that it announces.

    Args:
        subqueue_header: the counters of the message and the subqueue it is in.
        extended_address_header: the address of the host that the message came from.
        dead_letter_header: the dead-letter queue that the sender asked for, if any.
        dead_letter_invalid: that queue cannot be used.
    """
    flags = ExtensionHeaderFlags.SQ | ExtensionHeaderFlags.EA
    dead_letter = b""
    if dead_letter_header is not None:
        flags |= ExtensionHeaderFlags.DL
        flags |= ExtensionHeaderFlags.DI if dead_letter_invalid else 0
        dead_letter = dead_letter_header.serialize()
    size = SUBQUEUE_HEADER_SIZE + len(dead_letter) + EXTENDED_ADDRESS_HEADER_SIZE
    return b"".join(
        (
            ExtensionHeader(size, flags).serialize(),
            subqueue_header.serialize(),
            dead_letter,
            extended_address_header.serialize(),
        )
    )


class ReplyPacket:
    """A message in a queue as a remote reader gets it, without a copy of its body.

    Args:
        message: as it arrived, with a relative TimeToReachQueue.
        extension_headers: what follows the UserMessage.
        address_overlay: the address of the host that the message came from, for a message to a
            direct format name.
        source: the GUID of that host, for any other.
    """

    __slots__ = ("_head", "_message", "_trailers", "size")

    def __init__(
        self,
        message: UserMessage,
        *,
        extension_headers: bytes,
        address_overlay: bytes,
        source: bytes,
    ) -> None:
        end = message.end
        self._message = message
        padding = pad4(end) - end
        self._trailers = bytes(padding) + extension_headers if padding else extension_headers
        self.size = end + len(self._trailers)
        head = bytearray(message.packet[:HEAD_SIZE])
        U16.pack_into(head, FLAGS_OFFSET, message.base_flags & ~SH)
        U32.pack_into(head, PACKET_SIZE_OFFSET, self.size)
        # [MS-MQRR] 3.1.4.7: the reader gets the time of expiry, not the time to live.
        expiry = min(message.sent_time + message.time_to_reach_queue, INFINITE)
        U32.pack_into(head, TIME_TO_REACH_QUEUE_OFFSET, expiry)
        head[QUEUE_MANAGER_ADDRESS] = address_overlay if is_direct(head) else source
        self._head = bytes(head)

    def sections(
        self, max_body_size: int, max_compound_message_size: int
    ) -> tuple[SectionBuffer, ...]:
        """Cut the packet so that not more of its body crosses than the reader wants."""
        message = self._message
        trailing = message.trailing
        if trailing is not None and trailing.compound_message:
            first, second = SectionType.SRMP_FIRST_SECTION, SectionType.SRMP_SECOND_SECTION
            start = trailing.compound_message
            end = compound_message_end(message.packet, start)
            # Choice: the sizes in the header always cross, for the reader could not go on without.
            cut = start + max(max_compound_message_size, COMPOUND_MESSAGE_HEADER_SIZE)
        else:
            first, second = SectionType.BINARY_FIRST_SECTION, SectionType.BINARY_SECOND_SECTION
            end = message.body_end
            cut = message.body_offset + max_body_size
        view = memoryview(message.packet)
        if cut >= end:
            whole = Pieces((self._head, view[HEAD_SIZE : message.end], self._trailers))
            return (SectionBuffer(SectionType.FULL_PACKET, self.size, whole),)
        sections = [SectionBuffer(first, end, Pieces((self._head, view[HEAD_SIZE:cut])))]
        # The padding of the header that was cut goes with the trailers, if there are any.
        if self.size > pad4(end):
            rest = Pieces((view[end : message.end], self._trailers))
            sections.append(SectionBuffer(second, len(rest), rest))
        return tuple(sections)

    def __bytes__(self) -> bytes:
        view = memoryview(self._message.packet)
        return b"".join((self._head, view[HEAD_SIZE : self._message.end], self._trailers))
