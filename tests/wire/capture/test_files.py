"""pcap and pcapng files."""

import io
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.capture import writer

from openmsmq.wire.capture.files import MAX_BLOCK_SIZE, Frame, is_capture, read_frames
from openmsmq.wire.errors import MalformedPacket

SECOND = 1_000_000_000


def frames_of(data: bytes) -> list[Frame]:
    return list(read_frames(io.BytesIO(data)))


class Trickle(io.BytesIO):
    """Returns at most three bytes at a time, as a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3 if size is None or size > 3 else size)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("nano", "fraction"), [(False, 500_000), (True, 500)])
def test_pcap_frames_keep_time_link_type_and_place(
    *, order: str, nano: bool, fraction: int
) -> None:
    data = writer.pcap(b"first", b"second", order=order, nano=nano, link_type=113, missing=4)
    assert frames_of(data) == [
        Frame(1, 1_700_000_000 * SECOND + fraction, 113, b"first", 4, 24),
        Frame(2, 1_700_000_001 * SECOND + fraction, 113, b"second", 4, 45),
    ]


def test_the_frame_check_bits_of_the_link_type_are_ignored() -> None:
    assert frames_of(writer.pcap(b"x", link_type=0x24000001))[0].link_type == 1


def test_a_file_may_be_read_in_small_pieces() -> None:
    data = writer.pcap(b"a frame", b"another one")
    assert [frame.data for frame in read_frames(Trickle(data))] == [b"a frame", b"another one"]


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_frames_of_several_interfaces(order: str) -> None:
    fine = writer.option(9, b"\x09", order=order) + writer.option(0, b"", order=order)
    data = (
        writer.section(order=order, options=writer.option(2, b"a card", order=order))
        + writer.interface(1, order=order)
        + writer.interface(101, order=order, options=fine)
        + writer.block(5, b"statistics", order=order)
        + writer.enhanced(b"ethernet", units=2_500_000, order=order)
        + writer.enhanced(b"raw", index=1, units=2_500_000, missing=3, order=order)
        + writer.obsolete(b"old", index=1, units=1 << 33, order=order)
    )
    frames = frames_of(data)
    assert [(f.number, f.time, f.link_type, f.data, f.missing) for f in frames] == [
        (1, 2_500_000_000, 1, b"ethernet", 0),
        (2, 2_500_000, 101, b"raw", 3),
        (3, 1 << 33, 101, b"old", 0),
    ]


def test_time_resolution_in_powers_of_two_and_time_offset() -> None:
    options = writer.option(9, b"\x8a") + writer.option(14, struct.pack("<q", 100))
    data = (
        writer.section() + writer.interface(options=options) + writer.enhanced(b"frame", units=2048)
    )
    assert frames_of(data)[0].time == 102 * SECOND


def test_a_time_offset_may_be_negative() -> None:
    options = writer.option(14, struct.pack("<q", -3))
    data = writer.section() + writer.interface(options=options)
    data += writer.enhanced(b"frame", units=5_000_000)
    assert frames_of(data)[0].time == 2 * SECOND


def test_options_that_say_nothing_about_time_are_skipped() -> None:
    options = writer.option(2, b"eth0") + writer.option(9, b"") + writer.option(14, b"\x01")
    data = writer.section() + writer.interface(options=options) + writer.enhanced(b"f", units=7)
    assert frames_of(data)[0].time == 7000


def test_a_simple_packet_is_as_long_as_the_snap_length_allows() -> None:
    data = (
        writer.section()
        + writer.interface(snap_length=4)
        + writer.simple(b"four", original=10)
        + writer.simple(b"two", original=3)
    )
    assert [(f.data, f.missing, f.time) for f in frames_of(data)] == [
        (b"four", 6, None),
        (b"two", 0, None),
    ]


def test_a_simple_packet_without_snap_length_is_whole() -> None:
    data = writer.section() + writer.interface() + writer.simple(b"everything")
    assert frames_of(data)[0].data == b"everything"


def test_each_section_has_its_own_byte_order_and_interfaces() -> None:
    data = (
        writer.section()
        + writer.interface(1)
        + writer.enhanced(b"a")
        + writer.section(order=">")
        + writer.interface(101, order=">")
        + writer.enhanced(b"b", order=">")
    )
    assert [(f.number, f.link_type) for f in frames_of(data)] == [(1, 1), (2, 101)]


@pytest.mark.parametrize(
    ("data", "boundaries"),
    [
        (writer.pcap(b"frame one", b"frame two"), {24, 49}),
        (
            writer.section() + writer.interface() + writer.enhanced(b"1") + writer.enhanced(b"2"),
            {28, 48, 88},
        ),
    ],
)
def test_a_file_cut_anywhere_gives_what_was_whole_then_names_the_place(
    data: bytes, boundaries: set[int]
) -> None:
    whole = frames_of(data)
    for size in range(len(data)):
        reader = read_frames(io.BytesIO(data[:size]))
        if size in boundaries:
            assert list(reader) == [frame for frame in whole if frame.offset < size]
            continue
        seen: list[Frame] = []
        with pytest.raises(MalformedPacket, match="the file is cut off") as caught:
            seen.extend(iter(reader))
        assert caught.value.offset <= size


def test_what_is_no_capture_is_named() -> None:
    with pytest.raises(MalformedPacket, match="begins neither a pcap nor a pcapng file"):
        frames_of(b"LIOR and more")


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (writer.pcap()[:4], True),
        (writer.pcap(order=">", nano=True)[:8], True),
        (writer.section()[:4], True),
        (b"\x10\xc0\x0b\x00LIOR", False),
        (b"", False),
    ],
)
def test_captures_are_told_by_their_first_bytes(*, start: bytes, expected: bool) -> None:
    assert is_capture(start) is expected


def damaged(data: bytes, position: int, value: bytes) -> bytes:
    return data[:position] + value + data[position + len(value) :]


SECTION = writer.section()
ONE = SECTION + writer.interface()


@pytest.mark.parametrize(
    ("data", "field", "offset"),
    [
        (damaged(writer.pcap(b"x"), 32, b"\xff\xff\xff\xff"), "Pcap.CapturedLength", 32),
        (damaged(SECTION, 8, b"abcd"), "SectionHeader.ByteOrderMagic", 8),
        (damaged(SECTION, 4, b"\x0c\0\0\0"), "Block.TotalLength", 4),
        (SECTION + struct.pack("<II", 1, 8), "Block.TotalLength", 32),
        (SECTION + struct.pack("<II", 1, 21), "Block.TotalLength", 32),
        (SECTION + struct.pack("<II", 1, MAX_BLOCK_SIZE + 4), "Block.TotalLength", 32),
        (damaged(ONE, 44, b"\x24\0\0\0"), "Block.TotalLength", 44),
        (SECTION + writer.block(1, b"\1\0\0\0"), "InterfaceDescription.SnapLen", 40),
        (
            SECTION + writer.interface(options=struct.pack("<HH", 2, 500)),
            "InterfaceDescription.Options",
            48,
        ),
        (SECTION + writer.enhanced(b"x"), "Packet.InterfaceID", 36),
        (ONE + writer.simple(b"x", original=99), "SimplePacket.Data", 60),
        (ONE + writer.block(6, struct.pack("<IIIII", 0, 0, 0, 99, 99)), "Packet.Data", 76),
    ],
)
def test_damage_is_named_with_its_place(data: bytes, field: str, offset: int) -> None:
    with pytest.raises(MalformedPacket) as caught:
        frames_of(data)
    assert (caught.value.field, caught.value.offset) == (field, offset)


GOOD = (
    writer.section()
    + writer.interface(options=writer.option(9, b"\x09"))
    + writer.enhanced(b"a frame")
    + writer.simple(b"another")
    + writer.obsolete(b"third")
)


@given(st.data(), st.sampled_from([GOOD, writer.pcap(b"one", b"two", order=">")]))
def test_damaged_files_raise_nothing_but_malformed_packet(data: st.DataObject, good: bytes) -> None:
    raw = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(MalformedPacket):
        frames_of(bytes(raw))
