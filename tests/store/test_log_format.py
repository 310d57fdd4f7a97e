"""Headers, entries and rows: what is written is what is read, and nothing else is taken for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.store.log_format import (
    ENTRY,
    FRAME_HEADER_SIZE,
    SECTOR,
    Damage,
    FrameHeader,
    SegmentHeader,
    UnknownVersion,
    align,
    encode_rows,
    roll_frame,
    split_entries,
    split_rows,
)

u32 = st.integers(0, 0xFFFFFFFF)
rows = st.dictionaries(
    st.tuples(st.integers(0, 255), st.binary(max_size=20)),
    st.none() | st.binary(max_size=50),
    max_size=10,
)


def entry(key: int, record: bytes) -> bytes:
    return ENTRY.pack(key, 1, 2, 3, 4, len(record)) + record


@given(u32, st.binary(min_size=16, max_size=16), st.integers(0, 1 << 40))
def test_a_segment_header_fills_a_sector_and_reads_back(
    number: int, store_id: bytes, size: int
) -> None:
    header = SegmentHeader(number, store_id, size)
    raw = header.serialize()
    assert len(raw) == SECTOR
    assert SegmentHeader.parse(raw, "name") == header


def test_a_flipped_bit_of_a_segment_header_is_noticed() -> None:
    raw = SegmentHeader(7, bytes(range(16)), 4096).serialize()
    for bit in range(SECTOR * 8):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises((Damage, UnknownVersion), match="name at offset "):
            SegmentHeader.parse(bytes(damaged), "name")


@given(st.integers(0, 1000), st.integers(0, 1000), st.lists(u32, min_size=6, max_size=6))
def test_a_frame_header_reads_back(meta: int, data: int, counts: list[int]) -> None:
    length = align(FRAME_HEADER_SIZE + meta + data)
    header = FrameHeader(1, 2, 3, 1 << 50, length, meta, data, *counts)
    raw = header.serialize()
    assert len(raw) == FRAME_HEADER_SIZE
    assert FrameHeader.parse(raw) == header


def test_a_flipped_bit_of_a_frame_header_is_noticed() -> None:
    raw = roll_frame(1, 2, 3)
    for bit in range(FRAME_HEADER_SIZE * 8):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        assert FrameHeader.parse(bytes(damaged)) is None


def test_a_frame_header_whose_lengths_disagree_is_not_sound() -> None:
    assert FrameHeader.parse(FrameHeader(1, 2, 3, 4, 64, 0, 0).serialize()) is not None
    assert FrameHeader.parse(FrameHeader(1, 2, 3, 4, 128, 0, 0).serialize()) is None
    assert FrameHeader.parse(FrameHeader(1, 2, 3, 4, 64, 1, 0).serialize()) is None


@given(st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.binary(max_size=40))))
def test_entries_read_back_whatever_their_sizes(messages: list[tuple[int, bytes]]) -> None:
    entries = [entry(key, record) for key, record in messages]
    raw = b"".join(entries)
    keys, read, end = split_entries(memoryview(raw + b"rest"), len(entries))
    assert keys == [key for key, _ in messages]
    assert read == entries
    assert end == len(raw)


@pytest.mark.parametrize("records", [(b"ab", b"cd"), (b"ab", b"cde"), (b"abcdef", b"")])
def test_entries_that_reach_too_far_are_refused(records: tuple[bytes, ...]) -> None:
    raw = b"".join(entry(key, record) for key, record in enumerate(records))
    for length in range(len(raw)):
        with pytest.raises(ValueError, match="entries reach beyond the end"):
            split_entries(memoryview(raw)[:length], len(records))


@given(rows)
def test_rows_read_back(some: dict[tuple[int, bytes], bytes | None]) -> None:
    raw = encode_rows(some)
    assert split_rows(memoryview(raw + b"rest"), len(some)) == (some, len(raw))


def test_rows_that_reach_too_far_are_refused() -> None:
    raw = encode_rows({(1, b"key"): b"value", (2, b"gone"): None})
    for length in range(len(raw)):
        with pytest.raises(ValueError, match="rows reach beyond the end"):
            split_rows(memoryview(raw)[:length], 2)


def test_frames_start_at_multiples_of_64() -> None:
    assert [align(size) for size in (0, 1, 63, 64, 65)] == [0, 64, 64, 64, 128]
