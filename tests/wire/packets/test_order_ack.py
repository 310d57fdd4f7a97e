"""[MS-MQQB] 2.2.4, 2.2.5, 3.1.5.1.1."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.message_properties_header import MessagePropertiesHeader
from openmsmq.wire.message.user_header import UserHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.base_header import BaseHeader
from openmsmq.wire.packets.order_ack import (
    FINAL_ACK_CLASSES,
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    direct_order_queue,
    is_order_queue,
    order_queue,
    recognize_ack,
)
from openmsmq.wire.scalars import TxSequenceID

SENDER = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
RECEIVER = UUID("3c3a6aeb-f567-4143-87d3-85cf4d68ceb4")
SEQUENCE = TxSequenceID(time_stamp=0x44332211, ordinal=0x88776655)
ORDER_ACK = OrderAck(SEQUENCE, 8)
FINAL_ACK = FinalAck(SEQUENCE, 8, 5, SENDER, 77)
ORDER_ACK_RAW = bytes.fromhex("55667788 11223344 08000000 07000000") + bytes(20)
FINAL_ACK_RAW = bytes.fromhex(
    "55667788 11223344 08000000 05000000 0523741f5ebe7741bc77c4dd7719e474 4d000000"
)

u32 = st.integers(0, 0xFFFFFFFF)
numbers = st.integers(1, 0xFFFFFFFF)
sequences = st.builds(TxSequenceID, u32, u32)


def order_ack_packet(destination: QueueAddress) -> bytes:
    return build_order_ack(
        ORDER_ACK, destination, source_queue_manager=RECEIVER, message_id=3, sent_time=9
    )


def final_ack_packet(
    destination: QueueAddress, message_class: MessageClass = MessageClass.ACK_RECEIVE
) -> bytes:
    return build_final_ack(
        FINAL_ACK,
        message_class,
        destination,
        source_queue_manager=RECEIVER,
        message_id=3,
        sent_time=9,
    )


@pytest.mark.spec("MQQB-2.2.4.1-01", "MQQB-2.2.4.1-04", "MQQB-2.2.4.1-05")
def test_order_ack_body_layout() -> None:
    assert ORDER_ACK.serialize() == ORDER_ACK_RAW
    assert OrderAck.parse(ORDER_ACK_RAW) == (ORDER_ACK, 36)


@pytest.mark.spec("MQQB-2.2.4.1-06", "MQQB-6-09")
def test_the_reserved_bytes_of_an_order_ack_are_ignored() -> None:
    assert OrderAck.parse(ORDER_ACK_RAW[:16] + b"\xcd" * 20) == (ORDER_ACK, 36)


@pytest.mark.spec("MQQB-2.2.5.1-01")
def test_final_ack_body_layout() -> None:
    assert FINAL_ACK.serialize() == FINAL_ACK_RAW
    assert FinalAck.parse(FINAL_ACK_RAW) == (FINAL_ACK, 36)


@given(st.builds(OrderAck, sequences, numbers))
def test_order_ack_parse_reverses_serialize(ack: OrderAck) -> None:
    assert OrderAck.parse(memoryview(b"?" + ack.serialize()), 1) == (ack, 37)


@pytest.mark.spec("MQQB-2.2.5.1-03")
def test_the_previous_number_of_a_final_ack() -> None:
    ack = FinalAck(SEQUENCE, 8, 0, SENDER, 77)
    assert FinalAck.parse(ack.serialize())[0].tx_previous_sequence_number == 0
    damaged = FINAL_ACK_RAW[:12] + b"\xfe\xff\xff\xff" + FINAL_ACK_RAW[16:]
    assert FinalAck.parse(damaged)[0].tx_previous_sequence_number == 0xFFFFFFFE
    with pytest.raises(MalformedPacket) as caught:
        FinalAck.parse(FINAL_ACK_RAW[:12] + b"\xff\xff\xff\xff" + FINAL_ACK_RAW[16:])
    assert caught.value.field == "FinalAck.TxPreviousSequenceNumber"
    assert caught.value.offset == 12


@given(st.builds(FinalAck, sequences, numbers, st.integers(0, 0xFFFFFFFE), st.uuids(), u32))
def test_final_ack_parse_reverses_serialize(ack: FinalAck) -> None:
    assert FinalAck.parse(memoryview(b"?" + ack.serialize()), 1) == (ack, 37)


@pytest.mark.parametrize(
    ("parser", "field"),
    [
        pytest.param(OrderAck, "OrderAck", marks=pytest.mark.spec("MQQB-2.2.4.1-03")),
        pytest.param(FinalAck, "FinalAck", marks=pytest.mark.spec("MQQB-2.2.5.1-02")),
    ],
)
def test_sequence_numbers_start_at_1(parser: type[OrderAck | FinalAck], field: str) -> None:
    with pytest.raises(MalformedPacket) as caught:
        parser.parse(bytes(36))
    assert (caught.value.field, caught.value.offset) == (f"{field}.TxSequenceNumber", 8)


@pytest.mark.parametrize("size", range(36))
def test_a_short_body_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        OrderAck.parse(ORDER_ACK_RAW[:size])
    with pytest.raises(MalformedPacket):
        FinalAck.parse(FINAL_ACK_RAW[:size])


@pytest.mark.spec("MQQB-2.2.4-01", "MQQB-2.2.4-02", "MQQB-2.2.4-03")
def test_headers_of_an_order_ack_by_number() -> None:
    packet = order_ack_packet(order_queue(SENDER))
    assert packet[2:4] == b"\0\0"
    assert int.from_bytes(packet[60:64], "little") == 0x00200000 | 3 << 10
    assert packet[32:48] == SENDER.bytes_le
    assert packet[64:68] == b"\4\0\0\0"
    assert UserMessage(packet).properties_offset == 68
    assert UserMessage(packet).end == len(packet)


@pytest.mark.spec("MQQB-2.2.4-02", "MQQB-2.2.4-04")
def test_headers_of_an_order_ack_by_address() -> None:
    packet = order_ack_packet(direct_order_queue("127.0.0.2"))
    assert int.from_bytes(packet[60:64], "little") == 0x00200000 | 7 << 10
    assert packet[66:].startswith("TCP:127.0.0.2\\PRIVATE$\\order_queue$\0".encode("utf-16-le"))


@pytest.mark.spec("MQQB-2.2.4-05", "MQQB-2.2.4-06", "MQQB-2.2.4-07")
def test_properties_of_an_order_ack() -> None:
    message = UserMessage(order_ack_packet(order_queue(SENDER)))
    assert message.label == "QM Ordering Ack"
    assert message.message_size == 0x24
    assert message.acknowledgments == 0
    assert message.body_type == 0
    assert message.message_class == 0x00FF
    assert message.body == ORDER_ACK_RAW
    assert (message.source_queue_manager, message.message_id, message.sent_time) == (RECEIVER, 3, 9)


@pytest.mark.spec("MQQB-2.2.5-02", "MQQB-2.2.5-03", "MQQB-2.2.5-04")
@pytest.mark.parametrize(
    ("destination", "dq", "address"),
    [
        (order_queue(SENDER), 3, b"\4\0\0\0"),
        (
            direct_order_queue("fe80::1"),
            7,
            b"\x44\0" + "TCP:fe80::1\\PRIVATE$\\order_queue$\0".encode("utf-16-le"),
        ),
    ],
)
def test_headers_of_a_final_ack(destination: QueueAddress, dq: int, address: bytes) -> None:
    packet = final_ack_packet(destination)
    assert packet[2:4] == b"\0\0"
    assert int.from_bytes(packet[60:64], "little") == 0x00200000 | 1 << 5 | dq << 10
    assert packet[64:].startswith(address)
    assert UserMessage(packet).end == len(packet)


@pytest.mark.spec("MQQB-2.2.5-05", "MQQB-2.2.5-06")
def test_properties_of_a_final_ack() -> None:
    message = UserMessage(final_ack_packet(order_queue(SENDER)))
    assert message.label == "QM Ordering Ack"
    assert message.message_size == 0x24
    assert message.acknowledgments == 0
    assert message.body_type == 0
    assert message.message_class == 0x4000
    assert message.body == FINAL_ACK_RAW
    assert (message.source_queue_manager, message.message_id, message.sent_time) == (RECEIVER, 3, 9)


@pytest.mark.spec("MQQB-2.2.5-07", "MQQB-3.1.7.17-06")
def test_classes_of_negative_final_acks() -> None:
    assert set(FINAL_ACK_CLASSES) - {0x4000} == {
        0x8009,
        0x8000,
        0x8004,
        0x8007,
        0x800B,
        0x8006,
        0x8003,
        0xC000,
        0xC001,
        0xC002,
    } | {0x8001, 0x8002, 0x8005, 0x800A, 0xC004}
    for message_class in FINAL_ACK_CLASSES:
        message = UserMessage(final_ack_packet(order_queue(SENDER), message_class))
        assert message.message_class == message_class
    with pytest.raises(ValueError, match="a FinalAck cannot be of class"):
        final_ack_packet(order_queue(SENDER), MessageClass.ORDER_ACK)


def test_a_session_header_behind_it_does_not_hide_an_ack() -> None:
    packet = order_ack_packet(order_queue(SENDER))
    assert recognize_ack(UserMessage(packet[:2] + b"\x10" + packet[3:])) == ORDER_ACK


@pytest.mark.parametrize(
    ("packet", "ack"),
    [
        pytest.param(
            order_ack_packet(order_queue(SENDER)),
            ORDER_ACK,
            marks=pytest.mark.spec("MQQB-3.1.5.1.1-02"),
        ),
        pytest.param(
            order_ack_packet(direct_order_queue("10.0.0.1")),
            ORDER_ACK,
            marks=pytest.mark.spec("MQQB-3.1.5.1.1-02"),
        ),
        pytest.param(
            final_ack_packet(order_queue(SENDER), MessageClass.NACK_Q_PURGED),
            FINAL_ACK,
            marks=pytest.mark.spec("MQQB-3.1.5.1.1-03"),
        ),
        pytest.param(
            final_ack_packet(direct_address("os:HOST\\private$\\ORDER_QUEUE$")),
            FINAL_ACK,
            marks=pytest.mark.spec("MQQB-3.1.5.1.1-03"),
        ),
    ],
)
def test_acknowledgments_are_recognized(packet: bytes, ack: OrderAck | FinalAck) -> None:
    assert recognize_ack(UserMessage(packet)) == ack


@pytest.mark.spec("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1.1-03")
@pytest.mark.parametrize(
    ("priority", "destination", "label", "message_class", "body"),
    [
        (1, order_queue(SENDER), "QM Ordering Ack", 0x00FF, ORDER_ACK_RAW),
        (1, order_queue(SENDER), "QM Ordering Ack", 0x4000, FINAL_ACK_RAW),
        (0, private_address(SENDER, 5), "QM Ordering Ack", 0x00FF, ORDER_ACK_RAW),
        (0, public_address(SENDER), "QM Ordering Ack", 0x4000, FINAL_ACK_RAW),
        (0, direct_address("OS:h\\private$\\q"), "QM Ordering Ack", 0x00FF, ORDER_ACK_RAW),
        (0, order_queue(SENDER), "QM Ordering ack", 0x00FF, ORDER_ACK_RAW),
        (0, order_queue(SENDER), "", 0x4000, FINAL_ACK_RAW),
        (0, order_queue(SENDER), "QM Ordering Ack", 0x00FE, ORDER_ACK_RAW),
        (0, order_queue(SENDER), "QM Ordering Ack", 0x3FFF, FINAL_ACK_RAW),
        (0, order_queue(SENDER), "QM Ordering Ack", 0x00FF, ORDER_ACK_RAW + b"\0"),
    ],
)
def test_other_messages_are_no_acknowledgments(
    priority: int, destination: QueueAddress, label: str, message_class: int, body: bytes
) -> None:
    packet = build_user_message(
        destination_queue=destination,
        priority=priority,
        label=label,
        message_class=message_class,
        body=body,
    )
    assert recognize_ack(UserMessage(packet)) is None


@pytest.mark.spec("MQQB-3.1.5.1.1-03")
def test_a_message_without_a_destination_is_no_acknowledgment() -> None:
    headers = (
        UserHeader(0x00200000, RECEIVER, 3, 9, QueueAddress(0)).serialize()
        + MessagePropertiesHeader(
            label="QM Ordering Ack", message_class=0x4000, message_size=36, body=FINAL_ACK_RAW
        ).serialize()
    )
    packet = BaseHeader(0, 16 + len(headers)).serialize() + headers
    assert recognize_ack(UserMessage(packet)) is None


def test_a_final_ack_with_a_short_body_is_malformed() -> None:
    packet = build_user_message(
        destination_queue=order_queue(SENDER),
        priority=0,
        label="QM Ordering Ack",
        message_class=0x8000,
        body=FINAL_ACK_RAW[:35],
    )
    with pytest.raises(MalformedPacket, match="FinalAck"):
        recognize_ack(UserMessage(packet))


def test_a_direct_address_without_a_name_is_no_order_queue() -> None:
    assert not is_order_queue(QueueAddress(7))
