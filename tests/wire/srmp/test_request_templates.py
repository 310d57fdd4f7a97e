"""Requests of messages like those before are what the general way writes."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.srmp import request_from_packet
from openmsmq.wire.srmp.request_templates import MAX_TEMPLATES, RequestTemplates

URL = "http://beta/msmq/private$/orders"
SENDER = UUID("caf195ea-615c-4264-ae08-11a4e60194c0")
ACKS = "http://alpha/msmq/private$/acks"


def message(number: int = 1, **properties: Any) -> UserMessage:
    properties.setdefault("body", b"body %d" % number)
    properties.setdefault("destination_queue", direct_address(URL))
    return UserMessage(
        build_user_message(
            message_id=number,
            source_queue_manager=SENDER,
            sent_time=1_800_000_000,
            delivery_mode=1,
            **properties,
        )
    )


def ordered(
    number: int, previous: int, flags: int = 0, sequence: int = 9, **properties: Any
) -> UserMessage:
    header = TransactionHeader(flags, TxSequenceID(7, sequence), number, previous)
    return message(100 + number, transaction_header=header, **properties)


def check(templates: RequestTemplates, one: UserMessage, number: int = 5, **names: Any) -> None:
    """A template gives what the general way gives."""
    assert templates.write(one, number=number, **names) == request_from_packet(
        one, number=number, **names
    )


def test_plain_messages_share_a_template() -> None:
    templates = RequestTemplates()
    for number in (1, 2, 4_294_967_295):
        check(templates, message(number, label="an <order> & more"), number)
    check(templates, message(9, body=b"", label="an <order> & more"))
    assert len(templates._templates) == 1
    check(templates, message(3, label="other"))
    check(templates, message(3, label="other", priority=7))
    assert len(templates._templates) == 3


def test_messages_of_a_stream_share_a_template() -> None:
    templates = RequestTemplates()
    check(templates, ordered(1, 0), send_receipts_to="http://alpha/msmq/private$/order_queue$")
    assert templates._templates == {}
    with pytest.raises(ValueError, match="needs a URL for stream receipts"):
        templates.write(ordered(1, 0), number=1)
    for number, previous in ((6, 0), (7, 0), (2, 1), (3, 2), (9, 5)):
        check(templates, ordered(number, previous))
    assert len(templates._templates) == 2
    check(templates, ordered(9, 5), stream_element="Stream")
    assert len(templates._templates) == 3


def test_where_acknowledgments_go_is_part_of_the_template() -> None:
    templates = RequestTemplates()
    for url in (ACKS, "", "http://other/msmq/q", ACKS):
        admin = direct_address("http://gamma/msmq/q")
        check(templates, message(2, admin_queue=admin, acknowledgments=3), admin_url=url)
    assert len(templates._templates) == 3


@pytest.mark.parametrize(
    "properties",
    [
        {"extension": b"more"},
        {"soap_header": SoapHeader("<x/>", "<y/>")},
        {"message_class": MessageClass.ACK_RECEIVE, "correlation_id": bytes(20)},
        {"destination_queue": direct_address(URL + "?" + "x" * 2100)},
    ],
)
def test_other_messages_are_written_in_full(properties: dict[str, Any]) -> None:
    templates = RequestTemplates()
    check(templates, message(1, **properties))
    assert templates._templates == {}


def test_a_message_that_cannot_be_sent_has_no_template() -> None:
    templates = RequestTemplates()
    with pytest.raises(ValueError, match="not addressed to a URL"):
        templates.write(message(destination_queue=direct_address("OS:beta\\q")), number=1)
    assert templates._templates == {}


def test_templates_are_bounded() -> None:
    templates = RequestTemplates()
    for number in range(MAX_TEMPLATES + 3):
        check(templates, message(label=str(number)))
    assert len(templates._templates) == 3


@given(
    st.lists(
        st.tuples(
            st.integers(1, 2**32 - 1),
            st.text(max_size=20).filter(lambda text: "\0" not in text),
            st.binary(max_size=30),
            st.none() | st.tuples(st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1)),
        ),
        min_size=2,
        max_size=6,
    )
)
def test_any_message_is_written_as_in_the_general_way(
    entries: list[tuple[int, str, bytes, tuple[int, int] | None]],
) -> None:
    templates = RequestTemplates()
    for number, label, body, place in entries * 2:
        header = None
        if place is not None:
            header = TransactionHeader(0, TxSequenceID(7, 9), *place)
        one = message(number, label=label, body=body, transaction_header=header)
        try:
            expected = request_from_packet(one, number=number)
        except ValueError:
            continue
        again = templates.write_again(one.packet)
        assert again in (None, expected)
        assert templates.write(one, number=number) == expected


def test_a_message_like_the_last_one_is_written_again() -> None:
    templates = RequestTemplates()
    assert templates.write_again(message(1).packet) is None
    for number in (1, 2):
        templates.write(message(number), number=number)
    for other in (message(3), message(4_000_000_000, body=b""), message(5, body=b"x" * 5000)):
        expected = request_from_packet(other, number=other.message_id)
        assert templates.write_again(other.packet) == expected


@pytest.mark.parametrize(
    "other",
    [
        message(3, label="other"),
        message(3, priority=7),
        message(3, application_tag=1),
        message(3, extension=b"more"),
        message(3, time_to_be_received=5),
        message(3, soap_header=SoapHeader("<x/>", "<y/>")),
        ordered(6, 5),
    ],
)
def test_a_message_unlike_the_last_one_is_not_written_again(other: UserMessage) -> None:
    templates = RequestTemplates()
    for number in (1, 2):
        templates.write(message(number), number=number)
    assert templates.write_again(other.packet) is None


def test_messages_of_a_stream_are_written_again() -> None:
    templates = RequestTemplates()
    for number in (6, 7):
        one = ordered(number, number - 1)
        templates.write(one, number=one.message_id)
    for other in (ordered(8, 7), ordered(70_000, 3)):
        expected = request_from_packet(other, number=other.message_id)
        assert templates.write_again(other.packet) == expected
    assert templates.write_again(ordered(9, 0).packet) is None
    assert templates.write_again(ordered(1, 0).packet) is None
    # The first of a stream says where receipts go, whatever precedes it.
    assert templates.write_again(ordered(1, 5).packet) is None
    assert templates.write_again(ordered(9, 8, label="other").packet) is None
    assert templates.write_again(ordered(9, 8, application_tag=1).packet) is None


def test_messages_of_other_transactions_share_what_is_written() -> None:
    templates = RequestTemplates()
    for number in (6, 7):
        check(templates, ordered(number, number - 1, flags=number << 4), 100 + number)
    assert len(templates._templates) == 1
    other = ordered(8, 7, flags=0xFFFFF0)
    expected = request_from_packet(other, number=other.message_id)
    assert templates.write_again(other.packet) == expected


@pytest.mark.parametrize("properties", [{"flags": 0x4}, {"flags": 0x8}, {"sequence": 10}])
def test_first_and_last_messages_and_other_streams_are_written_as_such(
    properties: dict[str, int],
) -> None:
    templates = RequestTemplates()
    for number in (6, 7):
        check(templates, ordered(number, number - 1), 100 + number)
    other = ordered(8, 7, **properties)
    assert templates.write_again(other.packet) is None
    check(templates, other)
    assert len(templates._templates) == 2


def test_only_the_message_decides_what_is_written_again() -> None:
    templates = RequestTemplates()
    admin = direct_address(r"OS:alpha\private$\acks")
    for number in (1, 2):
        one = message(number, admin_queue=admin, acknowledgments=3)
        templates.write(one, number=number, admin_url=ACKS)
        templates.write(message(number), number=77)
    assert templates.write_again(one.packet) is None
    assert templates.write_again(message(3).packet) is None


def test_a_body_of_two_sizes_is_not_written_again() -> None:
    templates = RequestTemplates()
    for number in (1, 2):
        templates.write(message(number), number=number)
    packet = bytearray(message(3).packet)
    sizes = message(3).properties_offset + 32
    packet[sizes + 4 : sizes + 8] = (5000).to_bytes(4, "little")
    assert templates.write_again(bytes(packet)) is None
