"""[MC-MQSRM] 3.1.7.2.4: the request of a message, and the receipt of an acknowledgment."""

import re
from typing import Unpack
from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.srmp.strategies import plain_envelopes
from tests.wire.srmp.vectors import WIRE
from tests.wire.srmp.xml import GUID

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageOptions, build_user_message
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.order_ack import (
    ACK_LABEL,
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
)
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID
from openmsmq.wire.security.security_header import (
    ProviderInfo,
    SecurityHeader,
    SecurityHeaderFlags,
)
from openmsmq.wire.srmp import (
    NEVER,
    CommitmentReceipt,
    DeliveryReceipt,
    Envelope,
    Eod,
    MessageKind,
    Provider,
    StreamId,
    StreamReceipt,
    build_final_stream_receipt,
    build_stream_receipt,
    cut_compound_message,
    cut_request,
    envelope_from_packet,
    forwarded_request,
    kind_of,
    packet_from_request,
    read_envelope,
    request_from_packet,
    write_envelope,
    write_multipart,
)

SOURCE = UUID(GUID)
TO = "http://machine2/msmq/private$/q"
RECEIPTS = "http://machine1/MSMQ/PRIVATE$/order_queue$?s=token"
SENT = 1184814700
SEQUENCE = TxSequenceID(0x432B1643, 6)


def message(
    body: bytes = b"body", label: str = "", **options: Unpack[UserMessageOptions]
) -> UserMessage:
    options.setdefault("source_queue_manager", SOURCE)
    options.setdefault("message_id", 7)
    options.setdefault("sent_time", SENT)
    packet = build_user_message(
        body=body, label=label, destination_queue=direct_address(TO), **options
    )
    return UserMessage(packet)


def stream_message(number: int, previous: int = 0, flags: int = 0) -> UserMessage:
    return message(transaction_header=TransactionHeader(flags, SEQUENCE, number, previous))


def text_of(sent: UserMessage, admin_url: str = "", send_receipts_to: str = "") -> str:
    """The envelope that is written for a message."""
    envelope = envelope_from_packet(sent, admin_url=admin_url, send_receipts_to=send_receipts_to)
    return write_envelope(envelope).decode()


def element(text: str, name: str) -> str | None:
    """What is in the first element of a name."""
    found = re.search(f"<{name}[^>]*>(.*?)</{name}>", text, re.DOTALL)
    return None if found is None else found[1]


@given(plain_envelopes)
def test_a_received_message_is_sent_as_it_came(envelope: Envelope) -> None:
    # What a message has beside a label, and addresses that differ, do not come back.
    assert envelope.msmq is not None
    stream = envelope.stream
    msmq = envelope.msmq._replace(message_class=0, eod=envelope.msmq.eod if stream else None)
    commitment = envelope.services.commitment_receipt_request
    sent = envelope._replace(msmq=msmq)
    content = write_multipart(write_envelope(sent), b"body", sender=SOURCE, number=1)
    request = cut_request(content.content_type, content.data)
    packet = UserMessage(packet_from_request(request, sent, utc=0.0))
    again = envelope_from_packet(packet, to=sent.path.to, send_receipts_to="http://h/msmq/r")
    assert again.identifier == sent.identifier
    assert again.label == (sent.label or "")
    assert again.path.via == sent.path.via
    assert again.durable == sent.durable
    assert again.msmq is not None
    if stream is None or stream.stream_id.number == 0:
        assert again.stream is None
    else:
        assert again.stream is not None
        assert (again.stream.current, again.stream.previous) == (stream.current, stream.previous)
    if commitment is None or not (commitment.positive_only or commitment.negative_only):
        assert again.services.commitment_receipt_request is None
    assert (again.msmq.journal, again.msmq.dead_letter) == (msmq.journal, msmq.dead_letter)
    assert (again.msmq.app, again.msmq.body_type) == (msmq.app, msmq.body_type)
    assert again.msmq.correlation == msmq.correlation


@pytest.mark.spec("MQSRM-3.1.7.2.4-02")
def test_entries_stand_in_order() -> None:
    text = text_of(stream_message(1), send_receipts_to=RECEIPTS)
    header = text.partition("<se:Header>")[2]
    names = ["path", "properties", "services", "stream", "Msmq"]
    assert re.findall("<(path|properties|services|stream|Msmq)[ >]", header) == names
    assert "services" not in text_of(message())
    assert "stream" not in text_of(message())


@pytest.mark.spec("MQSRM-3.1.7.2.4-03", "MQSRM-2.2.4-02", "MQSRM-2.2.4.3-04")
def test_path() -> None:
    sent = message(label="label", response_queue=direct_address("http://machine1/msmq/r"))
    assert element(text_of(sent), "path") == (
        f"<action>MSMQ:label</action><to>{TO}</to><rev><via>http://machine1/msmq/r</via></rev>"
        f"<id>uuid:7@{GUID}</id>"
    )
    assert '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">' in text_of(sent)


@pytest.mark.spec("MQSRM-2.2.4.1-02", "MQSRM-3.1.7.2.4-04")
def test_a_message_without_a_label_has_an_empty_one() -> None:
    assert element(text_of(message()), "action") == "MSMQ:"


@pytest.mark.parametrize(
    ("address", "via"),
    [
        (direct_address("OS:host\\private$\\q"), "MSMQ:DIRECT=OS:host\\private$\\q"),
        (private_address(UUID(GUID), 10), f"MSMQ:PRIVATE={GUID.upper()}\\A"),
        (public_address(UUID(GUID)), f"MSMQ:PUBLIC={GUID.upper()}"),
    ],
)
def test_other_response_queues_are_format_names(address: QueueAddress, via: str) -> None:
    sent = message(response_queue=address)
    assert element(text_of(sent), "via") == via


@pytest.mark.spec("MQSRM-2.2.4.5-02", "MQSRM-2.2.5.1.3-02", "MQSRM-2.2.6-01")
def test_every_message_has_msmq_and_none_has_what_windows_never_writes() -> None:
    ack = message(message_class=MessageClass.ACK_RECEIVE, correlation_id=bytes(range(20)))
    for sent in (message(), stream_message(2, 1), ack):
        text = text_of(sent)
        assert '<Msmq xmlns="msmq.namespace.xml">' in text
        assert not re.search("<(fwd|from|relatesTo|fault|inReplyTo)[ />]", text)


@pytest.mark.spec("MQSRM-2.2.4.1-04")
def test_a_receipt_repeats_the_label_of_its_message() -> None:
    for message_class in (MessageClass.ACK_REACH_QUEUE, MessageClass.NACK_Q_PURGED):
        ack = message(
            b"", "the label", message_class=message_class, correlation_id=ABOUT.serialize()
        )
        assert element(text_of(ack), "action") == "MSMQ:the label"


@pytest.mark.spec("MQSRM-3.1.7.2.4-05")
def test_destination_is_the_url_or_what_the_caller_says() -> None:
    assert element(text_of(message()), "to") == TO
    envelope = envelope_from_packet(message(), to="MSMQ:MULTICAST=234.1.1.1:8001")
    assert envelope.path.to == "MSMQ:MULTICAST=234.1.1.1:8001"


@pytest.mark.parametrize(
    ("reach", "receive", "ttrq", "expires_at"),
    [
        (60, 0xFFFFFFFF, SENT + 60, NEVER),
        (60, 100, SENT + 60, SENT + 100),
        (60, 60, SENT + 60, SENT + 61),
        (0xFFFFFFFF, 0xFFFFFFFF, NEVER, NEVER),
        (0xFFFFFFFE, 0xFFFFFFF0, NEVER, NEVER),
    ],
)
@pytest.mark.spec("MQSRM-3.1.7.2.4-06", "MQSRM-3.1.7.2.4-22", "MQSRM-2.2.5.1.2-02")
def test_times(reach: int, receive: int, ttrq: int, expires_at: int) -> None:
    sent = message(time_to_reach_queue=reach, time_to_be_received=receive)
    envelope = read_envelope(text_of(sent).encode())
    assert envelope.properties == (expires_at, SENT)
    assert envelope.msmq is not None
    assert envelope.msmq.ttrq == ttrq


@pytest.mark.spec("MQSRM-3.1.7.2.4-07", "MQSRM-3.1.7.2.4-08", "MQSRM-3.1.7.2.4-09")
@pytest.mark.parametrize(
    ("recoverable", "wanted", "text"),
    [
        (0, 0, None),
        (1, 0, "<durable/>"),
        (0, 1, "<deliveryReceiptRequest><sendTo>ADMIN</sendTo></deliveryReceiptRequest>"),
        (
            1,
            2,
            (
                "<durable/><commitmentReceiptRequest><sendTo>ADMIN</sendTo><positiveOnly/>"
                "</commitmentReceiptRequest>"
            ),
        ),
        (
            0,
            0xB,
            (
                "<deliveryReceiptRequest><sendTo>ADMIN</sendTo></deliveryReceiptRequest>"
                "<commitmentReceiptRequest><sendTo>ADMIN</sendTo><positiveOnly/><negativeOnly/>"
                "</commitmentReceiptRequest>"
            ),
        ),
        (
            0,
            8,
            (
                "<commitmentReceiptRequest><sendTo>ADMIN</sendTo><negativeOnly/>"
                "</commitmentReceiptRequest>"
            ),
        ),
        # Nothing in SRMP stands for a negative acknowledgment of arrival.
        (0, 4, None),
    ],
)
def test_services(recoverable: int, wanted: int, text: str | None) -> None:
    url = "http://machine1/msmq/admin"
    written = text if text is None else text.replace("ADMIN", url)
    named = message(
        delivery_mode=recoverable, acknowledgments=wanted, admin_queue=direct_address(url)
    )
    assert element(text_of(named), "services") == written
    private = message(
        delivery_mode=recoverable,
        acknowledgments=wanted,
        admin_queue=private_address(SOURCE, 5),
    )
    assert element(text_of(private, admin_url=url), "services") == written
    without = element(text_of(private), "services")
    assert without == ("<durable/>" if recoverable else None)


@pytest.mark.spec("MQSRM-2.2.5.1-02", "MQSRM-2.2.5.2-01", "MQSRM-2.2.5.3-01")
def test_entries_must_be_understood() -> None:
    text = text_of(stream_message(2))
    for entry in ("properties", "services", "stream"):
        assert f'<{entry} se:mustUnderstand="1">' in text


@pytest.mark.spec("MQSRM-3.1.7.2.4-10", "MQSRM-3.1.7.2.4-12", "MQSRM-2.2.5.3.4-01")
def test_first_message_of_a_stream() -> None:
    text = text_of(stream_message(1), send_receipts_to=RECEIPTS)
    assert element(text, "stream") == (
        f"<streamId>uid:{GUID}\\{SEQUENCE.value}</streamId><current>1</current>"
        f"<start><sendReceiptsTo>{RECEIPTS}</sendReceiptsTo></start>"
    )


@pytest.mark.spec("MQSRM-2.2.5.3.4-02", "MQSRM-3.1.7.2.4-11", "MQSRM-2.2.5.3.3-01")
def test_later_messages_of_a_stream() -> None:
    text = text_of(stream_message(3, 2), send_receipts_to=RECEIPTS)
    start = f"<streamId>uid:{GUID}\\{SEQUENCE.value}</streamId><current>3</current>"
    assert element(text, "stream") == f"{start}<previous>2</previous>"
    envelope = envelope_from_packet(stream_message(3, 2), previous=1)
    assert envelope.stream is not None
    assert envelope.stream.previous == 1
    assert element(text_of(stream_message(3)), "stream") == start


@pytest.mark.parametrize("spelling", ["stream", "Stream"])
def test_the_spelling_of_stream_is_a_setting(spelling: str) -> None:
    content = request_from_packet(stream_message(2), number=1, stream_element=spelling)
    assert f"<{spelling} se:mustUnderstand".encode() in content.data


@pytest.mark.spec("MQSRM-3.1.7.2.4-15", "MQSRM-3.1.7.2.4-16", "MQSRM-3.1.7.2.4-18")
def test_msmq_of_a_plain_message() -> None:
    sent = message(time_to_reach_queue=60, priority=5, body_type=8)
    assert element(text_of(sent), "Msmq") == (
        "<Class>0</Class><Priority>5</Priority>"
        "<Correlation>AAAAAAAAAAAAAAAAAAAAAAAAAAA=</Correlation><App>0</App>"
        f"<BodyType>8</BodyType><HashAlgorithm>0</HashAlgorithm><SourceQmGuid>{GUID}</SourceQmGuid>"
        "<TTrq>20070719T031240</TTrq>"
    )


@pytest.mark.spec("MQSRM-3.1.7.2.4-17", "MQSRM-3.1.7.2.4-19", "MQSRM-3.1.7.2.4-20")
def test_msmq_of_a_message_with_everything() -> None:
    flags = TransactionHeaderFlags.FM | TransactionHeaderFlags.LM
    sent = message(
        positive_journaling=True,
        negative_journaling=True,
        tracing_requested=True,
        connector_type=SOURCE,
        transaction_header=TransactionHeader(int(flags), SEQUENCE, 2, 1, SOURCE),
        security_header=SecurityHeader(0, provider_info=ProviderInfo(1, "P&Q")),
        correlation_id=bytes(16) + b"\1\0\0\0",
        application_tag=36,
        hash_algorithm=0x8004,
    )
    assert element(text_of(sent), "Msmq") == (
        "<Class>0</Class><Priority>0</Priority><Journal/><DeadLetter/>"
        "<Correlation>AAAAAAAAAAAAAAAAAAAAAAEAAAA=</Correlation><Trace/>"
        f"<ConnectorType>{GUID}</ConnectorType><App>36</App><BodyType>0</BodyType>"
        f"<HashAlgorithm>32772</HashAlgorithm><Eod><First/><Last/><ConnectorId>{GUID}"
        "</ConnectorId></Eod><Provider><Type>1</Type><Name>P&amp;Q</Name></Provider>"
        f"<SourceQmGuid>{GUID}</SourceQmGuid><TTrq>20380119T031407</TTrq>"
    )
    envelope = envelope_from_packet(sent)
    assert envelope.msmq is not None
    assert envelope.msmq.eod == Eod(True, True, SOURCE)
    assert envelope.msmq.provider == Provider(1, "P&Q")


@pytest.mark.parametrize(("flag", "inside"), [("FM", "<First/>"), ("LM", "<Last/>")])
def test_the_place_in_a_transaction_needs_no_connector(flag: str, inside: str) -> None:
    header = TransactionHeader(int(TransactionHeaderFlags[flag]), SEQUENCE, 2, 1)
    assert element(text_of(message(transaction_header=header)), "Eod") == inside


@pytest.mark.spec("MQSRM-3.1.7.2.4-19")
def test_a_transactional_message_without_a_place_has_no_eod() -> None:
    assert "<Eod>" not in text_of(stream_message(2))
    assert "<Eod>" not in text_of(message())


@pytest.mark.spec("MQSRM-3.1.7.2.4-21")
def test_lists_of_queues() -> None:
    direct, public = MQFFormatType.DIRECT, MQFFormatType.PUBLIC
    lists = MultiQueueFormatHeader(
        (
            MQFFormatNameElement(direct, direct_format_name=TO),
            MQFFormatNameElement(direct, direct_format_name=f"DIRECT={TO}2"),
        ),
        (MQFFormatNameElement(public, SOURCE),),
        (MQFFormatNameElement(direct, direct_format_name="OS:host\\q"),),
    )
    text = text_of(message(multi_queue_format_header=lists))
    assert element(text, "DestinationMqf") == f"{TO}\n{TO}2\n"
    assert element(text, "AdminMqf") == f"PUBLIC={GUID.upper()}\n"
    assert element(text, "ResponseMqf") == "DIRECT=OS:host\\q\n"
    assert "Mqf" not in text_of(message())


@pytest.mark.spec("MQSRM-3.1.7.2.4-28")
def test_text_is_escaped() -> None:
    text = text_of(message(label="<a> & \"b\" 'c' ]]> \u20ac \r\n\t"))
    assert element(text, "action") == ("MSMQ:&lt;a&gt; &amp; \"b\" 'c' ]]&gt; \u20ac &#xD;\n\t")
    label = read_envelope(text.encode()).label
    assert label == "<a> & \"b\" 'c' ]]> \u20ac \r\n\t"


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    text = text_of(message(label="a\x01b\ufffec"))
    assert read_envelope(text.encode()).label == "a\ufffdb\ufffdc"


@pytest.mark.spec("MQSRM-2.2.2-04", "MQSRM-2.2.3-02")
def test_body_is_empty_unless_the_application_gives_one() -> None:
    content = request_from_packet(message(), number=1)
    assert b"<se:Body></se:Body></se:Envelope>" in content.data
    soap = SoapHeader("<h xmlns='x'/>", "<b/>")
    content = request_from_packet(message(soap_header=soap), number=1)
    assert b"</Msmq><h xmlns='x'/></se:Header><se:Body><b/></se:Body>" in content.data


@pytest.mark.spec("MQSRM-2.2.2-06", "MQSRM-2.2.2-10")
def test_body_and_extension_are_parts() -> None:
    content = request_from_packet(message(b"the body", extension=b"more"), number=9)
    request = cut_request(content.content_type, content.data)
    assert (request.body, request.extension) == (b"the body", b"more")
    assert f"Content-Id: body@{GUID}\r\n".encode() in content.data
    assert f"Content-Id: extension@{GUID}\r\n".encode() in content.data


# What cannot be sent


def test_messages_that_srmp_cannot_carry() -> None:
    elsewhere = build_user_message(destination_queue=direct_address("OS:host\\q"))
    encrypted = SecurityHeader(int(SecurityHeaderFlags.EB), encryption_key=b"key")
    for sent, reason in (
        (UserMessage(elsewhere), "not addressed to a URL"),
        (message(security_header=encrypted), "no encryption"),
        (message(message_class=MessageClass.NACK_BAD_DST_Q), "no receipt for class 0x8000"),
        (stream_message(1), "needs a URL for stream receipts"),
        (message(b"short", message_class=MessageClass.ORDER_ACK), "cannot be sent: OrderAck"),
    ):
        with pytest.raises(ValueError, match=reason):
            request_from_packet(sent, number=1)


# Receipts


ABOUT = MessageIdentifier(UUID(int=5), 9)


@pytest.mark.spec("MQSRM-2.2.5.4-01", "MQSRM-2.2.5.4-02", "MQSRM-4.3-04")
def test_an_acknowledgment_of_arrival_is_a_delivery_receipt() -> None:
    ack = message(
        b"",
        "the label",
        message_class=MessageClass.ACK_REACH_QUEUE,
        correlation_id=ABOUT.serialize(),
    )
    envelope = envelope_from_packet(ack)
    assert envelope.delivery_receipt == DeliveryReceipt(SENT, ABOUT)
    assert envelope.label == "the label"
    assert kind_of(envelope) is MessageKind.DELIVERY_RECEIPT


@pytest.mark.spec("MQSRM-2.2.5.5-02", "MQSRM-2.2.5.5-04", "MQSRM-3.1.7.3.1-01")
@pytest.mark.parametrize("message_class", [0x4000, 0x8001, 0xC000, 0xC001, 0xC002, 0xC004])
def test_other_acknowledgments_are_commitment_receipts(message_class: int) -> None:
    ack = message(
        b"a copy of the body", message_class=message_class, correlation_id=ABOUT.serialize()
    )
    envelope = envelope_from_packet(ack)
    assert envelope.commitment_receipt == CommitmentReceipt(SENT, message_class == 0x4000, ABOUT)
    assert kind_of(envelope) is MessageKind.COMMITMENT_RECEIPT
    content = request_from_packet(ack, number=1)
    assert content.content_type == "text/xml"
    assert b"a copy of the body" not in content.data


@pytest.mark.spec("MQSRM-4.3-05")
def test_a_commitment_receipt_of_windows_byte_for_byte() -> None:
    vector = WIRE["4.3-5-commitment-receipt"]
    ack = UserMessage(
        build_user_message(
            destination_queue=direct_address("http://machine1/MSMQ/private$/receipts"),
            response_queue=direct_address("http://machine2/msmq/private$/simpleq"),
            source_queue_manager=UUID("ac678228-2dd6-418b-b31f-0539ffeea853"),
            message_id=34827,
            sent_time=1184815641,
            message_class=MessageClass.ACK_RECEIVE,
            correlation_id=MessageIdentifier(UUID(int=0), 1).serialize(),
        )
    )
    assert request_from_packet(ack, number=1) == (vector.content_type, vector.content)


@pytest.mark.spec("MQSRM-2.2.4.1-06", "MQSRM-4.4-03")
@pytest.mark.parametrize(
    ("name", "number", "message_id", "sent_time"),
    [
        ("4.4-2-stream-receipt-1", 1, 26641, 1182272398),
        ("4.4-4-stream-receipt-2", 2, 26643, 1182272399),
        ("4.4-6-stream-receipt-3", 3, 26645, 1182272401),
    ],
)
def test_stream_receipts_of_windows_byte_for_byte(
    name: str, number: int, message_id: int, sent_time: int
) -> None:
    vector = WIRE[name]
    packet = build_stream_receipt(
        StreamId(UUID("2744e4e1-2b48-43e8-b441-42745f280d53"), 4839986701558349830),
        number,
        "http://machine1/MSMQ/private$/receipts?SenderStream=XRntV",
        queue=direct_address("http://machine2/msmq/private$/tsimpleq"),
        source_queue_manager=UUID("32221eda-9376-46df-b6ed-783091123831"),
        message_id=message_id,
        sent_time=sent_time,
    )
    content = request_from_packet(UserMessage(packet), number=1)
    assert content == (vector.content_type, vector.content)


@pytest.mark.spec("MQSRM-3.1.7.3.3-02", "MQSRM-2.2.5.6-01", "MQSRM-2.2.5.6-02")
@pytest.mark.parametrize("message_class", [0x4000, 0xC001])
def test_final_stream_receipts(message_class: int) -> None:
    stream_id = StreamId(UUID(int=77), SEQUENCE.value)
    packet = build_final_stream_receipt(
        stream_id,
        3,
        ABOUT,
        message_class,
        RECEIPTS,
        source_queue_manager=SOURCE,
        message_id=7,
        sent_time=SENT,
    )
    envelope = envelope_from_packet(UserMessage(packet))
    assert envelope.stream_receipt == StreamReceipt(stream_id, 3)
    assert envelope.commitment_receipt == CommitmentReceipt(SENT, message_class == 0x4000, ABOUT)
    assert envelope.path.to == RECEIPTS
    assert kind_of(envelope) is MessageKind.FINAL_STREAM_RECEIPT


@pytest.mark.spec("MQSRM-3.1.7.3.1-02")
def test_other_classes_have_no_final_stream_receipt() -> None:
    with pytest.raises(ValueError, match="no final stream receipt of class 0x8000"):
        build_final_stream_receipt(
            StreamId(SOURCE, 1),
            3,
            ABOUT,
            MessageClass.NACK_BAD_DST_Q,
            RECEIPTS,
            source_queue_manager=SOURCE,
            message_id=7,
            sent_time=SENT,
        )


def test_a_final_ack_of_the_binary_protocol_names_its_stream_by_its_source() -> None:
    ack = FinalAck(SEQUENCE, 3, 2, ABOUT.source, ABOUT.ordinal)
    packet = build_final_ack(
        ack,
        MessageClass.ACK_RECEIVE,
        direct_address(RECEIPTS),
        source_queue_manager=SOURCE,
        message_id=7,
        sent_time=SENT,
    )
    envelope = envelope_from_packet(UserMessage(packet))
    stream_id = StreamId(ABOUT.source, SEQUENCE.value)
    assert envelope.stream_receipt == StreamReceipt(stream_id, 3)
    assert envelope.commitment_receipt == CommitmentReceipt(SENT, True, ABOUT)


def test_an_order_ack_without_the_guid_of_its_stream_cannot_be_sent() -> None:
    packet = build_order_ack(
        OrderAck(SEQUENCE, 3),
        direct_address(RECEIPTS),
        source_queue_manager=SOURCE,
        message_id=7,
        sent_time=SENT,
    )
    with pytest.raises(ValueError, match="does not name the queue manager of its stream"):
        request_from_packet(UserMessage(packet), number=1)


def test_a_message_with_the_label_of_receipts_has_a_commitment_receipt() -> None:
    ack = message(
        bytes(36),
        ACK_LABEL,
        message_class=MessageClass.NACK_Q_PURGED,
        correlation_id=ABOUT.serialize(),
    )
    assert kind_of(envelope_from_packet(ack)) is MessageKind.COMMITMENT_RECEIPT


# Forwarding


def test_only_what_came_by_srmp_is_forwarded_unchanged() -> None:
    vector = WIRE["4.2-simple-with-msmq"]
    request = cut_compound_message(vector.head + vector.content)
    packet = packet_from_request(request, request.read_envelope(), utc=0.0)
    assert forwarded_request(UserMessage(packet)) == (vector.content_type, vector.content)
    with pytest.raises(ValueError, match="no CompoundMessageHeader"):
        forwarded_request(message())
    for data, reason in ((b"POST /", "not a whole HTTP request"), (b"GET", "cannot be forwarded")):
        headers = (SRMPEnvelopeHeader("x"), CompoundMessageHeader(data, 0, 0))
        with pytest.raises(ValueError, match=reason):
            forwarded_request(message(srmp_headers=headers))
