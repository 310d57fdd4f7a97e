"""[MC-MQSRM] 2.2.2 to 2.2.7: every element of an envelope, right, wrong, missing and twice."""

from typing import Any
from uuid import UUID

import pytest
from tests.wire.srmp.xml import GUID, MSMQ, PATH, PROPERTIES, SOAP, STREAM, envelope_text, read

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import GUID_NULL, MessageIdentifier
from openmsmq.wire.srmp import (
    NEVER,
    CommitmentReceiptRequest,
    Eod,
    Path,
    Provider,
    Services,
    read_envelope,
    write_envelope,
)
from openmsmq.wire.srmp.reader import read_any_envelope

URL = "http://host/msmq/admin"


def refused(*entries: str) -> MalformedPacket:
    """The fault of an envelope with these header entries."""
    with pytest.raises(MalformedPacket) as caught:
        read(*entries)
    return caught.value


def services(text: str) -> Services:
    return read(PATH, PROPERTIES, f"<services>{text}</services>").services


@pytest.mark.spec("MQSRM-2.2.2-01")
def test_root_is_the_envelope_of_soap() -> None:
    text = envelope_text(PATH, PROPERTIES)
    assert read_any_envelope(text.replace("se:", "soap:").replace(":se=", ":soap=").encode())
    for wrong in (text.replace(SOAP, f"{SOAP}x"), text.replace("se:Envelope", "se:Letter")):
        with pytest.raises(MalformedPacket, match="root element"):
            read_any_envelope(wrong.encode())


@pytest.mark.spec("MQSRM-2.2.2-02")
def test_header_is_the_first_child() -> None:
    text = envelope_text(PATH, PROPERTIES)
    with pytest.raises(MalformedPacket, match="first element is not <Header>"):
        read_any_envelope(text.replace("<se:Header>", "<x/><se:Header>").encode())


@pytest.mark.spec("MQSRM-2.2.2-03")
@pytest.mark.parametrize("body", ["", "<x/>", "<x/><se:Body/>", "<Body/>"])
def test_body_follows_the_header(body: str) -> None:
    with pytest.raises(MalformedPacket, match="<Body>"):
        read(PATH, PROPERTIES, body=body)


@pytest.mark.parametrize("more", ["<se:Body/>", "<se:Header/>"])
def test_header_and_body_are_there_once(more: str) -> None:
    with pytest.raises(MalformedPacket, match="twice"):
        read(PATH, PROPERTIES, body=f"<se:Body/>{more}")
    assert read(PATH, PROPERTIES, body="<se:Body/><other/>")


@pytest.mark.spec("MQSRM-2.2.2-05")
def test_content_of_the_body_is_ignored() -> None:
    body = f"<se:Body>text{PATH}<x>{MSMQ}</x></se:Body>"
    assert read(PATH, PROPERTIES, body=body) == read(PATH, PROPERTIES)


@pytest.mark.spec("MQSRM-2.2.2-09")
def test_unknown_entries_are_ignored_unless_they_must_be_understood() -> None:
    known = read(PATH, PROPERTIES)
    unknown = '<x xmlns="y" se:mustUnderstand="{}"><path><to>z</to></path>text</x>'
    assert read(unknown.format(0), PATH, PROPERTIES) == known
    assert read('<x xmlns="y" mustUnderstand="1"/>', PATH, PROPERTIES) == known
    assert refused(unknown.format(1), PATH, PROPERTIES).field == "x"


@pytest.mark.spec("MQSRM-2.2.3-01")
@pytest.mark.parametrize(
    "namespace",
    [
        "http://schemas.xmlsoap.org/rp/",
        "http://schemas.xmlsoap.org/srmp/",
        "msmq.namespace.xml",
    ],
)
def test_elements_count_by_namespace(namespace: str) -> None:
    text = envelope_text(PATH, PROPERTIES, MSMQ)
    other = text.replace(namespace, f"{namespace}x").encode()
    if namespace == "msmq.namespace.xml":
        assert read_any_envelope(other).msmq is None
    else:
        with pytest.raises(MalformedPacket, match=r"is missing|must be understood"):
            read_any_envelope(other)


@pytest.mark.spec("MQSRM-2.2.3-03")
def test_prefixes_may_be_declared_anywhere() -> None:
    prefixed = (
        f'<e:Envelope xmlns:e="{SOAP}" xmlns:r="http://schemas.xmlsoap.org/rp/" '
        'xmlns:s="http://schemas.xmlsoap.org/srmp/" xmlns:m="msmq.namespace.xml"><e:Header>'
        "<s:properties><s:expiresAt> 20380119T031407 </s:expiresAt>"
        "<s:sentAt>20070719T031140</s:sentAt></s:properties>"
        f"<r:path><r:id>\n uuid:7@{GUID} </r:id><r:to>\thttp://host/msmq/q\n</r:to>"
        "<r:action><![CDATA[MSMQ:]]>&#97;</r:action></r:path>"
        f"<m:Msmq><m:TTrq>20070723T031140</m:TTrq><m:SourceQmGuid>{GUID}</m:SourceQmGuid>"
        "<m:BodyType>0</m:BodyType><m:Priority>3</m:Priority><m:Class>0</m:Class></m:Msmq>"
        "</e:Header><e:Body/></e:Envelope>"
    )
    assert read_any_envelope(prefixed.encode()) == read(PATH, PROPERTIES, MSMQ)


@pytest.mark.spec("MQSRM-2.2.5-01")
def test_entries_may_declare_their_namespace_themselves() -> None:
    text = envelope_text(PATH, PROPERTIES, STREAM, MSMQ)
    default = ' xmlns="http://schemas.xmlsoap.org/srmp/"'
    local = text.replace(default, "", 1)
    for entry in ("properties", "stream"):
        local = local.replace(f"<{entry}>", f"<{entry}{default}>")
    assert read_any_envelope(local.encode()) == read_any_envelope(text.encode())
    with pytest.raises(MalformedPacket):
        read_any_envelope(text.replace(default, "", 1).encode())


@pytest.mark.parametrize(
    ("entry", "row"),
    [
        pytest.param(PATH, "path", marks=pytest.mark.spec("MQSRM-2.2.4-01")),
        pytest.param(PROPERTIES, "properties", marks=pytest.mark.spec("MQSRM-2.2.5.1-01")),
    ],
)
def test_path_and_properties_must_be_there_once(entry: str, row: str) -> None:
    others = [each for each in (PATH, PROPERTIES, MSMQ) if each != entry]
    assert refused(*others).field == row
    assert refused(*others, entry, entry).reason == "is there twice"


@pytest.mark.parametrize("entry", [MSMQ, STREAM, "<services/>", "<streamReceipt/>"])
def test_other_entries_are_there_once(entry: str) -> None:
    assert refused(PATH, PROPERTIES, MSMQ.replace("Msmq", "x"), entry, entry).reason == (
        "is there twice"
    )


# Path


@pytest.mark.parametrize(
    "element",
    [
        pytest.param("action", marks=pytest.mark.spec("MQSRM-2.2.4.1-01")),
        pytest.param("to", marks=pytest.mark.spec("MQSRM-2.2.4.2-01")),
        pytest.param("id", marks=pytest.mark.spec("MQSRM-2.2.4.3-01")),
    ],
)
def test_children_of_path_must_be_there_once(element: str) -> None:
    missing = PATH.replace(f"<{element}>", "<x>").replace(f"</{element}>", "</x>")
    fault = refused(missing, PROPERTIES)
    assert (fault.field, fault.reason) == (f"path.{element}", "is missing")
    twice = PATH.replace("</path>", f"<{element}>x</{element}></path>")
    fault = refused(twice, PROPERTIES)
    assert (fault.field, fault.reason) == (f"path.{element}", "is there twice")


@pytest.mark.spec("MQSRM-2.2.4.1-03", "MQSRM-3.1.5.1.1-03")
def test_only_an_action_with_the_prefix_is_a_label() -> None:
    assert read(PATH, PROPERTIES).label == "a"
    assert read(PATH.replace("MSMQ:a", "MSMQ:"), PROPERTIES).label == ""
    assert read(PATH.replace("MSMQ:a", "a"), PROPERTIES).label is None
    assert read(PATH.replace("MSMQ:a", "msmq:a"), PROPERTIES).label is None


@pytest.mark.parametrize(
    "to",
    [
        pytest.param("http://h/msmq/q", marks=pytest.mark.spec("MQSRM-2.2.4.2-02")),
        pytest.param("https://h/msmq/q", marks=pytest.mark.spec("MQSRM-2.2.4.2-03")),
        pytest.param("MSMQ:MULTICAST=234.1.1.1:8001", marks=pytest.mark.spec("MQSRM-2.2.4.2-04")),
    ],
)
def test_destinations_of_each_transport(to: str) -> None:
    raw = envelope_text(PATH.replace("http://host/msmq/q", to), PROPERTIES, MSMQ).encode()
    envelope = read_envelope(raw)
    assert envelope.path.to == to
    assert f"<to>{to}</to>".encode() in write_envelope(envelope)


@pytest.mark.parametrize("to", ["", "host/msmq/q", "MSMQ:DIRECT=OS:host\\q", "ftp://host/q"])
def test_other_destinations_are_malformed(to: str) -> None:
    assert refused(PATH.replace("http://host/msmq/q", to), PROPERTIES).field == "path.to"


@pytest.mark.spec("MQSRM-2.2.4.3-02", "MQSRM-3.1.5.1.1-07")
def test_without_msmq_the_identifier_is_ignored() -> None:
    for text in ("", "anything", f"uuid:9@{GUID}"):
        envelope = read(PATH.replace(f"uuid:7@{GUID}", text), PROPERTIES)
        assert envelope.identifier == MessageIdentifier(GUID_NULL, 1)


@pytest.mark.spec("MQSRM-2.2.4.3-03", "MQSRM-3.1.5.1.1-06")
def test_with_msmq_the_identifier_must_have_its_form() -> None:
    assert read(PATH, PROPERTIES, MSMQ).identifier == MessageIdentifier(UUID(GUID), 7)
    for text in ("", "anything", f"7@{GUID}"):
        fault = refused(PATH.replace(f"uuid:7@{GUID}", text), PROPERTIES, MSMQ)
        assert fault.field == "path.id"


@pytest.mark.spec("MQSRM-2.2.4.3-05")
def test_source_of_msmq_wins_over_the_identifier() -> None:
    other = "2744e4e1-2b48-43e8-b441-42745f280d53"
    envelope = read(PATH, PROPERTIES, MSMQ.replace(GUID, other))
    assert envelope.path.id == MessageIdentifier(UUID(GUID), 7)
    assert envelope.identifier == MessageIdentifier(UUID(other), 7)


@pytest.mark.parametrize(
    ("rev", "via"),
    [
        pytest.param(f"<via>{URL}</via>", URL, marks=pytest.mark.spec("MQSRM-2.2.4.4-01")),
        pytest.param(
            "<via>MSMQ:DIRECT=OS:host\\private$\\q</via>",
            "MSMQ:DIRECT=OS:host\\private$\\q",
            marks=pytest.mark.spec("MQSRM-2.2.4.4-03"),
        ),
        pytest.param("<via/>", "", marks=pytest.mark.spec("MQSRM-2.2.4.4-04", "MQSRM-2.2.4.4-05")),
        ("<via></via>", ""),
    ],
)
def test_response_queue(rev: str, via: str) -> None:
    path = read(PATH.replace("</path>", f"<rev>{rev}</rev></path>"), PROPERTIES).path
    assert path == Path("http://host/msmq/q", via=via, action="MSMQ:a")


@pytest.mark.spec("MQSRM-2.2.4.4-02")
@pytest.mark.parametrize("rev", ["", f"<via>{URL}</via><via>{URL}</via>", "<via/><via/>"])
def test_reverse_path_has_one_via(rev: str) -> None:
    assert refused(PATH.replace("</path>", f"<rev>{rev}</rev></path>"), PROPERTIES).field == (
        "rev.via"
    )


@pytest.mark.spec("MQSRM-2.2.4.5-01")
def test_other_elements_of_routing_are_ignored() -> None:
    more = (
        "<fwd><via>x</via></fwd><from>x</from><relatesTo>x</relatesTo><fault><code>1</code></fault>"
    )
    path = PATH.replace("<action>", f"{more}<action>").replace("</path>", f"{more}</path>")
    assert read(path, PROPERTIES) == read(PATH, PROPERTIES)


# Properties and services


@pytest.mark.spec("MQSRM-2.2.5.1.1-01")
@pytest.mark.parametrize("expires", ["", "<expiresAt/>", "<expiresAt>tomorrow</expiresAt>"])
def test_expiry_must_be_a_date(expires: str) -> None:
    assert refused(PATH, f"<properties>{expires}</properties>").field == "properties.expiresAt"


@pytest.mark.spec("MQSRM-2.2.5.1.2-01", "MQSRM-3.1.5.1.1-10")
def test_time_of_sending_may_be_absent() -> None:
    assert read(PATH, PROPERTIES).properties == (NEVER, 1184814700)
    text = "<properties><expiresAt>20070101T000000</expiresAt></properties>"
    assert read(PATH, text).properties == (1167609600, None)
    wrong = text.replace("</properties>", "<sentAt>now</sentAt></properties>")
    assert refused(PATH, wrong).field == "properties.sentAt"


@pytest.mark.spec("MQSRM-2.2.5.1.3-01")
def test_in_reply_to_is_ignored() -> None:
    text = PROPERTIES.replace("</properties>", "<inReplyTo>x</inReplyTo></properties>")
    assert read(PATH, text) == read(PATH, PROPERTIES)


@pytest.mark.spec("MQSRM-2.2.5.2.1-01")
def test_durable_makes_a_message_recoverable() -> None:
    assert services("<durable/>") == Services(durable=True)
    assert services("") == Services()
    assert read(PATH, PROPERTIES, "<services><durable/></services>").durable
    assert not read(PATH, PROPERTIES).durable


@pytest.mark.spec("MQSRM-2.2.5.2.1-02")
def test_a_stream_implies_durable() -> None:
    assert read(PATH, PROPERTIES, STREAM, MSMQ).durable


@pytest.mark.spec("MQSRM-2.2.5.2.2-01")
def test_delivery_receipts_go_to_a_url() -> None:
    text = "<deliveryReceiptRequest>{}</deliveryReceiptRequest>"
    assert services(text.format(f"<sendTo> {URL}\n</sendTo>")).delivery_receipt_to == URL
    for wrong in ("", "<sendTo/>", "<sendTo>OS:host\\q</sendTo>"):
        fault = refused(PATH, PROPERTIES, f"<services>{text.format(wrong)}</services>")
        assert fault.field == "deliveryReceiptRequest.sendTo"


@pytest.mark.spec("MQSRM-2.2.5.2.3-01", "MQSRM-4.3-06")
@pytest.mark.parametrize(
    ("text", "positive", "negative"),
    [
        ("", False, False),
        ("<positiveOnly/>", True, False),
        ("<negativeOnly/>", False, True),
        ("<negativeOnly/><positiveOnly/>", True, True),
    ],
)
def test_commitment_receipts(text: str, *, positive: bool, negative: bool) -> None:
    sent = f"<commitmentReceiptRequest>{text}<sendTo>{URL}</sendTo></commitmentReceiptRequest>"
    request = CommitmentReceiptRequest(URL, positive, negative)
    assert services(sent).commitment_receipt_request == request
    wrong = sent.replace(URL, "nowhere")
    assert refused(PATH, PROPERTIES, f"<services>{wrong}</services>").field == (
        "commitmentReceiptRequest.sendTo"
    )


# Streams and receipts


@pytest.mark.spec("MQSRM-2.2.5.3-01")
def test_both_spellings_of_stream_are_accepted() -> None:
    capital = STREAM.replace("stream>", "Stream>")
    assert read(PATH, PROPERTIES, capital, MSMQ) == read(PATH, PROPERTIES, STREAM, MSMQ)
    assert refused(PATH, PROPERTIES, STREAM, capital, MSMQ).reason == "is there twice"


@pytest.mark.spec("MQSRM-2.2.5.3-02")
def test_a_stream_needs_msmq() -> None:
    assert refused(PATH, PROPERTIES, STREAM).field == "stream"


@pytest.mark.spec("MQSRM-2.2.5.3.1-01", "MQSRM-2.2.5.3.1-02", "MQSRM-3.1.5.1.1-15")
def test_place_in_a_stream() -> None:
    text = STREAM.replace("</current>", "</current><previous>1</previous>")
    stream = read(PATH, PROPERTIES, text, MSMQ).stream
    assert stream is not None
    assert stream == ((UUID(GUID), 4839986701558349830), 2, 1, "")
    assert stream.stream_id.tx_sequence_id == (0x432B1643, 6)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        pytest.param(
            "<current>2</current>",
            "",
            "stream.current",
            marks=pytest.mark.spec("MQSRM-2.2.5.3.2-01"),
        ),
        ("<current>2", "<current>0", "stream.current"),
        ("<current>2", "<current>4294967296", "stream.current"),
        ("<current>2", "<current>-2", "stream.current"),
        ("streamId>", "x>", "stream.streamId"),
        ("uid:", "uuid:", "stream.streamId"),
        ("</current>", "</current><previous>x</previous>", "stream.previous"),
        ("</current>", "</current><start/>", "start.sendReceiptsTo"),
    ],
)
def test_wrong_places_in_streams(old: str, new: str, field: str) -> None:
    assert refused(PATH, PROPERTIES, STREAM.replace(old, new), MSMQ).field == field


@pytest.mark.spec("MQSRM-2.2.5.3.4-03", "MQSRM-2.2.5.3.4-04", "MQSRM-4.4-01")
def test_start_names_where_receipts_go() -> None:
    start = (
        f"<start><expiresAt>x</expiresAt><sendReceiptsTo>\n  {URL}?s=1\n</sendReceiptsTo></start>"
    )
    text = STREAM.replace("</stream>", f"{start}<streamReceiptRequest/><end/></stream>")
    stream = read(PATH, PROPERTIES, text, MSMQ).stream
    assert stream is not None
    assert stream.send_receipts_to == f"{URL}?s=1"


RECEIPTS = {
    "deliveryReceipt": f"<receivedAt>20070719T032454</receivedAt><id>uuid:1@{GUID}</id>",
    "commitmentReceipt": (
        f"<decidedAt>20070719T032721</decidedAt><decision>negative</decision><id>uuid:1@{GUID}</id>"
    ),
    "streamReceipt": f"<streamId>uid:{GUID}\\5</streamId><lastOrdinal>2</lastOrdinal>",
}


def receipt(element: str, content: str) -> str:
    return f"<{element}>{content}</{element}>"


def test_receipts() -> None:
    texts = [receipt(*item) for item in RECEIPTS.items()]
    envelope = read(PATH, PROPERTIES, *texts, MSMQ)
    identifier = MessageIdentifier(UUID(GUID), 1)
    assert envelope.delivery_receipt == (1184815494, identifier)
    assert envelope.commitment_receipt == (1184815641, False, identifier)
    assert envelope.stream_receipt == ((UUID(GUID), 5), 2)


@pytest.mark.parametrize(
    ("element", "child"),
    [
        pytest.param("deliveryReceipt", "receivedAt", marks=pytest.mark.spec("MQSRM-2.2.5.4-01")),
        pytest.param("deliveryReceipt", "id", marks=pytest.mark.spec("MQSRM-2.2.5.4-02")),
        pytest.param("commitmentReceipt", "decidedAt", marks=pytest.mark.spec("MQSRM-2.2.5.5-02")),
        pytest.param("commitmentReceipt", "decision", marks=pytest.mark.spec("MQSRM-2.2.5.5-03")),
        pytest.param("commitmentReceipt", "id", marks=pytest.mark.spec("MQSRM-2.2.5.5-04")),
        pytest.param("streamReceipt", "streamId", marks=pytest.mark.spec("MQSRM-2.2.5.6-01")),
        pytest.param("streamReceipt", "lastOrdinal", marks=pytest.mark.spec("MQSRM-2.2.5.6-02")),
    ],
)
def test_children_of_receipts_must_be_there_and_right(element: str, child: str) -> None:
    right = RECEIPTS[element]
    missing = right.replace(f"{child}>", "x>")
    wrong = right.replace(f"<{child}>", f"<{child}>?")
    for content in (missing, wrong):
        fault = refused(PATH, PROPERTIES, receipt(element, content), MSMQ)
        assert fault.field == f"{element}.{child}"


# Msmq


def msmq_with(text: str) -> str:
    return MSMQ.replace("</Msmq>", f"{text}</Msmq>")


@pytest.mark.spec("MQSRM-2.2.6-02")
def test_msmq_may_be_absent() -> None:
    assert read(PATH, PROPERTIES).msmq is None


@pytest.mark.parametrize(
    "element",
    [
        pytest.param("Class", marks=pytest.mark.spec("MQSRM-2.2.6.1-01")),
        pytest.param("Priority", marks=pytest.mark.spec("MQSRM-2.2.6.2-01")),
        pytest.param("BodyType", marks=pytest.mark.spec("MQSRM-2.2.6.9-01")),
        pytest.param("SourceQmGuid", marks=pytest.mark.spec("MQSRM-2.2.6.13-01")),
        pytest.param("TTrq", marks=pytest.mark.spec("MQSRM-2.2.6.17-01")),
    ],
)
def test_required_children_of_msmq(element: str) -> None:
    fault = refused(PATH, PROPERTIES, MSMQ.replace(f"{element}>", "x>"))
    assert (fault.field, fault.reason) == (f"Msmq.{element}", "is missing")
    fault = refused(PATH, PROPERTIES, msmq_with(f"<{element}/>"))
    assert (fault.field, fault.reason) == (f"Msmq.{element}", "is there twice")
    wrong = MSMQ.replace(f"<{element}>", f"<{element}>?")
    assert refused(PATH, PROPERTIES, wrong).field == f"Msmq.{element}"


@pytest.mark.spec("MQSRM-2.2.6.2-01")
def test_priority_is_at_most_seven() -> None:
    for priority in ("0", "7"):
        msmq = read(PATH, PROPERTIES, MSMQ.replace("<Priority>3", f"<Priority>{priority}")).msmq
        assert msmq is not None
        assert msmq.priority == int(priority)
    fault = refused(PATH, PROPERTIES, MSMQ.replace("<Priority>3", "<Priority>8"))
    assert fault.field == "Msmq.Priority"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        pytest.param("<Journal/>", "journal", True, marks=pytest.mark.spec("MQSRM-2.2.6.3-01")),
        pytest.param(
            "<DeadLetter/>", "dead_letter", True, marks=pytest.mark.spec("MQSRM-2.2.6.4-01")
        ),
        pytest.param(
            "<Correlation>AAAAAAAAAAAAAAAAAAAAAAEAAAA=</Correlation>",
            "correlation",
            bytes(16) + b"\1\0\0\0",
            marks=pytest.mark.spec("MQSRM-2.2.6.5-01"),
        ),
        pytest.param("<Trace/>", "trace", True, marks=pytest.mark.spec("MQSRM-2.2.6.6-01")),
        pytest.param(
            f"<ConnectorType>{GUID}</ConnectorType>",
            "connector_type",
            UUID(GUID),
            marks=pytest.mark.spec("MQSRM-2.2.6.7-01"),
        ),
        pytest.param("<App>36</App>", "app", 36, marks=pytest.mark.spec("MQSRM-2.2.6.8-01")),
        pytest.param(
            "<HashAlgorithm>32772</HashAlgorithm>",
            "hash_algorithm",
            0x8004,
            marks=pytest.mark.spec("MQSRM-2.2.6.10-01"),
        ),
        pytest.param(
            f"<Eod><Last/><First/><ConnectorId>{GUID}</ConnectorId></Eod>",
            "eod",
            Eod(first=True, last=True, connector_id=UUID(GUID)),
            marks=pytest.mark.spec("MQSRM-2.2.6.11-01"),
        ),
        ("<Eod/>", "eod", Eod()),
        pytest.param(
            "<Provider><Type>1234</Type><Name>ProviderName</Name></Provider>",
            "provider",
            Provider(1234, "ProviderName"),
            marks=pytest.mark.spec("MQSRM-2.2.6.12-01"),
        ),
        pytest.param(
            "<DestinationMqf>\nhttp://a/msmq/q\r\n\thttp://b/msmq/q </DestinationMqf>",
            "destination_mqf",
            ("http://a/msmq/q", "http://b/msmq/q"),
            marks=pytest.mark.spec("MQSRM-2.2.6.14-01"),
        ),
        pytest.param(
            "<AdminMqf>http://a/msmq/q http://b/msmq/q</AdminMqf>",
            "admin_mqf",
            ("http://a/msmq/q", "http://b/msmq/q"),
            marks=pytest.mark.spec("MQSRM-2.2.6.15-01", "MQSRM-3.1.5.1.1-23"),
        ),
        pytest.param(
            "<ResponseMqf>http://a/msmq/q</ResponseMqf>",
            "response_mqf",
            ("http://a/msmq/q",),
            marks=pytest.mark.spec("MQSRM-2.2.6.16-01"),
        ),
        ("<ResponseMqf> \n</ResponseMqf>", "response_mqf", ()),
    ],
)
# Any: a value of each type.
def test_optional_children_of_msmq(text: str, name: str, value: Any) -> None:
    without = read(PATH, PROPERTIES, MSMQ).msmq
    envelope = read(PATH, PROPERTIES, msmq_with(text))
    assert envelope.msmq is not None
    assert without is not None
    assert getattr(envelope.msmq, name) == value
    assert envelope.msmq == without._replace(**{name: value})
    assert read_envelope(write_envelope(envelope)) == envelope
    element = text[1 : text.index(">")].rstrip("/")
    assert refused(PATH, PROPERTIES, msmq_with(text * 2)).field == f"Msmq.{element}"


def test_an_empty_eod_is_written_without_text() -> None:
    written = write_envelope(read(PATH, PROPERTIES, msmq_with("<Eod>text</Eod>")))
    assert b"<Eod></Eod>" in written


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("<Correlation>AAAA</Correlation>", "Msmq.Correlation"),
        ("<ConnectorType>x</ConnectorType>", "Msmq.ConnectorType"),
        ("<App>4294967296</App>", "Msmq.App"),
        ("<HashAlgorithm>-1</HashAlgorithm>", "Msmq.HashAlgorithm"),
        ("<Eod><ConnectorId/></Eod>", "Eod.ConnectorId"),
        ("<Provider><Name>x</Name></Provider>", "Provider.Type"),
        ("<Provider><Type>1</Type></Provider>", "Provider.Name"),
    ],
)
def test_wrong_children_of_msmq(text: str, field: str) -> None:
    assert refused(PATH, PROPERTIES, msmq_with(text)).field == field


@pytest.mark.parametrize(
    "signature",
    [
        '<Signature xmlns="http://www.w3.org/2000/02/xmldsig#"><SignedInfo/>\n</Signature>',
        "<d:Signature xmlns:d='http://www.w3.org/2000/02/xmldsig#'>x</d:Signature >",
        '<Signature xmlns="http://www.w3.org/2000/02/xmldsig#" a=">"/>',
    ],
)
def test_signature_is_kept_byte_for_byte(signature: str) -> None:
    envelope = read(PATH, PROPERTIES, MSMQ, signature)
    assert envelope.signature == signature.encode()
    assert read_envelope(write_envelope(envelope)) == envelope
    assert refused(PATH, PROPERTIES, MSMQ, signature, signature).field == "Signature"
