"""A batch as a frame: encoded, decoded, checked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.model import puts

from openmsmq.store.frame import Encoder, Move, Place, decode, looks_torn, unsound_parts
from openmsmq.store.log_format import ENTRY, FRAME_HEADER_SIZE, FrameHeader
from openmsmq.wire.batch import Batch

KEYS = st.integers(0, (1 << 64) - 1)
PLACE = Place(7, 4096 + 64, 42)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    batch = Batch()
    for key in draw(st.lists(KEYS, max_size=5, unique=True)):
        batch.put(key, draw(st.binary(max_size=30)), draw(st.binary(max_size=700)))
    batch.updates = draw(st.dictionaries(KEYS, st.binary(max_size=30), max_size=3))
    batch.deletes = draw(st.lists(KEYS, max_size=5))
    batch.rows = draw(
        st.dictionaries(
            st.tuples(st.integers(0, 255), st.binary(max_size=9)),
            st.none() | st.binary(max_size=30),
            max_size=3,
        )
    )
    return batch


def encoded(batch: Batch, moves: list[Move]) -> bytes:
    encoder = Encoder(batch, moves)
    raw = b"".join(encoder.encode(PLACE, 99)[0])
    assert len(raw) == encoder.length
    return raw


def a_move(key: int, packet: bytes) -> Move:
    crc = ENTRY.unpack_from(Encoder(one(key, packet), []).encode(PLACE, 1)[1].put_entries[0])[4]
    return Move(key, ENTRY.pack(key, 3, 1000, len(packet), crc, 0), packet)


def one(key: int, packet: bytes) -> Batch:
    batch = Batch()
    batch.put(key, b"", packet)
    return batch


@given(batches(), st.lists(st.tuples(KEYS, st.binary(max_size=100)), max_size=3))
def test_a_frame_reads_back_as_it_was_encoded(batch: Batch, moved: list[tuple[int, bytes]]) -> None:
    moves = [a_move(key, packet) for key, packet in moved]
    encoder = Encoder(batch, moves)
    buffers, written = encoder.encode(PLACE, 99)
    raw = memoryview(b"".join(buffers))
    header = FrameHeader.parse(raw[:FRAME_HEADER_SIZE])
    assert header is not None
    assert header.length == len(raw) == encoder.length
    assert unsound_parts(header, raw, PLACE.offset) == []
    read = decode(header, raw[FRAME_HEADER_SIZE : FRAME_HEADER_SIZE + header.meta_length])
    assert (header.segment, header.sequence, header.store_tag) == (7, 42, 99)
    for name in ("put_keys", "put_entries", "put_bytes", "move_keys", "move_entries", "updates"):
        mine, theirs = getattr(read, name), getattr(written, name)
        assert mine == (list(theirs) if isinstance(theirs, tuple) else theirs), name
    assert (read.deletes, read.rows) == (batch.deletes, batch.rows)
    for entry, packet in zip(
        [*read.put_entries, *read.move_entries],
        batch.packets + [packet for _, packet in moved],
        strict=True,
    ):
        _, segment, offset, size, _, _ = ENTRY.unpack_from(entry)
        assert segment == 7
        assert bytes(raw[offset - PLACE.offset :][:size]) == packet


@given(batches(), st.data())
def test_a_changed_byte_after_the_header_is_found(batch: Batch, data: st.DataObject) -> None:
    raw = bytearray(encoded(batch, []))
    header = FrameHeader.parse(bytes(raw[:FRAME_HEADER_SIZE]))
    assert header is not None
    if len(raw) > FRAME_HEADER_SIZE:
        position = data.draw(st.integers(FRAME_HEADER_SIZE, len(raw) - 1))
        raw[position] ^= data.draw(st.integers(1, 255))
        bad = unsound_parts(header, memoryview(raw), PLACE.offset)
        assert any(start <= position < end for start, end in bad)


def test_a_frame_at_another_place_is_not_sound() -> None:
    raw = memoryview(encoded(puts([1, 2]), []))
    header = FrameHeader.parse(raw[:FRAME_HEADER_SIZE])
    assert header is not None
    meta = [(0, FRAME_HEADER_SIZE + header.meta_length)]
    assert unsound_parts(header, raw, PLACE.offset) == []
    assert unsound_parts(header, raw, PLACE.offset + 64) == meta
    assert unsound_parts(header._replace(segment=8), raw, PLACE.offset) == meta


def test_counts_that_do_not_fit_the_contents_are_noticed() -> None:
    batch = puts([1, 2])
    batch.update(3, b"record")
    batch.delete(4)
    batch.set_row(1, b"key", b"value")
    raw = memoryview(encoded(batch, []))
    header = FrameHeader.parse(raw[:FRAME_HEADER_SIZE])
    assert header is not None
    meta_end = FRAME_HEADER_SIZE + header.meta_length
    for name in ("puts", "moves", "updates", "deletes", "rows"):
        for change in (-1, 1, 1000):
            count = max(getattr(header, name) + change, 0)
            if count != getattr(header, name):
                wrong = header._replace(**{name: count})
                with pytest.raises(ValueError, match=r"beyond the end|do not fill"):
                    decode(wrong, raw[FRAME_HEADER_SIZE:meta_end])
                if name in ("puts", "moves"):
                    assert unsound_parts(wrong, raw, PLACE.offset) == [(0, meta_end)]
    wrong = header._replace(data_length=header.data_length - 1)
    assert unsound_parts(wrong, raw, PLACE.offset) == [(0, meta_end)]


@pytest.mark.parametrize("byte", [b"x", b"X", b"\x01", b"\xff"])
def test_zeros_where_a_part_is_sound_do_not_make_a_frame_torn(byte: bytes) -> None:
    """One packet is all zero and sound, the other has a wrong byte: that is damage."""
    batch = Batch()
    batch.put(1, b"record", bytes(2000))
    batch.put(2, b"record", byte * 2000)
    raw = bytearray(encoded(batch, []))
    raw[-1500] ^= 1
    header = FrameHeader.parse(bytes(raw[:FRAME_HEADER_SIZE]))
    assert header is not None
    bad = unsound_parts(header, memoryview(raw), PLACE.offset)
    assert len(bad) == 1
    assert not looks_torn(header, memoryview(raw), PLACE.offset, bad)


def test_a_wrong_byte_in_the_padding_is_damage_even_after_zeros() -> None:
    batch = Batch()
    batch.put(1, b"record", b"x" * 20 + bytes(10))
    raw = bytearray(encoded(batch, []))
    raw[-1] = 1
    header = FrameHeader.parse(bytes(raw[:FRAME_HEADER_SIZE]))
    assert header is not None
    bad = unsound_parts(header, memoryview(raw), PLACE.offset)
    assert len(bad) == 1
    assert not looks_torn(header, memoryview(raw), PLACE.offset, bad)
