"""Building UserMessage packets: one at a time, or many from one template."""

import struct
from dataclasses import replace
from struct import Struct
from typing import Final, TypedDict, Unpack
from uuid import UUID

from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    destination_encoding,
    relative_address,
)
from openmsmq.wire.packets.base_header import (
    BASE_HEADER,
    BASE_HEADER_SIZE,
    INFINITE,
    MAX_PACKET_SIZE,
    PRIORITY_MASK,
    SIGNATURE,
    VERSION_NUMBER,
    BaseHeaderFlags,
)
from openmsmq.wire.scalars import GUID_NULL, MESSAGE_IDENTIFIER_SIZE, guid_bytes
from openmsmq.wire.security.security_header import (
    AUTHENTICATION_MASK,
    SecurityHeader,
    SecurityHeaderFlags,
)

from .debug_header import DebugHeader
from .message_properties_header import MESSAGE_PROPERTIES_SIZE, encode_label
from .multi_queue_format_header import MultiQueueFormatHeader
from .soap_header import SoapHeader
from .srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from .transaction_header import TransactionHeader
from .user_header import (
    ADMIN_SHIFT,
    DEFINED_TYPES,
    DELIVERY_MODE_SHIFT,
    DESTINATION_SHIFT,
    PRIVATE_BODY,
    RESPONSE_SHIFT,
    ROUTING_COUNT_MASK,
    TYPES_MASK,
    USER_HEADER,
    UserHeaderFlags,
)

# MessagePropertiesHeader; what never changes between the messages of a template is packed before.
_PROPERTIES: Final = Struct("<BB30sII16s")
_KIND: Final = Struct("<H20sII")
_ALGORITHMS: Final = Struct("<IIII")
_PADDING: Final = (b"", b"\0", b"\0\0", b"\0\0\0")
_FIXED_SIZE: Final = BASE_HEADER_SIZE + MESSAGE_PROPERTIES_SIZE
_RECOVERABLE: Final = 1
_ALL_ACKNOWLEDGMENTS: Final = 0x0F
_LARGEST: Final = {
    "priority": PRIORITY_MASK,
    "routing_count": ROUTING_COUNT_MASK,
    "delivery_mode": _RECOVERABLE,
    "acknowledgments": _ALL_ACKNOWLEDGMENTS,
    "time_to_reach_queue": INFINITE,
}
_WRONG_CORRELATION_ID: Final = "a correlation id has 20 bytes"

_TR_AND_DH: Final = int(BaseHeaderFlags.TR | BaseHeaderFlags.DH)
_DH: Final = int(BaseHeaderFlags.DH)
_MP: Final = int(UserHeaderFlags.MP)
_JN: Final = int(UserHeaderFlags.JN)
_JP: Final = int(UserHeaderFlags.JP)
_CQ: Final = int(UserHeaderFlags.CQ)
_TH: Final = int(UserHeaderFlags.TH)
_SH: Final = int(UserHeaderFlags.SH)
_AU_AND_AS: Final = AUTHENTICATION_MASK | int(SecurityHeaderFlags.AU)


class UserMessageOptions(TypedDict, total=False):
    """What a message may have beside destination, body and label, named as in `UserMessage`."""

    admin_queue: QueueAddress
    response_queue: QueueAddress
    source_queue_manager: UUID
    queue_manager_address: UUID
    priority: int
    time_to_reach_queue: int
    time_to_be_received: int
    sent_time: int
    message_id: int
    routing_count: int
    delivery_mode: int
    negative_journaling: bool
    positive_journaling: bool
    connector_type: UUID | None
    transaction_header: TransactionHeader | None
    security_header: SecurityHeader | None
    acknowledgments: int
    message_class: int
    correlation_id: bytes
    body_type: int
    application_tag: int
    privacy_level: int
    private_body: bool
    hash_algorithm: int
    encryption_algorithm: int
    extension: bytes
    tracing_requested: bool
    tracing_queue: UUID | None
    srmp_headers: tuple[SRMPEnvelopeHeader, CompoundMessageHeader] | None
    soap_header: SoapHeader | None
    multi_queue_format_header: MultiQueueFormatHeader | None


class UserMessageProperties(UserMessageOptions):
    """Everything of a message but its body and label."""

    destination_queue: QueueAddress | None


class UserMessageTemplate:
    """Builds messages that differ only in body, label and correlation.

    Addresses are resolved ones, as `UserMessage` gives them; the shortest encoding is chosen. A
    queue manager writes the destination of its queue into packets that are built with None.
    A transactional message gets priority 0 and is recoverable, whatever was asked.

    Raises:
        ValueError: a value does not fit its field.
    """

    __slots__ = (
        "_acknowledgments",
        "_algorithms",
        "_base_flags",
        "_extension",
        "_head",
        "_kind",
        "_size",
        "_tail",
        "_time_to_reach_queue",
    )

    def __init__(
        self,
        *,
        destination_queue: QueueAddress | None,
        admin_queue: QueueAddress = NO_QUEUE,
        response_queue: QueueAddress = NO_QUEUE,
        source_queue_manager: UUID = GUID_NULL,
        queue_manager_address: UUID = GUID_NULL,
        priority: int = 3,
        time_to_reach_queue: int = INFINITE,
        time_to_be_received: int = INFINITE,
        sent_time: int = 0,
        message_id: int = 0,
        routing_count: int = 0,
        delivery_mode: int = 0,
        negative_journaling: bool = False,
        positive_journaling: bool = False,
        connector_type: UUID | None = None,
        transaction_header: TransactionHeader | None = None,
        security_header: SecurityHeader | None = None,
        acknowledgments: int = 0,
        message_class: int = 0,
        correlation_id: bytes = bytes(MESSAGE_IDENTIFIER_SIZE),
        body_type: int = 0,
        application_tag: int = 0,
        privacy_level: int = 0,
        private_body: bool = False,
        hash_algorithm: int = 0,
        encryption_algorithm: int = 0,
        extension: bytes = b"",
        tracing_requested: bool = False,
        tracing_queue: UUID | None = None,
        srmp_headers: tuple[SRMPEnvelopeHeader, CompoundMessageHeader] | None = None,
        soap_header: SoapHeader | None = None,
        multi_queue_format_header: MultiQueueFormatHeader | None = None,
    ) -> None:
        if not (
            0 <= priority <= PRIORITY_MASK
            and 0 <= routing_count <= ROUTING_COUNT_MASK
            and 0 <= delivery_mode <= _RECOVERABLE
            and 0 <= acknowledgments <= _ALL_ACKNOWLEDGMENTS
            and 0 <= time_to_reach_queue <= INFINITE
            and len(correlation_id) == MESSAGE_IDENTIFIER_SIZE
        ):
            raise _range_fault(
                priority=priority,
                routing_count=routing_count,
                delivery_mode=delivery_mode,
                acknowledgments=acknowledgments,
                time_to_reach_queue=time_to_reach_queue,
            )
        if transaction_header is not None:
            # [MS-MQMQ] 2.2.19.1, 2.2.19.2: PR is 0 and DM is 1 in a transactional message.
            priority, delivery_mode = 0, _RECOVERABLE
        if destination_queue is not None:
            destination_queue, queue_manager_address = destination_encoding(
                destination_queue, queue_manager_address
            )
        flags = (
            _MP
            | routing_count
            | delivery_mode << DELIVERY_MODE_SHIFT
            | (_JN if negative_journaling else 0)
            | (_JP if positive_journaling else 0)
            | (PRIVATE_BODY if private_body else 0)
        )
        before = after = b""
        base_flags = priority
        try:
            address_flags, addresses = encode_addresses(
                destination_queue,
                admin_queue,
                response_queue,
                source_queue_manager,
                queue_manager_address,
            )
            if connector_type or transaction_header or security_header:
                more_flags, before = headers_before_body(
                    connector_type, transaction_header, security_header
                )
                flags |= more_flags
            if tracing_requested or tracing_queue:
                base_flags |= _TR_AND_DH if tracing_requested else _DH
                after = DebugHeader(tracing_queue).serialize()
            if srmp_headers or soap_header or multi_queue_format_header:
                more_flags, more = _after_body(srmp_headers, soap_header, multi_queue_format_header)
                flags |= more_flags
                after += more
            user_header = USER_HEADER.pack(
                guid_bytes(source_queue_manager),
                guid_bytes(queue_manager_address),
                time_to_be_received,
                sent_time,
                message_id,
                flags | address_flags,
            )
            self._kind = _KIND.pack(message_class, correlation_id, body_type, application_tag)
            self._algorithms = _ALGORITHMS.pack(
                privacy_level, hash_algorithm, encryption_algorithm, len(extension)
            )
        except struct.error as exc:
            raise ValueError(f"a value does not fit its field: {exc}") from exc
        self._base_flags = base_flags
        self._time_to_reach_queue = time_to_reach_queue
        self._head = user_header + addresses + before
        self._acknowledgments = acknowledgments
        self._extension = extension
        self._tail = after
        self._size = _FIXED_SIZE + len(self._head) + len(extension)

    def build(
        self,
        body: bytes,
        label: str = "",
        *,
        correlation_id: bytes | None = None,
        message_size: int | None = None,
    ) -> bytes:
        """Return a new packet.

        Args:
            body: the bytes to send, which are the cipher text when the body is encrypted.
            label: up to 249 UTF-16 code units.
            correlation_id: instead of the one of the template.
            message_size: the size of the clear body, when it differs from that of `body`.

        Raises:
            ValueError: the packet would be larger than a packet may be, or a value does not fit.
        """
        text = encode_label(label)
        body_size = len(body)
        size = self._size + len(text) + body_size
        padding = -size & 3
        size += padding + len(self._tail)
        if size > MAX_PACKET_SIZE:
            raise ValueError(f"a packet of {size} bytes is larger than {MAX_PACKET_SIZE}")
        kind = self._kind
        if correlation_id is not None:
            if len(correlation_id) != MESSAGE_IDENTIFIER_SIZE:
                raise ValueError(_WRONG_CORRELATION_ID)
            kind = kind[:2] + correlation_id + kind[22:]
        try:
            base_header = BASE_HEADER.pack(
                VERSION_NUMBER, 0, self._base_flags, SIGNATURE, size, self._time_to_reach_queue
            )
            properties = _PROPERTIES.pack(
                self._acknowledgments,
                len(text) >> 1,
                kind,
                body_size if message_size is None else message_size,
                body_size,
                self._algorithms,
            )
        except struct.error as exc:
            raise ValueError(f"a value does not fit its field: {exc}") from exc
        return b"".join(
            (
                base_header,
                self._head,
                properties,
                text,
                self._extension,
                body,
                _PADDING[padding],
                self._tail,
            )
        )


def build_user_message(
    *,
    body: bytes = b"",
    label: str = "",
    message_size: int | None = None,
    **properties: Unpack[UserMessageProperties],
) -> bytes:
    """Build one packet from all its properties.

    Raises:
        ValueError: a value does not fit its field, or the packet is too large.
    """
    return UserMessageTemplate(**properties).build(body, label, message_size=message_size)


def _range_fault(**values: int) -> ValueError:
    """Say which value is out of range, knowing that one is, or else the correlation id."""
    for name, value in values.items():
        if not 0 <= value <= _LARGEST[name]:
            return ValueError(f"{name} {value} is not in 0..{_LARGEST[name]}")
    return ValueError(_WRONG_CORRELATION_ID)


def encode_addresses(
    destination_queue: QueueAddress | None,
    admin_queue: QueueAddress,
    response_queue: QueueAddress,
    source: UUID,
    destination: UUID,
) -> tuple[int, bytes]:
    """Return DQ, AQ and RQ, and the three addresses."""
    encoded = NO_QUEUE if destination_queue is None else destination_queue
    flags = encoded.type << DESTINATION_SHIFT
    addresses = encoded.serialize()
    if admin_queue.type or response_queue.type:
        response = relative_address(response_queue, source, destination, admin_queue)
        admin = relative_address(admin_queue, source, destination)
        flags |= admin.type << ADMIN_SHIFT | response.type << RESPONSE_SHIFT
        addresses += admin.serialize() + response.serialize()
    if destination_queue == NO_QUEUE or flags & TYPES_MASK not in DEFINED_TYPES:
        raise ValueError("a destination or administration queue of a type that cannot be sent")
    return flags, addresses


def headers_before_body(
    connector_type: UUID | None,
    transaction_header: TransactionHeader | None,
    security_header: SecurityHeader | None,
) -> tuple[int, bytes]:
    """Return the flags of ConnectorType and the headers before MessageProperties, and them."""
    flags = 0
    headers = b""
    if connector_type is not None:
        flags |= _CQ
        headers = guid_bytes(connector_type)
    if transaction_header is not None:
        flags |= _TH
        headers += transaction_header.serialize()
    if security_header is not None:
        flags |= _SH
        # [MS-MQDMPR] 3.1.7.1.32: AU and AS are 0 on the wire.
        flags_on_wire = security_header.flags & ~_AU_AND_AS
        headers += replace(security_header, flags=flags_on_wire).serialize()
    return flags, headers


def _after_body(
    srmp_headers: tuple[SRMPEnvelopeHeader, CompoundMessageHeader] | None,
    soap_header: SoapHeader | None,
    multi_queue_format_header: MultiQueueFormatHeader | None,
) -> tuple[int, bytes]:
    """Return the flags of the headers after the DebugHeader, and the headers."""
    flags = 0
    headers = b""
    if srmp_headers is not None:
        flags |= UserHeaderFlags.AH
        headers = srmp_headers[0].serialize() + srmp_headers[1].serialize()
    if soap_header is not None:
        flags |= UserHeaderFlags.HH
        headers += soap_header.serialize()
    if multi_queue_format_header is not None:
        flags |= UserHeaderFlags.MQ
        headers += multi_queue_format_header.serialize()
    return int(flags), headers
