"""Captures of multicast messages, and tshark's opinion of them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.runner import run
from tests.protocol.multicast.lan import GROUP, lan_pair
from tests.wire.capture import writer

PORT = 13056


def captured(*, raw: bool) -> bytes:
    """A capture of two messages on their way, one of them in fragments, with repairs."""
    lan, alpha, _ = lan_pair(5)
    alpha.multicast_send(b"small", label="price")
    lan.pass_time(2.0)
    lan.loss = 0.3
    alpha.multicast_send(b"x" * 8_000, label="prices")
    lan.pass_time(60.0)
    lan.pass_time(400.0)
    frames = []
    for node, datagram in lan.transmitted:
        packet = datagram.data if raw else writer.udp(datagram.data, destination_port=PORT)
        frames.append(
            writer.ethernet(
                writer.ipv4(
                    packet,
                    protocol=113 if raw else 17,
                    source=str(node.address),
                    destination=str(datagram.destination),
                )
            )
        )
    return writer.pcap(*frames)


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "udp"])
def test_packets_and_the_messages_in_them_are_shown(*, raw: bool) -> None:
    shown = run("decode", "--summary", "--pgm-port", str(PORT), stdin=captured(raw=raw))
    assert shown.code == 0
    for word in ("PgmSPM", "PgmODATA", "PgmRDATA", "PgmNAK", "PgmNCF", "OPT_FRAGMENT", "OPT_FIN"):
        assert word in shown.out
    messages = [line for line in shown.out.splitlines() if "SrmpMessage" in line]
    assert len(messages) == 2
    assert all(f"MSMQ:MULTICAST={GROUP}" in line for line in messages)


def test_a_damaged_packet_is_shown_with_its_fault() -> None:
    packet = writer.ipv4(b"\x12\x34" * 8, protocol=113)
    shown = run("decode", stdin=writer.pcap(writer.ethernet(packet)))
    assert "is not version 0" in shown.out + shown.err


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark (Debian: tshark)")
@pytest.mark.parametrize("raw", [True, False], ids=["raw", "udp"])
def test_tshark_has_no_complaint(tmp_path: Path, *, raw: bool) -> None:
    file = tmp_path / "multicast.pcap"
    file.write_bytes(captured(raw=raw))
    options = ["-r", str(file), "-d", f"udp.port=={PORT},pgm"]
    kinds = subprocess.run(
        ["tshark", *options, "-T", "fields", "-e", "pgm.hdr.type"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(set(kinds)) == 5
    wrong = subprocess.run(
        ["tshark", *options, "-Y", "pgm && (_ws.malformed || _ws.expert.severity >= 6291456)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert wrong == ""
