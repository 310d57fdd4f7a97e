"""HTTP messages out of streams that are whole, cut, damaged or full of something else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.srmp.vectors import WIRE

from openmsmq.wire.dissect import HttpMessages, StreamPacket, begins_http

REQUESTS = [WIRE[name].head + WIRE[name].content for name in ("4.1-simple", "4.5-pgm")]
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
GET = b"GET /msmq/private$/orders HTTP/1.1\r\nHost: alpha\r\n\r\n"
BARE = b"HTTP/1.1 200 OK\r\n\r\n"
MESSAGES = [REQUESTS[0], RESPONSE, GET, REQUESTS[1], BARE]
STREAM = b"".join(MESSAGES)


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_messages_are_found_however_the_stream_is_cut(cuts: list[int]) -> None:
    messages = HttpMessages()
    packets: list[StreamPacket] = []
    places = [0, *sorted(cuts), len(STREAM)]
    for start, end in pairwise(places):
        packets += messages.feed(STREAM[start:end])
    assert [packet.data for packet in packets] == MESSAGES
    positions = [sum(map(len, MESSAGES[:count])) for count in range(len(MESSAGES))]
    assert [packet.position for packet in packets] == positions
    assert messages.pending_bytes == 0


def test_beginnings_tell_http_from_the_binary_protocol() -> None:
    assert begins_http(REQUESTS[0])
    assert begins_http(RESPONSE)
    assert begins_http(GET)
    assert not begins_http(b"\x10\0\0\0LIOR")


def test_what_is_not_a_message_is_skipped() -> None:
    messages = HttpMessages()
    other = b"BREW / HTTP/1.0\r\n\r\n" + bytes(50)
    packets = messages.feed(other + RESPONSE + b"BREW x")
    # "HTTP/1.0" in the request line looks like a response, and is one as far as that goes.
    assert [packet.data for packet in packets if packet.data][-1] == RESPONSE
    assert packets[0] == StreamPacket(0, b"", 7)
    (rest,) = messages.gap(5)
    assert rest.skipped == 6


def test_a_gap_gives_up_what_is_incomplete() -> None:
    messages = HttpMessages()
    assert messages.feed(REQUESTS[0][:300]) == []
    assert messages.pending_bytes == 300
    assert messages.gap(100) == [StreamPacket(0, REQUESTS[0][:300])]
    assert messages.feed(RESPONSE) == [StreamPacket(400, RESPONSE)]
    assert messages.gap() == []


@pytest.mark.parametrize(
    "damaged",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
        b"POST /" + b"x" * 0x4000,
    ],
)
def test_messages_that_are_too_large_are_skipped(damaged: bytes) -> None:
    messages = HttpMessages()
    packets = messages.feed(damaged)
    packets += messages.feed(b"\r\n\r\n" + RESPONSE)
    assert packets[-1].data == RESPONSE
    assert sum(packet.skipped or len(packet.data) for packet in packets) == len(
        damaged + b"\r\n\r\n" + RESPONSE
    )
