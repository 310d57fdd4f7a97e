"""The headers behind the body as trees."""

from typing import Any
from uuid import UUID

import pytest

from openmsmq.wire.dissect import Node, dissect
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.session_header import SessionHeader
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import ExtendedAddressHeader, HostAddressType
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader

QUEUE = UUID(int=9)
GUID = "00000000-0000-0000-0000-000000000009"
HTTP = b"POST /msmq/q HTTP/1.1\r\n\r\n{}"
ENVELOPE = SRMPEnvelopeHeader("<se:Envelope/>")
SEVERAL = MultiQueueFormatHeader(
    destination=(
        MQFFormatNameElement(MQFFormatType.PRIVATE, QUEUE, 10),
        MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name="OS:host\\q"),
        MQFFormatNameElement(MQFFormatType.PUBLIC, QUEUE),
    ),
    signature=b"signed",
)


# Any: the options of a message are of many types.
def build(**options: Any) -> bytes:
    return build_user_message(
        destination_queue=direct_address("OS:host\\q"), body=b"body", **options
    )


def find(data: bytes, *path: str) -> Node:
    node = dissect(data).find(*path)
    assert node is not None
    return node


def values(node: Node) -> dict[str, object]:
    return {child.name: child.value for child in node.children if child.name != "Reserved"}


def damaged(data: bytes, offset: int, raw: bytes) -> bytes:
    return data[:offset] + raw + data[offset + len(raw) :]


def fault_of(data: bytes) -> str:
    fault = dissect(data).first_fault()
    assert fault is not None
    return fault.field


def test_debug_headers_with_and_without_a_queue() -> None:
    node = find(build(tracing_requested=True, tracing_queue=QUEUE), "DebugHeader")
    assert values(node) == {"Flags": 1, "QueueIdentifier": f"{{{GUID}}}"}
    node = find(build(tracing_requested=True), "DebugHeader")
    assert values(node) == {"Flags": 0}


def test_srmp_headers() -> None:
    data = build(srmp_headers=(ENVELOPE, CompoundMessageHeader(HTTP, 2, len(HTTP) - 2)))
    envelope = find(data, "SRMPEnvelopeHeader")
    assert values(envelope)["Data"] == "<se:Envelope/>"
    compound = find(data, "CompoundMessageHeader", "Data")
    assert compound.value == HTTP.decode()
    body = find(data, "CompoundMessageHeader", "Data", "MessageBody")
    assert (body.value, body.meaning) == ("{}", "json, utf-8")
    assert data[body.offset : body.offset + body.size] == b"{}"


def test_an_http_message_without_a_body() -> None:
    data = build(srmp_headers=(ENVELOPE, CompoundMessageHeader(HTTP, 0, 0)))
    assert find(data, "CompoundMessageHeader", "Data").children == []


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (("SRMPEnvelopeHeader", "DataLength"), "SRMPEnvelopeHeader.Data"),
        (("CompoundMessageHeader", "HTTPBodySize"), "CompoundMessageHeader.Data"),
        (("CompoundMessageHeader", "MsgBodyOffset"), "CompoundMessageHeader.MsgBodyOffset"),
    ],
)
def test_lengths_beyond_the_packet_are_faults(path: tuple[str, ...], field: str) -> None:
    data = build(srmp_headers=(ENVELOPE, CompoundMessageHeader(HTTP, 2, 4)))
    at = find(data, *path).offset
    assert fault_of(damaged(data, at, b"\xff\xff\xff\xff")) == field


def test_soap_header() -> None:
    node = find(build(soap_header=SoapHeader("<head/>", "<body/>")), "SoapHeader")
    assert values(node) == {
        "HeaderSectionID": 0x0320,
        "HeaderDataLength": 8,
        "Header": "<head/>",
        "BodySectionID": 0x0384,
        "BodyDataLength": 8,
        "Body": "<body/>",
    }


def test_the_header_of_soap_is_shown_before_a_fault_in_its_body() -> None:
    data = build(soap_header=SoapHeader("<head/>", "<body/>"))
    at = find(data, "SoapHeader", "BodyDataLength").offset
    broken = damaged(data, at, b"\xff\xff")
    assert find(broken, "SoapHeader", "Header").value == "<head/>"
    assert fault_of(broken) == "SoapHeader.Body"


def test_queues_of_a_multiple_element_send() -> None:
    data = build(multi_queue_format_header=SEVERAL)
    header = find(data, "MultiQueueFormatHeader")
    assert [child.name for child in header.children] == [
        "Destination",
        "Administration",
        "Response",
        "Signature",
    ]
    elements = header.children[0].children[4:]
    assert [(node.name, node.value, node.meaning) for node in elements if node.value] == [
        ("Element", f"PRIVATE={GUID}\\A", "private"),
        ("Element", "DIRECT=OS:host\\q", "direct"),
        ("Element", f"PUBLIC={GUID}", "public"),
    ]
    assert values(header.children[3])["Signature"] == b"signed"


def test_a_signature_part_may_be_empty() -> None:
    data = build(multi_queue_format_header=MultiQueueFormatHeader(SEVERAL.destination))
    assert [node.name for node in find(data, "MultiQueueFormatHeader", "Signature").children] == [
        "ID",
        "Reserved",
        "Size",
    ]


def test_elements_before_a_damaged_one_are_shown() -> None:
    data = build(multi_queue_format_header=SEVERAL)
    third = find(data, "MultiQueueFormatHeader", "Destination").children[6]
    assert third.value == f"PUBLIC={GUID}"
    root = dissect(damaged(data, third.offset, b"\x09"))
    part = root.find("MultiQueueFormatHeader", "Destination")
    assert part is not None
    assert [node.value for node in part.children if node.name == "Element"] == [
        f"PRIVATE={GUID}\\A",
        "DIRECT=OS:host\\q",
    ]
    fault = root.first_fault()
    assert fault is not None
    assert (fault.field, fault.offset) == (
        "MultiQueueFormatHeader.Destination.FormatType",
        third.offset,
    )


@pytest.mark.parametrize(
    ("field", "raw"), [("HeaderID", b"\x65"), ("ElementCount", b"\xff\xff\xff\xff")]
)
def test_a_fault_before_the_elements_is_at_its_field(field: str, raw: bytes) -> None:
    data = build(multi_queue_format_header=SEVERAL)
    at = find(data, "MultiQueueFormatHeader", "Destination", field).offset
    node = find(damaged(data, at, raw), "MultiQueueFormatHeader", "Destination", field)
    assert node.fault is not None


def remote(
    *,
    address: ExtendedAddressHeader | None = None,
    dead_letter: DeadLetterHeader | None = None,
) -> RemoteReadMessage:
    return RemoteReadMessage.build(
        UserMessage(build()),
        subqueue_header=SubqueueHeader(0x8001, 3, 2, 1_700_000_000, "retry"),
        extended_address_header=address or ExtendedAddressHeader(),
        dead_letter_header=dead_letter,
        source=QUEUE,
    )


def test_headers_of_a_remote_read() -> None:
    address = ExtendedAddressHeader(HostAddressType.IP, bytes((192, 0, 2, 7)))
    data = remote(address=address, dead_letter=DeadLetterHeader(".\\lost")).serialize()
    root = dissect(data)
    assert root.first_fault() is None
    assert [node.name for node in root.children[-4:]] == [
        "ExtensionHeader",
        "SubqueueHeader",
        "DeadLetterHeader",
        "ExtendedAddressHeader",
    ]
    subqueue = values(find(data, "SubqueueHeader"))
    assert (subqueue["SubqueueName"], subqueue["TargetSubqueueName"]) == ("retry", "")
    group = find(data, "SubqueueHeader", "Flags", "AcknowledgementClass")
    assert group.value == 0x8001
    assert group.meaning.startswith("MQMSG_CLASS_NACK_DELETED")
    assert values(find(data, "DeadLetterHeader"))["DeadLetterPathName"] == ".\\lost"
    assert find(data, "ExtendedAddressHeader", "Address").meaning == "192.0.2.7"


@pytest.mark.parametrize(
    ("address", "meaning"),
    [
        (ExtendedAddressHeader(HostAddressType.IPV6, bytes(15) + b"\1"), "::1"),
        (ExtendedAddressHeader(), ""),
    ],
)
def test_other_addresses_of_a_remote_read(address: ExtendedAddressHeader, meaning: str) -> None:
    data = remote(address=address).serialize()
    assert dissect(data).find("DeadLetterHeader") is None
    assert find(data, "ExtendedAddressHeader", "Address").meaning == meaning


@pytest.mark.parametrize("flags", [0x00, 0x02, 0x10])
def test_only_the_headers_that_the_extension_header_announces_are_read(flags: int) -> None:
    data = remote().serialize()
    flags_at = find(data, "ExtensionHeader", "Flags").offset
    start = find(data, "ExtensionHeader").offset + 12
    sizes = {0x00: 0, 0x02: 148, 0x10: 28}
    rest = {0x00: b"", 0x02: data[start : start + 148], 0x10: data[start + 148 :]}[flags]
    cut = damaged(data[:start], flags_at, bytes((flags,))) + rest
    cut = damaged(cut, flags_at - 4, sizes[flags].to_bytes(4, "little"))
    root = dissect(damaged(cut, 8, len(cut).to_bytes(4, "little")))
    assert root.first_fault() is None
    names = {node.name for node in root.children}
    assert ("SubqueueHeader" in names) == (flags == 0x02)
    assert ("ExtendedAddressHeader" in names) == (flags == 0x10)


@pytest.mark.parametrize("extended", [True, False])
def test_in_a_remote_read_the_session_header_is_inside_the_packet(*, extended: bool) -> None:
    header = SessionHeader(7, 0, 0, 8, 0)
    message = remote()
    if not extended:
        message = RemoteReadMessage(message.packet)
    data = RemoteReadMessage(
        message.packet,
        message.extension_header,
        message.subqueue_header,
        None,
        message.extended_address_header,
        header,
    ).serialize()
    root = dissect(data)
    assert root.first_fault() is None
    assert find(data, "SessionHeader", "AckSequenceNumber").value == 7
    assert (root.find("ExtensionHeader") is not None) is extended


@pytest.mark.parametrize("rest", [b"\x01\x02\x03\x04", bytes(20)])
def test_bytes_of_no_meaning_are_shown_as_such(rest: bytes) -> None:
    data = build() + rest
    data = damaged(data, 8, len(data).to_bytes(4, "little"))
    root = dissect(data)
    assert root.first_fault() is None
    assert root.children[-1].name == "Surplus"
    assert root.children[-1].value == rest


@pytest.mark.parametrize(
    ("path", "raw", "field"),
    [
        (("SubqueueHeader", "HeaderSize"), b"\x95", "SubqueueHeader.HeaderSize"),
        (
            ("ExtensionHeader", "RemainingHeadersSize"),
            b"\xff\xff",
            "ExtensionHeader.RemainingHeadersSize",
        ),
        (("ExtendedAddressHeader", "AddressType"), b"\x09", "ExtendedAddressHeader.AddressType"),
    ],
)
def test_faults_in_the_headers_of_a_remote_read(
    path: tuple[str, ...], raw: bytes, field: str
) -> None:
    data = remote().serialize()
    assert fault_of(damaged(data, find(data, *path).offset, raw)) == field
