"""What a server makes of the bytes of well-behaved clients."""

import pytest
from tests.protocol.http.clients import START, Client, chunked, post

from openmsmq.protocol.http import CloseReason

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.spec("MQSRM-2.1.1-01", "MQSRM-4.3-01")
def test_a_post_is_handed_over_and_answered_without_a_body() -> None:
    client = Client().send(post(b"<e/>"))
    request = client.requests[0]
    assert (request.target, request.content_type) == (b"/msmq/private$/orders", b"text/xml")
    assert (request.body, request.address, request.secure) == (b"<e/>", "10.0.0.1", False)
    assert client.output == b""
    assert client.answer(200).output == OK
    assert client.closed is None


def test_requests_of_one_read_are_handed_over_together_and_answered_in_order() -> None:
    client = Client().send(post(b"1") + post(b"2") + post(b"3"))
    first, second, third = client.requests
    client.server.answer(third, 500)
    client.server.answer(second, 400)
    assert client.look().output == b""
    client.server.answer(first, 200)
    assert client.look().statuses == [200, 400, 500]


def test_requests_of_all_connections_are_handed_over_together() -> None:
    one = Client()
    other = Client(one.server)
    one.server.receive_data(one.number, post(b"1"), now=1.0)
    other.server.receive_data(other.number, post(b"2"), now=1.0)
    assert [request.body for request in one.server.take_requests()] == [b"1", b"2"]
    assert one.server.take_requests() == []


@pytest.mark.parametrize("whole", [post(b"abc"), chunked(b"ab", b"c"), chunked(b"", end=b"\r\n")])
def test_requests_may_be_split_at_every_byte(whole: bytes) -> None:
    reference = Client().send(whole + post(b"next")).requests
    client = Client()
    for at in range(len(whole)):
        client.send(whole[at : at + 1])
    client.send(post(b"next"))
    assert client.bodies == [request.body for request in reference]
    assert [request.head for request in client.requests] == [each.head for each in reference]


def test_every_two_pieces_of_requests_give_the_same() -> None:
    whole = post(b"one") + chunked(b"two", b"three", end=b"0\r\nTrailer: x\r\n\r\n") + post(b"")
    for at in range(1, len(whole)):
        client = Client().send(whole[:at]).send(whole[at:])
        assert client.bodies == [b"one", b"twothree", b""], at


def test_the_head_is_the_one_that_came() -> None:
    client = Client().send(post(b"abc", b'SOAPAction: "MSMQMessage"'))
    assert client.requests[0].head + b"abc" == post(b"abc", b'SOAPAction: "MSMQMessage"')


def test_the_head_of_a_chunked_request_has_its_length_and_no_trailers() -> None:
    client = Client().send(chunked(b"ab", b"cde", end=b"0\r\nContent-Type: other\r\n\r\n"))
    request = client.requests[0]
    assert request.body == b"abcde"
    assert request.content_type == b"text/xml"
    assert request.head == START + b"Content-Length: 5\r\n\r\n"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"http://example/msmq/orders?s=1", b"/msmq/orders?s=1"),
        (b"HTTPS://example:8443/MSMQ/orders", b"/MSMQ/orders"),
        (b"/msmq\\private$\\orders", b"/msmq\\private$\\orders"),
        (b"/msmq", b"/msmq"),
        (b"/Msmq?x", b"/Msmq?x"),
    ],
)
def test_targets_below_msmq_are_taken_in_every_form(target: bytes, path: bytes) -> None:
    client = Client().send(post(b"x").replace(b"/msmq/private$/orders", target))
    assert client.requests[0].target == path


@pytest.mark.parametrize(
    "target", [b"/", b"/msmqx/q", b"/other/msmq/q", b"http://msmq", b"http://host/q", b"*"]
)
def test_targets_outside_msmq_are_not_found(target: bytes) -> None:
    request = post(b"x").replace(b"/msmq/private$/orders", target)
    client = Client().send(request + post(b"next"))
    assert client.statuses == [404]
    assert client.bodies == [b"next"]


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"PUT", b"DELETE", b"OPTIONS"])
def test_methods_other_than_post_are_not_allowed(method: bytes) -> None:
    client = Client().send(post(b"x").replace(b"POST", method) + post(b"next"))
    assert client.output.startswith(b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\n")
    assert client.bodies == [b"next"]


def test_a_post_without_a_length_needs_one() -> None:
    client = Client().send(START + b"\r\n" + post(b"next"))
    assert client.statuses == [411]
    assert client.bodies == [b"next"]


def test_a_refused_request_is_answered_behind_those_before_it() -> None:
    client = Client().send(post(b"1") + b"GET / HTTP/1.1\r\n\r\n" + post(b"2"))
    assert client.output == b""
    client.answer(200, 200)
    assert client.statuses == [200, 404, 200]


# HTTP/1.0 and the end of connections


def test_http_1_0_is_answered_and_closed() -> None:
    client = Client().send(post(b"x").replace(b"HTTP/1.1", b"HTTP/1.0") + b"rest")
    client.answer(200)
    assert client.output == OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert client.closed is CloseReason.FINISHED


def test_http_1_0_may_keep_the_connection() -> None:
    request = post(b"x", b"Connection: Keep-Alive").replace(b"HTTP/1.1", b"HTTP/1.0")
    client = Client().send(request + request).answer(200, 200)
    kept = OK.replace(b"\r\n\r\n", b"\r\nConnection: keep-alive\r\n\r\n")
    assert client.output == kept * 2
    assert client.closed is None


def test_a_connection_is_closed_when_its_client_asks_for_it() -> None:
    client = Client().send(post(b"1") + post(b"2", b"Connection: close") + post(b"3"))
    assert client.bodies == [b"1", b"2"]
    assert client.answer(200).closed is None
    client.answer(200)
    assert client.output == OK + OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert client.closed is CloseReason.FINISHED


def test_answers_for_a_lost_connection_are_ignored() -> None:
    client = Client().send(post(b"1"))
    client.server.connection_lost(client.number)
    client.server.connection_lost(client.number)
    client.server.receive_data(client.number, post(b"2"), now=1.0)
    client.answer(200)
    assert client.output == b""
    assert client.server.data_to_send(client.number, now=1.0) == []
    assert client.server.may_read(client.number)
    assert len(client.server) == 0


def test_several_requests_are_answered_at_once() -> None:
    client = Client().send(post(b"1") + post(b"2") + post(b"3"))
    first, *others = client.requests
    client.server.answer_all(others, 200)
    assert client.look().output == b""
    client.server.answer_all([first], 400)
    assert client.look().statuses == [400, 200, 200]
    client.send(post(b"4"))
    client.server.connection_lost(client.number)
    client.server.answer_all(client.requests[-1:], 200)
    assert client.look().statuses == [400, 200, 200]


# Expect: 100-continue


def test_a_client_that_expects_it_is_told_to_continue() -> None:
    head, _, body = post(b"abc", b"Expect: 100-Continue").partition(b"abc")
    client = Client().send(head)
    assert client.output == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send(b"abc" + body).answer(200)
    assert client.statuses == [100, 200]


def test_continue_waits_for_the_answers_before_it() -> None:
    head = post(b"abc", b"Expect: 100-continue").removesuffix(b"abc")
    client = Client().send(post(b"1") + head)
    assert client.output == b""
    client.answer(200)
    assert client.statuses == [200, 100]
    assert client.send(b"abc").bodies == [b"abc"]


def test_a_body_that_came_unasked_needs_no_continue() -> None:
    client = Client().send(post(b"abc", b"Expect: 100-continue")).answer(200)
    assert client.statuses == [200]


def test_http_1_0_is_never_told_to_continue() -> None:
    request = post(b"abc", b"Expect: 100-continue").replace(b"HTTP/1.1", b"HTTP/1.0")
    client = Client().send(request.removesuffix(b"abc"))
    assert client.output == b""
    assert client.send(b"abc").bodies == [b"abc"]


@pytest.mark.parametrize(
    ("line", "status"),
    [(b"POST /elsewhere", 404), (b"PUT /msmq/private$/orders", 405)],
)
@pytest.mark.parametrize("length", [b"Content-Length: 3", b"Transfer-Encoding: chunked"])
def test_a_client_that_waits_for_continue_is_refused_before_its_body(
    line: bytes, status: int, length: bytes
) -> None:
    head = line + b" HTTP/1.1\r\nExpect: 100-continue\r\n" + length + b"\r\n\r\n"
    client = Client().send(head)
    assert client.statuses == [status]
    assert b"Connection: close\r\n" in client.output
    client.server.connection_lost(client.number)
    assert client.look().closed is CloseReason.FINISHED


@pytest.mark.parametrize("fields", [b"Content-Length: 0\r\n", b""])
def test_a_refused_request_without_a_body_keeps_its_connection(fields: bytes) -> None:
    head = b"GET /elsewhere HTTP/1.1\r\nExpect: 100-continue\r\n" + fields + b"\r\n"
    client = Client().send(head + post(b"abc")).answer(200)
    assert client.statuses == [404, 200]


def test_other_expectations_fail() -> None:
    assert Client().send(post(b"abc", b"Expect: much")).statuses == [417]


# Offers of other protocols


@pytest.mark.parametrize("connection", [b"Upgrade, HTTP2-Settings", b"upgrade, close"])
def test_an_offer_of_http_2_is_ignored(connection: bytes) -> None:
    whole = post(b"abc", b"Connection: " + connection, b"Upgrade: h2c", b"HTTP2-Settings: AAMA")
    for at in range(len(whole)):
        client = Client().send(whole[:at]).send(whole[at:] + post(b"next"))
        assert client.bodies[0] == b"abc"
        if b"close" in connection:
            client.answer(200)
            assert client.closed is CloseReason.FINISHED
        else:
            assert client.bodies == [b"abc", b"next"]


@pytest.mark.parametrize("request_line", [b"CONNECT example:443 HTTP/1.1", b"GET /msmq/q HTTP/1.1"])
def test_a_request_that_is_nothing_but_an_upgrade_ends_the_connection(request_line: bytes) -> None:
    client = Client().send(
        request_line + b"\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nother protocol"
    )
    assert client.statuses == [404 if request_line.startswith(b"CONNECT") else 405]
    assert client.closed is CloseReason.FINISHED
