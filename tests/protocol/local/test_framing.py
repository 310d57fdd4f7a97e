"""Frames of the local protocol."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.protocol.local.framing import (
    KEPT_SIZE,
    LEAST_ROOM,
    MOST_ROOM,
    FrameBuffer,
    frame,
)
from openmsmq.wire.errors import ProtocolViolation


@given(st.lists(st.binary(max_size=300), max_size=8), st.data())
def test_frames_survive_any_split(payloads: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(map(frame, payloads))
    buffer = FrameBuffer()
    found: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += [bytes(view) for view in buffer.feed(stream[:size])]
        stream = stream[size:]
    assert found == payloads
    assert buffer.held_bytes == 0


def test_frames_of_single_bytes() -> None:
    buffer = FrameBuffer()
    stream = frame(b"abc") + frame(b"")
    found = [bytes(view) for byte in stream for view in buffer.feed(bytes([byte]))]
    assert found == [b"abc", b""]


def test_an_incomplete_frame_is_held() -> None:
    buffer = FrameBuffer()
    assert buffer.feed(frame(b"abcdef")[:-2]) == []
    assert buffer.held_bytes == 8


def test_a_frame_over_the_limit_is_refused_before_it_arrives() -> None:
    buffer = FrameBuffer(max_frame_size=100)
    with pytest.raises(ProtocolViolation, match="101 bytes"):
        buffer.feed((101).to_bytes(4, "little"))


def test_memory_is_taken_as_bytes_arrive_and_not_as_they_are_announced() -> None:
    tracemalloc.start()
    try:
        buffer = FrameBuffer()
        buffer.feed((32 * 1024 * 1024).to_bytes(4, "little") + bytes(1000))
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()


def read(buffer: FrameBuffer, stream: bytes, most: int) -> list[bytes]:
    """Read a stream as a socket does: as much as there is room for."""
    found = []
    while stream:
        space = buffer.space()
        count = min(len(space), len(stream), most)
        space[:count] = stream[:count]
        found += [bytes(view) for view in buffer.filled(count)]
        stream = stream[count:]
    return found


@given(
    st.lists(st.integers(0, 30_000), max_size=8),
    st.sampled_from([1000, 5000, 100_000]),
)
def test_frames_are_read_in_place(sizes: list[int], most: int) -> None:
    payloads = [bytes([number]) * size for number, size in enumerate(sizes)]
    buffer = FrameBuffer()
    assert read(buffer, b"".join(map(frame, payloads)), most) == payloads
    assert buffer.held_bytes == 0


def test_more_is_read_at_once_from_a_client_that_sends_much() -> None:
    buffer = FrameBuffer()
    assert len(buffer.space()) == LEAST_ROOM
    read(buffer, frame(bytes(4 * MOST_ROOM)), 4 * MOST_ROOM)
    assert len(buffer.space()) == MOST_ROOM


def test_the_memory_of_a_large_frame_is_given_back() -> None:
    buffer = FrameBuffer()
    tracemalloc.start()
    try:
        read(buffer, frame(bytes(4 * KEPT_SIZE)), MOST_ROOM)
        buffer.space()
        assert tracemalloc.get_traced_memory()[0] < KEPT_SIZE
    finally:
        tracemalloc.stop()


def test_payloads_that_are_kept_do_not_change_when_the_memory_is_released() -> None:
    buffer = FrameBuffer()
    stream = frame(b"a" * 1000) + frame(b"b" * 1000)
    kept = buffer.feed(stream[:1500])
    buffer.release()
    assert buffer.held_bytes == 1500 - 1004
    kept += buffer.feed(stream[1500:])
    assert [bytes(view) for view in kept] == [b"a" * 1000, b"b" * 1000]
