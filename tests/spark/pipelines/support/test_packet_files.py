"""Packets out of files of every kind, damaged ones included."""

import gzip
import struct
from pathlib import Path

import pytest
from tests.spark.pipelines.messages import packet
from tests.wire.capture.writer import SYN, ethernet, ipv4, pcap, tcp

from openmsmq.spark.pipelines.support.packet_files import (
    FileKind,
    FileRange,
    PacketKind,
    Piece,
    cut_points,
    file_kind,
    pieces,
)

PACKETS = [packet(number) for number in range(1, 6)]
INTERNAL = struct.pack("<BxHIII", 0x10, 0x0008, 0x524F494C, 16, 0)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def read(path: Path) -> list[Piece]:
    return list(pieces(FileRange(str(path), file_kind(path))))


def prefixed(order: str) -> bytes:
    return b"".join(struct.pack(f"{order}I", len(each)) + each for each in PACKETS)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"".join(PACKETS), FileKind.PACKETS),
        (prefixed("<"), FileKind.PREFIXED),
        (prefixed(">"), FileKind.PREFIXED_BIG),
        (gzip.compress(prefixed("<"), mtime=0), FileKind.PREFIXED),
        (PACKETS[0], FileKind.PACKETS),
        (b"", FileKind.PACKETS),
        (b"PAR1....", FileKind.PARQUET),
        (pcap(), FileKind.CAPTURE),
        (gzip.compress(pcap(), mtime=0), FileKind.CAPTURE),
        (gzip.compress(b"x", mtime=0)[:5], FileKind.PACKETS),
    ],
)
def test_a_file_is_known_by_its_first_bytes(tmp_path: Path, data: bytes, kind: FileKind) -> None:
    assert file_kind(write(tmp_path / "file", data)) is kind


@pytest.mark.parametrize(
    "data",
    [
        b"".join(PACKETS),
        prefixed("<"),
        prefixed(">"),
        gzip.compress(prefixed("<"), mtime=0),
        gzip.compress(b"".join(PACKETS), mtime=0),
    ],
    ids=["plain", "little", "big", "little gzip", "plain gzip"],
)
def test_all_packets_come_out(tmp_path: Path, data: bytes) -> None:
    found = read(write(tmp_path / "file", data))
    assert [piece.data for piece in found] == PACKETS
    assert {piece.kind for piece in found} == {PacketKind.MESSAGE}


def test_a_session_header_behind_a_message_is_left_out_and_may_be_missing(tmp_path: Path) -> None:
    first = bytearray(PACKETS[0])
    first[2] |= 0x10
    data = bytes(first) + bytes(16) + bytes(first) + PACKETS[1] + bytes(first) + bytes(16)
    found = read(write(tmp_path / "file", data))
    assert [piece.data for piece in found] == [bytes(first), bytes(first), PACKETS[1], bytes(first)]


def test_packets_of_the_session_are_told_apart(tmp_path: Path) -> None:
    found = read(write(tmp_path / "file", PACKETS[0] + INTERNAL + PACKETS[1]))
    kinds = [PacketKind.MESSAGE, PacketKind.INTERNAL, PacketKind.MESSAGE]
    assert [piece.kind for piece in found] == kinds


@pytest.mark.parametrize("prefix", [0, 4])
def test_after_damage_the_next_packet_is_found(tmp_path: Path, prefix: int) -> None:
    parts = [struct.pack("<I", len(each))[:prefix] + each for each in PACKETS]
    parts[2] = bytes(len(parts[2]))
    found = read(write(tmp_path / "file", b"".join(parts)))
    assert [piece.data for piece in found if piece.problem is None] == [
        *PACKETS[:2],
        *PACKETS[3:],
    ]
    (broken,) = [piece for piece in found if piece.problem]
    assert (broken.kind, broken.data) == (PacketKind.MALFORMED, parts[2])
    assert broken.offset == len(parts[0]) + len(parts[1])


def test_a_packet_that_is_cut_off_is_malformed(tmp_path: Path) -> None:
    found = read(write(tmp_path / "file", PACKETS[0] + PACKETS[1][:-1]))
    assert [piece.problem for piece in found] == [None, "the file ends within the packet"]
    assert found[1].data == PACKETS[1][:-1]


def test_a_compressed_file_that_is_cut_off_is_a_gap(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(PACKETS), mtime=0)
    found = read(write(tmp_path / "file", data[: len(data) // 2]))
    assert [piece.kind for piece in found] == [PacketKind.GAP]
    assert "cannot be read" in str(found[0].problem)


@pytest.mark.parametrize("size", [1, 300, 700, 10_000])
def test_ranges_of_a_file_have_every_packet_once(tmp_path: Path, size: int) -> None:
    path = write(tmp_path / "file", prefixed("<"))
    ranges = cut_points(path, FileKind.PREFIXED, size)
    assert (len(ranges) > 1) == (size < 1000)
    assert [piece.data for each in ranges for piece in pieces(each)] == PACKETS


def test_a_capture_gives_packets_with_time_and_peers(tmp_path: Path) -> None:
    stream = PACKETS[0] + INTERNAL + PACKETS[1]
    middle = len(PACKETS[0]) + 3
    frames = [
        ethernet(ipv4(tcp(sequence=99, flags=SYN))),
        ethernet(ipv4(tcp(stream[middle:], sequence=100 + middle))),
        ethernet(ipv4(tcp(stream[:middle], sequence=100))),
    ]
    found = read(write(tmp_path / "file", pcap(*frames)))
    assert [(piece.kind, piece.data) for piece in found] == [
        (PacketKind.MESSAGE, PACKETS[0]),
        (PacketKind.INTERNAL, INTERNAL),
        (PacketKind.MESSAGE, PACKETS[1]),
    ]
    assert found[0].flow is not None
    assert found[0].flow.destination_text == "192.0.2.2:1801"
    assert found[0].time == 1_700_000_002_000_500_000


def test_what_a_capture_lacks_is_a_gap(tmp_path: Path) -> None:
    frames = [
        ethernet(ipv4(tcp(sequence=99, flags=SYN))),
        ethernet(ipv4(tcp(PACKETS[0], sequence=100))),
        ethernet(ipv4(tcp(PACKETS[1], sequence=100 + len(PACKETS[0]) + 50))),
    ]
    found = read(write(tmp_path / "file", pcap(*frames)))
    assert [piece.kind for piece in found] == [
        PacketKind.MESSAGE,
        PacketKind.GAP,
        PacketKind.MESSAGE,
    ]
    assert found[1].problem == "50 bytes are missing from the capture"


def test_a_damaged_capture_gives_what_was_before(tmp_path: Path) -> None:
    frames = [
        ethernet(ipv4(tcp(sequence=99, flags=SYN))),
        ethernet(ipv4(tcp(PACKETS[0], sequence=100))),
        ethernet(ipv4(tcp(PACKETS[1], sequence=100 + len(PACKETS[0])))),
    ]
    found = read(write(tmp_path / "file", pcap(*frames)[:-4]))
    assert found[0].data == PACKETS[0]
    assert found[-1].kind is PacketKind.GAP
    assert "damaged" in str(found[-1].problem)
