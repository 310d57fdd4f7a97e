"""[MS-MQMQ] 2.2.19.1: PacketSize on a stream."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.frames import frame_bytes

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE, BaseHeader, BaseHeaderFlags
from openmsmq.wire.packets.framer import Frame, Framer

SESSION_HEADER = bytes(range(16))
USER = frame_bytes(7)


def with_session_header(packet: bytes) -> bytes:
    """The packet with SH set, as it is when a SessionHeader follows."""
    return packet[:2] + bytes([packet[2] | BaseHeaderFlags.SH]) + packet[3:]


def packet_of(size: int, flags: int = 0) -> bytes:
    return BaseHeader(flags, size).serialize() + bytes(size - 16)


FRAMES: list[Frame] = [
    (frame_bytes(3), None),
    (with_session_header(USER), SESSION_HEADER),
    (frame_bytes(8), None),
    (USER, None),
    (packet_of(16), None),
    (packet_of(16, BaseHeaderFlags.SH), SESSION_HEADER),
]
STREAM = b"".join(packet + (session_header or b"") for packet, session_header in FRAMES)


@pytest.mark.spec("MQQB-2.2-03", "MQQB-2.2.6-04")
def test_the_session_header_is_outside_packet_size_in_a_user_packet_only() -> None:
    packet = with_session_header(USER)
    framer = Framer()
    assert framer.feed(packet + SESSION_HEADER + frame_bytes(8) + USER) == [
        (packet, SESSION_HEADER),
        (frame_bytes(8), None),
        (USER, None),
    ]
    assert framer.pending_bytes == 0


def test_one_read_gives_all_its_packets() -> None:
    assert Framer().feed(STREAM) == FRAMES


def test_a_stream_may_be_cut_at_every_byte() -> None:
    for at in range(len(STREAM) + 1):
        framer = Framer()
        assert framer.feed(STREAM[:at]) + framer.feed(STREAM[at:]) == FRAMES


def test_a_stream_may_be_cut_twice_at_any_bytes() -> None:
    stream = packet_of(40, BaseHeaderFlags.SH) + SESSION_HEADER + packet_of(20)
    whole = Framer().feed(stream)
    for first, second in itertools.combinations(range(len(stream) + 1), 2):
        framer = Framer()
        parts = stream[:first], stream[first:second], stream[second:]
        assert [frame for part in parts for frame in framer.feed(part)] == whole


def test_bytes_may_come_one_by_one() -> None:
    framer = Framer()
    found = [frame for at in range(len(STREAM)) for frame in framer.feed(STREAM[at : at + 1])]
    assert found == FRAMES


@given(
    st.lists(st.tuples(st.integers(16, 90), st.sampled_from([0x00, 0x08, 0x10, 0x18]))),
    st.lists(st.integers(1, 60)),
)
def test_what_was_joined_is_split_again(packets: list[tuple[int, int]], cuts: list[int]) -> None:
    frames: list[Frame] = [
        (packet_of(size, flags), SESSION_HEADER if flags == BaseHeaderFlags.SH else None)
        for size, flags in packets
    ]
    stream = b"".join(packet + (header or b"") for packet, header in frames)
    framer = Framer()
    found: list[Frame] = []
    at = 0
    for cut in cuts:
        found += framer.feed(stream[at : at + cut])
        at += cut
    assert found + framer.feed(stream[at:]) == frames


@pytest.mark.parametrize("number", [3, 4, 5, 6, 8])
def test_frames_of_the_example_are_whole_packets(number: int) -> None:
    assert Framer().feed(frame_bytes(number)) == [(frame_bytes(number), None)]


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 0x11, "BaseHeader.VersionNumber", 0),
        (4, 0x00, "BaseHeader.Signature", 4),
        (8, 0x0F, "BaseHeader.PacketSize", 8),
        (11, 0x01, "BaseHeader.PacketSize", 8),
    ],
)
def test_a_bad_header_is_a_fault_before_its_packet_is_complete(
    position: int, value: int, field: str, offset: int
) -> None:
    header = bytearray(packet_of(16))
    header[position] = value
    framer = Framer()
    assert framer.feed(packet_of(24) + header[:15]) == [(packet_of(24), None)]
    with pytest.raises(MalformedPacket) as caught:
        framer.feed(bytes(header[15:]))
    assert (caught.value.field, caught.value.offset) == (field, 24 + offset)
    assert framer.fault is caught.value


def test_packets_before_a_fault_are_given_and_the_fault_comes_next() -> None:
    framer = Framer()
    assert framer.feed(packet_of(24) + bytes(100)) == [(packet_of(24), None)]
    assert framer.fault is not None
    assert (framer.fault.field, framer.fault.offset) == ("BaseHeader.VersionNumber", 24)
    for _ in range(2):
        with pytest.raises(MalformedPacket) as caught:
            framer.feed(packet_of(24))
        assert caught.value is framer.fault


def test_a_fault_behind_a_packet_that_was_cut_counts_from_the_start_of_the_stream() -> None:
    framer = Framer()
    assert framer.feed(packet_of(40)[:20]) == []
    assert framer.feed(packet_of(40)[20:] + bytes(16)) == [(packet_of(40), None)]
    assert framer.fault is not None
    assert framer.fault.offset == 40


@pytest.mark.spec("MQQB-1.6-01")
def test_four_mib_is_the_largest_packet() -> None:
    largest = packet_of(MAX_PACKET_SIZE)
    framer = Framer(max_packet_size=2 * MAX_PACKET_SIZE)
    assert framer.feed(largest[:70000]) == []
    assert framer.pending_bytes == 70000
    assert framer.feed(largest[70000:]) == [(largest, None)]
    with pytest.raises(MalformedPacket, match=r"PacketSize at offset \d+: 4194305 is not in"):
        framer.feed(BaseHeader(0, MAX_PACKET_SIZE + 1).serialize())


def test_a_smaller_limit_can_be_set() -> None:
    framer = Framer(max_packet_size=100)
    assert framer.feed(packet_of(100)) == [(packet_of(100), None)]
    with pytest.raises(MalformedPacket, match="PacketSize at offset 108: 101 is more than 100"):
        framer.feed(packet_of(101)[:16])
    assert framer.pending_bytes == 0


def test_only_one_unfinished_packet_is_held() -> None:
    framer = Framer()
    stream = packet_of(1000) * 3
    framer.feed(stream[:2500])
    assert framer.pending_bytes == 500
    framer.feed(stream[2500:])
    assert framer.pending_bytes == 0
