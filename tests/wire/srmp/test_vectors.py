"""The examples of [MC-MQSRM] 1.3.12 and 4, as printed and as Windows puts them on the wire."""

from uuid import UUID

import pytest
from tests.wire.srmp.vectors import EXPECTED, NORMALIZED, PRINTED, WIRE, Vector

from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.srmp import (
    Request,
    cut_request,
    envelope_alone,
    read_envelope,
    write_envelope,
    write_multipart,
)
from openmsmq.wire.srmp.compact import read_compact
from openmsmq.wire.srmp.reader import read_any_envelope

# Made by Windows; the others came from another sender or were edited.
WINDOWS = [
    "1.3.12-example-message",
    "4.2-simple-with-msmq",
    "4.3-3-delivery-receipt",
    "4.3-5-commitment-receipt",
    "4.4-2-stream-receipt-1",
    "4.4-4-stream-receipt-2",
    "4.4-6-stream-receipt-3",
    "4.5-pgm",
]


def cut(vector: Vector) -> Request:
    return cut_request(vector.content_type, vector.content, head=vector.head)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("form", [PRINTED, WIRE], ids=["printed", "wire"])
def test_every_example_is_read_as_expected(form: dict[str, Vector], name: str) -> None:
    expected, vector = EXPECTED[name], form[name]
    assert len(vector.content) == int(vector.headers["Content-Length"])
    request = cut(vector)
    envelope = request.read_envelope()
    ordinal, guid = expected["id"]
    to = expected["destination"].removeprefix("DIRECT=")
    sent_at = envelope.properties.sent_at
    assert sent_at is not None
    assert request.compound_message == vector.head + vector.content
    assert len(request.body) == expected.get("bodyBytes", 0)
    assert envelope.label == expected["label"]
    assert envelope.path.to == to.replace("MULTICAST=", "MSMQ:MULTICAST=")
    assert envelope.identifier == MessageIdentifier(UUID(guid), ordinal)
    assert envelope.path.via == expected.get("responseQueue", envelope.path.via)
    assert envelope.reach_queue_by - sent_at == expected["ttrqSeconds"]
    assert envelope.services.durable is False
    if envelope.msmq is not None:
        assert envelope.msmq.priority == expected.get("priority", envelope.msmq.priority)
        assert envelope.msmq.body_type == expected.get("bodyType", 0)
        assert envelope.msmq.message_class == expected.get("Class", 0)


@pytest.mark.parametrize("name", [name for name, each in EXPECTED.items() if "current" in each])
def test_stream_of_the_examples(name: str) -> None:
    expected = EXPECTED[name]
    for form in (PRINTED, WIRE):
        stream = cut(form[name]).read_envelope().stream
        assert stream is not None
        guid, number = expected["streamId"].removeprefix("uid:").split("\\")
        assert stream.stream_id == (UUID(guid), int(number))
        assert stream.stream_id.tx_sequence_id == (0x432B1643, 6)
        assert stream.current == expected["current"]
        assert stream.send_receipts_to == (expected["sendReceiptsTo"] or "")


def test_receipts_of_the_examples() -> None:
    delivery = cut(WIRE["4.3-3-delivery-receipt"]).read_envelope()
    commitment = cut(WIRE["4.3-5-commitment-receipt"]).read_envelope()
    stream = cut(WIRE["4.4-6-stream-receipt-3"]).read_envelope()
    identifier = MessageIdentifier(UUID(int=0), 1)
    assert delivery.delivery_receipt == (1184815494, identifier)
    assert commitment.commitment_receipt == (1184815641, True, identifier)
    assert stream.stream_receipt is not None
    assert stream.stream_receipt.last_ordinal == 3
    assert delivery.msmq is not None
    assert delivery.msmq.correlation == identifier.serialize()


def test_text_of_the_multicast_example() -> None:
    assert cut(WIRE["4.5-pgm"]).body.decode("utf-16-le") == "ardenwhite"


@pytest.mark.parametrize("name", EXPECTED)
def test_indented_and_compact_form_say_the_same(name: str) -> None:
    indented, compact = (cut(form[name]).read_envelope() for form in (PRINTED, WIRE))
    assert indented == compact


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.spec("MQSRM-4.2-01", "MQSRM-3.1.7.2.4-01", "MQSRM-3.1.7.2.4-27")
def test_envelopes_of_windows_are_written_byte_for_byte(name: str) -> None:
    raw = cut(WIRE[name]).envelope
    assert write_envelope(read_envelope(raw)) == raw


@pytest.mark.parametrize("name", [*NORMALIZED])
def test_stream_messages_are_written_byte_for_byte(name: str) -> None:
    raw = cut(NORMALIZED[name]).envelope
    assert write_envelope(read_envelope(raw)) == raw


@pytest.mark.parametrize("name", [name for name in WINDOWS if "receipt" not in name])
@pytest.mark.spec("MQSRM-1.3.12-02", "MQSRM-1.3.12-03", "MQSRM-1.3.12-04")
def test_multipart_content_is_written_byte_for_byte(name: str) -> None:
    vector = WIRE[name]
    request = cut(vector)
    envelope = request.read_envelope()
    number = int(vector.content_type.partition("boundary, ")[2].partition('"')[0])
    content = write_multipart(
        request.envelope, request.body, sender=envelope.identifier.source, number=number
    )
    assert content == (vector.content_type, vector.content)


@pytest.mark.parametrize("name", [name for name in WINDOWS if "receipt" in name])
@pytest.mark.spec("MQSRM-2.2.2-08")
def test_receipts_are_envelopes_alone(name: str) -> None:
    vector = WIRE[name]
    assert envelope_alone(cut(vector).envelope) == (vector.content_type, vector.content)


SHORT_CUT = [
    *(WIRE[name] for name in WINDOWS if "receipt" not in name),
    WIRE["4.4-3-stream-message-2"],
    *NORMALIZED.values(),
]


@pytest.mark.parametrize("vector", SHORT_CUT, ids=lambda vector: vector.name)
def test_the_short_cut_reads_what_windows_writes(vector: Vector) -> None:
    raw = cut(vector).envelope
    assert read_compact(raw) == read_any_envelope(raw)
