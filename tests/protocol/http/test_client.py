"""Outlets, pools, pipelining and failures of the client."""

import pytest
from tests.protocol.http.hosts import DESTINATION, OK, Host, close

from openmsmq.protocol.http import CloseReason, Destination, HttpSettings
from openmsmq.wire.codes.queue_enums import ConnectionStatus

SETTINGS = HttpSettings()
OTHER = Destination("other", 80, secure=False)


@pytest.mark.spec("MQSRM-1.3.12-01", "MQSRM-4.3-02")
def test_a_request_has_the_fields_of_windows_in_their_order() -> None:
    host = Host()
    outlet = host.open()
    host.client.post(outlet, "a", "/msmq/private$/receipts", "text/xml", [b"<e>", b"</e>"])
    assert host.take() == (
        b"POST /msmq/private$/receipts HTTP/1.1\r\n"
        b"Host: example\r\n"
        b"Content-Type: text/xml\r\n"
        b"Content-Length: 7\r\n"
        b'SOAPAction: "MSMQMessage"\r\n'
        b"Proxy-Accept: NonInteractiveClient\r\n"
        b"\r\n<e></e>"
    )


def test_an_outlet_opens_when_its_host_is_connected() -> None:
    host = Host()
    outlet = host.client.open(DESTINATION)
    host.look()
    connect = host.connects[0]
    assert (connect.route.host, connect.route.port, connect.secure) == ("example", 80, False)
    assert host.opened == []
    host.accept()
    assert host.opened == [outlet]


@pytest.mark.spec("MQSRM-3.1.7.2.5-01")
def test_a_response_names_its_post() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    assert host.bodies() == [b"a"]
    assert host.answers == []
    host.respond(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nwrong")
    assert host.answers == [("a", 400)]
    host.post(outlet, "b")
    assert host.bodies() == [b"b"]
    host.respond(OK)
    assert host.answers == [("a", 400), ("b", 200)]


def test_requests_follow_each_other_once_the_host_has_answered_one() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a", "b", "c")
    assert host.bodies() == [b"a"]
    assert host.bodies() == []
    host.respond(OK)
    assert host.bodies() == [b"b", b"c"]
    host.respond(OK + OK)
    assert host.answers == [("a", 200), ("b", 200), ("c", 200)]


def test_requests_wait_for_each_other_with_http_1_0() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a", "b", "c")
    answer = b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"
    for body in (b"a", b"b", b"c"):
        assert host.bodies() == [body]
        host.respond(answer)
    assert len(host.connects) == 1


def test_an_outlet_has_room_for_a_limited_number_of_requests() -> None:
    host = Host(max_pipelined=2)
    outlet = host.open()
    assert host.client.room(outlet) == 2
    host.post(outlet, "a", "b")
    assert host.client.room(outlet) == 0
    host.take()
    host.respond(OK)
    assert host.client.room(outlet) == 1
    assert host.client.room(99) == 0


def test_each_request_names_its_own_target() -> None:
    host = Host()
    outlet = host.open()
    for target in ("/msmq/one", "/msmq/two", "/msmq/one"):
        host.client.post(outlet, target, target, "text/xml", [b"body"])
    connection = host.client._outlets[outlet].connection
    heads = [post.parts[0] for post in connection.unsent]
    assert [head.split()[1] for head in heads] == [b"/msmq/one", b"/msmq/two", b"/msmq/one"]


def test_an_outlet_has_room_for_a_limited_number_of_bytes() -> None:
    host = Host(max_pipelined_bytes=3000)
    outlet = host.open()
    host.client.post(outlet, "a", "/msmq/q", "text/xml", [b"a" * 1000])
    assert host.client.room(outlet) > 0
    host.client.post(outlet, "b", "/msmq/q", "text/xml", [b"b" * 1000, b"b" * 1000])
    assert host.client.room(outlet) == 0
    host.take()
    host.respond(OK)
    assert host.client.room(outlet) > 0
    host.take()
    host.respond(OK)
    assert host.client._outlets[outlet].unanswered_bytes == 0


def test_a_limited_number_of_requests_waits_for_responses() -> None:
    host = Host(max_pipelined=2)
    first, second = host.open(), host.open()
    host.client.close(second, now=host.now)
    host.post(first, "a")
    host.take(2)
    host.respond(OK, 2)
    host.post(first, "b", "c")
    host.client.post(first, "d", "/msmq/q", "text/xml", [b"d"])
    assert host.bodies(2) == [b"b", b"c"]
    host.respond(OK, 2)
    assert host.bodies(2) == [b"d"]


def test_a_limited_number_of_bytes_leaves_at_once() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(OK)
    for token in "bcd":
        host.client.post(outlet, token, "/msmq/q", "text/xml", [bytes(200_000)])
    assert [len(host.take()) // 200_000 for _ in range(3)] == [2, 1, 0]


# Pools


def test_outlets_share_a_small_number_of_connections() -> None:
    host = Host(max_connections_per_host=2)
    outlets = [host.client.open(DESTINATION) for _ in range(4)]
    host.client.open(OTHER)
    host.accept()
    assert [connect.host for connect in host.connects] == ["example", "example", "other"]
    assert len(host.client) == 3
    assert host.opened == [outlets[0], outlets[2], outlets[1], outlets[3], 5]
    host.post(outlets[0], "a")
    host.post(outlets[2], "c")
    assert host.bodies(2) == [b"a"]
    host.respond(OK, 2)
    assert host.bodies(2) == [b"c"]
    host.respond(OK, 2)
    assert host.answers == [("a", 200), ("c", 200)]


def test_a_connection_that_nothing_uses_is_used_again() -> None:
    host = Host()
    host.client.close(host.open(), now=host.now)
    host.wait(SETTINGS.keep_seconds - 1)
    again = host.client.open(DESTINATION)
    host.look()
    assert len(host.connects) == 1
    assert host.opened[-1] == again
    host.wait(SETTINGS.keep_seconds * 10)
    assert host.disconnects == []


def test_a_connection_that_nothing_uses_is_closed_after_a_while() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.client.close(outlet, now=host.now)
    host.client.close(outlet, now=host.now)
    host.wait(5)
    host.respond(OK)
    assert host.answers == []
    host.wait(SETTINGS.keep_seconds - 1)
    assert host.disconnects == []
    host.wait(1)
    assert [event.reason for event in host.disconnects] == [CloseReason.IDLE]
    assert len(host.client) == 0
    host.open()
    assert len(host.connects) == 2


def test_an_outlet_can_be_closed_with_its_connection() -> None:
    host = Host(max_connections_per_host=1)
    one, other = host.open(), host.open()
    host.client.close(one, now=host.now, hang_up=True)
    host.look()
    assert host.disconnects == []
    host.client.close(other, now=host.now, hang_up=True)
    host.look()
    assert [event.reason for event in host.disconnects] == [CloseReason.FINISHED]


def test_an_outlet_can_be_closed_before_it_is_connected() -> None:
    host = Host()
    outlet = host.client.open(DESTINATION)
    host.post(outlet, "a")
    host.client.close(outlet, now=host.now)
    host.accept()
    host.refuse(ConnectionStatus.CONNECT_SOCKET_FAILURE, "late")
    assert (host.opened, host.failures) == ([], [])
    assert len(host.disconnects) == 1


def test_an_outlet_without_a_connection_can_be_closed() -> None:
    host = Host()
    outlet = host.open()
    host.lose()
    host.client.close(outlet, now=host.now)
    host.open()
    assert len(host.connects) == 2


def test_posts_of_a_closed_outlet_that_wait_are_not_sent() -> None:
    host = Host(max_connections_per_host=1)
    one, other = host.open(), host.open()
    host.post(one, "a", "b")
    host.post(other, "c")
    assert host.bodies() == [b"a"]
    host.client.close(one, now=host.now)
    host.respond(OK)
    assert host.bodies() == [b"c"]
    assert host.answers == []


# Connections that end


def test_a_connection_that_is_closed_between_requests_is_made_anew() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(OK)
    host.lose()
    assert (host.failures, len(host.connects)) == ([], 1)
    host.post(outlet, "b")
    host.accept()
    assert host.bodies() == [b"b"]
    assert host.opened == [outlet]


def test_requests_behind_the_last_response_are_sent_again_in_order() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(OK)
    host.post(outlet, "b", "c", "d")
    assert host.bodies() == [b"b", b"c", b"d"]
    host.post(outlet, "e")
    host.respond(close(OK) + b"ignored")
    assert host.answers == [("a", 200), ("b", 200)]
    assert host.failures == []
    assert [event.reason for event in host.disconnects] == [CloseReason.FINISHED]
    host.accept()
    assert host.bodies() == [b"c"]
    host.respond(OK)
    assert host.bodies() == [b"d", b"e"]


def test_a_host_that_closes_after_each_response_gets_everything() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a", "b", "c")
    for body in (b"a", b"b", b"c"):
        host.accept()
        assert host.bodies() == [body]
        host.respond(b"HTTP/1.0 200 OK\r\n\r\nthe body ends with the connection")
    assert host.answers == [("a", 200), ("b", 200), ("c", 200)]
    assert len(host.client) == 0


def test_a_pool_forgets_what_ends_unused() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.client.close(outlet, now=host.now)
    host.respond(close(OK))
    host.open()
    assert len(host.connects) == 2


@pytest.mark.spec("MQSRM-3.1.2.1-01")
def test_a_connection_that_breaks_before_a_response_fails_its_senders() -> None:
    host = Host(max_connections_per_host=1)
    one, other, idle = host.open(), host.open(), host.open()
    host.post(one, "a")
    host.take()
    host.respond(OK)
    host.post(one, "b", "c")
    host.take()
    host.post(one, "d")
    host.post(other, "e")
    host.lose()
    failure = host.failures[0]
    assert (failure.outlet, failure.unanswered) == (one, ["b", "c", "d"])
    assert failure.status is ConnectionStatus.SEND_FAILURE
    assert failure.reason == "http://example closed the connection before its response"
    assert len(host.failures) == 1
    host.accept()
    assert host.bodies() == [b"e"]
    assert host.client.room(one) == 0
    assert host.client.room(idle) == SETTINGS.max_pipelined


def test_a_host_that_cannot_be_reached_fails_all_its_outlets() -> None:
    host = Host(max_connections_per_host=1)
    outlets = [host.client.open(DESTINATION) for _ in range(2)]
    host.post(outlets[1], "a")
    host.look()
    status = ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
    host.refuse(status, "the certificate has expired")
    assert [failure.outlet for failure in host.failures] == outlets
    assert [failure.unanswered for failure in host.failures] == [[], ["a"]]
    assert {failure.status for failure in host.failures} == {status}
    assert {failure.reason for failure in host.failures} == {"the certificate has expired"}
    assert len(host.client) == 0


def test_a_response_that_does_not_come_in_time_fails_the_outlet() -> None:
    host = Host()
    outlet = host.open()
    host.wait(SETTINGS.response_seconds)
    host.post(outlet, "a")
    host.take()
    host.wait(SETTINGS.response_seconds - 1)
    assert host.failures == []
    host.wait(1)
    assert host.failures[0].unanswered == ["a"]
    assert host.failures[0].reason == "no response from http://example within 60 seconds"
    assert [event.reason for event in host.disconnects] == [CloseReason.NO_RESPONSE]


def test_a_connection_that_is_lost_has_no_timer() -> None:
    host = Host()
    host.post(host.open(), "a")
    host.take()
    assert host.client.next_timer() == host.now + SETTINGS.response_seconds
    host.lose()
    assert host.client.next_timer() is None


def test_each_response_has_its_own_time() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(OK)
    host.post(outlet, "b", "c")
    host.take()
    host.wait(SETTINGS.response_seconds - 1)
    host.respond(OK)
    host.wait(SETTINGS.response_seconds - 1)
    assert host.failures == []
    host.wait(1)
    assert host.failures[0].unanswered == ["c"]


def test_a_late_response_to_a_closed_outlet_ends_the_connection() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.client.close(outlet, now=host.now)
    host.wait(SETTINGS.response_seconds)
    assert (host.failures, len(host.client)) == ([], 0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"LIOR", "Expected HTTP/"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
            "prot",
        ),
        (OK + OK, "there is no request for it"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000, "it is longer than 65536 bytes"),
    ],
)
def test_what_is_not_a_response_fails_the_outlet(data: bytes, reason: str) -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(data)
    assert [failure.unanswered for failure in host.failures] == [["a"]]
    assert reason in host.failures[0].reason
    assert [event.reason for event in host.disconnects] == [CloseReason.BAD_RESPONSE]


def test_the_body_of_a_response_has_a_limit() -> None:
    host = Host(max_response_bytes=1000)
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(b"HTTP/1.1 500 Error\r\nContent-Length: 10000\r\n\r\n")
    assert host.answers == [("a", 500)]
    host.respond(b"x" * 1000)
    assert host.disconnects == []
    host.respond(b"x")
    assert [event.reason for event in host.disconnects] == [CloseReason.BAD_RESPONSE]
    assert host.failures == []


def test_informational_responses_are_skipped() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + OK)
    assert host.answers == [("a", 200)]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_answers_like_any_other(status: int) -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    host.respond(
        b"HTTP/1.1 %d Moved\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n" % status
    )
    assert host.answers == [("a", status)]
    assert len(host.connects) == 1


def test_responses_may_be_split_at_every_byte() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    for byte in OK:
        host.respond(bytes((byte,)))
    assert host.answers == [("a", 200)]


def test_what_comes_for_a_connection_that_is_over_is_ignored() -> None:
    host = Host()
    host.client.connected(2)
    host.client.receive_data(2, OK, now=0.0)
    host.client.connection_lost(2)
    host.client.connect_failed(2, ConnectionStatus.SEND_FAILURE, "")
    assert host.client.data_to_send(2, now=0.0) == []
    host.look()
    assert (host.failures, host.disconnects) == ([], [])


def test_nothing_is_sent_before_the_connection_is_there() -> None:
    host = Host()
    outlet = host.client.open(DESTINATION)
    host.post(outlet, "a")
    host.look()
    assert host.client.take_ready() == [2]
    assert host.bodies() == []
    host.accept()
    assert host.client.take_ready() == [2]
    assert host.bodies() == [b"a"]


def test_a_client_that_stops_closes_everything() -> None:
    host = Host()
    host.open()
    host.client.stop()
    host.look()
    assert [event.reason for event in host.disconnects] == [CloseReason.STOPPED]
    assert (host.failures, len(host.client)) == ([], 0)


def test_a_pool_keeps_what_others_use() -> None:
    host = Host()
    one, other = host.open(), host.open()
    host.client.close(one, now=host.now, hang_up=True)
    host.look()
    assert [event.connection for event in host.disconnects] == [2]
    host.post(other, "a")
    assert host.bodies() == [b"a"]


def test_a_connection_that_is_over_leaves_no_timer_behind() -> None:
    host = Host()
    outlet = host.open()
    host.post(outlet, "a")
    host.take()
    assert host.client.next_timer() is not None
    host.lose()
    assert host.client.next_timer() is None
