"""Frames of the local protocol."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.protocol.local.framing import FrameBuffer, frame
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
    found = [view for byte in frame(b"abc") + frame(b"") for view in buffer.feed(bytes([byte]))]
    assert [bytes(view) for view in found] == [b"abc", b""]


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
        assert tracemalloc.get_traced_memory()[0] < 10_000
    finally:
        tracemalloc.stop()


def test_a_payload_is_not_changed_by_what_follows() -> None:
    buffer = FrameBuffer()
    stream = frame(b"a" * 1000) + frame(b"b" * 1000)
    buffer.feed(stream[:900])
    first = buffer.feed(stream[900:1500])
    second = buffer.feed(stream[1500:])
    assert [bytes(view) for view in first + second] == [b"a" * 1000, b"b" * 1000]
