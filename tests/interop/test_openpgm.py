"""Multicast with a program on OpenPGM, in both directions, with a network that loses packets.

Debian's library crashes when it sends an APDU that does not fit one packet: what it sends does.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from tests.interop import openpgm
from tests.interop.loopback import new_address
from tests.interop.test_multicast import (
    ENCAPSULATIONS,
    SECONDS,
    machine,
    need_raw,
    new_group,
    wait_until_sent,
)

from openmsmq import Message
from openmsmq.net.pgm.shell import MulticastShell
from openmsmq.protocol.multicast.manager import MulticastProtocol
from openmsmq.wire.srmp import cut_compound_message

COUNT = 200
LOSS = 0.05
GROUP_UDP_PORT, UNICAST_UDP_PORT = 23056, 23055
PORTS = {
    "multicast_udp_port": GROUP_UDP_PORT,
    "multicast_udp_unicast_port": UNICAST_UDP_PORT,
}
pytestmark = pytest.mark.skipif(
    not openpgm.is_installed(), reason="needs OpenPGM (Debian: libpgm-5.3-0)"
)
ENVELOPE = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" '
    'xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
    "<action>MSMQ:{label}</action><to>MSMQ:MULTICAST={group}</to>"
    "<id>uuid:{number}@5a52c236-ea79-4441-a6c5-f622755be5c4</id></path>"
    '<properties se:mustUnderstand="1"><expiresAt>20380119T031407</expiresAt></properties>'
    "</se:Header><se:Body></se:Body></se:Envelope>"
)


def new_group_and_port() -> str:
    """A group with a port that no other test sends to.

    OpenPGM leaves IP_MULTICAST_ALL as it is and looks at the port only: it gets what is sent to
    any group that some program of the machine has joined.
    """
    address, _, _ = new_group().partition(":")
    return f"{address}:{10_000 + os.getpid() % 50_000}"


class Peer:
    """The program, and the lines that it has written."""

    def __init__(self, role: str, encapsulation: str, group: str) -> None:
        address, _, port = group.partition(":")
        ports = [str(GROUP_UDP_PORT), str(UNICAST_UDP_PORT)]
        program = [sys.executable, openpgm.__file__, role, encapsulation]
        self._process = subprocess.Popen(
            [*program, new_address(), address, port, *ports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.wait_for(1)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.decode().strip())

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + SECONDS
        while len(self.lines) < count:
            assert self._process.poll() is None, f"ended with {self._process.returncode}"
            assert time.monotonic() < deadline, f"{len(self.lines)} of {count} lines"
            time.sleep(0.02)

    def send(self, apdu: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(apdu.hex().encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(SECONDS)
        self._reader.join(SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def peer(role: str, encapsulation: str, group: str) -> Iterator[Peer]:
    made = Peer(role, encapsulation, group)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(name="lost")
def _lost(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every twentieth packet between the queue manager and the network gets lost; how many did."""
    dice = Random(20)
    lost = [0]
    send, receive = MulticastShell._send, MulticastProtocol.receive_datagram

    def loses() -> bool:
        if dice.random() < LOSS:
            lost[0] += 1
            return True
        return False

    monkeypatch.setattr(MulticastShell, "_send", lambda *args: None if loses() else send(*args))
    monkeypatch.setattr(
        MulticastProtocol,
        "receive_datagram",
        lambda *args, **named: None if loses() else receive(*args, **named),
    )
    return lost


@pytest.mark.spec("MQSRM-2.1.3-01")
@pytest.mark.parametrize("encapsulation", ENCAPSULATIONS)
def test_openpgm_receives_everything_in_order(
    tmp_path: Path, encapsulation: str, lost: list[int]
) -> None:
    need_raw(encapsulation)
    group = new_group_and_port()
    bodies = [b"%d " % number + b"x" * (number % 7 * 900) for number in range(COUNT)]
    with (
        peer("receive", encapsulation, group) as receiver,
        machine(tmp_path, "alpha", encapsulation, **PORTS) as alpha,
    ):
        # It hears of the source before the first message.
        alpha.send(f"MULTICAST={group}", Message("hello"))
        receiver.wait_for(2)
        for body in bodies:
            alpha.send(f"MULTICAST={group}", Message(body))
        receiver.wait_for(2 + COUNT)
        wait_until_sent(alpha)
        requests = [cut_compound_message(bytes.fromhex(line)) for line in receiver.lines[2:]]
    assert [request.body for request in requests] == bodies
    assert lost[0] > 10


@pytest.mark.spec("MQSRM-2.1.3-01")
@pytest.mark.parametrize("encapsulation", ENCAPSULATIONS)
def test_a_queue_manager_receives_everything_of_openpgm_in_order(
    tmp_path: Path, encapsulation: str, lost: list[int]
) -> None:
    need_raw(encapsulation)
    group = new_group_and_port()
    with (
        machine(tmp_path, "beta", encapsulation, **PORTS) as beta,
        peer("send", encapsulation, group) as sender,
    ):
        beta.create_queue(r".\private$\one", multicast=group)
        time.sleep(0.2)
        for number in range(COUNT):
            content = ENVELOPE.format(label=f"number {number}", group=group, number=number)
            head = (
                f"POST {group} HTTP/1.1\r\nHost: {group}\r\nContent-Type: text/xml\r\n"
                f"Content-Length: {len(content)}\r\n\r\n"
            )
            sender.send(head.encode() + content.encode())
        deadline = time.monotonic() + SECONDS
        labels: list[str] = []
        with beta.open_queue(r".\private$\one") as opened:
            while not labels or labels[-1] != f"number {COUNT - 1}":
                assert time.monotonic() < deadline, labels[-3:]
                labels += [each.label for each in opened.receive_many(COUNT, timeout=1.0)]
    # A receiver begins with the first packet that it hears.
    first = int(labels[0].removeprefix("number "))
    assert first < 5
    assert labels == [f"number {number}" for number in range(first, COUNT)]
    assert lost[0] > 5
