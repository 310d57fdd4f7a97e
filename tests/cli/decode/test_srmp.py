"""`openmsmq decode` shows requests of SRMP in captures, and those that are damaged."""

from tests.cli.decode.captures import objects, segment, start
from tests.cli.runner import run
from tests.wire.capture import writer
from tests.wire.srmp.vectors import WIRE

REQUEST = WIRE["4.2-simple-with-msmq"].head + WIRE["4.2-simple-with-msmq"].content
RECEIPT = WIRE["4.3-3-delivery-receipt"].head + WIRE["4.3-3-delivery-receipt"].content
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def capture(*requests: bytes) -> bytes:
    """A connection with pipelined requests, the first one in two segments, and one response."""
    data = b"".join(requests)
    return writer.pcap(
        start(),
        start(back=True),
        segment(data[:700]),
        segment(data[700:], at=700),
        segment(RESPONSE, back=True),
    )


def test_a_capture_with_requests_and_a_response() -> None:
    outcome = run("decode", "--json", stdin=capture(REQUEST, RECEIPT))
    assert (outcome.code, outcome.err) == (0, "")
    packets = objects(outcome.out)
    assert [packet["packet"] for packet in packets] == [
        "SrmpMessage",
        "DeliveryReceipt",
        "HttpResponse",
    ]
    message = packets[0]["message"]
    assert message["destination_queue"].lower() == "direct=http://machine2/msmq/private$/simpleq"
    assert message["body"].startswith("<?xml")
    assert message["id"] == "{CAF195EA-615C-4264-AE08-11A4E60194C0}\\20503"
    assert packets[2]["message"] is None
    assert packets[2]["summary"] == "200 OK"


def test_a_connection_that_began_before_the_capture_is_followed() -> None:
    data = writer.pcap(
        segment(REQUEST), segment(RESPONSE, back=True), segment(RECEIPT, at=len(REQUEST))
    )
    outcome = run("decode", "--summary", stdin=data)
    assert (outcome.code, outcome.err) == (0, "")
    kinds = ("SrmpMessage", "HttpResponse", "DeliveryReceipt")
    assert all(kind in outcome.out for kind in kinds)
    assert "skipped" not in outcome.out


def test_a_request_that_is_not_of_srmp_is_no_damaged_packet() -> None:
    get = b"GET /msmq/ HTTP/1.1\r\nHost: alpha\r\n\r\n"
    data = writer.pcap(start(), segment(get), segment(REQUEST, at=len(get)))
    outcome = run("decode", "--json", stdin=data)
    packets = objects(outcome.out)
    assert [packet["packet"] for packet in packets] == ["HttpRequest", "SrmpMessage"]
    assert packets[0]["fault"] is None
    assert "HttpRequest" in run("decode", "--summary", stdin=get).out


def test_a_filter_takes_receipts() -> None:
    outcome = run(
        "decode", "--summary", "--kind", "DeliveryReceipt", stdin=capture(REQUEST, RECEIPT)
    )
    assert outcome.code == 0
    assert "acknowledges {00000000-0000-0000-0000-000000000000}\\1" in outcome.out
    assert "SrmpMessage" not in outcome.out


def test_a_file_with_a_request() -> None:
    outcome = run("decode", stdin=REQUEST)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Envelope" in outcome.out
    assert "http://machine2/msmq/private$/simpleQ" in outcome.out


def test_a_damaged_request_is_shown_with_its_fault() -> None:
    damaged = REQUEST.replace(b"<Priority>3", b"<Priority>9")
    outcome = run("decode", "--json", stdin=capture(damaged))
    assert outcome.code == 1
    request, _ = objects(outcome.out)
    assert request["fault"]["field"] == "Msmq.Priority"
    assert request["message"] is None
