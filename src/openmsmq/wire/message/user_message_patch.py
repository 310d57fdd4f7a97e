"""Changing a few bytes of a UserMessage packet; the rest is copied as it is."""

import struct
from collections.abc import Iterable
from struct import Struct
from typing import Final
from uuid import UUID

from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE, PRIORITY_MASK, BaseHeaderFlags
from openmsmq.wire.scalars import GUID_SIZE, guid_bytes
from openmsmq.wire.security.security_header import (
    AUTHENTICATION_MASK,
    AUTHENTICATION_SHIFT,
    SecurityHeaderFlags,
)

from .transaction_header import TransactionHeaderFlags
from .user_header import (
    DELIVERY_MODE_SHIFT,
    PRIVATE_BODY,
    ROUTING_COUNT_MASK,
    UserHeaderFlags,
)
from .user_message import UserMessage

_U16: Final = Struct("<H")
_U32: Final = Struct("<I")
_TIME_AND_ORDINAL: Final = Struct("<II")
# In the TransactionHeader: TxSequenceID, TxSequenceNumber, PreviousTxSequenceNumber.
_PLACE: Final = Struct("<QII")
_PLACE_START: Final = 4
_PLACE_END: Final = 20
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)
_AU: Final = int(SecurityHeaderFlags.AU)
_AH: Final = int(UserHeaderFlags.AH)
_MAX_LEVEL: Final = AUTHENTICATION_MASK >> AUTHENTICATION_SHIFT


def stamp(packet: bytes, source_queue_manager: bytes, message_id: int, sent_time: int) -> bytes:
    """Return the packet with the identity and time that a queue manager gives to a message.

    Args:
        packet: a UserMessage that has been checked.
        source_queue_manager: the 16 wire bytes of the GUID.
        message_id: the ordinal.
        sent_time: seconds since 1970, UTC.

    Raises:
        ValueError: a value does not fit its field.
    """
    if len(source_queue_manager) != GUID_SIZE:
        raise ValueError("a GUID has 16 bytes")
    try:
        time_and_ordinal = _TIME_AND_ORDINAL.pack(sent_time, message_id)
    except struct.error as exc:
        raise ValueError(f"a value does not fit its field: {exc}") from exc
    return b"".join(
        (packet[:16], source_queue_manager, packet[32:52], time_and_ordinal, packet[60:])
    )


def stamp_many(
    packets: Iterable[bytes], source_queue_manager: bytes, first_message_id: int, sent_time: int
) -> list[bytes]:
    """`stamp` each packet with the next ordinal."""
    return [
        stamp(packet, source_queue_manager, message_id, sent_time)
        for message_id, packet in enumerate(packets, first_message_id)
    ]


def patch(
    message: UserMessage,
    *,
    priority: int | None = None,
    time_to_reach_queue: int | None = None,
    source_queue_manager: UUID | None = None,
    queue_manager_address: UUID | None = None,
    time_to_be_received: int | None = None,
    sent_time: int | None = None,
    message_id: int | None = None,
    routing_count: int | None = None,
    message_class: int | None = None,
) -> bytes:
    """Return the packet with other values in BaseHeader, UserHeader or MessagePropertiesHeader.

    Raises:
        ValueError: a value does not fit its field.
    """
    packet = bytearray(message.packet)
    if priority is not None:
        packet[2] = packet[2] & ~PRIORITY_MASK | _checked(priority, PRIORITY_MASK, "priority")
    if routing_count is not None:
        count = _checked(routing_count, ROUTING_COUNT_MASK, "routing count")
        packet[60] = packet[60] & ~ROUTING_COUNT_MASK | count
    if source_queue_manager is not None:
        packet[16:32] = guid_bytes(source_queue_manager)
    if queue_manager_address is not None:
        packet[32:48] = guid_bytes(queue_manager_address)
    _put(
        packet,
        (12, time_to_reach_queue, _U32),
        (48, time_to_be_received, _U32),
        (52, sent_time, _U32),
        (56, message_id, _U32),
        (message.properties_offset + 2, message_class, _U16),
    )
    return bytes(packet)


def patch_transaction(
    message: UserMessage,
    *,
    first_in_transaction: bool | None = None,
    last_in_transaction: bool | None = None,
) -> bytes:
    """Return the packet with other flags in its TransactionHeader.

    Raises:
        ValueError: there is no such header.
    """
    at = message.transaction_offset
    if not at:
        raise ValueError("the message has no TransactionHeader")
    packet = bytearray(message.packet)
    for bit, wanted in ((_FM, first_in_transaction), (_LM, last_in_transaction)):
        if wanted is not None:
            packet[at] = packet[at] | bit if wanted else packet[at] & ~bit
    return bytes(packet)


def patch_place(message: UserMessage, tx_sequence_id: int, number: int, previous: int) -> bytes:
    """Return the packet with another place in a transactional sequence.

    Args:
        message: has a TransactionHeader.
        tx_sequence_id: TxSequenceID as a number.

    Raises:
        ValueError: there is no such header, or a value does not fit its field.
    """
    at = message.transaction_offset
    if not at:
        raise ValueError("the message has no TransactionHeader")
    packet = message.packet
    try:
        place = _PLACE.pack(tx_sequence_id, number, previous)
    except struct.error as exc:
        raise ValueError(f"a value does not fit its field: {exc}") from exc
    return b"".join((packet[: at + _PLACE_START], place, packet[at + _PLACE_END :]))


def patch_authentication(message: UserMessage, *, authenticated: bool, level: int) -> bytes:
    """Return the packet with what the receiver found out about the signature: AU and AS.

    Raises:
        ValueError: there is no SecurityHeader, or the level does not fit.
    """
    at = message.security_offset
    if not at:
        raise ValueError("the message has no SecurityHeader")
    packet = message.packet
    flags = message.security_flags & ~(_AU | AUTHENTICATION_MASK)
    flags |= _checked(level, _MAX_LEVEL, "authentication level") << AUTHENTICATION_SHIFT
    changed = _U16.pack(flags | _AU if authenticated else flags)
    return b"".join((packet[:at], changed, memoryview(packet)[at + 2 :]))


def without_srmp_headers(message: UserMessage) -> bytes:
    """Return the packet without its SRMPEnvelopeHeader and CompoundMessageHeader.

    A body that is only in the CompoundMessageHeader takes its usual place.

    Raises:
        ValueError: there are no such headers.
    """
    trailing = message.trailing
    if trailing is None or not trailing.srmp_envelope:
        raise ValueError("the message has no SRMP headers")
    body = message.body
    packet = bytearray(message.packet[: message.body_offset])
    packet += body
    packet += bytes(-len(packet) & 3)
    if trailing.debug:
        packet += message.packet[trailing.debug : trailing.srmp_envelope]
    packet += message.packet[trailing.soap or trailing.multi_queue_format or trailing.end :]
    size = len(body)
    _put(
        packet,
        (8, len(packet), _U32),
        (60, message.flags & ~_AH, _U32),
        (message.properties_offset + 32, size, _U32),
        (message.properties_offset + 36, size, _U32),
    )
    return bytes(packet)


def patch_private_body(packet: bytes, *, private: bool) -> bytes:
    """The packet with what its queue manager says of the body: clear here, encrypted elsewhere."""
    flags = packet[HIGH_USER_FLAGS] & ~PRIVATE_BODY_BIT
    if private:
        flags |= PRIVATE_BODY_BIT
    return b"".join((packet[:HIGH_USER_FLAGS], bytes((flags,)), packet[HIGH_USER_FLAGS + 1 :]))


def _checked(value: int, largest: int, name: str) -> int:
    if not 0 <= value <= largest:
        raise ValueError(f"{name} {value} is not in 0..{largest}")
    return value


def _put(packet: bytearray, *changes: tuple[int, int | None, Struct]) -> None:
    """Write the numbers that are given, each at its offset."""
    try:
        for offset, value, form in changes:
            if value is not None:
                form.pack_into(packet, offset, value)
    except struct.error as exc:
        raise ValueError(f"a value does not fit its field: {exc}") from exc


# The low byte of UserHeader.Flags, and the bit of DM that says recoverable.
USER_FLAGS: Final = BASE_HEADER_SIZE + 44
RECOVERABLE_BIT: Final = 1 << DELIVERY_MODE_SHIFT
# The high byte of UserHeader.Flags, and the bit of it that says that the body is private.
HIGH_USER_FLAGS: Final = USER_FLAGS + 3
PRIVATE_BODY_BIT: Final = PRIVATE_BODY >> 24
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


def with_routing_count(packets: list[bytes], routing_count: int) -> list[bytes]:
    """Packets with equal UserHeader.Flags, with another RC in them.

    Raises:
        ValueError: it does not fit its field.
    """
    count = _checked(routing_count, ROUTING_COUNT_MASK, "routing count")
    flags = bytes((packets[0][USER_FLAGS] & ~ROUTING_COUNT_MASK | count,))
    return [b"".join((packet[:USER_FLAGS], flags, packet[USER_FLAGS + 1 :])) for packet in packets]


def with_session_header(packet: bytes) -> bytes:
    """The packet, saying that a SessionHeader follows it."""
    return packet[:2] + bytes((packet[2] | SESSION_HEADER_BIT,)) + packet[3:]


def without_session_header(packet: bytes) -> bytes:
    """The packet, saying that no SessionHeader follows it."""
    return packet[:2] + bytes((packet[2] & ~SESSION_HEADER_BIT,)) + packet[3:]
