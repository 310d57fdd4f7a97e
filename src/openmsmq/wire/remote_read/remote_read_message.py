"""The message packet of a remote read: a UserMessage and what its host knows about it
([MS-MQRR] 2.2.5)."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.srmp_headers import compound_message_end
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import BaseHeader
from openmsmq.wire.packets.session_header import SessionHeader
from openmsmq.wire.scalars import guid_bytes

from .dead_letter_header import DeadLetterHeader
from .extended_address_header import AddressOverlay, ExtendedAddressHeader, HostAddressType
from .extension_header import EXTENSION_HEADER_SIZE, ExtensionHeader, ExtensionHeaderFlags
from .reply_packet import (
    FLAGS_OFFSET,
    PACKET_SIZE_OFFSET,
    QUEUE_MANAGER_ADDRESS,
    SH,
    U16,
    U32,
    ReplyPacket,
    is_direct,
    serialize_extension_headers,
)
from .subqueue_header import SubqueueHeader


@dataclass(frozen=True, slots=True)
class RemoteReadMessage:
    """A message as it crosses a remote read.

    `packet` is the UserMessage alone: BaseHeader.PacketSize is its own size and SH is clear. Its
    TimeToReachQueue is the absolute time of expiry, and its QueueManagerAddress says where the
    message came from. The other headers are None in packets of Windows Server 2003.
    """

    packet: bytes
    extension_header: ExtensionHeader | None = None
    subqueue_header: SubqueueHeader | None = None
    dead_letter_header: DeadLetterHeader | None = None
    extended_address_header: ExtendedAddressHeader | None = None
    session_header: SessionHeader | None = None

    @classmethod
    def parse(cls, buf: bytes | memoryview) -> Self:
        """Read a whole message packet."""
        packet = bytes(buf)
        user_packet, session, end, _ = split_packet(packet)
        if end == len(packet):
            return cls(user_packet, session_header=session)
        extension, start = ExtensionHeader.parse(packet, end)
        subqueue, dead_letter, address, end = _parse_extensions(packet, start, extension)
        # Windows accepts 0 here although headers follow.
        if extension.remaining_headers_size not in (0, end - start):
            raise MalformedPacket(
                "ExtensionHeader.RemainingHeadersSize",
                start - 8,
                f"{extension.remaining_headers_size}, but the headers have {end - start} bytes",
            )
        return cls(user_packet, extension, subqueue, dead_letter, address, session)

    def serialize(self) -> bytes:
        parts = [self.packet]
        flags = U16.unpack_from(self.packet, FLAGS_OFFSET)[0]
        if self.session_header is not None:
            flags |= SH
            parts.append(self.session_header.serialize())
        headers = (
            self.extension_header,
            self.subqueue_header,
            self.dead_letter_header,
            self.extended_address_header,
        )
        parts += [header.serialize() for header in headers if header is not None]
        packet = bytearray(b"".join(parts))
        U16.pack_into(packet, FLAGS_OFFSET, flags)
        U32.pack_into(packet, PACKET_SIZE_OFFSET, len(packet))
        return bytes(packet)

    @classmethod
    def build(
        cls,
        message: UserMessage,
        *,
        subqueue_header: SubqueueHeader,
        extended_address_header: ExtendedAddressHeader,
        dead_letter_header: DeadLetterHeader | None = None,
        dead_letter_invalid: bool = False,
        source: UUID,
    ) -> Self:
        """Make the packet of a message in a queue for a remote reader.

        Args:
            message: as it arrived, with a relative TimeToReachQueue.
            subqueue_header: the counters of the message and the subqueue it is in.
            extended_address_header: the address of the host that the message came from.
            dead_letter_header: the dead-letter queue that the sender asked for, if any.
            dead_letter_invalid: that queue cannot be used.
            source: the GUID of the host that the message came from.
        """
        headers = serialize_extension_headers(
            subqueue_header=subqueue_header,
            extended_address_header=extended_address_header,
            dead_letter_header=dead_letter_header,
            dead_letter_invalid=dead_letter_invalid,
        )
        reply = ReplyPacket(
            message,
            extension_headers=headers,
            address_overlay=AddressOverlay.of(extended_address_header).serialize(),
            source=guid_bytes(source),
        )
        return cls.parse(bytes(reply))

    @property
    def user_message(self) -> UserMessage:
        return UserMessage(self.packet)

    @property
    def subqueue(self) -> SubqueueHeader | None:
        """The SubqueueHeader, unless a reader has to ignore it."""
        header = self.subqueue_header
        return header if header is not None and header.subqueue_name else None

    @property
    def dead_letter_invalid(self) -> bool:
        """Whether the sender's dead-letter queue cannot be used; False when there is none."""
        return (
            self.dead_letter_header is not None
            and self.extension_header is not None
            and ExtensionHeaderFlags.DI in self.extension_header.flags
        )

    @property
    def address(self) -> ExtendedAddressHeader | None:
        """The ExtendedAddressHeader, unless a reader has to ignore it."""
        header = self.extended_address_header
        return header if header is not None and header.address_type else None

    @property
    def address_overlay(self) -> AddressOverlay | None:
        """Where a message to a direct format name came from.

        Raises:
            MalformedPacket: the field holds something else.
        """
        if not is_direct(self.packet):
            return None
        overlay = AddressOverlay.parse(self.packet, QUEUE_MANAGER_ADDRESS.start)[0]
        return None if overlay.address_type is HostAddressType.NONE else overlay


def split_packet(packet: bytes) -> tuple[bytes, SessionHeader | None, int, int]:
    """Cut a message packet.

    Returns:
        The UserMessage alone, a SessionHeader, where other headers start, and the priority.

    Raises:
        MalformedPacket: it does not begin with a UserMessage, or is cut off.
    """
    packet_size = BaseHeader.parse(packet)[0].packet_size
    if packet_size > len(packet):
        raise MalformedPacket(
            "BaseHeader.PacketSize", 8, f"{packet_size}, but {len(packet)} bytes are there"
        )
    message = UserMessage(packet[:packet_size])
    user_end = end = _user_message_end(message, packet)
    session = None
    if message.base_flags & SH:
        session, end = SessionHeader.parse(packet, end)
    return _alone(packet[:user_end]), session, end, message.priority


def _alone(packet: bytes) -> bytes:
    """Make the UserMessage at the start of a message packet a packet of its own."""
    size = len(packet)
    out = bytearray(packet)
    if size & 3:
        out += bytes(-size & 3)
    U16.pack_into(out, FLAGS_OFFSET, U16.unpack_from(out, FLAGS_OFFSET)[0] & ~SH)
    U32.pack_into(out, PACKET_SIZE_OFFSET, len(out))
    return bytes(out)


def _user_message_end(message: UserMessage, packet: bytes) -> int:
    """Where the UserMessage ends; a CompoundMessageHeader may or may not be padded."""
    trailing = message.trailing
    if (
        trailing is None
        or not trailing.compound_message
        or trailing.soap
        or trailing.multi_queue_format
    ):
        return message.end
    unpadded = compound_message_end(packet, trailing.compound_message)
    for end in (message.end, unpadded):
        if packet[end : end + 4] == U32.pack(EXTENSION_HEADER_SIZE):
            return end
    return message.end


def _parse_extensions(
    packet: bytes, offset: int, extension: ExtensionHeader
) -> tuple[SubqueueHeader | None, DeadLetterHeader | None, ExtendedAddressHeader | None, int]:
    subqueue = dead_letter = address = None
    if ExtensionHeaderFlags.SQ in extension.flags:
        subqueue, offset = SubqueueHeader.parse(packet, offset)
    if ExtensionHeaderFlags.DL in extension.flags:
        dead_letter, offset = DeadLetterHeader.parse(packet, offset)
    if ExtensionHeaderFlags.EA in extension.flags:
        address, offset = ExtendedAddressHeader.parse(packet, offset)
    return subqueue, dead_letter, address, offset
