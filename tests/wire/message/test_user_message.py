"""[MS-MQMQ] 2.2.20: the UserMessage packet."""

from struct import pack
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame, frame_bytes
from tests.wire.strategies import user_messages

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.message_properties_header import MessagePropertiesHeader
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_header import UserHeader, UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.base_header import BaseHeader, BaseHeaderFlags
from openmsmq.wire.scalars import GUID_NULL, TxSequenceID
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader

SOURCE = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")
TARGET = UUID("3C3A6AEB-F567-4143-87D3-85CF4D68CEB4")
THIRD = UUID("557358D1-9150-9595-4997-B6E611EA26C6")
QUEUE = UUID("43CD8907-394C-8F11-4445-9078909EA0FC")
DIRECT = direct_address("OS:a\\q")
MP = int(UserHeaderFlags.MP)
PROPERTIES = sorted(
    name for name, value in vars(UserMessage).items() if isinstance(value, property)
)


def packet_of(*parts: bytes, base_flags: int = 0) -> bytes:
    """A packet with a right BaseHeader before the parts."""
    body = b"".join(parts)
    return BaseHeader(base_flags, 16 + len(body)).serialize() + body


def addressed(
    destination: QueueAddress = DIRECT,
    admin: QueueAddress = NO_QUEUE,
    response: QueueAddress = NO_QUEUE,
) -> UserMessage:
    header = UserHeader(MP, SOURCE, 1, 2, destination, admin, response, TARGET)
    return UserMessage(packet_of(header.serialize(), MessagePropertiesHeader().serialize()))


def with_properties(properties: bytes, *after: bytes, flags: int = 0, base: int = 0) -> bytes:
    header = UserHeader(MP | flags, SOURCE, 1, 2, DIRECT)
    return packet_of(header.serialize(), properties, *after, base_flags=base)


def read_all(message: UserMessage) -> dict[str, Any]:
    """Every property; Any: they are of all types."""
    return {name: getattr(message, name) for name in PROPERTIES}


@pytest.mark.spec("MQQB-4.1.7-01", "MQQB-4.1.7-05")
def test_the_example_message() -> None:
    raw = frame_bytes(7)
    message = UserMessage(raw)
    assert message.base_flags == 0x0003
    assert message.priority == 3
    assert len(raw) == frame(7)["declared_packet_size"] == 2224
    assert message.time_to_reach_queue == 345600
    assert message.source_queue_manager == THIRD
    assert message.queue_manager_address == GUID_NULL
    assert message.time_to_be_received == 0xFFFFFFFF
    assert message.message_id == 2286
    assert str(message.identifier) == "{557358D1-9150-9595-4997-B6E611EA26C6}\\2286"
    assert message.flags == 0x00281C00
    assert (message.routing_count, message.delivery_mode) == (0, 0)
    assert message.destination_queue == direct_address("OS:a04bm02\\q")
    # Acknowledgments without an administration queue: the flags of the dump say so.
    assert (message.acknowledgments, message.admin_queue) == (0x0F, None)
    assert message.response_queue is None
    assert message.security_offset == 92
    assert message.properties_offset == 136
    assert message.label == "mqsender label"
    assert message.body_offset == 222
    assert message.body == b"a\0" * 1000
    assert message.body_end == 2222
    assert message.end == 2224


def test_a_message_shows_its_identifier_and_size() -> None:
    shown = "<UserMessage {557358D1-9150-9595-4997-B6E611EA26C6}\\2286, 2224 bytes>"
    assert repr(UserMessage(frame_bytes(7))) == shown


@pytest.mark.spec("MQDMPR-3.1.7.1.31-01")
def test_properties_of_absent_headers_have_their_defaults() -> None:
    message = addressed()
    assert (message.transactional, message.transaction_header) == (False, None)
    assert (message.tx_sequence_id, message.transaction_flags) == (None, 0)
    assert (message.tx_sequence_number, message.previous_tx_sequence_number) == (0, 0)
    assert (message.security_header, message.security_flags) == (None, 0)
    assert (message.security_id, message.encrypted) == (b"", False)
    assert (message.connector_type, message.debug_header) == (None, None)
    assert (message.srmp_envelope_header, message.compound_message_header) == (None, None)
    assert (message.soap_header, message.multi_queue_format_header) == (None, None)
    assert (message.label, message.extension, message.body) == ("", b"", b"")


# Written out field by field, so that it does not depend on the code under test.
PLAIN = packet_of(
    SOURCE.bytes_le,
    TARGET.bytes_le,
    pack("<III", 0x22222222, 0x33333333, 0x44444444),
    pack(
        "<I", 0x13 | 1 << 5 | 0x200 | 3 << 10 | 5 << 13 | 7 << 16 | 0x200000 | 0x400000 | 0x800000
    ),
    pack("<I", 9),
    QUEUE.bytes_le,
    bytes.fromhex("0e00 4f0053003a0061005c0071000000"),
    THIRD.bytes_le,
    pack("<BBH", 0x0A, 3, 0x8003),
    bytes(range(20)),
    pack("<IIII", 0x55555555, 0x66666666, 5, 5),
    pack("<IIII", 5, 0x800C, 0x660E, 3),
    bytes.fromhex("610062000000"),
    b"ext" + b"body!" + b"\xbe\xef",
    pack("<HH", 1, 0) + QUEUE.bytes_le,
    pack("<IHHIHH", 32, 0x64, 0, 1, 1, 0) + QUEUE.bytes_le,
    pack("<IHHIHH", 36, 0xC8, 0, 1, 2, 0) + SOURCE.bytes_le + pack("<I", 5),
    pack("<IHHIHH", 32, 0x12C, 0, 1, 6, 0) + THIRD.bytes_le,
    pack("<HHI", 0x15E, 0, 1) + b"s\xfe\xfe\xfe",
    base_flags=5 | 0x20 | 0x100,
)
PLAIN = PLAIN[:12] + pack("<I", 0x11111111) + PLAIN[16:]

# A transactional, signed and encrypted message.
SECURED = packet_of(
    bytes(44),
    pack("<I", 1 << 5 | 7 << 10 | 0x200000 | 0x100000 | 0x080000),
    bytes.fromhex("0e00 4f0053003a0061005c0071000000"),
    pack("<IIIII", 0xABCDE | 0xF, 7, 8, 9, 6) + THIRD.bytes_le,
    pack("<HHHHII", 0x0531, 5, 3, 4, 2, 8),
    b"owner\1\2\3" + b"key\4" + b"sign" + b"ce\5\6" + pack("<I", 0x18) + b"P\0\0\0",
    MessagePropertiesHeader(message_size=4, allocation_body_size=8, body=b"ciphered").serialize(),
    base_flags=6,
)


# The properties of PLAIN and SECURED by the row of the specification that says where they stand.
PLAIN_PROPERTIES: dict[str, dict[str, object]] = {
    "MQDMPR-3.1.7.1.31-02": {
        "priority": 5,
        "tracing_requested": True,
        "time_to_reach_queue": 0x11111111,
    },
    "MQDMPR-3.1.7.1.31-03": {
        "source_queue_manager": SOURCE,
        "queue_manager_address": TARGET,
        "time_to_be_received": 0x22222222,
        "sent_time": 0x33333333,
        "message_id": 0x44444444,
        "identifier": (SOURCE, 0x44444444),
        "destination_queue": private_address(TARGET, 9),
        "admin_queue": public_address(QUEUE),
        "response_queue": DIRECT,
    },
    "MQDMPR-3.1.7.1.31-04": {
        "delivery_mode": 1,
        "positive_journaling": True,
        "negative_journaling": False,
    },
    "MQDMPR-3.1.7.1.31-05": {
        "acknowledgments": 0x0A,
        "message_class": 0x8003,
        "correlation_id": bytes(range(20)),
        "body_type": 0x55555555,
        "application_tag": 0x66666666,
        "privacy_level": 5,
        "hash_algorithm": 0x800C,
        "encryption_algorithm": 0x660E,
        "label": "ab",
        "extension": b"ext",
        "body": b"body!",
    },
    "MQDMPR-3.1.7.1.31-08": {
        "debug_header": DebugHeader(QUEUE),
        "multi_queue_format_header": MultiQueueFormatHeader(
            (MQFFormatNameElement(MQFFormatType.PUBLIC, QUEUE),),
            (MQFFormatNameElement(MQFFormatType.PRIVATE, SOURCE, 5),),
            (MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, THIRD),),
            b"s",
        ),
    },
    "MQDMPR-3.1.7.1.32-10": {"connector_type": THIRD},
}
SECURED_PROPERTIES: dict[str, dict[str, object]] = {
    "MQDMPR-3.1.7.1.31-06": {
        "security_header": SecurityHeader(
            0x0531, b"owner", b"key", b"sign", b"ce", ProviderInfo(0x18, "P")
        ),
        "sender_id_type": 1,
        "security_id": b"owner",
    },
    "MQDMPR-3.1.7.1.31-07": {
        "transaction_header": TransactionHeader(0xABCDE, TxSequenceID(8, 7), 9, 6, THIRD),
        "tx_sequence_id": TxSequenceID(8, 7),
        "tx_sequence_number": 9,
        "previous_tx_sequence_number": 6,
        "final_ack_required": True,
        "first_in_transaction": True,
        "last_in_transaction": True,
        "transaction_flags": 0xABCDF,
    },
    "MQDMPR-3.1.7.1.31-09": {"authentication_level": 5, "security_flags": 0x0531},
    # The priority of a transactional message is not looked at.
    "MQDMPR-3.1.7.1.32-01": {"priority": 0},
}


@pytest.mark.parametrize(
    ("packet", "name", "value"),
    [
        pytest.param(packet, name, value, id=name, marks=pytest.mark.spec(row))
        for packet, rows in ((PLAIN, PLAIN_PROPERTIES), (SECURED, SECURED_PROPERTIES))
        for row, properties in rows.items()
        for name, value in properties.items()
    ],
)
def test_each_property_is_read_from_its_place(packet: bytes, name: str, value: object) -> None:
    assert getattr(UserMessage(packet), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("routing_count", 0x13),
        ("message_size", 5),
        ("allocation_body_size", 5),
        ("end", len(PLAIN)),
        ("flags", 0x00E7AE33),
        ("base_flags", 0x0125),
    ],
)
def test_other_properties_are_read_from_their_places(name: str, value: int) -> None:
    assert getattr(UserMessage(PLAIN), name) == value


@pytest.mark.spec("MQDMPR-3.1.7.1.31-04")
def test_journaling_bits_do_not_depend_on_each_other() -> None:
    header = UserHeader(MP | UserHeaderFlags.JN, SOURCE, 1, 2, DIRECT)
    message = UserMessage(packet_of(header.serialize(), MessagePropertiesHeader().serialize()))
    assert (message.negative_journaling, message.positive_journaling) == (True, False)


@pytest.mark.parametrize(
    ("encoded", "resolved"),
    [
        pytest.param(NO_QUEUE, None),
        pytest.param(QueueAddress(3, None, 9), private_address(TARGET, 9)),
        pytest.param(public_address(QUEUE), public_address(QUEUE)),
        pytest.param(DIRECT, DIRECT),
    ],
)
@pytest.mark.spec("MQDMPR-3.1.7.1.31-17")
def test_destination_queue_of_each_type(
    encoded: QueueAddress, resolved: QueueAddress | None
) -> None:
    assert addressed(destination=encoded).destination_queue == resolved


@pytest.mark.parametrize(
    ("encoded", "resolved"),
    [
        pytest.param(NO_QUEUE, None),
        pytest.param(QueueAddress(2, None, 9), private_address(SOURCE, 9)),
        pytest.param(QueueAddress(3, None, 9), private_address(TARGET, 9)),
        pytest.param(public_address(QUEUE), public_address(QUEUE)),
        pytest.param(private_address(THIRD, 9), private_address(THIRD, 9)),
        pytest.param(DIRECT, DIRECT),
    ],
)
@pytest.mark.spec("MQDMPR-3.1.7.1.31-18")
def test_admin_queue_of_each_type(encoded: QueueAddress, resolved: QueueAddress | None) -> None:
    message = addressed(admin=encoded, response=public_address(QUEUE))
    assert message.admin_queue == resolved
    assert message.response_queue == public_address(QUEUE)


@pytest.mark.parametrize(
    ("admin", "encoded", "resolved"),
    [
        (DIRECT, NO_QUEUE, None),
        (DIRECT, QueueAddress(1), DIRECT),
        (QueueAddress(2, None, 9), QueueAddress(1), private_address(SOURCE, 9)),
        (NO_QUEUE, QueueAddress(1), None),
        (DIRECT, QueueAddress(2, None, 9), private_address(SOURCE, 9)),
        (DIRECT, QueueAddress(3, None, 9), private_address(TARGET, 9)),
        (private_address(THIRD, 8), QueueAddress(4, None, 9), private_address(THIRD, 9)),
        (QueueAddress(2, None, 8), QueueAddress(4, None, 9), private_address(SOURCE, 9)),
        (QueueAddress(3, None, 8), QueueAddress(4, None, 9), private_address(TARGET, 9)),
        # Nothing says on which queue manager it is.
        (NO_QUEUE, QueueAddress(4, None, 9), None),
        (DIRECT, QueueAddress(4, None, 9), None),
        (public_address(QUEUE), QueueAddress(4, None, 9), None),
        (DIRECT, public_address(QUEUE), public_address(QUEUE)),
        (DIRECT, private_address(THIRD, 9), private_address(THIRD, 9)),
        (NO_QUEUE, DIRECT, DIRECT),
    ],
)
@pytest.mark.spec("MQDMPR-3.1.7.1.31-19")
def test_response_queue_of_each_type(
    admin: QueueAddress, encoded: QueueAddress, resolved: QueueAddress | None
) -> None:
    assert addressed(admin=admin, response=encoded).response_queue == resolved


@pytest.mark.spec("MQQB-2.2-02")
def test_headers_come_in_the_order_of_the_specification() -> None:
    every_flag = (
        MP
        | UserHeaderFlags.TH
        | UserHeaderFlags.SH
        | UserHeaderFlags.AH
        | UserHeaderFlags.HH
        | UserHeaderFlags.MQ
    )
    properties = MessagePropertiesHeader(label="label")
    transaction = TransactionHeader(0, TxSequenceID(1, 2), 3, 2)
    security = SecurityHeader(1, b"SID")
    debug = DebugHeader(QUEUE)
    envelope = SRMPEnvelopeHeader("<Envelope/>")
    compound = CompoundMessageHeader(b"POST / body", 4, 7)
    soap = SoapHeader("header", "body")
    queues = MultiQueueFormatHeader((MQFFormatNameElement(MQFFormatType.PUBLIC, QUEUE),))
    packet = packet_of(
        UserHeader(every_flag, SOURCE, 1, 2, DIRECT, connector_type=THIRD).serialize(),
        transaction.serialize(),
        security.serialize(),
        properties.serialize(),
        debug.serialize(),
        envelope.serialize(),
        compound.serialize(),
        soap.serialize(),
        queues.serialize(),
        base_flags=BaseHeaderFlags.DH,
    )
    message = UserMessage(packet)
    assert message.connector_type == THIRD
    assert message.transaction_header == transaction
    assert message.security_header == security
    assert message.label == "label"
    assert message.debug_header == debug
    assert message.srmp_envelope_header == envelope
    assert message.compound_message_header == compound
    assert message.soap_header == soap
    assert message.multi_queue_format_header == queues
    assert message.end == len(packet)


def test_the_body_of_an_http_message_is_in_its_compound_message() -> None:
    after = (
        SRMPEnvelopeHeader("<Envelope/>").serialize(),
        CompoundMessageHeader(b"POST / body", 4, 7).serialize(),
    )
    http = with_properties(
        MessagePropertiesHeader().serialize(), *after, flags=int(UserHeaderFlags.AH)
    )
    assert UserMessage(http).body == b"body"
    own = MessagePropertiesHeader(body=b"own", message_size=3, allocation_body_size=3)
    both = with_properties(own.serialize(), *after, flags=int(UserHeaderFlags.AH))
    assert UserMessage(both).body == b"own"


def encrypted(message_size: int, allocation: int, body: bytes, *, security_flags: int) -> bytes:
    """A message whose two sizes of the body differ, with a DebugHeader behind the body."""
    return packet_of(
        UserHeader(MP | UserHeaderFlags.SH, SOURCE, 1, 2, DIRECT).serialize(),
        SecurityHeader(security_flags, encryption_key=b"key").serialize(),
        MessagePropertiesHeader(
            message_size=message_size, allocation_body_size=allocation, body=body
        ).serialize(),
        DebugHeader(QUEUE).serialize(),
        base_flags=BaseHeaderFlags.DH,
    )


def test_an_encrypted_body_takes_the_space_of_its_allocation() -> None:
    message = UserMessage(encrypted(5, 16, b"0123456789abcdef", security_flags=0x20))
    assert (message.body, message.message_size) == (b"0123456789abcdef", 5)
    assert message.debug_header == DebugHeader(QUEUE)
    assert message.end == len(message.packet)


def test_a_clear_body_has_its_message_size_in_the_space_of_its_allocation() -> None:
    message = UserMessage(encrypted(5, 16, b"0123456789abcdef", security_flags=0))
    assert message.body == b"01234"
    assert message.debug_header == DebugHeader(QUEUE)


@pytest.mark.parametrize("allocation", [8, 24, 0xFFFFFFFF])
def test_an_allocation_that_does_not_fit_the_rest_gives_way_to_the_message_size(
    allocation: int,
) -> None:
    message = UserMessage(encrypted(4, allocation, b"body", security_flags=0x20))
    assert message.body == b"body"
    assert message.debug_header == DebugHeader(QUEUE)


def test_an_allocation_smaller_than_the_message_size_is_not_looked_at() -> None:
    assert UserMessage(encrypted(4, 0, b"body", security_flags=0x20)).body == b"body"


def test_the_padding_of_the_last_header_may_be_missing() -> None:
    properties = MessagePropertiesHeader(body=b"x", message_size=1, allocation_body_size=1)
    message = UserMessage(with_properties(properties.serialize()[:-3]))
    assert (message.body, message.end) == (b"x", len(message.packet))


def test_what_follows_the_last_header_is_left_alone() -> None:
    message = UserMessage(with_properties(MessagePropertiesHeader().serialize(), b"more"))
    assert message.end == len(message.packet) - 4


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        ("no NUL", "6100620063006400", "abcd"),
        ("NUL inside", "6100000063000000", "a"),
        ("half a pair", "610000d863000000", "a\N{REPLACEMENT CHARACTER}c"),
    ],
)
def test_an_odd_label_is_read_as_far_as_it_makes_sense(name: str, raw: str, text: str) -> None:
    properties = MessagePropertiesHeader(label="abc").serialize()[:56] + bytes.fromhex(raw)
    assert UserMessage(with_properties(properties)).label == text


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 0x11, "BaseHeader.VersionNumber", 0),
        (4, 0x00, "BaseHeader.Signature", 4),
        (8, 0xFF, "BaseHeader.PacketSize", 8),
        (11, 0x01, "BaseHeader.PacketSize", 8),
        (2, 0x08, "BaseHeader.Flags.IN", 2),
        (62, 0x00, "UserHeader.Flags.MP", 60),
        (61, 0x04, "UserHeader.Flags.DQ", 60),
        (61, 0x3C, "UserHeader.Flags.AQ", 60),
        (64, 0xFF, "DirectQueueFormatName.Count", 64),
        (65, 0x01, "DirectQueueFormatName.DirectFormatName", 66),
    ],
)
def test_wrong_values_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(with_properties(MessagePropertiesHeader().serialize()))
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        UserMessage(bytes(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("size", [0, 16, 64, 119])
def test_a_packet_smaller_than_its_fixed_headers_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket, match=f"needs 120 bytes, has {size}"):
        UserMessage(bytes(size))


@pytest.mark.spec("MQDMPR-3.1.7.1.31-21")
@pytest.mark.parametrize(
    ("packet", "needed"),
    [
        pytest.param(PLAIN, len(PLAIN) - 3, id="plain"),
        # The cipher text might be as short as MessageSize.
        pytest.param(SECURED, len(SECURED) - 4, id="secured"),
        pytest.param(frame_bytes(7), 2222, id="example"),
    ],
)
def test_a_truncated_packet_is_malformed_whatever_it_says_of_its_size(
    packet: bytes, needed: int
) -> None:
    for size in range(needed):
        cut = packet[:8] + pack("<I", size) + packet[12:size]
        with pytest.raises(MalformedPacket):
            UserMessage(cut[:size])


@pytest.mark.spec("MQDMPR-3.1.7.1.31-21")
@given(user_messages, st.data())
def test_a_damaged_packet_is_malformed_or_readable(packet: bytes, data: st.DataObject) -> None:
    damaged = bytearray(packet)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(12, len(damaged) - 1))
        width = data.draw(st.sampled_from([1, 2, 4]))
        damaged[position : position + width] = data.draw(st.binary(min_size=width, max_size=width))
    damaged[8:12] = pack("<I", len(damaged))
    try:
        message = UserMessage(bytes(damaged))
    except MalformedPacket:
        return
    read_all(message)
    assert message.end <= len(damaged)


@given(st.binary(max_size=300), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF))
def test_noise_with_the_right_signature_is_malformed_or_readable(
    noise: bytes, base_flags: int, flags: int
) -> None:
    packet = packet_of(
        bytes(44),
        pack("<I", flags | MP),
        noise,
        base_flags=base_flags & ~BaseHeaderFlags.IN,
    )
    try:
        message = UserMessage(packet)
    except MalformedPacket:
        return
    read_all(message)
