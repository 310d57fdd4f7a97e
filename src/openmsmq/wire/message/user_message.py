"""UserMessage: a view over the bytes of one message ([MS-MQMQ] 2.2.20)."""

from collections.abc import Callable
from struct import Struct
from typing import Final
from uuid import UUID

from openmsmq.wire.checks import padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    QueueAddressType,
    address_end,
    parse_direct,
)
from openmsmq.wire.packets.base_header import (
    BASE_HEADER_SIZE,
    PRIORITY_MASK,
    SIGNATURE,
    VERSION_NUMBER,
    BaseHeader,
    BaseHeaderFlags,
)
from openmsmq.wire.scalars import (
    GUID_SIZE,
    MESSAGE_IDENTIFIER_SIZE,
    MessageIdentifier,
    TxSequenceID,
    guid,
)
from openmsmq.wire.security.security_header import (
    AUTHENTICATION_MASK,
    AUTHENTICATION_SHIFT,
    SECURITY_HEADER_SIZE,
    SENDER_ID_TYPE_MASK,
    SecurityHeader,
    SecurityHeaderFlags,
    security_header_end,
)
from openmsmq.wire.wide_text import lenient_text

from .debug_header import DebugHeader
from .message_properties_header import MESSAGE_PROPERTIES_SIZE, properties_layout
from .multi_queue_format_header import MultiQueueFormatHeader
from .soap_header import SoapHeader
from .srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader, compound_message_body
from .trailing_headers import OPTIONAL_AFTER_BODY, TrailingHeaders, trailing_layout
from .transaction_header import TransactionHeader, TransactionHeaderFlags, transaction_header_end
from .user_header import (
    ADMIN_SHIFT,
    DEFINED_TYPES,
    DELIVERY_MODE_MASK,
    DELIVERY_MODE_SHIFT,
    DESTINATION_SHIFT,
    PRIVATE_BODY,
    RESPONSE_SHIFT,
    ROUTING_COUNT_MASK,
    TYPES_MASK,
    USER_HEADER_SIZE,
    UserHeaderFlags,
    check_address_types,
)

_Number = Callable[[bytes, int], tuple[int]]
_U16: Final[_Number] = Struct("<H").unpack_from
_U32: Final[_Number] = Struct("<I").unpack_from
# VersionNumber, Flags, Signature and PacketSize of the BaseHeader, Flags of the UserHeader.
_FIXED: Final[Callable[[bytes], tuple[int, int, int, int, int]]] = Struct("<BxHII48xI").unpack_from

_FLAGS: Final = BASE_HEADER_SIZE + 44
_DESTINATION: Final = BASE_HEADER_SIZE + USER_HEADER_SIZE
_MIN_SIZE: Final = _DESTINATION + MESSAGE_PROPERTIES_SIZE

# Plain numbers: an operation on an IntFlag costs as much as reading a whole header.
_IN: Final = int(BaseHeaderFlags.IN)
_DH: Final = int(BaseHeaderFlags.DH)
_TR: Final = int(BaseHeaderFlags.TR)
_JN: Final = int(UserHeaderFlags.JN)
_JP: Final = int(UserHeaderFlags.JP)
_SH: Final = int(UserHeaderFlags.SH)
_TH: Final = int(UserHeaderFlags.TH)
_MP: Final = int(UserHeaderFlags.MP)
_CQ: Final = int(UserHeaderFlags.CQ)
_FA: Final = int(TransactionHeaderFlags.FA)
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)
_EB: Final = int(SecurityHeaderFlags.EB)
_DQ: Final = 7 << DESTINATION_SHIFT
_ADMIN_AND_RESPONSE: Final = 7 << ADMIN_SHIFT | 7 << RESPONSE_SHIFT
_OPTIONAL_BEFORE_BODY: Final = _CQ | _TH | _SH


class UserMessage:
    """One message in its packet, without the SessionHeader that may follow it on a stream.

    All lengths, counts and offsets are checked once, here; then no property can fail. A property
    is decoded each time that it is asked for.

    Args:
        packet: exactly the bytes that BaseHeader.PacketSize counts.
        like: a message with the same headers and sizes, so that everything stands where it does
            there and need not be checked again.

    Raises:
        MalformedPacket: the bytes are not a UserMessage.
    """

    __slots__ = (
        "admin_offset",
        "body_end",
        "body_offset",
        "connector_offset",
        "extension_offset",
        "flags",
        "packet",
        "properties_offset",
        "response_offset",
        "security_offset",
        "trailing",
        "transaction_offset",
    )

    def __init__(self, packet: bytes, like: "UserMessage | None" = None) -> None:
        if like is not None:
            self._stand_as(packet, like)
            return
        size = len(packet)
        if size < _MIN_SIZE:
            raise MalformedPacket("UserMessage", 0, f"needs {_MIN_SIZE} bytes, has {size}")
        version, base_flags, signature, packet_size, flags = _FIXED(packet)
        if (
            version != VERSION_NUMBER
            or signature != SIGNATURE
            or packet_size != size
            or base_flags & _IN
            or not flags & _MP
        ):
            raise _fixed_fault(packet)
        if flags & TYPES_MASK not in DEFINED_TYPES:
            check_address_types(flags, _FLAGS)
        self.packet = packet
        self.flags = flags
        self.admin_offset = self.response_offset = end = address_end(
            packet, _DESTINATION, flags >> DESTINATION_SHIFT & 7
        )
        if flags & _ADMIN_AND_RESPONSE:
            self.response_offset = address_end(packet, end, flags >> ADMIN_SHIFT & 7)
            end = address_end(packet, self.response_offset, flags >> RESPONSE_SHIFT & 7)
        self.connector_offset = self.transaction_offset = self.security_offset = 0
        if flags & _OPTIONAL_BEFORE_BODY:
            end = self._locate_before_body(end)
        self.properties_offset = end
        self.trailing: TrailingHeaders | None = None
        self.extension_offset, self.body_offset, self.body_end, greater_end = properties_layout(
            packet, end
        )
        if greater_end != self.body_end or base_flags & _DH or flags & OPTIONAL_AFTER_BODY:
            self._locate_after_body(base_flags, greater_end)

    def _stand_as(self, packet: bytes, like: "UserMessage") -> None:
        self.packet = packet
        self.flags = like.flags
        self.admin_offset = like.admin_offset
        self.response_offset = like.response_offset
        self.connector_offset = like.connector_offset
        self.transaction_offset = like.transaction_offset
        self.security_offset = like.security_offset
        self.properties_offset = like.properties_offset
        self.extension_offset = like.extension_offset
        self.body_offset = like.body_offset
        self.body_end = like.body_end
        self.trailing = like.trailing

    def __repr__(self) -> str:
        return f"<UserMessage {self.identifier}, {len(self.packet)} bytes>"

    def _locate_before_body(self, end: int) -> int:
        """Find ConnectorType, TransactionHeader and SecurityHeader, which start at `end`."""
        packet, flags = self.packet, self.flags
        if flags & _CQ:
            self.connector_offset = end
            end = require(packet, end, GUID_SIZE, "UserHeader.ConnectorType")
        if flags & _TH:
            self.transaction_offset = end
            end = transaction_header_end(packet, end)
        if flags & _SH:
            self.security_offset = end
            end = security_header_end(packet, end)
        return end

    def _locate_after_body(self, base_flags: int, greater_end: int) -> None:
        """Find the end of the body and the headers after it.

        The specifications contradict each other about MessageSize of an encrypted body. So the
        body takes the greater of its two sizes if the rest of the packet agrees with that.
        """
        packet = self.packet
        if greater_end != self.body_end and greater_end <= len(packet):
            try:
                self.trailing = trailing_layout(
                    packet, padded_end(packet, 0, greater_end), base_flags, self.flags
                )
            except MalformedPacket:
                pass
            else:
                if self.encrypted:
                    self.body_end = greater_end
                return
        self.trailing = trailing_layout(
            packet, padded_end(packet, 0, self.body_end), base_flags, self.flags
        )

    @property
    def end(self) -> int:
        """Where the last header ends; the headers of a remote read may follow."""
        if self.trailing is None:
            return padded_end(self.packet, 0, self.body_end)
        return self.trailing.end

    # BaseHeader

    @property
    def base_flags(self) -> int:
        return _U16(self.packet, 2)[0]

    @property
    def priority(self) -> int:
        # [MS-MQDMPR] 3.1.7.1.32: the priority of a transactional message is 0 and not looked at.
        return 0 if self.transaction_offset else self.packet[2] & PRIORITY_MASK

    @property
    def tracing_requested(self) -> bool:
        return self.base_flags & _TR != 0

    @property
    def time_to_reach_queue(self) -> int:
        return _U32(self.packet, 12)[0]

    # UserHeader

    @property
    def source(self) -> bytes:
        """SourceQueueManager as it stands in the packet."""
        return self.packet[16:32]

    @property
    def target(self) -> bytes:
        """QueueManagerAddress as it stands in the packet."""
        return self.packet[32:48]

    @property
    def raw_destination(self) -> bytes:
        """The destination as it stands in the packet: how it is encoded, and its bytes."""
        return bytes((self.packet[61] & _DQ >> 8,)) + self.packet[_DESTINATION : self.admin_offset]

    @property
    def source_queue_manager(self) -> UUID:
        return guid(self.packet[16:32])

    @property
    def queue_manager_address(self) -> UUID:
        return guid(self.packet[32:48])

    @property
    def time_to_be_received(self) -> int:
        return _U32(self.packet, 48)[0]

    @property
    def sent_time(self) -> int:
        return _U32(self.packet, 52)[0]

    @property
    def message_id(self) -> int:
        return _U32(self.packet, 56)[0]

    @property
    def identifier(self) -> MessageIdentifier:
        return MessageIdentifier(guid(self.packet[16:32]), _U32(self.packet, 56)[0])

    @property
    def routing_count(self) -> int:
        return self.flags & ROUTING_COUNT_MASK

    @property
    def delivery_mode(self) -> int:
        return (self.flags & DELIVERY_MODE_MASK) >> DELIVERY_MODE_SHIFT

    @property
    def negative_journaling(self) -> bool:
        return self.flags & _JN != 0

    @property
    def positive_journaling(self) -> bool:
        return self.flags & _JP != 0

    @property
    def destination_queue(self) -> QueueAddress | None:
        if self.flags & _DQ == _DQ:
            return parse_direct(self.packet, _DESTINATION)
        return self._address(_DESTINATION, self.flags >> DESTINATION_SHIFT & 7)

    @property
    def admin_queue(self) -> QueueAddress | None:
        """The administration queue; none also when acknowledgments are wanted but it is missing."""
        return self._address(self.admin_offset, self.flags >> ADMIN_SHIFT & 7)

    @property
    def response_queue(self) -> QueueAddress | None:
        return self._address(self.response_offset, self.flags >> RESPONSE_SHIFT & 7)

    def _address(self, offset: int, address_type: int) -> QueueAddress | None:
        """The address at `offset` with the GUID that its type takes from elsewhere."""
        packet = self.packet
        if address_type == 7:
            return parse_direct(packet, offset)
        if address_type == 0:
            return None
        if address_type == 1:
            return self.admin_queue
        if address_type >= 5:
            return QueueAddress.parse(packet, offset, address_type)[0]
        if address_type == 2:
            owner: UUID | None = self.source_queue_manager
        elif address_type == 3:
            owner = self.queue_manager_address
        else:
            # Choice: without the GUID of its queue manager such a queue cannot be reached.
            admin = self.admin_queue
            if admin is None or admin.type != QueueAddressType.PRIVATE_ON_OTHER:
                return None
            owner = admin.guid
        return QueueAddress(6, owner, _U32(packet, offset)[0])

    @property
    def connector_type(self) -> UUID | None:
        at = self.connector_offset
        return guid(self.packet[at : at + GUID_SIZE]) if at else None

    # TransactionHeader

    @property
    def transactional(self) -> bool:
        return self.transaction_offset != 0

    @property
    def transaction_header(self) -> TransactionHeader | None:
        at = self.transaction_offset
        return TransactionHeader.parse(self.packet, at)[0] if at else None

    @property
    def tx_sequence_id(self) -> TxSequenceID | None:
        at = self.transaction_offset
        return TxSequenceID.parse(self.packet, at + 4)[0] if at else None

    @property
    def raw_tx_sequence_id(self) -> bytes:
        """TxSequenceID as it stands in the packet; empty in a message without a transaction."""
        at = self.transaction_offset
        return self.packet[at + 4 : at + 12] if at else b""

    @property
    def tx_sequence_number(self) -> int:
        return _U32(self.packet, self.transaction_offset + 12)[0] if self.transaction_offset else 0

    @property
    def previous_tx_sequence_number(self) -> int:
        return _U32(self.packet, self.transaction_offset + 16)[0] if self.transaction_offset else 0

    @property
    def transaction_flags(self) -> int:
        return _U32(self.packet, self.transaction_offset)[0] if self.transaction_offset else 0

    @property
    def final_ack_required(self) -> bool:
        return self.transaction_flags & _FA != 0

    @property
    def first_in_transaction(self) -> bool:
        return self.transaction_flags & _FM != 0

    @property
    def last_in_transaction(self) -> bool:
        return self.transaction_flags & _LM != 0

    # SecurityHeader

    @property
    def security_header(self) -> SecurityHeader | None:
        at = self.security_offset
        return SecurityHeader.parse(self.packet, at)[0] if at else None

    @property
    def security_flags(self) -> int:
        return _U16(self.packet, self.security_offset)[0] if self.security_offset else 0

    @property
    def sender_id_type(self) -> int:
        return self.security_flags & SENDER_ID_TYPE_MASK

    @property
    def security_id(self) -> bytes:
        """The SID or the GUID of the sender, as `sender_id_type` says; empty when absent."""
        if not self.security_offset:
            return b""
        at = self.security_offset + SECURITY_HEADER_SIZE
        return self.packet[at : at + _U16(self.packet, self.security_offset + 2)[0]]

    @property
    def encrypted(self) -> bool:
        """Whether the body in this packet is cipher text."""
        return self.security_flags & _EB != 0

    @property
    def private_body(self) -> bool:
        """Whether the body is clear here and travels encrypted; only its queue manager says so."""
        return self.flags & PRIVATE_BODY != 0

    @property
    def authentication_level(self) -> int:
        return (self.security_flags & AUTHENTICATION_MASK) >> AUTHENTICATION_SHIFT

    # MessagePropertiesHeader

    @property
    def acknowledgments(self) -> int:
        """Flags: which acknowledgments the sender asks for."""
        return self.packet[self.properties_offset]

    @property
    def message_class(self) -> int:
        return _U16(self.packet, self.properties_offset + 2)[0]

    @property
    def correlation_id(self) -> bytes:
        at = self.properties_offset + 4
        return self.packet[at : at + MESSAGE_IDENTIFIER_SIZE]

    @property
    def body_type(self) -> int:
        return _U32(self.packet, self.properties_offset + 24)[0]

    @property
    def application_tag(self) -> int:
        return _U32(self.packet, self.properties_offset + 28)[0]

    @property
    def message_size(self) -> int:
        return _U32(self.packet, self.properties_offset + 32)[0]

    @property
    def allocation_body_size(self) -> int:
        return _U32(self.packet, self.properties_offset + 36)[0]

    @property
    def privacy_level(self) -> int:
        return _U32(self.packet, self.properties_offset + 40)[0]

    @property
    def hash_algorithm(self) -> int:
        return _U32(self.packet, self.properties_offset + 44)[0]

    @property
    def encryption_algorithm(self) -> int:
        return _U32(self.packet, self.properties_offset + 48)[0]

    @property
    def label(self) -> str:
        return lenient_text(
            self.packet[self.properties_offset + MESSAGE_PROPERTIES_SIZE : self.extension_offset]
        )

    @property
    def extension(self) -> bytes:
        return self.packet[self.extension_offset : self.body_offset]

    @property
    def body(self) -> bytes:
        """The body as it is in the packet: cipher text when `encrypted`."""
        if self.body_offset == self.body_end and self.trailing and self.trailing.compound_message:
            return compound_message_body(self.packet, self.trailing.compound_message)
        return self.packet[self.body_offset : self.body_end]

    # Headers after the body

    @property
    def debug_header(self) -> DebugHeader | None:
        at = self.trailing.debug if self.trailing else 0
        return DebugHeader.parse(self.packet, at)[0] if at else None

    @property
    def srmp_envelope_header(self) -> SRMPEnvelopeHeader | None:
        at = self.trailing.srmp_envelope if self.trailing else 0
        return SRMPEnvelopeHeader.parse(memoryview(self.packet), at)[0] if at else None

    @property
    def compound_message_header(self) -> CompoundMessageHeader | None:
        at = self.trailing.compound_message if self.trailing else 0
        return CompoundMessageHeader.parse(memoryview(self.packet), at)[0] if at else None

    @property
    def soap_header(self) -> SoapHeader | None:
        at = self.trailing.soap if self.trailing else 0
        return SoapHeader.parse(memoryview(self.packet), at)[0] if at else None

    @property
    def multi_queue_format_header(self) -> MultiQueueFormatHeader | None:
        at = self.trailing.multi_queue_format if self.trailing else 0
        return MultiQueueFormatHeader.parse(memoryview(self.packet), at)[0] if at else None


def _fixed_fault(packet: bytes) -> MalformedPacket:
    """Say what is wrong with the fields at fixed offsets, knowing that something is."""
    base, _ = BaseHeader.parse(memoryview(packet))
    if base.packet_size != len(packet):
        return MalformedPacket(
            "BaseHeader.PacketSize",
            8,
            f"{base.packet_size}, but the packet has {len(packet)} bytes",
        )
    if base.flags & _IN:
        return MalformedPacket("BaseHeader.Flags.IN", 2, "is set in a UserMessage")
    return MalformedPacket("UserHeader.Flags.MP", _FLAGS, "is clear")
