"""Copies of one message for several queues."""

from tests.core.harness import USER

from openmsmq.core.messages.fanout import copies_for
from openmsmq.wire.message.multi_queue_format_header import MultiQueueFormatHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_rebuild import options_of
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.names.queue_address_names import address_of, element_of
from openmsmq.wire.security.security_header import SecurityHeader

FIRST = r"DIRECT=OS:one\private$\a"
SECOND = r"DIRECT=OS:two\private$\b"
NAMES = tuple(element_of(parse_format_name(name)) for name in (FIRST, SECOND))  # type: ignore[arg-type]


def message(**properties: object) -> UserMessage:
    packet = build_user_message(
        body=b"body",
        label="label",
        destination_queue=direct_address(r"OS:other\private$\c"),
        admin_queue=direct_address(r"OS:admin\private$\d"),
        extension=b"extension",
        security_header=SecurityHeader(2, security_id=USER.sid.serialize()),
        **properties,  # type: ignore[arg-type]
    )
    return UserMessage(packet)


def test_a_copy_differs_in_its_destinations_only() -> None:
    sent = message(priority=5)
    (copy,) = (UserMessage(each) for each in copies_for([sent], SECOND, f"{FIRST},{SECOND}"))
    assert copy.destination_queue == address_of(parse_format_name(SECOND))
    header = copy.multi_queue_format_header
    assert header == MultiQueueFormatHeader(NAMES, (), (), b"")
    assert (copy.body, copy.label) == (b"body", "label")
    expected = options_of(sent)
    expected["multi_queue_format_header"] = header
    assert options_of(copy) == expected


def test_an_encrypted_body_stays_as_it_is() -> None:
    # MessageSize is that of the clear body: a copy must not cut what was encrypted.
    sent = message(message_size=2)
    (copy,) = (UserMessage(each) for each in copies_for([sent], FIRST, FIRST))
    assert copy.message_size == sent.message_size == 2
    whole = copy.packet[copy.body_offset : copy.body_end]
    assert whole == sent.packet[sent.body_offset : sent.body_end]


def test_what_the_header_said_beside_destinations_is_kept() -> None:
    former = MultiQueueFormatHeader(NAMES[:1], NAMES[1:], NAMES[:1])
    (copy,) = copies_for([message(multi_queue_format_header=former)], FIRST, SECOND)
    assert UserMessage(copy).multi_queue_format_header == MultiQueueFormatHeader(
        NAMES[1:], NAMES[1:], NAMES[:1]
    )


def test_a_signed_list_of_names_stays_as_it_is() -> None:
    former = MultiQueueFormatHeader(NAMES[:1], NAMES[1:], NAMES[:1], b"signature")
    (copy,) = copies_for([message(multi_queue_format_header=former)], FIRST, SECOND)
    assert UserMessage(copy).multi_queue_format_header == former
