"""[MC-MQSRM] 3.1.5.1.1: the packet of what came, compared with the one of the general builder."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.srmp.strategies import envelopes
from tests.wire.srmp.xml import GUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_patch import without_srmp_headers
from openmsmq.wire.names.queue_address import (
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.base_header import INFINITE
from openmsmq.wire.scalars import GUID_NULL, MessageIdentifier, TxSequenceID
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader
from openmsmq.wire.srmp import (
    NEVER,
    CommitmentReceipt,
    CommitmentReceiptRequest,
    DeliveryReceipt,
    Envelope,
    Eod,
    Msmq,
    Path,
    Properties,
    Provider,
    Request,
    Services,
    StreamEntry,
    StreamId,
    cut_request,
    packet_from_request,
    write_envelope,
    write_multipart,
)

SOURCE = UUID(GUID)
TO = "http://host/msmq/private$/q"
HEAD = b"POST / HTTP/1.1\r\n\r\n"
PLAIN = Msmq(0, 3, SOURCE)
STREAM = StreamEntry(StreamId(SOURCE, 0x432B164300000006), 2, 1)


def request_of(envelope: Envelope, body: bytes = b"body", extension: bytes = b"") -> Request:
    raw = write_envelope(envelope)
    content = write_multipart(raw, body, sender=SOURCE, number=1, extension=extension)
    return cut_request(content.content_type, content.data, head=HEAD)


def received(
    msmq: Msmq | None = PLAIN,
    *,
    path: Path | None = None,
    properties: Properties | None = None,
    services: Services | None = None,
    stream: StreamEntry | None = None,
    body: bytes = b"body",
    extension: bytes = b"",
    destination: QueueAddress | None = None,
) -> UserMessage:
    """The message of an envelope with these entries."""
    envelope = Envelope(
        path or Path(TO, MessageIdentifier(SOURCE, 7)),
        properties or Properties(NEVER, 1000),
        services or Services(),
        stream,
        msmq=msmq,
    )
    request = request_of(envelope, body, extension)
    read = request.read_envelope()
    return UserMessage(packet_from_request(request, read, utc=5000.5, destination=destination))


def test_a_plain_message_is_what_the_builder_makes() -> None:
    envelope = Envelope(
        Path(TO, MessageIdentifier(SOURCE, 7), "MSMQ:label"),
        Properties(NEVER, 1000),
        msmq=PLAIN._replace(ttrq=1060, app=36, body_type=8, hash_algorithm=0x8004),
    )
    request = request_of(envelope)
    packet = packet_from_request(request, request.read_envelope(), utc=0.0)
    headers = (
        SRMPEnvelopeHeader(request.envelope.decode()),
        CompoundMessageHeader(request.compound_message, request.body_size, request.body_offset),
    )
    assert packet == build_user_message(
        destination_queue=direct_address(TO),
        label="label",
        source_queue_manager=SOURCE,
        message_id=7,
        sent_time=1000,
        time_to_reach_queue=60,
        application_tag=36,
        body_type=8,
        hash_algorithm=0x8004,
        srmp_headers=headers,
    )


def test_a_stream_message_is_what_the_builder_makes() -> None:
    lists = MultiQueueFormatHeader(
        (
            MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name=TO),
            MQFFormatNameElement(MQFFormatType.PUBLIC, SOURCE),
        )
    )
    envelope = Envelope(
        Path(TO, MessageIdentifier(SOURCE, 7), via="http://host/msmq/admin"),
        Properties(1100, 1000),
        Services(True, "http://host/msmq/admin"),
        STREAM,
        msmq=PLAIN._replace(
            ttrq=1060,
            journal=True,
            dead_letter=True,
            trace=True,
            connector_type=SOURCE,
            eod=Eod(first=True, last=True, connector_id=SOURCE),
            provider=Provider(1, "Provider"),
            destination_mqf=(TO, f"PUBLIC={GUID}"),
        ),
    )
    request = request_of(envelope, extension=b"extension")
    packet = packet_from_request(request, request.read_envelope(), utc=0.0)
    flags = TransactionHeaderFlags.FA | TransactionHeaderFlags.FM | TransactionHeaderFlags.LM
    assert packet == build_user_message(
        destination_queue=direct_address(TO),
        admin_queue=direct_address("http://host/msmq/admin"),
        response_queue=direct_address("http://host/msmq/admin"),
        source_queue_manager=SOURCE,
        message_id=7,
        sent_time=1000,
        time_to_reach_queue=60,
        time_to_be_received=100,
        acknowledgments=1,
        positive_journaling=True,
        negative_journaling=True,
        tracing_requested=True,
        connector_type=SOURCE,
        transaction_header=TransactionHeader(int(flags), TxSequenceID(0x432B1643, 6), 2, 1, SOURCE),
        security_header=SecurityHeader(0, provider_info=ProviderInfo(1, "Provider")),
        extension=b"extension",
        multi_queue_format_header=lists,
        srmp_headers=(
            SRMPEnvelopeHeader(request.envelope.decode()),
            CompoundMessageHeader(request.compound_message, request.body_size, request.body_offset),
        ),
    )


@given(envelopes, st.binary(max_size=9))
def test_every_packet_is_a_message(envelope: Envelope, body: bytes) -> None:
    # A signature that is not as specified makes no message.
    envelope = envelope._replace(signature=b"")
    request = request_of(envelope, body)
    message = UserMessage(packet_from_request(request, envelope, utc=0.0))
    assert message.body == body
    assert message.identifier == envelope.identifier
    assert message.label == (envelope.label or "").partition("\0")[0]


@pytest.mark.spec("MQSRM-3.1.5.1.1-01")
def test_the_whole_request_and_its_envelope_are_kept() -> None:
    message = received()
    compound, header = message.compound_message_header, message.srmp_envelope_header
    assert compound is not None
    assert header is not None
    assert compound.data.startswith(HEAD)
    assert header.data.encode() in compound.data
    assert compound.message_body == message.body == b"body"
    assert message.message_size == 0


def test_forwarded_over_another_protocol_it_has_no_headers_of_srmp() -> None:
    message = UserMessage(without_srmp_headers(received(body=b"the body")))
    assert message.srmp_envelope_header is None
    assert message.compound_message_header is None
    assert (message.body, message.message_size) == (b"the body", 8)


@pytest.mark.spec("MQSRM-3.1.5.1.1-04")
def test_a_url_is_a_direct_name() -> None:
    assert received().destination_queue == direct_address(TO)
    other = direct_address("OS:here\\private$\\q")
    assert received(destination=other).destination_queue == other


@pytest.mark.spec("MQSRM-3.1.5.1.1-05")
def test_a_multicast_address_loses_its_prefix() -> None:
    path = Path("MSMQ:MULTICAST=234.1.1.1:8001", MessageIdentifier(SOURCE, 7))
    assert received(path=path).destination_queue == direct_address("MULTICAST=234.1.1.1:8001")


@pytest.mark.spec("MQSRM-3.1.5.1.1-06", "MQSRM-3.1.5.1.1-22")
def test_the_identifier_is_that_of_the_source() -> None:
    other = UUID(int=9)
    message = received(PLAIN._replace(source_qm_guid=other))
    assert message.identifier == MessageIdentifier(other, 7)
    assert received(None).identifier == MessageIdentifier(GUID_NULL, 1)


@pytest.mark.spec("MQSRM-3.1.5.1.1-08")
@pytest.mark.parametrize(
    ("via", "address"),
    [
        ("http://host/msmq/r", direct_address("http://host/msmq/r")),
        ("MSMQ:DIRECT=OS:host\\private$\\r", direct_address("OS:host\\private$\\r")),
        (f"MSMQ:PRIVATE={GUID}\\5", private_address(SOURCE, 5)),
        (f"MSMQ:PUBLIC={GUID}", public_address(SOURCE)),
        ("", None),
    ],
)
def test_response_queue(via: str, address: QueueAddress | None) -> None:
    path = Path(TO, MessageIdentifier(SOURCE, 7), via=via)
    assert received(path=path).response_queue == address


@pytest.mark.parametrize("via", ["nowhere", "MSMQ:", f"MSMQ:DL={GUID}", "MSMQ:DIRECT=OS:a\\q,x"])
def test_response_queues_that_are_none(via: str) -> None:
    with pytest.raises(MalformedPacket) as caught:
        received(path=Path(TO, MessageIdentifier(SOURCE, 7), via=via))
    assert caught.value.field == "path.via"


def test_several_queues_are_not_one_response_queue() -> None:
    names = f"MSMQ:PUBLIC={GUID},PUBLIC={GUID}"
    with pytest.raises(MalformedPacket, match="one queue"):
        received(path=Path(TO, MessageIdentifier(SOURCE, 7), via=names))


@pytest.mark.spec("MQSRM-3.1.5.1.1-09")
def test_without_msmq_a_message_expires_as_its_properties_say() -> None:
    message = received(None, properties=Properties(1060, 1000))
    assert (message.time_to_reach_queue, message.time_to_be_received) == (60, INFINITE)
    assert message.priority == 3


@pytest.mark.spec("MQSRM-3.1.5.1.1-24")
@pytest.mark.parametrize(
    ("expires_at", "ttrq", "reach", "receive"),
    [
        (NEVER, 1060, 60, INFINITE),
        (1100, 1060, 60, 100),
        (1060, 1060, 60, INFINITE),
        (NEVER, NEVER, INFINITE, INFINITE),
        (1100, NEVER, INFINITE, 100),
        (900, 900, 0, INFINITE),
        (NEVER, 4102444799, NEVER, INFINITE),
    ],
)
def test_life_times(expires_at: int, ttrq: int, reach: int, receive: int) -> None:
    envelope = Envelope(
        Path(TO, MessageIdentifier(SOURCE, 7)),
        Properties(expires_at, 1000),
        msmq=PLAIN._replace(ttrq=ttrq),
    )
    message = UserMessage(packet_from_request(request_of(envelope), envelope, utc=0.0))
    assert (message.time_to_reach_queue, message.time_to_be_received) == (reach, receive)


@pytest.mark.spec("MQSRM-3.1.5.1.1-10")
def test_time_of_sending() -> None:
    assert received().sent_time == 1000
    message = received(PLAIN._replace(ttrq=5060), properties=Properties(NEVER))
    assert (message.sent_time, message.time_to_reach_queue) == (5000, 60)


@pytest.mark.spec("MQSRM-3.1.5.1.1-11")
def test_durable_messages_are_recoverable() -> None:
    assert received().delivery_mode == 0
    assert received(services=Services(durable=True)).delivery_mode == 1
    assert received(stream=STREAM).delivery_mode == 1


ADMIN, OTHER = "http://host/msmq/admin", "http://host/msmq/other"


@pytest.mark.parametrize(
    ("services", "acknowledgments", "admin"),
    [
        (Services(), 0, None),
        pytest.param(
            Services(delivery_receipt_to=ADMIN),
            1,
            ADMIN,
            marks=pytest.mark.spec("MQSRM-3.1.5.1.1-12"),
        ),
        pytest.param(
            Services(commitment_receipt_request=CommitmentReceiptRequest(OTHER)),
            0,
            OTHER,
            marks=pytest.mark.spec("MQSRM-3.1.5.1.1-13"),
        ),
        pytest.param(
            Services(
                commitment_receipt_request=CommitmentReceiptRequest(OTHER, positive_only=True)
            ),
            2,
            OTHER,
            marks=pytest.mark.spec("MQSRM-3.1.5.1.1-14"),
        ),
        (Services(False, ADMIN, CommitmentReceiptRequest(OTHER, True, True)), 11, ADMIN),
    ],
)
def test_wanted_receipts(services: Services, acknowledgments: int, admin: str | None) -> None:
    message = received(services=services)
    assert message.acknowledgments == acknowledgments
    assert message.admin_queue == (None if admin is None else direct_address(admin))


@pytest.mark.spec("MQSRM-3.1.5.1.1-15")
def test_place_in_a_stream() -> None:
    message = received(stream=STREAM)
    assert message.tx_sequence_id == (0x432B1643, 6)
    assert (message.tx_sequence_number, message.previous_tx_sequence_number) == (2, 1)
    assert message.priority == 0
    assert not message.final_ack_required


@pytest.mark.spec("MQSRM-3.1.5.1.1-17")
def test_class_priority_and_body_type() -> None:
    message = received(PLAIN._replace(message_class=2, priority=5, body_type=8))
    assert (message.message_class, message.priority, message.body_type) == (2, 5, 8)


@pytest.mark.spec("MQSRM-3.1.5.1.1-18")
def test_journal_dead_letter_and_trace() -> None:
    plain = received()
    assert not plain.positive_journaling
    assert not plain.negative_journaling
    assert not plain.tracing_requested
    assert received(PLAIN._replace(journal=True)).positive_journaling
    assert received(PLAIN._replace(dead_letter=True)).negative_journaling
    assert received(PLAIN._replace(trace=True)).tracing_requested


@pytest.mark.spec("MQSRM-3.1.5.1.1-19")
def test_correlation_connector_type_application_tag_and_hash_algorithm() -> None:
    message = received(
        PLAIN._replace(
            correlation=bytes(range(20)), connector_type=SOURCE, app=36, hash_algorithm=0x8004
        )
    )
    assert message.correlation_id == bytes(range(20))
    assert message.connector_type == SOURCE
    assert (message.application_tag, message.hash_algorithm) == (36, 0x8004)


@pytest.mark.spec("MQSRM-3.1.5.1.1-20")
def test_place_in_a_transaction() -> None:
    for first, last, connector in ((True, False, None), (False, True, SOURCE)):
        message = received(PLAIN._replace(eod=Eod(first, last, connector)), stream=STREAM)
        header = message.transaction_header
        assert header is not None
        assert (message.first_in_transaction, message.last_in_transaction) == (first, last)
        assert header.connector_qm_guid == connector


@pytest.mark.spec("MQSRM-3.1.5.1.1-21")
def test_provider() -> None:
    header = received(PLAIN._replace(provider=Provider(1, "Name"))).security_header
    assert header is not None
    assert header.provider_info == ProviderInfo(1, "Name")


@pytest.mark.spec("MQSRM-3.1.5.1.1-23")
def test_lists_of_queues() -> None:
    message = received(
        PLAIN._replace(
            destination_mqf=(TO, f"MSMQ:PRIVATE={GUID}\\5"),
            admin_mqf=("DIRECT=OS:host\\q",),
            response_mqf=(f"DL={GUID}",),
        )
    )
    lists = message.multi_queue_format_header
    assert lists is not None
    assert [element.format_name for element in lists.destination] == [
        f"DIRECT={TO}",
        f"PRIVATE={GUID.upper()}\\5",
    ]
    assert [element.format_name for element in lists.administration] == ["DIRECT=OS:host\\q"]
    assert [element.format_name for element in lists.response] == [f"DL={GUID.upper()}"]


@pytest.mark.parametrize(
    "names", [("nowhere",), ("PUBLIC=x",), (f"MACHINE={GUID};JOURNAL",), (TO,) * 513]
)
def test_wrong_lists_of_queues(names: tuple[str, ...]) -> None:
    with pytest.raises(MalformedPacket):
        received(PLAIN._replace(admin_mqf=names))


def test_a_receipt_is_correlated_with_its_message() -> None:
    about = MessageIdentifier(UUID(int=3), 9)
    for receipt in (
        Envelope(Path(TO), delivery_receipt=DeliveryReceipt(0, about)),
        Envelope(Path(TO), commitment_receipt=CommitmentReceipt(0, True, about)),
    ):
        for correlation in (bytes(20), about.serialize()):
            envelope = receipt._replace(msmq=PLAIN._replace(correlation=correlation))
            packet = packet_from_request(request_of(envelope), envelope, utc=0.0)
            assert UserMessage(packet).correlation_id == about.serialize()


def test_labels_that_are_too_long_are_malformed() -> None:
    path = Path(TO, MessageIdentifier(SOURCE, 7), f"MSMQ:{'x' * 249}")
    assert received(path=path).label == "x" * 249
    with pytest.raises(MalformedPacket, match="249"):
        received(path=path._replace(action=f"MSMQ:{'x' * 250}"))


def test_urls_of_any_length_are_kept_up_to_what_a_packet_holds() -> None:
    long = f"{TO}?{'x' * 5000}"
    assert received(path=Path(long)).destination_queue == direct_address(long)
    with pytest.raises(MalformedPacket, match="too long"):
        received(path=Path(f"{TO}?{'x' * 40_000}"))


@pytest.mark.spec("MQSRM-1.6-01")
def test_a_packet_that_is_too_large_is_malformed() -> None:
    assert received(body=bytes(4_000_000)).body == bytes(4_000_000)
    with pytest.raises(MalformedPacket, match="too large"):
        received(body=bytes(0x400000))
