"""Packets as trees: the example frames, and every packet that the codecs can make or refuse."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wire.frames import frame, frame_bytes
from tests.wire.strategies import session_headers, user_messages

from openmsmq.wire.dissect import (
    Node,
    dissect,
    dissect_ping,
    is_ping,
    summarize,
    summarize_ping,
)
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import BaseHeader
from openmsmq.wire.packets.order_ack import recognize_ack
from openmsmq.wire.packets.session_header import SessionHeader

PINGS = (1, 2)


def structure_fault(root: Node) -> MalformedPacket | None:
    """The first fault that is not only a name: the strategies make names of any text."""
    faults = (node.fault for node in root.walk() if node.fault is not None)
    return next((fault for fault in faults if not is_name_fault(fault)), None)


def is_name_fault(fault: MalformedPacket) -> bool:
    return fault.reason.startswith("not a valid name: ")


def tree(number: int) -> Node:
    data = frame_bytes(number)
    return dissect_ping(data) if number in PINGS else dissect(data)


# Any: the vectors are free-form JSON.
def expected_values(fields: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """The fields of a vector by their paths in the tree."""
    found: dict[tuple[str, ...], Any] = {}
    for name, value in fields.items():
        path = tuple(name.split("."))
        if not isinstance(value, dict):
            found[path] = value
        elif "DirectFormatName" in value:
            found[path] = f"DIRECT={value['DirectFormatName']}"
        else:
            found |= {(*path, *inner): item for inner, item in expected_values(value).items()}
    return found


@pytest.mark.parametrize("number", range(1, 9))
def test_every_field_of_the_example_frames_is_shown_with_its_value(number: int) -> None:
    root = tree(number)
    assert root.first_fault() is None
    assert root.name == frame(number)["packet"]
    special = {"PaddingByte", "PaddingLength", "CorrelationID", "Label"}
    for path, value in expected_values(frame(number)["fields"]).items():
        if path[-1] in special:
            continue
        node = root.find(*path)
        assert node is not None, path
        assert node.value == value, path


def test_padding_label_and_correlation_of_the_example_frames() -> None:
    padding = tree(3).find("EstablishConnectionHeader", "Padding")
    assert padding is not None
    assert (padding.offset, padding.size, padding.meaning) == (60, 512, "512 bytes 0x5A")
    properties = tree(7).find("MessagePropertiesHeader")
    assert properties is not None
    values = {node.name: node.value for node in properties.children}
    assert values["Label"] == "mqsender label"
    assert values["CorrelationID"] == "{00000000-0000-0000-0000-000000000000}\\0"
    assert values["MessageBody"] == "a" * 1000


@pytest.mark.parametrize(
    ("number", "summary"),
    [
        (1, "cookie 4 from {557358D1-9150-9595-4997-B6E611EA26C6}"),
        (
            4,
            (
                "client {1F742305-BE5E-4177-BC77-C4DD7719E474}, "
                "server {3C3A6AEB-F567-4143-87D3-85CF4D68CEB4}"
            ),
        ),
        (6, "window 64, acknowledge within 120 s, recoverable within 1.496 s"),
        (
            7,
            (
                'to DIRECT=OS:a04bm02\\q, "mqsender label", MQMSG_CLASS_NORMAL, '
                "2000 bytes VT_BSTR, express, id {557358D1-9150-9595-4997-B6E611EA26C6}\\2286"
            ),
        ),
        (8, "received 1, sent 0"),
    ],
)
def test_a_packet_is_told_in_one_line(number: int, summary: str) -> None:
    assert tree(number).meaning == summary


@pytest.mark.parametrize("number", range(1, 9))
def test_a_packet_cut_anywhere_is_shown_up_to_the_cut(number: int) -> None:
    data = frame_bytes(number)
    show = dissect_ping if number in PINGS else dissect
    whole = [(node.name, node.offset, node.value) for node in show(data).walk() if not node.mask]
    step = 1 if len(data) < 100 else 7
    for size in range(0, len(data), step):
        root = show(data[:size])
        fault = root.first_fault()
        assert fault is not None
        # Every field that is there with all its bytes is shown as in the whole packet.
        shown = {(node.name, node.offset, node.value) for node in root.walk()}
        complete = {
            (name, offset, value)
            for name, offset, value in whole
            if isinstance(value, int) and offset + 20 <= min(size, fault.offset)
        }
        assert complete <= shown


def test_the_dump_of_the_specification_is_shown_with_its_fault() -> None:
    root = dissect(bytes.fromhex(frame(7)["hex"]))
    body = root.find("MessagePropertiesHeader", "MessageBody")
    assert body is not None
    assert (body.offset, body.size, body.value) == (222, 1428, "a" * 714)
    assert body.fault is not None
    assert str(body.fault) == (
        "MessagePropertiesHeader.MessageBody at offset 222: needs 2000 bytes, 1428 remain"
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (frame_bytes(1), True),
        (frame_bytes(1)[:23], False),
        (frame_bytes(1) + b"\0", False),
        (frame_bytes(8)[:24], False),
    ],
)
def test_pings_are_told_by_size_and_signature(*, data: bytes, expected: bool) -> None:
    assert is_ping(data) is expected


@settings(max_examples=40)
@given(user_messages)
def test_headers_are_where_the_codec_finds_them(packet: bytes) -> None:
    root = dissect(packet)
    assert structure_fault(root) is None
    message = UserMessage(packet)
    starts = {node.name: node.offset for node in root.children}
    trailing = message.trailing
    expected = {
        "BaseHeader": 0,
        "UserHeader": 16,
        "TransactionHeader": message.transaction_offset,
        "SecurityHeader": message.security_offset,
        "MessagePropertiesHeader": message.properties_offset,
        "DebugHeader": trailing.debug if trailing else 0,
        "SRMPEnvelopeHeader": trailing.srmp_envelope if trailing else 0,
        "CompoundMessageHeader": trailing.compound_message if trailing else 0,
        "SoapHeader": trailing.soap if trailing else 0,
        "MultiQueueFormatHeader": trailing.multi_queue_format if trailing else 0,
    }
    for name, offset in expected.items():
        assert starts.get(name, 0) == offset, name
    # One header follows another, and together they are the packet.
    position = 0
    for node in root.children:
        assert node.offset == position
        position += node.size
    assert position == len(packet)


@settings(max_examples=40)
@given(user_messages)
def test_fields_follow_one_another_and_fill_their_header(packet: bytes) -> None:
    for header in dissect(packet).children:
        if header.name == "MultiQueueFormatHeader":
            continue
        position = header.offset
        for field in header.children:
            # The items of SecurityData start at multiples of four.
            assert 0 <= field.offset - position < 4
            position = field.offset + field.size
        assert 0 <= header.offset + header.size - position < 4


@settings(max_examples=40)
@given(user_messages)
def test_properties_are_those_that_the_codec_reads(packet: bytes) -> None:
    root, message = dissect(packet), UserMessage(packet)
    user, properties = root.find("UserHeader"), root.find("MessagePropertiesHeader")
    assert user is not None
    assert properties is not None
    assert _value(user, "SentTime") == message.sent_time
    assert _value(user, "Flags", "RC") == message.routing_count
    assert _value(properties, "Label") == (message.label or None)
    assert _value(properties, "MessageClass") == message.message_class
    assert _value(properties, "ExtensionData") == (message.extension or None)
    admin = message.admin_queue
    if admin is None:
        assert _value(user, "AdminQueue") is None
    elif admin.direct is not None:
        assert _value(user, "AdminQueue") == f"DIRECT={admin.direct}"
    else:
        assert str(admin.guid).upper() in str(_value(user, "AdminQueue"))


def _value(node: Node, *path: str) -> object:
    found = node.find(*path)
    return None if found is None else found.value


@settings(max_examples=20)
@given(user_messages, session_headers)
def test_a_session_header_follows_the_packet(packet: bytes, header: SessionHeader) -> None:
    raw = bytearray(packet)
    raw[2] |= 0x10
    root = dissect(bytes(raw) + header.serialize())
    assert structure_fault(root) is None
    node = root.children[-1]
    assert (node.name, node.offset, node.size) == ("SessionHeader", len(packet), 16)
    assert _value(node, "AckSequenceNumber") == header.ack_sequence_number
    missing = structure_fault(dissect(bytes(raw)))
    assert missing is not None
    assert missing.field == "SessionHeader.AckSequenceNumber"


def codec_fault(packet: bytes) -> MalformedPacket | None:
    """What the codecs say about the bytes of a user packet."""
    try:
        BaseHeader.parse(packet)
        recognize_ack(UserMessage(packet))
    except MalformedPacket as exc:
        return exc
    return None


@given(user_messages, st.data())
def test_a_tree_has_a_fault_exactly_when_the_codec_refuses(
    packet: bytes, data: st.DataObject
) -> None:
    raw = bytearray(packet)
    for _ in range(data.draw(st.integers(1, 3))):
        # Not PacketSize nor the flags IN and SH: they decide which packet this is.
        position = data.draw(st.integers(12, len(raw) - 1))
        raw[position] = data.draw(st.integers(0, 255))
    expected, found = codec_fault(bytes(raw)), structure_fault(dissect(bytes(raw)))
    if expected is None:
        assert found is None or found.field.startswith(EXTENSIONS)
    else:
        assert found is not None


EXTENSIONS = ("ExtensionHeader", "SubqueueHeader", "DeadLetterHeader", "ExtendedAddressHeader")


@given(st.binary(max_size=200))
def test_no_bytes_at_all_make_dissection_fail(data: bytes) -> None:
    for show in (dissect, dissect_ping):
        root = show(data)
        assert root.size == len(data)
    head = bytes.fromhex("10000b004c494f52") + len(data).to_bytes(4, "little")
    for node in dissect(head + data).walk():
        assert node.offset >= 0


def test_bytes_behind_a_packet_are_a_fault() -> None:
    root = dissect(frame_bytes(5) + b"xyz")
    fault = root.first_fault()
    assert fault is not None
    assert (fault.offset, fault.reason) == (32, "3 bytes after its end")


def test_a_wrong_ping_signature_is_named() -> None:
    damaged = frame_bytes(1)[:2] + b"XX" + frame_bytes(1)[4:]
    found = dissect_ping(damaged).find("Signature")
    assert found is not None
    assert found.fault is not None
    assert found.fault.reason == "is 0x5858, not 0x5548"


def assert_summary(data: bytes) -> None:
    quick, root = summarize(data), dissect(data)
    assert quick[:2] == (root.name, root.meaning)
    assert str(quick.fault) == str(root.first_fault())


@pytest.mark.parametrize("number", range(1, 9))
@pytest.mark.parametrize("cut", [0, 1, 30])
def test_summaries_of_the_example_frames_are_those_of_their_trees(number: int, cut: int) -> None:
    data = frame_bytes(number)
    data = data[: len(data) - cut]
    assert_summary(data)
    pair = summarize_ping(data), dissect_ping(data)
    assert pair[0][:2] == (pair[1].name, pair[1].meaning)
    assert str(pair[0].fault) == str(pair[1].first_fault())


def test_a_refused_session_ack_is_told_as_in_its_tree() -> None:
    data = bytearray(frame_bytes(8))
    data[18] |= 0x10
    assert summarize(bytes(data)).text == "refused, received 1, sent 0"
    assert_summary(bytes(data))


@given(user_messages, st.data())
def test_a_summary_says_what_the_tree_says(packet: bytes, data: st.DataObject) -> None:
    assert_summary(packet)
    raw = bytearray(packet)
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert_summary(bytes(raw))
    assert_summary(bytes(raw) + data.draw(st.binary(min_size=16, max_size=16)))


@settings(max_examples=20)
@given(user_messages, session_headers)
def test_a_summary_counts_the_session_header_in(packet: bytes, header: SessionHeader) -> None:
    raw = bytearray(packet)
    raw[2] |= 0x10
    assert_summary(bytes(raw))
    assert_summary(bytes(raw) + header.serialize())
