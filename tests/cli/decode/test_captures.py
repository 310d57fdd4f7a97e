"""`openmsmq decode` with captures: ports, connections, gaps, frames."""

from pathlib import Path

import pytest
from tests.cli.decode.captures import (
    capture_of_the_example,
    objects,
    segment,
    start,
)
from tests.cli.runner import run
from tests.wire.capture import writer
from tests.wire.capture.writer import ACK, FIN, RST, SYN
from tests.wire.frames import frame_bytes

from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address


def test_other_ports_can_be_chosen() -> None:
    raw = writer.tcp(frame_bytes(5), destination_port=11801)
    ping = writer.udp(frame_bytes(1), destination_port=13527)
    data = writer.pcap(
        writer.ethernet(writer.ipv4(raw)), writer.ethernet(writer.ipv4(ping, protocol=17))
    )
    options = ("--port", "11801", "--port", "1801", "--ping-port", "13527")
    found = objects(run("decode", "--json", *options, stdin=data).out)
    assert [packet["packet"] for packet in found] == ["ConnectionParameters", "Ping"]
    nothing = run("decode", stdin=data)
    assert nothing.code == 1
    assert nothing.err == (
        "openmsmq decode: no packets found\n"
        "Likely cause: the input is empty, a capture without TCP port 1801 and UDP port 3527, or "
        "without a packet that was asked for.\n"
        "Remedy: choose other ports with --port (80 for HTTP), --ping-port and --pgm-port, or "
        "other packets with --stream, --kind, --queue, --label, --id and --since.\n"
    )


def test_one_connection_of_several() -> None:
    data = writer.pcap(
        start(),
        start(port=50002),
        segment(frame_bytes(3)),
        segment(frame_bytes(5), port=50002),
        segment(b"", at=32, flags=RST, port=50002),
        start(port=50002),
        segment(frame_bytes(8), port=50002),
    )
    found = objects(run("decode", "--json", stdin=data).out)
    assert [(packet["stream"], packet["packet"]) for packet in found] == [
        (1, "EstablishConnection"),
        (2, "ConnectionParameters"),
    ]
    outcome = run("decode", "--json", "--stream", "2", stdin=data)
    assert [packet["packet"] for packet in objects(outcome.out)] == ["ConnectionParameters"]
    assert "stream 2, 192.0.2.1:50002 -> 192.0.2.2:1801: the stream ends: reset" in outcome.err
    assert "stream 1" not in outcome.err


def test_a_port_that_is_used_again_is_another_connection() -> None:
    data = writer.pcap(
        start(),
        segment(frame_bytes(5), flags=FIN | ACK),
        start(back=True),
        segment(frame_bytes(6), back=True, flags=FIN | ACK),
        segment(b"", at=99999, flags=SYN),
        segment(frame_bytes(8), at=100000),
    )
    found = objects(run("decode", "--json", stdin=data).out)
    assert [packet["stream"] for packet in found] == [1, 1, 2]


def test_gaps_are_told_between_the_packets() -> None:
    data = writer.pcap(
        segment(frame_bytes(4)[300:], at=0),
        segment(frame_bytes(5), at=272),
        segment(frame_bytes(5)[:10], at=304),
        segment(frame_bytes(8), at=404),
    )
    outcome = run("decode", "--summary", stdin=data)
    where = "-- stream 1, 192.0.2.1:50000 -> 192.0.2.2:1801: "
    lines = [line if line.startswith("--") else line[7:] for line in outcome.out.splitlines()]
    assert lines[0] == f"{where}the connection began before the capture"
    assert lines[1] == f"{where}272 bytes belong to no packet and are skipped"
    assert "ConnectionParameters" in lines[2]
    assert "FAULT BaseHeader.PacketSize at offset 8 (0x8): needs 4 bytes, 2 remain" in lines[3]
    assert lines[4] == f"{where}90 bytes are missing from the capture"
    assert "SessionAck" in lines[5]
    assert outcome.code == 1
    assert outcome.err.endswith(
        "decode: 90 bytes of TCP connections are missing from the capture\n"
    )


def test_bytes_that_a_capture_lacks_are_a_failure() -> None:
    data = writer.pcap(start(), segment(frame_bytes(5)), segment(frame_bytes(8), at=33))
    for mode in ("--summary", "--json"):
        outcome = run("decode", mode, stdin=data)
        assert outcome.code == 1
        assert outcome.err.endswith(
            "openmsmq decode: 1 byte of TCP connections are missing from the capture\n"
        )
    # Of another connection than the one that was asked for.
    two = writer.pcap(
        start(),
        start(port=50002),
        segment(frame_bytes(5)),
        segment(frame_bytes(5), port=50002),
        segment(frame_bytes(8), at=40, port=50002),
    )
    assert run("decode", "--summary", "--stream", "1", stdin=two).code == 0
    assert run("decode", "--summary", "--stream", "2", stdin=two).code == 1


def test_a_connection_that_began_before_the_capture_is_no_failure() -> None:
    outcome = run("decode", "--summary", stdin=writer.pcap(segment(frame_bytes(5))))
    assert (outcome.code, outcome.err) == (0, "")
    assert "the connection began before the capture" in outcome.out


def test_a_destination_that_is_no_name_is_a_fault() -> None:
    data = build_user_message(destination_queue=direct_address("TCP:127.0.0.3\\private$\\q"))
    at = data.index("TCP".encode("utf-16-le"))
    damaged = data[:at] + b"\xff" * 6 + data[at + 6 :]
    outcome = run("decode", "--summary", stdin=damaged)
    assert outcome.code == 1
    assert "to DIRECT=\\uffff\\uffff\\uffff:127.0.0.3\\private$\\q, " in outcome.out
    reason = "UserHeader.DestinationQueue at offset 64 (0x40): not a valid name: no OS:, TCP:"
    assert f"  FAULT {reason}" in outcome.out
    assert outcome.err.startswith(f"openmsmq decode: packet 1: {reason}")
    tree = run("decode", stdin=damaged)
    assert (tree.code, "MessagePropertiesHeader" in tree.out) == (1, True)


def test_frames_that_cannot_be_read_are_told() -> None:
    data = writer.pcap(writer.ethernet(writer.ipv4(b"tiny")), segment(frame_bytes(5)))
    outcome = run("decode", "--summary", "--stream", "1", stdin=data)
    assert outcome.code == 0
    assert outcome.out.splitlines()[0] == "-- frame 1: TCP at offset 0: needs 20 bytes, 4 remain"


@pytest.mark.parametrize("ethernet", [True, False])
def test_dumps_of_whole_frames_are_a_capture(*, ethernet: bool) -> None:
    cut = 0 if ethernet else 14
    frames = [start(), segment(frame_bytes(3)[:200]), segment(frame_bytes(3)[200:], at=200)]
    text = ""
    for data in frames:
        raw = data[cut:]
        for at in range(0, len(raw), 16):
            text += f"{at:04x}   {raw[at : at + 16].hex(' ')}\n"
        text += "\n"
    found = objects(run("decode", "--json", stdin=text.encode()).out)
    assert [(packet["packet"], packet["frame"]) for packet in found] == [("EstablishConnection", 3)]


def test_a_capture_that_is_cut_off_is_shown_and_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(capture_of_the_example()[:-1])
    outcome = run("decode", "--summary", str(path))
    assert outcome.code == 1
    assert len(outcome.out.splitlines()) == 8
    assert "Pcap.PacketData at offset " in outcome.err
    assert "the file is cut off\nLikely cause: the file was cut off while it was " in outcome.err
