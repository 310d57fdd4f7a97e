"""`openmsmq decode` at the end of a pipe that stays open."""

import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from select import select
from typing import BinaryIO

import pytest
from tests.cli.decode.captures import segment, start
from tests.wire.capture import writer
from tests.wire.frames import frame_bytes

COMMAND = [sys.executable, "-c", "from openmsmq.cli import main; main()", "decode"]
# Much more than any packet takes, on a busy machine too.
PATIENCE = 60.0
PACKETS = [frame_bytes(number) for number in range(3, 9)]
NAMES = [
    "EstablishConnection",
    "EstablishConnection",
    "ConnectionParameters",
    "ConnectionParameters",
    "UserMessage",
    "SessionAck",
]


def read_line(stream: BinaryIO) -> str:
    """The next line, which must come while the input stays open."""
    assert select([stream], [], [], PATIENCE)[0], "nothing was printed"
    return stream.readline().decode()


@contextmanager
def decoding(*options: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The command with its stdin and its stdout; it must end well once its input does."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [*COMMAND, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=environment,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            yield process.stdin, process.stdout  # type: ignore[misc] # both are unbuffered files
            process.stdin.close()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def pcap_frames() -> list[bytes]:
    at = 0
    frames = [start()]
    for packet in PACKETS:
        frames.append(segment(packet, at=at))
        at += len(packet)
    return frames


def pcap_parts() -> list[bytes]:
    head = len(writer.pcap())
    first, *rest = pcap_frames()
    return [writer.pcap(first), *(writer.pcap(frame)[head:] for frame in rest)]


def pcapng_parts() -> list[bytes]:
    first, *rest = pcap_frames()
    head = writer.section() + writer.interface() + writer.enhanced(first)
    return [head, *(writer.enhanced(frame) for frame in rest)]


def gzip_parts() -> list[bytes]:
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    parts = [packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH) for part in pcap_parts()]
    parts[-1] += packer.flush()
    assert gzip.decompress(b"".join(parts)) == b"".join(pcap_parts())
    return parts


def dump(data: bytes) -> bytes:
    """As xxd writes it."""
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        lines.append(f"{at:08x}: {row.hex(' ', 2):<39}  {text}\n")
    return "".join(lines).encode()


def tcpdump_parts() -> list[bytes]:
    return [b"12:00:00.000000 IP a > b: tcp\n" + dump(frame[14:]) for frame in pcap_frames()]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(PACKETS, id="raw"),
        pytest.param([packet.hex().encode() + b"\n" for packet in PACKETS], id="hex"),
        pytest.param([dump(packet) for packet in PACKETS], id="xxd"),
        pytest.param(tcpdump_parts(), id="tcpdump"),
        pytest.param(pcap_parts(), id="pcap"),
        pytest.param(pcapng_parts(), id="pcapng"),
        pytest.param(gzip_parts(), id="gzip"),
    ],
)
def test_each_packet_is_printed_as_it_comes(parts: list[bytes]) -> None:
    # The frame that opens the connection shows nothing.
    silent = len(parts) - len(NAMES)
    with decoding("--summary") as (stdin, stdout):
        for index, part in enumerate(parts):
            stdin.write(part)
            if index >= silent:
                assert f"  {NAMES[index - silent]}  " in read_line(stdout)


def test_json_is_printed_as_it_comes() -> None:
    with decoding("--json") as (stdin, stdout):
        for packet, name in zip(PACKETS, NAMES, strict=True):
            stdin.write(packet)
            assert f'"packet": "{name}"' in read_line(stdout)


def test_a_dump_that_grows_is_read_on() -> None:
    """One dump with running offsets."""
    packet = frame_bytes(5)
    lines = dump(packet * 4).splitlines(keepends=True)
    with decoding("--json") as (stdin, stdout):
        for number in range(4):
            stdin.write(lines[2 * number])
            stdin.write(lines[2 * number + 1])
            assert json.loads(read_line(stdout))["position"] == 32 * number
        # The next one begins again.
        stdin.write(dump(packet))
        assert json.loads(read_line(stdout))["position"] == 0


def test_a_piece_that_is_not_whole_waits_for_the_next() -> None:
    frames = pcap_frames()
    arp = writer.ethernet(bytes(28), kind=0x0806)
    with decoding("--summary") as (stdin, stdout):
        stdin.write(dump(frames[0]) + dump(frames[1]))
        assert "EstablishConnection" in read_line(stdout)
        # Nothing tells where a frame of another protocol ends but the next frame.
        stdin.write(dump(arp))
        stdin.write(dump(frames[2]))
        assert "frame 4  " in read_line(stdout)


def test_bytes_one_by_one_make_packets() -> None:
    with decoding("--summary") as (stdin, stdout):
        for ping in (frame_bytes(1), frame_bytes(2), PACKETS[-1]):
            for byte in ping:
                stdin.write(bytes([byte]))
            line = read_line(stdout)
        assert "SessionAck" in line
