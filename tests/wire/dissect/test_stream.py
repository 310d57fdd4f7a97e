"""Packets out of streams with and without damage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame_bytes

from openmsmq.wire.dissect import StreamPacket, StreamPackets
from openmsmq.wire.packets.session_header import SessionHeader

FRAMES = [frame_bytes(number) for number in range(3, 9)]
STREAM = b"".join(FRAMES)
PARAMETERS = frame_bytes(5)
DAMAGED = PARAMETERS[:4] + b"LION" + PARAMETERS[8:]


def test_packets_of_a_whole_stream() -> None:
    packets = StreamPackets().feed(STREAM)
    assert [packet.data for packet in packets] == FRAMES
    assert [packet.position for packet in packets] == [0, 572, 1144, 1176, 1208, 3432]


def test_a_session_header_belongs_to_its_packet() -> None:
    message = bytearray(frame_bytes(7))
    message[2] |= 0x10
    data = bytes(message) + SessionHeader(1, 0, 0, 1, 0).serialize()
    assert StreamPackets().feed(data + PARAMETERS) == [
        StreamPacket(0, data),
        StreamPacket(len(data), PARAMETERS),
    ]


@given(st.integers(1, 900))
def test_the_pieces_of_a_stream_do_not_matter(size: int) -> None:
    stream = StreamPackets()
    found = []
    for at in range(0, len(STREAM), size):
        found += stream.feed(STREAM[at : at + size])
        assert stream.pending_bytes <= 2224
    assert [packet.data for packet in found] == FRAMES
    assert stream.gap() == []


def test_at_the_end_a_part_of_a_packet_is_given() -> None:
    stream = StreamPackets()
    assert stream.feed(PARAMETERS + PARAMETERS[:20]) == [StreamPacket(0, PARAMETERS)]
    assert stream.gap() == [StreamPacket(32, PARAMETERS[:20])]


def test_after_a_gap_the_next_packet_is_found() -> None:
    stream = StreamPackets()
    stream.feed(FRAMES[0][:100])
    assert stream.gap(400) == [StreamPacket(0, FRAMES[0][:100])]
    assert stream.feed(FRAMES[0][500:] + PARAMETERS) == [
        StreamPacket(500, b"", skipped=72),
        StreamPacket(572, PARAMETERS),
    ]


def test_a_packet_right_behind_a_gap_is_not_missed() -> None:
    stream = StreamPackets()
    assert stream.gap(10) == []
    assert stream.feed(PARAMETERS) == [StreamPacket(10, PARAMETERS)]


def test_two_gaps_report_what_was_skipped_between_them() -> None:
    stream = StreamPackets()
    stream.gap()
    assert stream.feed(b"nothing of value") == []
    assert stream.gap(4) == [StreamPacket(0, b"", skipped=16)]
    assert stream.feed(PARAMETERS) == [StreamPacket(20, PARAMETERS)]


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_a_damaged_packet_is_given_up_to_the_next_one(size: int) -> None:
    data = PARAMETERS + DAMAGED + PARAMETERS
    stream = StreamPackets()
    found = []
    for at in range(0, len(data), size):
        found += stream.feed(data[at : at + size])
    found += stream.gap()
    assert [packet.data for packet in (found[0], found[-1])] == [PARAMETERS, PARAMETERS]
    assert found[-1].position == 64
    damaged = found[1]
    assert damaged.position == 32
    assert DAMAGED.startswith(damaged.data)
    assert damaged.data
    assert len(damaged.data) + sum(packet.skipped for packet in found) == 32


def test_a_mark_in_a_damaged_header_is_not_the_next_packet() -> None:
    too_large = PARAMETERS[:8] + b"\xff\xff\xff\x7f" + PARAMETERS[12:]
    packets = StreamPackets().feed(too_large + too_large + PARAMETERS)
    assert packets == [StreamPacket(0, too_large + too_large), StreamPacket(64, PARAMETERS)]


def test_a_header_cut_by_the_end_of_what_came_is_waited_for() -> None:
    stream = StreamPackets()
    stream.gap()
    assert stream.feed(b"rest" + PARAMETERS[:10]) == []
    assert stream.feed(PARAMETERS[10:]) == [
        StreamPacket(0, b"", skipped=4),
        StreamPacket(4, PARAMETERS),
    ]


def test_a_header_alone_is_found() -> None:
    stream = StreamPackets()
    stream.gap()
    assert stream.feed(b"rest" + PARAMETERS[:16]) == [StreamPacket(0, b"", skipped=4)]
    assert stream.feed(PARAMETERS[16:]) == [StreamPacket(4, PARAMETERS)]


@given(st.binary(max_size=400), st.integers(1, 64))
def test_no_byte_is_lost(noise: bytes, size: int) -> None:
    data = noise + PARAMETERS + noise
    stream = StreamPackets()
    found = []
    for at in range(0, len(data), size):
        found += stream.feed(data[at : at + size])
    found += stream.gap()
    position = 0
    for packet in found:
        assert packet.position == position
        if not packet.skipped:
            assert packet.data == data[position : position + len(packet.data)]
        position += packet.skipped or len(packet.data)
    assert position == len(data)
