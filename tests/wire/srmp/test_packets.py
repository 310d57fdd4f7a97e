"""Packets from requests and requests from packets, with the examples of [MC-MQSRM] 4."""

import pytest
from tests.wire.srmp.vectors import WIRE, Vector

from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.srmp import (
    Request,
    cut_compound_message,
    forwarded_request,
    packet_from_request,
    request_from_packet,
)

# Everything that stands in these is in their packets, too.
SENT_AGAIN = ["1.3.12-example-message", "4.2-simple-with-msmq", "4.5-pgm"]


def receive(vector: Vector) -> tuple[Request, UserMessage]:
    request = cut_compound_message(vector.head + vector.content)
    packet = packet_from_request(request, request.read_envelope(), utc=0.0)
    return request, UserMessage(packet)


@pytest.mark.parametrize("name", WIRE)
def test_packet_has_body_label_and_identifier(name: str) -> None:
    request, message = receive(WIRE[name])
    envelope = request.read_envelope()
    assert message.body == request.body
    assert message.message_size == 0
    assert message.label == (envelope.label or "")
    assert message.identifier == envelope.identifier
    assert message.compound_message_header is not None
    assert message.compound_message_header.data == WIRE[name].head + WIRE[name].content
    assert message.srmp_envelope_header is not None
    assert message.srmp_envelope_header.data.encode() == request.envelope


@pytest.mark.parametrize("name", SENT_AGAIN)
def test_a_message_is_sent_again_byte_for_byte(name: str) -> None:
    vector = WIRE[name]
    request, message = receive(vector)
    number = int(vector.content_type.partition("boundary, ")[2].partition('"')[0])
    to = request.read_envelope().path.to
    content = request_from_packet(message, number=number, to=to)
    assert content == (vector.content_type, vector.content)


@pytest.mark.parametrize("name", WIRE)
def test_a_forwarded_request_is_unchanged(name: str) -> None:
    vector = WIRE[name]
    assert forwarded_request(receive(vector)[1]) == (vector.content_type, vector.content)
