"""UserMessages as trees."""

from uuid import UUID

import pytest

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.dissect import Node, dissect, summarize
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_message_builder import UserMessageOptions, build_user_message
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID

HERE, THERE, THIRD = UUID(int=1), UUID(int=2), UUID(int=3)
GUID_1 = "00000000-0000-0000-0000-000000000001"


def build(**options: object) -> bytes:
    known: UserMessageOptions = options  # type: ignore[assignment] # the tests name the options
    return build_user_message(
        destination_queue=direct_address("OS:host\\private$\\q"),
        body=b"body",
        **({"source_queue_manager": HERE, "queue_manager_address": THERE} | known),
    )


def find(data: bytes, *path: str) -> Node:
    node = dissect(data).find(*path)
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("admin", "response", "admin_name", "response_name"),
    [
        (private_address(HERE, 5), private_address(HERE, 6), r"PRIVATE=%1\5", r"PRIVATE=%1\6"),
        (private_address(THERE, 5), public_address(THIRD), r"PRIVATE=%2\5", "PUBLIC=%3"),
        (private_address(THIRD, 5), private_address(THIRD, 7), r"PRIVATE=%3\5", r"PRIVATE=%3\7"),
        (public_address(THIRD), public_address(THIRD), "PUBLIC=%3", "PUBLIC=%3"),
        (direct_address("TCP:192.0.2.1\\q"), None, "DIRECT=TCP:192.0.2.1\\q", None),
    ],
)
def test_addresses_of_every_encoding_are_format_names(
    admin: object, response: object, admin_name: str, response_name: str | None
) -> None:
    data = build(admin_queue=admin, **({"response_queue": response} if response else {}))
    shown = [find(data, "UserHeader", name).value for name in ("AdminQueue", "ResponseQueue")]
    for number in "123":
        guid = GUID_1[:-1] + number
        admin_name = admin_name.replace(f"%{number}", guid)
        response_name = response_name and response_name.replace(f"%{number}", guid)
    assert shown == [admin_name, response_name]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nonsense", "no OS:, TCP:, IPX:, SPX:, HTTP:// or HTTPS:// after DIRECT="),
        ("\uffff\uffff\uffff:127.0.0.3\\private$\\q", "no OS:, TCP:, IPX:, SPX:, HTTP:// or"),
        ("OS:ho\uffff\uffff\uffff\\private$\\q", "it holds U+FFFF"),
        ("OS:host\\private$\\" + "q" * 600 + "\ufffd", "a queue name has at most 124 characters"),
        ("OS:host\\private$\\q\ufffd", "it holds U+FFFD"),
    ],
)
def test_an_address_that_is_no_format_name_is_a_fault_and_the_rest_is_shown(
    name: str, reason: str
) -> None:
    data = build(admin_queue=direct_address(name))
    node = find(data, "UserHeader", "AdminQueue")
    assert node.value == f"DIRECT={name}"
    assert node.fault is not None
    assert (node.fault.field, node.fault.offset) == ("UserHeader.AdminQueue", node.offset)
    assert node.fault.reason.startswith(f"not a valid name: {reason}")
    assert find(data, "MessagePropertiesHeader", "MessageBody").value == "body"


def text(**options: object) -> str:
    return summarize(build(**options)).text


def test_the_line_of_a_transactional_message_has_its_place_in_the_sequence() -> None:
    header = TransactionHeader(0, TxSequenceID(1_700_000_000, 9), 2, 1)
    data = build(transaction_header=header)
    assert ", transactional 2 (after 1), id " in summarize(data).text
    # Of a malformed one, as far as it is known.
    damaged = data[:-1]
    assert ", transactional 2 (after 1), id " in dissect(damaged).meaning


def test_the_line_of_an_acknowledgment_names_the_message_that_it_is_for() -> None:
    about = MessageIdentifier(THIRD, 7182)
    correlation = about.serialize()
    assert f", acknowledges {about}, id " in text(
        message_class=MessageClass.ACK_REACH_QUEUE, correlation_id=correlation
    )
    assert f", reports the failure of {about}, id " in text(
        message_class=MessageClass.NACK_BAD_DST_Q, correlation_id=correlation
    )
    # The number of an application, or none.
    assert "7182" not in text(correlation_id=correlation)
    assert "acknowledges" not in text(message_class=MessageClass.ACK_RECEIVE)


def test_one_byte_is_one_byte() -> None:
    data = build_user_message(destination_queue=direct_address("OS:h\\q"), body=b"x")
    assert ", 1 byte VT_EMPTY, " in summarize(data).text


def test_an_address_that_does_not_fit_is_named_and_those_before_it_are_shown() -> None:
    data = build(admin_queue=direct_address("OS:host\\admin"))
    node = find(data, "UserHeader", "AdminQueue")
    damaged = data[: node.offset] + b"\xff\x0f" + data[node.offset + 2 :]
    root = dissect(damaged)
    destination = root.find("UserHeader", "DestinationQueue")
    assert destination is not None
    assert destination.value == "DIRECT=OS:host\\private$\\q"
    fault = root.first_fault()
    assert fault is not None
    assert fault.field == "UserHeader.AdminQueue.Count"
    assert fault.offset == node.offset


def test_an_address_without_its_bytes_is_named() -> None:
    data = build(response_queue=public_address(THIRD))
    node = find(data, "UserHeader", "ResponseQueue")
    fault = dissect(data[: node.offset + 3]).first_fault()
    assert fault is not None
    assert (fault.field, fault.reason) == (
        "UserHeader.ResponseQueue",
        "needs 16 bytes, 3 remain",
    )


@pytest.mark.parametrize(("flag", "value"), [("DQ", 4), ("AQ", 1)])
def test_an_undefined_address_type_is_named(flag: str, value: int) -> None:
    data = bytearray(build())
    shift = {"DQ": 10, "AQ": 13}[flag]
    flags = int.from_bytes(data[60:64], "little") & ~(7 << shift) | value << shift
    data[60:64] = flags.to_bytes(4, "little")
    node = find(bytes(data), "UserHeader", "Flags", flag)
    assert node.value == value
    assert node.fault is not None
    assert node.fault.reason == f"{value} is not defined"


def test_a_connector_type_is_shown() -> None:
    node = find(build(connector_type=THIRD), "UserHeader", "ConnectorType")
    assert (node.size, node.value) == (16, "{00000000-0000-0000-0000-000000000003}")


def test_a_transaction_with_a_connector() -> None:
    flags = TransactionHeaderFlags.FM | 5 << 4
    header = TransactionHeader(flags, TxSequenceID(1_700_000_000, 9), 2, 1, THIRD)
    data = build(transaction_header=header)
    shown = {node.name: node.value for node in find(data, "TransactionHeader").children}
    assert shown == {
        "Flags": flags | 1,
        "TxSequenceID.Ordinal": 9,
        "TxSequenceID.TimeStamp": 1_700_000_000,
        "TxSequenceNumber": 2,
        "PreviousTxSequenceNumber": 1,
        "ConnectorQMGuid": "{00000000-0000-0000-0000-000000000003}",
    }
    bits = {node.name: node.value for node in find(data, "TransactionHeader", "Flags").children}
    assert bits == {"CG": 1, "FA": 0, "FM": 1, "LM": 0, "ID": 5}


def test_without_message_properties_the_flag_is_the_fault() -> None:
    data = bytearray(build())
    data[62] &= ~0x20
    root = dissect(bytes(data))
    flag = root.find("UserHeader", "Flags", "MP")
    assert flag is not None
    assert flag.fault is not None
    assert flag.fault.reason == "is clear"
    assert root.meaning == f"to DIRECT=OS:host\\private$\\q, express, id {{{GUID_1}}}\\0"


def test_a_packet_size_that_is_not_the_size_is_noticed() -> None:
    data = build()
    node = find(data[:8] + b"\xf0" + data[9:], "BaseHeader", "PacketSize")
    assert node.fault is not None
    assert node.fault.reason == f"240, but the packet has {len(data)} bytes"


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (MessageClass.NORMAL, "MQMSG_CLASS_NORMAL: a message of an application"),
        (0x2194, "0x2194: HTTP status 404"),
        (0x0123, "0x0123"),
    ],
)
def test_message_classes_have_names_and_meanings(value: int, meaning: str) -> None:
    node = find(build(message_class=value), "MessagePropertiesHeader", "MessageClass")
    assert node.meaning == meaning


def test_padding_before_the_next_header_is_shown() -> None:
    data = build(extension=b"x", tracing_queue=THIRD)
    padding = find(data, "MessagePropertiesHeader", "Padding")
    assert (padding.offset + padding.size, padding.size) == (
        find(data, "DebugHeader").offset,
        3,
    )
