"""What a server makes of hostile clients: a 4xx, or the end of the connection."""

import pytest
from tests.protocol.http.clients import START, Client, chunked, post

from openmsmq.protocol.http import CloseReason, HttpSettings
from openmsmq.protocol.http.server import HttpServer
from openmsmq.protocol.http.server_connection import TRANSITIONS, Input, State

ENDLESS = b"POST /msmq/q HTTP/1.1\r\nX: "
SETTINGS = HttpSettings()


def refused(client: Client, status: int) -> None:
    """The client got this status last, and the connection ends after a while."""
    assert client.statuses[-1:] == [status]
    assert b"Connection: close\r\n" in client.output
    before = client.output
    client.send(post(b"ignored"))
    assert (client.requests, client.output) == ([], before)
    client.wait(SETTINGS.linger_seconds)
    assert client.closed is not None
    assert len(client.server) == 0


BAD = {
    "two lengths": START + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "two different lengths": START + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a length and chunks": START + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    "a length that is a word": START + b"Content-Length: three\r\n\r\nabc",
    "a negative length": START + b"Content-Length: -3\r\n\r\nabc",
    "a length beyond 64 bits": START + b"Content-Length: 99999999999999999999\r\n\r\n",
    "another transfer coding": START + b"Transfer-Encoding: gzip\r\n\r\n",
    "two transfer codings": START + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a chunk size that is a word": START + b"Transfer-Encoding: chunked\r\n\r\nword\r\n",
    "a chunk that is too long": START + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
    "a chunk size beyond 64 bits": START + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17,
    "a bad chunk of the last request": START
    + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nword\r\n",
    "TLS": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/3.7": b"POST /msmq/q HTTP/3.7\r\n\r\n",
    "no HTTP": b"LIOR\0\0\0\0",
    "a folded field": START + b"X: a\r\n b\r\n\r\n",
    "a field name with a blank": START + b"X : a\r\n\r\n",
    "NUL in a field": START + b"X: \0\r\n\r\n",
    "bare line feeds": b"POST /msmq/q HTTP/1.1\nContent-Length: 0\n\n",
    "a target with a NUL": b"POST /msmq/\0 HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_requests_are_answered_400_and_end_the_connection(name: str) -> None:
    refused(Client().send(BAD[name]), 400)


def test_a_client_that_leaves_with_its_refusal_is_known_as_faulty() -> None:
    client = Client().send(START + b"Transfer-Encoding: gzip\r\n\r\n")
    assert client.statuses == [400]
    client.server.connection_lost(client.number)
    assert client.look().closed is CloseReason.MALFORMED
    assert client.detail == "a transfer coding other than chunked"
    assert client.server.counters.closed == {CloseReason.MALFORMED: 1}


@pytest.mark.parametrize("name", BAD)
def test_malformed_bytes_behind_a_request_do_not_harm_it(name: str) -> None:
    client = Client().send(post(b"good") + BAD[name])
    assert client.bodies == [b"good"]
    assert client.output == b""
    client.answer(200)
    assert client.statuses == [200, 400]
    refused(client, 400)


@pytest.mark.parametrize("length", [SETTINGS.max_body_bytes + 1, 10_000_000_000])
def test_a_body_that_is_announced_too_large_is_not_read(length: int) -> None:
    refused(Client().send(START + b"Content-Length: %d\r\n\r\n" % length), 413)


def test_a_body_that_is_announced_too_large_is_not_continued() -> None:
    fields = b"Expect: 100-continue\r\nContent-Length: 10000000000\r\n\r\n"
    refused(Client().send(START + fields), 413)


def test_a_body_of_the_largest_size_is_taken() -> None:
    client = Client(max_body_bytes=100).send(post(b"x" * 100)).send(chunked(b"x" * 60, b"x" * 40))
    assert client.bodies == [b"x" * 100] * 2
    refused(client.answer(200, 200).send(chunked(b"x" * 60, b"x" * 41)), 413)


def test_the_body_of_a_refused_request_has_the_same_limit() -> None:
    client = Client(max_body_bytes=100).send(
        chunked(b"x" * 60, b"x" * 41).replace(b"/msmq/", b"/other/")
    )
    refused(client, 413)


def test_a_target_of_megabytes_is_too_long() -> None:
    refused(Client().send(b"POST /msmq/" + b"a" * 4_000_000), 414)
    client = Client()
    for _ in range(100):
        client.send(b"POST /msmq/" + b"a" * 1000 if client.output == b"" else b"")
        if client.output:
            break
        client.send(b"a" * 8000)
    refused(client, 414)


def test_a_target_of_the_largest_size_is_taken() -> None:
    target = b"/msmq/".ljust(SETTINGS.max_target_bytes, b"a")
    client = Client().send(post(b"").replace(b"/msmq/private$/orders", target))
    assert client.requests[0].target == target
    target += b"a"
    refused(Client().send(post(b"").replace(b"/msmq/private$/orders", target)), 414)


def test_a_field_of_megabytes_is_too_large() -> None:
    refused(Client().send(ENDLESS + b"a" * 4_000_000 + b"\r\n\r\n"), 431)


def test_a_field_that_never_ends_is_too_large() -> None:
    client = Client().send(ENDLESS)
    fed = 0
    while not client.output:
        client.send(b"a" * 1000)
        fed += 1000
        assert fed < 100_000
    refused(client, 431)


@pytest.mark.parametrize("number", [SETTINGS.max_headers + 1, 50_000])
def test_too_many_fields_are_refused(number: int) -> None:
    refused(Client().send(b"POST /msmq/q HTTP/1.1\r\n" + b"a: b\r\n" * (number + 1)), 431)


def test_as_many_fields_as_allowed_are_taken() -> None:
    fields = [b"a: b"] * (SETTINGS.max_headers - 3)
    assert Client().send(post(b"x", *fields)).bodies == [b"x"]
    refused(Client().send(post(b"x", *fields, b"a: b")), 431)


def test_trailers_count_as_fields() -> None:
    refused(Client().send(chunked(b"x", end=b"0\r\n" + b"a: b\r\n" * 200)), 431)


def test_chunk_extensions_that_never_end_are_refused() -> None:
    client = Client().send(START + b"Transfer-Encoding: chunked\r\n\r\n1;")
    fed = 0
    while not client.output:
        client.send(b"a" * 1000)
        fed += 1000
        assert fed < 100_000
    refused(client, 400)


def test_small_chunks_are_taken() -> None:
    whole = chunked(*[b"x"] * 50_000)
    client = Client()
    for at in range(0, len(whole), 1000):
        client.send(whole[at : at + 1000])
    assert client.bodies == [b"x" * 50_000]


# Memory


def test_reading_pauses_while_too_many_requests_wait() -> None:
    client = Client(max_unanswered=3).send(post(b"1") * 2)
    assert client.server.may_read(client.number)
    client.send(post(b"1"))
    assert not client.server.may_read(client.number)
    client.answer(200)
    assert client.server.may_read(client.number)


def test_reading_pauses_while_too_many_bytes_wait() -> None:
    client = Client(max_unanswered_bytes=100).send(post(b"x" * 100))
    assert not client.server.may_read(client.number)
    client.answer(200)
    assert client.server.may_read(client.number)


def test_reading_pauses_while_answers_are_not_taken() -> None:
    client = Client(max_output_bytes=50)
    client.server.receive_data(client.number, b"GET / HTTP/1.1\r\n\r\n" * 2, now=1.0)
    assert not client.server.may_read(client.number)
    assert client.look().statuses == [404, 404]
    assert client.server.may_read(client.number)


def test_reading_pauses_at_the_limit_of_answers_and_not_below_it() -> None:
    request = b"GET / HTTP/1.1\r\n\r\n"
    client = Client()
    client.server.receive_data(client.number, request, now=1.0)
    size = len(b"".join(client.server.data_to_send(client.number, now=1.0)))
    for limit, reads in ((size, False), (size + 1, True)):
        client = Client(max_output_bytes=limit)
        client.server.receive_data(client.number, request, now=1.0)
        assert client.server.may_read(client.number) is reads


def test_requests_beyond_the_memory_of_the_server_are_answered_503() -> None:
    one = Client(max_total_bytes=100).send(post(b"x" * 60))
    other = Client(one.server).send(post(b"x" * 30))
    assert other.bodies == [b"x" * 30]
    other.send(post(b"x" * 10) + post(b"x"))
    assert other.bodies == [b"x" * 30]
    assert other.answer(200).statuses == [200, 503, 503]
    assert other.send(post(b"x")).bodies == [b"x"]
    other.answer(200)
    one.answer(200)
    assert Client(one.server).send(post(b"x" * 100)).bodies == [b"x" * 100]


def test_a_body_beyond_the_memory_of_the_server_is_not_read_on() -> None:
    one = Client(max_total_bytes=100).send(post(b"x" * 90))
    other = Client(one.server).send(post(b"x" * 12)[:-1])
    assert one.answer(200).closed is None
    one.server.connection_lost(one.number)
    refused(other, 503)


def test_an_unfinished_body_counts() -> None:
    one = Client(max_total_bytes=100).send(post(b"x" * 90)[:-1])
    other = Client(one.server).send(post(b"x" * 12, b"Connection: close"))
    assert other.statuses == [503]
    assert other.closed is CloseReason.FINISHED
    one.server.connection_lost(one.number)
    assert Client(one.server).send(post(b"x" * 100)).bodies == [b"x" * 100]


# Connections


def test_connections_are_limited_in_all_and_for_each_address() -> None:
    server = HttpServer(HttpSettings(max_connections=3, max_connections_per_address=2))

    def accept(address: str) -> int | None:
        return server.accept(address, secure=True, now=0.0)

    first = accept("a")
    assert first is not None
    assert accept("a") is not None
    assert accept("a") is None
    assert accept("b") is not None
    assert accept("b") is None
    server.connection_lost(first)
    assert accept("b") is not None
    assert accept("c") is None


def test_a_connection_that_only_opens_is_closed() -> None:
    client = Client().wait(SETTINGS.header_seconds - 1)
    assert len(client.server) == 1
    client.wait(1)
    assert (client.closed, client.output) == (CloseReason.IDLE, b"")


def test_an_idle_connection_is_closed() -> None:
    client = Client().send(post(b"x")).answer(200).wait(SETTINGS.idle_seconds - 1)
    assert client.send(post(b"x")).answer(200).wait(SETTINGS.idle_seconds - 1).closed is None
    assert client.wait(1).closed is CloseReason.IDLE


def test_a_connection_with_requests_without_an_answer_is_not_idle() -> None:
    client = Client().send(post(b"x")).wait(10_000)
    assert client.closed is None
    assert client.answer(200).statuses == [200]


def test_a_header_of_one_byte_a_second_costs_the_connection() -> None:
    client = Client()
    for byte in post(b"x" * 1000):
        client.send(bytes((byte,))).wait(1)
        if client.closed:
            break
    assert client.statuses == [408]
    assert client.closed is CloseReason.TOO_SLOW
    assert client.now < 1000 + SETTINGS.header_seconds + SETTINGS.linger_seconds + 2


def test_a_body_of_one_byte_a_second_costs_the_connection() -> None:
    client = Client().send(post(b"x" * 1000)[:-1000])
    while client.closed is None:
        client.send(b"x").wait(1)
        assert client.now < 1000 + SETTINGS.request_seconds + SETTINGS.linger_seconds + 3
    assert client.statuses == [408]
    assert client.closed is CloseReason.TOO_SLOW


def test_a_large_body_has_the_time_that_its_bytes_need() -> None:
    size = 400_000
    client = Client().send(post(b"x" * size)[:-size])
    for _ in range(size // 2_000):
        client.send(b"x" * 2_000).wait(1)
    assert client.bodies == [b"x" * size]


def test_a_request_behind_a_late_answer_has_its_whole_time() -> None:
    client = Client().send(post(b"1") + START).wait(SETTINGS.header_seconds * 3)
    assert client.answer(200).wait(SETTINGS.header_seconds - 1).closed is None
    client.send(b"Content-Length: 1\r\n\r\n2")
    assert client.bodies == [b"2"]


def test_a_client_that_does_not_read_is_cut_off() -> None:
    client = Client()
    server = client.server
    server.receive_data(client.number, b"GET / HTTP/1.1\r\n\r\n", now=client.now)
    server.take_ready()
    seconds = SETTINGS.write_seconds
    server.handle_timer(now=client.now + seconds)
    assert server.next_event() is None
    server.handle_timer(now=client.now + 2 * seconds)
    event = server.next_event()
    assert event is not None
    assert (event.reason, event.data) == (CloseReason.NOT_READING, ())


def test_a_client_that_reads_late_is_not_cut_off() -> None:
    client = Client()
    server = client.server
    server.receive_data(client.number, b"GET / HTTP/1.1\r\n\r\n", now=client.now)
    server.handle_timer(now=client.now + SETTINGS.write_seconds)
    client.now += SETTINGS.write_seconds
    assert client.look().statuses == [404]
    client.wait(SETTINGS.idle_seconds - 1)
    assert client.closed is None


def test_a_server_that_stops_closes_everything() -> None:
    client = Client().send(post(b"x"))
    client.server.stop()
    assert client.look().closed is CloseReason.STOPPED
    assert client.server.accept("a", secure=False, now=0.0) is None
    assert client.server.next_timer() is None


def test_every_state_but_the_last_has_an_end() -> None:
    reached = {State.OPEN}
    for _ in State:
        reached |= {new for (old, _), new in TRANSITIONS.items() if old in reached}
    assert reached == set(State)
    for state in State:
        assert ((state, Input.LATE) in TRANSITIONS) == (state is not State.CLOSED)
