"""[MS-MQDMPR] 3.1.7.1.30, 3.1.7.1.32: a message as a packet."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.strategies import bodies, correlation_ids, labels, user_message_properties

from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageTemplate, build_user_message
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE, BaseHeaderFlags
from openmsmq.wire.scalars import GUID_NULL, TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader

DIRECT = direct_address("OS:a\\q")
GUID = UUID("1F742305-BE5E-4177-BC77-C4DD7719E474")
OTHER = UUID("3C3A6AEB-F567-4143-87D3-85CF4D68CEB4")
TRANSACTION = TransactionHeader(0xC, TxSequenceID(2, 1), 1, 0)
QUEUES = MultiQueueFormatHeader((MQFFormatNameElement(MQFFormatType.PUBLIC, GUID),))
AU_AND_AS = 0x0F10


# Any: properties of every type.
def built(**properties: Any) -> UserMessage:
    properties.setdefault("destination_queue", DIRECT)
    return UserMessage(build_user_message(**properties))


def test_bytes_of_a_small_message() -> None:
    packet = build_user_message(
        destination_queue=DIRECT, delivery_mode=1, label="a", body=b"xyz", body_type=8
    )
    assert packet == bytes.fromhex(
        "10 00 0300 4c494f52 90000000 ffffffff"
        "00000000000000000000000000000000 00000000000000000000000000000000"
        "ffffffff 00000000 00000000 201c2000"
        "0e00 4f0053003a0061005c0071000000"
        "00 02 0000 0000000000000000000000000000000000000000"
        "08000000 00000000 03000000 03000000 00000000 00000000 00000000 00000000"
        "61000000 78797a 00"
    )


def without_receivers_notes(header: SecurityHeader) -> SecurityHeader:
    return SecurityHeader(
        header.flags & ~AU_AND_AS,
        header.security_id,
        header.encryption_key,
        header.signature,
        header.sender_cert,
        header.provider_info,
    )


# Any: properties of every type.
@pytest.mark.spec("MQDMPR-3.1.7.1.32-10", "MQDMPR-3.1.7.1.32-11")
@given(user_message_properties)
def test_what_was_built_is_read_again(properties: dict[str, Any]) -> None:
    message = UserMessage(build_user_message(**properties))
    expected = dict(properties)
    if "transaction_header" in properties:
        expected |= {"priority": 0, "delivery_mode": 1}
    if "security_header" in properties:
        expected["security_header"] = without_receivers_notes(properties["security_header"])
    if expected["destination_queue"].type == 6:
        expected["queue_manager_address"] = expected["destination_queue"].guid
    envelope_and_compound = expected.pop("srmp_headers", None)
    if envelope_and_compound:
        assert message.srmp_envelope_header == envelope_and_compound[0]
        assert message.compound_message_header == envelope_and_compound[1]
        expected["body"] = properties.get("body") or envelope_and_compound[1].message_body
    tracing_queue = expected.pop("tracing_queue", None)
    traced = tracing_queue is not None or properties.get("tracing_requested", False)
    assert message.debug_header == (DebugHeader(tracing_queue) if traced else None)
    for name, value in expected.items():
        assert getattr(message, name) == value, name
    assert message.end == len(message.packet)


# Any: properties of every type.
@pytest.mark.spec("MQDMPR-3.1.7.1.32-02")
@given(user_message_properties)
def test_packet_size_is_the_size_of_the_whole_packet(properties: dict[str, Any]) -> None:
    packet = build_user_message(**properties)
    assert int.from_bytes(packet[8:12], "little") == len(packet)
    assert len(packet) % 4 == 0


@pytest.mark.parametrize(
    ("header", "flag", "absent"),
    [
        pytest.param(
            {"transaction_header": TRANSACTION},
            UserHeaderFlags.TH,
            "transaction_header",
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.30-01"),
        ),
        pytest.param(
            {"multi_queue_format_header": QUEUES},
            UserHeaderFlags.MQ,
            "multi_queue_format_header",
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.30-05"),
        ),
        pytest.param(
            {"security_header": SecurityHeader(1, b"SID")}, UserHeaderFlags.SH, "security_header"
        ),
        pytest.param({"soap_header": SoapHeader("h", "b")}, UserHeaderFlags.HH, "soap_header"),
        pytest.param(
            {"srmp_headers": (SRMPEnvelopeHeader("e"), CompoundMessageHeader(b"d", 1, 0))},
            UserHeaderFlags.AH,
            "srmp_envelope_header",
        ),
        pytest.param({"connector_type": GUID}, UserHeaderFlags.CQ, "connector_type"),
    ],
)
def test_a_header_is_there_exactly_when_its_flag_is_set(
    header: dict[str, object], flag: UserHeaderFlags, absent: str
) -> None:
    message = built(**header)
    assert message.flags & flag
    assert getattr(message, absent) is not None
    plain = built()
    assert not plain.flags & flag
    assert getattr(plain, absent) is None
    assert len(plain.packet) < len(message.packet)


@pytest.mark.spec("MQDMPR-3.1.7.1.30-03")
def test_message_properties_are_always_there() -> None:
    assert built().flags & UserHeaderFlags.MP


@pytest.mark.parametrize(
    ("requested", "queue", "flags", "header"),
    [
        (False, None, 0, None),
        pytest.param(
            True,
            None,
            BaseHeaderFlags.TR | BaseHeaderFlags.DH,
            DebugHeader(),
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.32-03"),
        ),
        pytest.param(
            True,
            GUID,
            BaseHeaderFlags.TR | BaseHeaderFlags.DH,
            DebugHeader(GUID),
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.32-03"),
        ),
        pytest.param(
            False,
            GUID,
            BaseHeaderFlags.DH,
            DebugHeader(GUID),
            marks=pytest.mark.spec("MQDMPR-3.1.7.1.30-04"),
        ),
    ],
)
def test_tracing(
    *, requested: bool, queue: UUID | None, flags: int, header: DebugHeader | None
) -> None:
    message = built(tracing_requested=requested, tracing_queue=queue, priority=0)
    assert message.base_flags == flags
    assert message.debug_header == header


@pytest.mark.spec("MQDMPR-3.1.7.1.32-03")
def test_time_to_reach_queue_is_written_as_it_is() -> None:
    assert built(time_to_reach_queue=0x12345678).time_to_reach_queue == 0x12345678


@pytest.mark.spec("MQDMPR-3.1.7.1.32-01")
def test_a_transactional_message_has_priority_0_and_is_recoverable() -> None:
    assert built(priority=7).base_flags & 7 == 7
    transactional = built(transaction_header=TRANSACTION, priority=7, delivery_mode=0)
    assert transactional.base_flags & 7 == 0
    assert transactional.delivery_mode == 1


@pytest.mark.spec("MQDMPR-3.1.7.1.32-04")
def test_lengths_are_those_of_label_body_and_extension() -> None:
    message = built(label="four", body=b"seven!!", extension=b"three")
    at = message.properties_offset
    assert message.packet[at + 1] == len("four\0")
    assert (message.message_size, message.allocation_body_size) == (7, 7)
    assert int.from_bytes(message.packet[at + 52 : at + 56], "little") == 5


@pytest.mark.spec("MQDMPR-3.1.7.1.32-05")
def test_au_and_as_are_zero_in_what_is_sent() -> None:
    assert built(security_header=SecurityHeader(0xFFFF, b"SID")).security_flags == 0xF0EF


@pytest.mark.parametrize(
    ("properties", "encoded", "destination"),
    [
        ({"destination_queue": private_address(OTHER, 9)}, (3, 0, 0), OTHER),
        ({"destination_queue": QueueAddress(3, None, 9)}, (3, 0, 0), GUID_NULL),
        ({"admin_queue": private_address(GUID, 9)}, (7, 2, 0), GUID_NULL),
        ({"admin_queue": DIRECT, "response_queue": DIRECT}, (7, 7, 1), GUID_NULL),
        ({"response_queue": public_address(GUID)}, (7, 0, 5), GUID_NULL),
        (
            {
                "destination_queue": public_address(GUID),
                "queue_manager_address": OTHER,
                "admin_queue": private_address(OTHER, 9),
            },
            (5, 3, 0),
            OTHER,
        ),
    ],
)
def test_addresses_are_encoded_as_short_as_they_can_be(
    properties: dict[str, object], encoded: tuple[int, int, int], destination: UUID
) -> None:
    message = built(source_queue_manager=GUID, **properties)
    flags = message.flags
    assert (flags >> 10 & 7, flags >> 13 & 7, flags >> 16 & 7) == encoded
    assert message.queue_manager_address == destination


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"priority": 8}, r"priority 8 is not in 0\.\.7"),
        ({"priority": -1}, r"priority -1 is not in 0\.\.7"),
        ({"routing_count": 32}, r"routing_count 32 is not in 0\.\.31"),
        ({"delivery_mode": 2}, r"delivery_mode 2 is not in 0\.\.1"),
        ({"acknowledgments": 16}, r"acknowledgments 16 is not in 0\.\.15"),
        ({"correlation_id": bytes(19)}, "20 bytes"),
        ({"message_class": 0x10000}, "does not fit its field"),
        ({"time_to_reach_queue": -1}, r"time_to_reach_queue -1 is not in 0\.\.4294967295"),
        ({"message_size": -1}, "does not fit its field"),
        ({"sent_time": 1 << 32}, "does not fit its field"),
        ({"destination_queue": QueueAddress(3, None, 1 << 32)}, "does not fit its field"),
        ({"label": "x" * 250}, "249"),
        ({"destination_queue": NO_QUEUE}, "cannot be sent"),
        ({"destination_queue": NO_QUEUE, "admin_queue": DIRECT}, "cannot be sent"),
        ({"destination_queue": QueueAddress(2, None, 1)}, "cannot be sent"),
        ({"admin_queue": QueueAddress(4, None, 1)}, "cannot be sent"),
        ({"destination_queue": QueueAddress(6, None, 1)}, "needs a GUID"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(properties: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        built(**properties)


@pytest.mark.spec("MQQB-1.6-01")
def test_no_packet_is_larger_than_four_mib() -> None:
    template = UserMessageTemplate(destination_queue=DIRECT)
    room = MAX_PACKET_SIZE - len(template.build(b""))
    assert len(template.build(bytes(room))) == MAX_PACKET_SIZE
    with pytest.raises(ValueError, match="a packet of 4194308 bytes is larger than 4194304"):
        template.build(bytes(room + 1))


# Any: properties of every type.
@given(user_message_properties, bodies, labels, correlation_ids)
def test_a_template_builds_what_a_single_build_does(
    properties: dict[str, Any], body: bytes, label: str, correlation_id: bytes
) -> None:
    constant = {name: value for name, value in properties.items() if name not in {"body", "label"}}
    template = UserMessageTemplate(**constant)
    for _ in range(2):
        assert template.build(body, label) == build_user_message(**constant, body=body, label=label)
    changed = constant | {"correlation_id": correlation_id}
    assert template.build(body, label, correlation_id=correlation_id) == build_user_message(
        **changed, body=body, label=label
    )


def test_a_template_refuses_a_correlation_id_of_another_size() -> None:
    with pytest.raises(ValueError, match="20 bytes"):
        UserMessageTemplate(destination_queue=DIRECT).build(b"", correlation_id=bytes(21))


def test_the_size_of_the_clear_body_can_be_given_with_the_cipher_text() -> None:
    message = built(
        body=b"ciphered", message_size=5, security_header=SecurityHeader(0x20, encryption_key=b"k")
    )
    assert (message.message_size, message.allocation_body_size) == (5, 8)
    assert message.body == b"ciphered"
