"""Messages as they came out of a queue."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Unpack
from uuid import UUID

import pytest
from tests.core.forgery import SRMP

from openmsmq.client.message import Message
from openmsmq.client.received_message import PROPERTIES, ReceivedMessage
from openmsmq.wire.bodies import EncodableValue
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.body_type import BodyType
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message_builder import UserMessageOptions, build_user_message
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.names.queue_address_names import address_of
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

SOURCE = UUID("11111111-2222-3333-4444-555555555555")
GUID = "{11111111-2222-3333-4444-555555555555}"
OTHER = r"DIRECT=OS:a\private$\b"
EVERYONE = bytes.fromhex("010100000000000100000000")


def address(name: str) -> QueueAddress:
    return address_of(parse_format_name(name))


def received(
    body: bytes = b"", label: str = "", **options: Unpack[UserMessageOptions]
) -> ReceivedMessage:
    packet = build_user_message(
        destination_queue=address(r"DIRECT=OS:alpha\private$\orders"),
        body=body,
        label=label,
        **options,
    )
    return ReceivedMessage(packet, 5, 1_700_000_000.5, (1, 2, 1_700_000_001.0))


@pytest.mark.parametrize(
    ("name", "value", "options"),
    [
        ("id", rf"{GUID}\9", {"source_queue_manager": SOURCE, "message_id": 9}),
        ("priority", 6, {"priority": 6}),
        ("class", 2, {"message_class": 2}),
        ("class_name", "MQMSG_CLASS_ACK_REACH_QUEUE", {"message_class": 2}),
        ("delivery", "express", {}),
        ("delivery", "recoverable", {"delivery_mode": 1}),
        ("transactional", False, {}),
        ("transaction_id", None, {}),
        ("first_in_transaction", False, {}),
        ("last_in_transaction", False, {}),
        ("sent_time", datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), {"sent_time": 1_000_000_000}),
        ("arrived_time", datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC), {}),
        ("abort_count", 1, {}),
        ("move_count", 2, {}),
        ("last_move_time", datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC), {}),
        ("time_to_reach_queue", None, {}),
        ("time_to_reach_queue", 60, {"time_to_reach_queue": 60}),
        ("time_to_be_received", None, {}),
        ("time_to_be_received", 60, {"time_to_be_received": 60}),
        ("correlation_id", None, {}),
        (
            "correlation_id",
            rf"{GUID}\7",
            {"correlation_id": MessageIdentifier(SOURCE, 7).serialize()},
        ),
        ("app_specific", 77, {"application_tag": 77}),
        ("extension", b"more", {"extension": b"more"}),
        ("acknowledge", 3, {"acknowledgments": 3}),
        ("admin_queue", None, {}),
        ("admin_queue", "DIRECT=OS:a\\private$\\b", {"admin_queue": r"DIRECT=OS:a\private$\b"}),
        (
            "response_queue",
            "DIRECT=OS:a\\private$\\b",
            {"response_queue": r"DIRECT=OS:a\private$\b"},
        ),
        ("destination_queue", r"DIRECT=OS:alpha\private$\orders", {}),
        ("source_queue_manager", GUID, {"source_queue_manager": SOURCE}),
        ("sender_id", None, {}),
        ("authenticated", False, {}),
        ("encrypted", False, {}),
        ("body_type", 8, {"body_type": 8}),
    ],
)
def test_a_property_is_what_the_packet_says(
    name: str, value: object, options: dict[str, Any]
) -> None:
    for queue in ("admin_queue", "response_queue"):
        if queue in options:
            options = {**options, queue: address(options[queue])}
    assert getattr(received(**options), name) == value


def test_a_transactional_message_tells_its_transaction() -> None:
    header = TransactionHeader(0b110 | 5 << 4, TxSequenceID(0, 0), 0, 0)
    message = received(source_queue_manager=SOURCE, transaction_header=header)
    assert message.transactional
    assert message.transaction_id == rf"{GUID}\{header.transaction_id}"


def test_a_sender_is_a_sid_in_text() -> None:
    header = SecurityHeader(SenderIdType.SID, security_id=EVERYONE)
    assert received(security_header=header).sender_id == "S-1-1-0"


def test_a_sender_id_that_is_no_sid_is_shown_in_hex() -> None:
    header = SecurityHeader(SenderIdType.SID, security_id=b"\xff\xff")
    assert received(security_header=header).sender_id == "ffff"


def test_an_encrypted_message_says_so() -> None:
    header = SecurityHeader(SecurityHeaderFlags.EB, encryption_key=b"key")
    assert received(security_header=header).encrypted


@pytest.mark.parametrize(
    ("raw", "body_type", "body"),
    [
        (b"text", 0, "text"),
        (b"\xff\x00\xfe", 0, b"\xff\x00\xfe"),
        ("text".encode("utf-16-le"), BodyType.VT_BSTR, "text"),
        (b"text\0", BodyType.VT_LPSTR, "text"),
        (b"\7\0\0\0", BodyType.VT_I4, b"\7\0\0\0"),
        (b"odd", BodyType.VT_BSTR, b"odd"),
        (b"", 0, ""),
        (b'{"a": 1}', 0, '{"a": 1}'),
        ("<a>ä</a>".encode(), 0, "<a>ä</a>"),
    ],
)
def test_a_body_is_text_when_it_is_text(raw: bytes, body_type: int, body: str | bytes) -> None:
    message = received(raw, body_type=body_type)
    assert message.body == body
    assert message.body_bytes == raw
    assert message.body_size == len(raw)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"123",
        b"\xff\x00",
        b"\xff\xfeh\x00i\x00",
        b'{"a": 1}',
        b"<int>7</int>",
        "",
        "text",
        "<int>7</int>",
        None,
        True,
        7,
        1 << 63,
        0.5,
        Decimal("1.25"),
        datetime(2024, 2, 29, 12, 30),  # noqa: DTZ001 - the wire has no zone
        SOURCE,
    ],
)
def test_a_value_has_the_type_that_was_sent(value: EncodableValue) -> None:
    body, body_type = Message(value).encoded_body()
    came = received(body, body_type=body_type).value
    assert came == value
    assert type(came) is type(value)


@pytest.mark.parametrize(
    ("raw", "body_type", "text"),
    [
        (b"12 apples", 0, "12 apples"),
        (b"\xff\x00\xfe", 0, None),
        ("text".encode("utf-16-le"), BodyType.VT_BSTR, "text"),
        (b"\7\0\0\0", BodyType.VT_I4, None),
    ],
)
def test_the_text_of_a_body_is_text_or_nothing(
    raw: bytes, body_type: int, text: str | None
) -> None:
    assert received(raw, body_type=body_type).text == text


def test_a_message_as_a_dict_has_every_name_and_is_json() -> None:
    message = received(b"text", "label", source_queue_manager=SOURCE, message_id=9)
    values = json.loads(json.dumps(message.to_dict()))
    assert list(values) == list(PROPERTIES)
    assert values["body"] == "text"
    assert values["body_base64"] == "dGV4dA=="
    assert values["lookup_id"] == str(message.lookup_id)
    assert values["arrived_time"] == "2023-11-14T22:13:20.500000+00:00"
    assert values["sent_time"] == "1970-01-01T00:00:00+00:00"


def test_a_body_that_is_no_text_is_null_in_json() -> None:
    assert received(b"\xff\x00\xfe").to_dict()["body"] is None


def test_every_name_is_an_attribute() -> None:
    message = received()
    for name in PROPERTIES:
        getattr(message, name)


def test_a_message_that_was_never_moved_has_no_time_of_it() -> None:
    assert ReceivedMessage(received().packet, 1, 1.0).last_move_time is None


def test_a_message_can_be_sent_on() -> None:
    message = received(
        b"text",
        "label",
        body_type=BodyType.VT_LPSTR,
        priority=6,
        application_tag=7,
        extension=b"more",
        correlation_id=MessageIdentifier(SOURCE, 7).serialize(),
        response_queue=address(OTHER),
    )
    assert message.to_message() == Message(
        b"text",
        "label",
        body_type=BodyType.VT_LPSTR,
        priority=6,
        app_specific=7,
        extension=b"more",
        correlation_id=MessageIdentifier(SOURCE, 7).serialize(),
        response_queue=OTHER,
    )


def test_a_queue_that_has_no_format_name_is_shown_as_well_as_can_be() -> None:
    strange = QueueAddress(7, direct="FAX:123")
    message = received(response_queue=strange)
    assert message.response_queue == "DIRECT=FAX:123"


def test_a_message_is_shown_with_id_label_and_body() -> None:
    message = received(b"text", "label", source_queue_manager=SOURCE, message_id=9)
    shown = f"ReceivedMessage(id='{GUID}\\\\9', label='label', body='text')"
    assert repr(message) == shown


@pytest.mark.parametrize(
    ("name", "transport"),
    [
        ("DIRECT=HTTP://alpha/msmq/private$/orders", "http"),
        ("DIRECT=HTTPS://alpha/msmq/private$/orders", "https"),
        ("MULTICAST=234.1.1.1:8001", "multicast"),
    ],
)
def test_what_srmp_brought_says_how(name: str, transport: str) -> None:
    packet = build_user_message(destination_queue=address(name), body=b"", srmp_headers=SRMP)
    message = ReceivedMessage(packet, 5, 0.0)
    assert message.transport == transport
    assert (message.soap_envelope, message.compound_message) == ("<Envelope/>", b"POST inner")
    plain = message.to_dict(soap=True)
    assert plain["soap_envelope"] == "<Envelope/>"
    assert plain["compound_message"] == "UE9TVCBpbm5lcg=="
    assert "soap_envelope" not in message.to_dict()


def test_other_messages_say_whether_they_were_sent_here() -> None:
    packet = received(source_queue_manager=SOURCE).packet
    assert ReceivedMessage(packet, 5, 0.0).transport is None
    here = ReceivedMessage(packet, 5, 0.0, (0, 0, 0.0), SOURCE.bytes_le)
    there = ReceivedMessage(packet, 5, 0.0, (0, 0, 0.0), bytes(16))
    assert (here.transport, there.transport) == ("local", "binary")
    assert here.soap_envelope is None
    assert here.to_dict(soap=True)["compound_message"] is None
