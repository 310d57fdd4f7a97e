"""Message bodies as trees."""

from struct import pack
from typing import Any
from uuid import UUID

import pytest

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.dissect import Node, dissect, summarize
from openmsmq.wire.message.body_type import VT_VECTOR, BodyType
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import (
    ACK_LABEL,
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    order_queue,
)
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

HERE, THERE = UUID(int=1), UUID(int=2)
SEQUENCE = TxSequenceID(1_700_000_000, 5)
# The number 7 of type Int32, as BinaryFormatter writes it.
NRBF = (
    bytes.fromhex("0001000000ffffffff0100000000000000")
    + bytes.fromhex("04010000000c")
    + b"System.Int32"
    + bytes.fromhex("0100000007")
    + b"m_value"
    + bytes.fromhex("0008070000000b")
)


# Any: the options of a message are of many types.
def body_node(body: bytes, body_type: int, **options: Any) -> Node:
    data = build_user_message(
        destination_queue=direct_address("OS:host\\q"), body=body, body_type=body_type, **options
    )
    node = dissect(data).find("MessagePropertiesHeader", "MessageBody")
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("body", "body_type", "value", "meaning"),
    [
        ("wide".encode("utf-16-le"), BodyType.VT_BSTR, "wide", "text, utf-16-le"),
        (b'{"a": 1}', BodyType.VT_EMPTY, '{"a": 1}', "json, utf-8"),
        (pack("<i", -5), BodyType.VT_I4, -5, ""),
        (pack("<d", 0.5), BodyType.VT_R8, 0.5, ""),
        (pack("<d", float("inf")), BodyType.VT_R8, "inf", ""),
        (pack("<q", 12500), BodyType.VT_CY, "1.2500", ""),
        (bytes(range(8)), BodyType.VT_BLOB, bytes(range(8)), ""),
        (
            pack("<3H", 1, 2, 3),
            VT_VECTOR | BodyType.VT_UI2,
            "1, 2, 3",
            "3 items, at most 256 shown",
        ),
        (
            HERE.bytes_le + b"state",
            BodyType.VT_STREAMED_OBJECT,
            HERE.bytes_le + b"state",
            "COM object {00000000-0000-0000-0000-000000000001}",
        ),
        (b"few", BodyType.VT_STREAMED_OBJECT, b"few", "COM object"),
        (b"abc", BodyType.VT_I4, b"abc", "Body at offset 0: VT_I4 has 4 bytes, not 3"),
    ],
)
def test_bodies_are_shown_by_their_type(
    body: bytes, body_type: int, value: object, meaning: str
) -> None:
    node = body_node(body, body_type)
    assert (node.value, node.meaning) == (value, meaning)


def test_a_binary_formatter_body_is_shown_as_data() -> None:
    node = body_node(NRBF, BodyType.BINARY_FORMATTER)
    assert isinstance(node.value, str)
    assert "System.Int32" in node.value
    assert node.meaning == ".NET BinaryFormatter, shown as data"


def test_an_encrypted_body_is_not_read() -> None:
    header = SecurityHeader(SecurityHeaderFlags.EB, encryption_key=b"key")
    node = body_node(b"text or not", BodyType.VT_EMPTY, security_header=header)
    assert (node.value, node.meaning) == (b"text or not", "encrypted")


def order_ack() -> bytes:
    return build_order_ack(
        OrderAck(SEQUENCE, 12),
        order_queue(HERE),
        source_queue_manager=THERE,
        message_id=1,
        sent_time=2,
    )


def values(data: bytes) -> dict[str, object]:
    node = dissect(data).find("MessagePropertiesHeader", "MessageBody")
    assert node is not None
    return {child.name: child.value for child in node.children}


def test_an_order_ack_is_told_by_its_name_and_fields() -> None:
    data = order_ack()
    assert dissect(data).name == "OrderAck"
    assert values(data) == {
        "TxSequenceID": "5/1700000000",
        "TxSequenceNumber": 12,
        "TxPreviousSequenceNumber": 11,
        "Reserved": bytes(20),
    }


def final_ack(message_class: MessageClass = MessageClass.ACK_RECEIVE) -> bytes:
    return build_final_ack(
        FinalAck(SEQUENCE, 12, 11, THERE, 77),
        message_class,
        order_queue(HERE),
        source_queue_manager=THERE,
        message_id=1,
        sent_time=2,
    )


def test_the_lines_of_order_and_final_acks_have_their_numbers() -> None:
    assert ", acknowledges up to 12 of sequence 5/1700000000, id " in summarize(order_ack()).text
    tail = (
        "12 (after 11) of sequence 5/1700000000, "
        "message {00000000-0000-0000-0000-000000000002}\\77, id "
    )
    assert f", acknowledges {tail}" in summarize(final_ack()).text
    rejected = summarize(final_ack(MessageClass.NACK_BAD_DST_Q)).text
    assert f", reports the failure of {tail}" in rejected
    for data in (order_ack(), final_ack()):
        root = dissect(data)
        assert summarize(data) == (root.name, root.meaning, None)


def test_the_line_of_a_malformed_acknowledgment_is_without_its_numbers() -> None:
    data = final_ack()
    body = dissect(data).find("MessagePropertiesHeader", "MessageBody")
    assert body is not None
    at = body.offset + 8
    damaged = data[:at] + bytes(4) + data[at + 4 :]
    assert "acknowledges" not in summarize(damaged).text
    assert "acknowledges" not in dissect(damaged).meaning


def test_a_final_ack_without_a_body_is_a_fault() -> None:
    data = build_user_message(
        destination_queue=order_queue(HERE),
        priority=0,
        label=ACK_LABEL,
        message_class=MessageClass.ACK_RECEIVE,
    )
    for fault in (dissect(data).first_fault(), summarize(data).fault):
        assert fault is not None
        assert (fault.field, fault.reason) == ("FinalAck", "needs 36 bytes, 0 remain")


def test_an_encrypted_body_is_no_acknowledgment() -> None:
    header = SecurityHeader(SecurityHeaderFlags.EB, encryption_key=b"key")
    data = build_user_message(
        destination_queue=order_queue(HERE),
        priority=0,
        label=ACK_LABEL,
        message_class=MessageClass.ACK_RECEIVE,
        body=bytes(36),
        security_header=header,
    )
    root = dissect(data)
    assert summarize(data) == (root.name, root.meaning, None)
    assert root.name == "UserMessage"


def test_a_final_ack_is_told_by_its_name_and_fields() -> None:
    data = final_ack()
    assert dissect(data).name == "FinalAck"
    assert values(data) == {
        "TxSequenceID": "5/1700000000",
        "TxSequenceNumber": 12,
        "TxPreviousSequenceNumber": 11,
        "SourceGUID": "{00000000-0000-0000-0000-000000000002}",
        "MessageID": 77,
    }


def test_a_fault_in_an_acknowledgment_has_its_offset_in_the_packet() -> None:
    data = order_ack()
    body = dissect(data).find("MessagePropertiesHeader", "MessageBody")
    assert body is not None
    at = body.offset + 8
    fault = dissect(data[:at] + bytes(4) + data[at + 4 :]).first_fault()
    assert fault is not None
    assert (fault.field, fault.offset) == ("OrderAck.TxSequenceNumber", at)


def test_a_message_with_the_label_of_an_acknowledgment_is_a_message() -> None:
    data = build_user_message(
        destination_queue=direct_address("OS:host\\q"), label=ACK_LABEL, body=b"hello"
    )
    assert dissect(data).name == "UserMessage"
