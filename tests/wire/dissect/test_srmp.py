"""HTTP messages that carry SRMP, as trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.srmp.vectors import EXPECTED, WIRE

from openmsmq.wire.dissect import dissect_http, message_of_request, summarize_http

NAMES = {
    "user": "SrmpMessage",
    "user, stream": "SrmpMessage",
    "delivery receipt": "DeliveryReceipt",
    "commitment receipt": "CommitmentReceipt",
    "stream receipt": "StreamReceipt",
}


def request(name: str) -> bytes:
    return WIRE[name].head + WIRE[name].content


@pytest.mark.parametrize("name", EXPECTED)
def test_every_example_has_a_name_and_no_fault(name: str) -> None:
    root = dissect_http(request(name))
    assert root.name == NAMES[EXPECTED[name]["kind"]]
    assert root.first_fault() is None
    message = message_of_request(request(name))
    assert message is not None
    assert str(message.identifier) in root.meaning
    assert summarize_http(request(name)) == (root.name, root.meaning, None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "4.1-simple",
            (
                'to http://machine2/msmq/private$/simpleq, "mqsender label", MQMSG_CLASS_NORMAL, '
                "13 bytes VT_EMPTY, express, id {00000000-0000-0000-0000-000000000000}\\1"
            ),
        ),
        ("4.4-3-stream-message-2", "transactional 2 (after 0)"),
        ("4.3-3-delivery-receipt", "acknowledges {00000000-0000-0000-0000-000000000000}\\1"),
        (
            "4.4-2-stream-receipt-1",
            (
                "acknowledges up to 1 of stream 4839986701558349830 of "
                "{2744E4E1-2B48-43E8-B441-42745F280D53}"
            ),
        ),
        ("4.3-5-commitment-receipt", "acknowledges {00000000-0000-0000-0000-000000000000}\\1"),
    ],
)
def test_lines(name: str, text: str) -> None:
    assert text in dissect_http(request(name)).meaning


def test_a_negative_receipt_and_a_durable_message() -> None:
    data = request("4.3-5-commitment-receipt")
    negative = data.replace(b">positive<", b">negative<").replace(b">16384<", b">49153<")
    assert "reports the failure of {0" in dissect_http(negative).meaning
    durable = b'<services se:mustUnderstand="1"><durable/></services><Msmq '
    data = request("4.5-pgm").replace(b"<Msmq ", durable)
    data = data.replace(b"Content-Length: 1067", b"Content-Length: 1120")
    data = data.replace(b"Content-Length: 779", b"Content-Length: 832")
    assert "recoverable" in dissect_http(data).meaning


def test_values_of_the_envelope() -> None:
    data = request("4.3-1-request")
    root = dissect_http(data)
    envelope = root.find("Envelope")
    assert envelope is not None
    assert isinstance(envelope.value, str)
    assert envelope.value.encode() == data[envelope.offset : envelope.offset + envelope.size]
    to = envelope.find("path", "to")
    assert to is not None
    assert to.value == "http://machine2/msmq/private$/simpleq"
    expires = envelope.find("properties", "expires_at")
    assert expires is not None
    assert (expires.value, expires.meaning) == (1184901892, "20070720T032452")
    durable = envelope.find("services", "durable")
    assert durable is not None
    assert (durable.value, durable.meaning) == (0, "no")
    body = root.find("Body")
    assert body is not None
    assert body.value == b"Both delivery and commitment receipt requests"
    host = root.find("Head", "Host")
    assert host is not None
    assert data[host.offset : host.offset + host.size] == b"Host: machine2"
    assert host.value == "machine2"


def test_values_of_msmq() -> None:
    data = request("4.2-simple-with-msmq")
    lists = b"<DestinationMqf>http://a/msmq/q http://b/msmq/q</DestinationMqf><TTrq>"
    data = data.replace(b"<TTrq>", lists)
    data = data.replace(b"Content-Length: 1272", b"Content-Length: 1336")
    data = data.replace(b"Content-Length: 774", b"Content-Length: 838")
    msmq = dissect_http(data).find("Envelope", "msmq")
    assert msmq is not None
    shown = {node.name: (node.value, node.meaning) for node in msmq.children}
    assert shown["destination_mqf"] == ("http://a/msmq/q http://b/msmq/q", "")
    assert shown["message_class"] == (0, "MQMSG_CLASS_NORMAL")
    assert shown["source_qm_guid"] == ("{CAF195EA-615C-4264-AE08-11A4E60194C0}", "")
    assert shown["correlation"] == (bytes(20), "")
    assert shown["priority"] == (3, "")
    expires = dissect_http(data).find("Envelope", "properties", "expires_at")
    assert expires is not None
    assert expires.meaning == "never"


@pytest.mark.parametrize("content", [b"", b"sorry"])
def test_responses(content: bytes) -> None:
    head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % len(content)
    root = dissect_http(head + content)
    assert (root.name, root.meaning) == ("HttpResponse", "400 Bad Request")
    shown = root.find("Content")
    assert (shown.value if shown else b"") == content
    assert message_of_request(head + content) is None


def test_a_request_that_is_not_of_srmp_is_whole() -> None:
    data = b"GET /status HTTP/1.1\r\nHost: alpha\r\n\r\n"
    root = dissect_http(data)
    assert (root.name, root.first_fault()) == ("HttpRequest", None)
    assert root.meaning == "GET /status HTTP/1.1, not of SRMP"
    assert message_of_request(data) is None


def test_a_fault_is_shown_at_its_place() -> None:
    data = request("4.2-simple-with-msmq").replace(b"<Priority>3", b"<Priority>9")
    root = dissect_http(data)
    fault = root.first_fault()
    assert fault is not None
    assert fault.field == "Msmq.Priority"
    assert fault.offset == data.index(b"<Priority>")
    assert root.name == "HttpMessage"
    assert message_of_request(data) is None


@given(st.integers(0, 1400), st.binary(max_size=3))
def test_damaged_requests_have_a_tree(at: int, piece: bytes) -> None:
    data = request("4.2-simple-with-msmq")
    damaged = data[:at] + piece + data[at + 2 :]
    root = dissect_http(damaged)
    assert (message_of_request(damaged) is None) == (
        root.first_fault() is not None or root.name == "HttpResponse"
    )
    cut = dissect_http(data[:at])
    assert cut.first_fault() is not None
