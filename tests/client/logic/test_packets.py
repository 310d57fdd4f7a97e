"""Packets from messages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from openmsmq.client.logic import packet_templates
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.wire.bodies import EncodableValue
from openmsmq.wire.codes.algorithms import EncryptionAlgorithm, HashAlgorithm
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.body_type import BodyType
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.packets.base_header import INFINITE

TRACE = "01234567-89ab-cdef-0123-456789abcdef"
CORRELATION = bytes(range(20))
SID = bytes.fromhex("010100000000000512000000")


def make(*, sid: bytes = SID, transactional: bool = False) -> PacketBuilder:
    sender = Sender(computer_name="alpha", sid=sid)
    return PacketBuilder(sender, transactional=transactional)


@pytest.fixture
def builder() -> PacketBuilder:
    return make()


def built(builder: PacketBuilder, message: Message) -> UserMessage:
    return UserMessage(builder.build(message))


def test_a_message_is_sent_in_the_name_of_its_sender_and_names_no_destination(
    builder: PacketBuilder,
) -> None:
    view = built(builder, Message(b"body", "label"))
    assert view.destination_queue is None
    assert (view.body, view.label, view.security_id) == (b"body", "label", SID)


@pytest.mark.spec("MQDMPR-3.1.1.12-37", "MQDMPR-3.1.1.12-38")
def test_algorithms_have_their_defaults_in_a_message_that_uses_none(
    builder: PacketBuilder,
) -> None:
    for message in (Message(), Message(encrypt=True)):
        view = built(builder, message)
        assert view.hash_algorithm == HashAlgorithm.SHA1
        assert view.encryption_algorithm == EncryptionAlgorithm.RC4


def test_a_sender_without_a_sid_sends_without_a_security_header() -> None:
    assert built(make(sid=b""), Message()).security_header is None


@pytest.mark.parametrize(
    ("message", "value", "read"),
    [
        (Message(priority=5), 5, lambda view: view.priority),
        (Message(delivery="recoverable"), 1, lambda view: view.delivery_mode),
        (Message(delivery="express"), 0, lambda view: view.delivery_mode),
        (Message(time_to_reach_queue=60), 60, lambda view: view.time_to_reach_queue),
        (Message(time_to_reach_queue=None), INFINITE, lambda view: view.time_to_reach_queue),
        (Message(time_to_be_received=60), 60, lambda view: view.time_to_be_received),
        (Message(time_to_be_received=None), INFINITE, lambda view: view.time_to_be_received),
        (Message(acknowledge=3), 3, lambda view: view.acknowledgments),
        (Message(app_specific=77), 77, lambda view: view.application_tag),
        (Message(extension=b"more"), b"more", lambda view: view.extension),
        (Message(journal=True), True, lambda view: view.positive_journaling),
        (Message(dead_letter=True), True, lambda view: view.negative_journaling),
        (Message(class_=2), 2, lambda view: view.message_class),
        (
            Message(correlation_id=bytes(range(20))),
            bytes(range(20)),
            lambda view: view.correlation_id,
        ),
        (Message(trace_queue=TRACE), UUID(TRACE), lambda view: view.debug_header.queue_identifier),
        (
            Message(soap_header="<h/>", soap_body="<b/>"),
            SoapHeader("<h/>", "<b/>"),
            lambda view: view.soap_header,
        ),
        (Message(soap_body="<b/>"), SoapHeader("", "<b/>"), lambda view: view.soap_header),
        (Message(), None, lambda view: view.soap_header),
    ],
)
def test_every_property_of_a_message_is_in_its_packet(
    builder: PacketBuilder,
    message: Message,
    value: object,
    read: Callable[[UserMessage], object],
) -> None:
    assert read(built(builder, message)) == value


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (r".\private$\x", r"DIRECT=OS:alpha\private$\x"),
        (r"gamma\private$\x", r"DIRECT=OS:gamma\private$\x"),
        (r"DIRECT=TCP:10.0.0.1\private$\x", r"DIRECT=TCP:10.0.0.1\private$\x"),
    ],
)
def test_queues_in_a_message_are_named_so_that_others_find_them(
    builder: PacketBuilder, given: str, expected: str
) -> None:
    view = built(builder, Message(admin_queue=given, response_queue=given))
    for address in (view.admin_queue, view.response_queue):
        assert address is not None
        assert str(format_name_of(address)) == expected


@pytest.mark.parametrize(
    ("body", "body_type", "raw"),
    [
        (b"raw", 0, b"raw"),
        (bytearray(b"raw"), 0, b"raw"),
        ("text", BodyType.VT_BSTR, "text".encode("utf-16-le")),
        (7, BodyType.VT_I4, b"\7\0\0\0"),
        (None, BodyType.VT_NULL, b""),
    ],
)
def test_a_body_is_encoded_by_its_type(
    builder: PacketBuilder, body: EncodableValue, body_type: int, raw: bytes
) -> None:
    view = built(builder, Message(body))
    assert (view.body_type, view.body) == (body_type, raw)


@pytest.mark.parametrize("body", [b"raw", bytearray(b"raw")])
def test_bytes_that_are_encoded_already_keep_their_type(
    builder: PacketBuilder, body: bytes | bytearray
) -> None:
    assert built(builder, Message(body, body_type=BodyType.VT_LPSTR)).body_type == BodyType.VT_LPSTR


def test_a_type_does_not_change_what_has_its_own(builder: PacketBuilder) -> None:
    assert built(builder, Message("text", body_type=BodyType.VT_I4)).body_type == BodyType.VT_BSTR


def test_a_message_in_a_transaction_is_recoverable_and_has_no_priority() -> None:
    view = built(make(transactional=True), Message(priority=7))
    assert (view.transactional, view.delivery_mode, view.priority) == (True, 1, 0)


def test_what_is_kept_of_earlier_messages_does_not_show(builder: PacketBuilder) -> None:
    """Each message is built several times, as every path through the caches must agree."""
    messages = [
        Message(b"abc", "label", priority=1),
        Message(b"abcd", "label", priority=1),
        Message(b"abc", "other", priority=1),
        Message(b"abc", "label", priority=2),
        Message("a", "label", priority=2),
        Message(b"ab", "label", priority=2, body_type=8),
        Message(b"abc", "label", priority=1, correlation_id=CORRELATION),
        Message(b"abc", "label", priority=1, response_queue=r".\private$\x"),
        Message(b"xyz", "label", priority=1),
    ]
    alone = [make().build(message) for message in messages]
    for _ in range(3):
        assert [builder.build(message) for message in messages] == alone
    for message, packet in zip(messages, alone, strict=True):
        assert [builder.build(message) for _ in range(3)] == [packet] * 3


def test_what_is_kept_does_not_pile_up(builder: PacketBuilder) -> None:
    for number in range(2 * packet_templates.MAX_FAMILIES + 1):
        assert built(builder, Message(app_specific=number)).application_tag == number
    for number in range(2 * packet_templates.MAX_SHAPES + 1):
        for _ in range(2):
            assert built(builder, Message(label=str(number))).label == str(number)


@pytest.mark.parametrize(
    ("message", "error", "text"),
    [
        (Message(delivery="fast"), ValueError, "delivery: 'fast'"),
        (Message(priority=8), ValueError, "priority: 8"),
        (Message(acknowledge="soon"), ValueError, "acknowledge: 'soon'"),
        (Message(correlation_id=b"short"), ValueError, "correlation_id: has 5 bytes"),
        (Message(correlation_id="text"), ValueError, "not a message identifier"),
        (Message(label="x" * 300), ValueError, "label"),
        (Message(body=b"x" * 5_000_000), ValueError, "larger"),
        (Message(trace_queue="x"), ValueError, "trace_queue: 'x' is not a GUID"),
        (Message(soap_header="<h>"), ValueError, "soap_header, soap_body: .* is not XML"),
        (Message(soap_body="</se:Body>"), ValueError, "soap_header, soap_body: .* is not XML"),
        (Message(response_queue="///"), QueueError, "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (Message(body=1 << 64), ValueError, "more than 64 bits"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_sent(
    builder: PacketBuilder, message: Message, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        builder.build(message)


def test_a_property_of_another_type_is_refused_also_in_later_messages(
    builder: PacketBuilder,
) -> None:
    builder.build(Message(b"text"))
    label: Any = 5
    with pytest.raises(TypeError, match=r"^label: text is taken, not int$"):
        builder.build(Message(b"text", label))
    with pytest.raises(
        TypeError, match=r"^correlation_id: the id of a message or None is taken, not int$"
    ):
        builder.build(Message(b"text", correlation_id=label))


def test_a_trace_queue_may_be_a_guid(builder: PacketBuilder) -> None:
    guid = UUID(int=7)
    texts = [builder.build(Message(trace_queue=each)) for each in (guid, str(guid))]
    assert texts[0] == texts[1]
    assert UserMessage(texts[0]).packet == texts[0]


def test_times_may_be_timedeltas(builder: PacketBuilder) -> None:
    packet = UserMessage(builder.build(Message(time_to_be_received=timedelta(hours=1))))
    assert packet.time_to_be_received == 3600


@pytest.mark.parametrize("body", [b"bytes", "text"])
def test_a_label_that_is_not_text_is_refused_by_name(
    builder: PacketBuilder, body: bytes | str
) -> None:
    with pytest.raises(ValueError, match="label: half of a surrogate pair is not text"):
        builder.build(Message(body, label="half: \ud83d"))
