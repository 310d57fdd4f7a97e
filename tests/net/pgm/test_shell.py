"""Datagrams of multicast over real sockets."""

import errno
import socket
from collections import deque
from ipaddress import IPv4Address
from typing import Any

import pytest
from tests.service.loops import run

from openmsmq.net.pgm.shell import MulticastShell, explain
from openmsmq.net.pgm.sockets import ROUTER_ALERT, SocketSettings
from openmsmq.protocol.multicast.events import OpenSocket
from openmsmq.protocol.pgm import OutgoingDatagram

GROUP = IPv4Address("234.1.1.1")
SETTINGS = SocketSettings(interface="127.0.0.1", raw=True, udp_port=0, udp_unicast_port=0, ttl=1)


class FakeProtocol:
    """Asks for a socket, then sends what the test says."""

    def __init__(self) -> None:
        self.events: deque[OpenSocket] = deque([OpenSocket()])
        self.datagrams: list[OutgoingDatagram] = []
        self.failure = ""

    def turn(self) -> None:
        pass

    def next_event(self) -> OpenSocket | None:
        return self.events.popleft() if self.events else None

    def opened(self, address: IPv4Address, **_: float) -> None:
        assert str(address) == SETTINGS.interface

    def open_failed(self, _status: object, reason: str, **_: float) -> None:
        self.failure = reason

    def datagrams_to_send(self, **_: float) -> list[OutgoingDatagram]:
        datagrams, self.datagrams = self.datagrams, []
        return datagrams


class FakeHost:
    def tick(self) -> float:
        return 0.0

    def wake(self) -> None:
        pass


def test_only_packets_that_want_it_have_the_router_alert_option() -> None:
    async def main() -> None:
        # Any: what the shell uses of a protocol.
        protocol: Any = FakeProtocol()
        shell = MulticastShell(protocol, FakeHost(), SETTINGS, lost=print, join_failed=print)
        shell.turn()
        if protocol.failure:
            pytest.skip(protocol.failure)
        assert shell._sending is not None
        seen = []
        for alert in (True, False, True):
            protocol.datagrams.append(OutgoingDatagram(b"packet", GROUP, router_alert=alert))
            shell.turn()
            seen.append(shell._sending.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40))
        await shell.close()
        assert seen == [ROUTER_ALERT, b"", ROUTER_ALERT]

    run(main)


@pytest.mark.parametrize(
    ("raw", "number", "text"),
    [
        (True, errno.EPERM, "CAP_NET_RAW"),
        (True, errno.EACCES, "CAP_NET_RAW"),
        (True, errno.ENOBUFS, "multicast on 10.0.0.1 is not possible"),
        (False, errno.EPERM, "multicast on 10.0.0.1 is not possible"),
        (False, errno.EADDRINUSE, "another program has UDP port 2"),
        (False, errno.EADDRNOTAVAIL, "is not an address of this machine"),
        (False, errno.ENETUNREACH, "set multicast_interface"),
        (False, errno.ENOBUFS, "multicast on 10.0.0.1 is not possible"),
    ],
)
def test_why_there_is_no_socket_is_said_in_words(number: int, text: str, *, raw: bool) -> None:
    settings = SocketSettings(interface="10.0.0.1", raw=raw, udp_port=1, udp_unicast_port=2, ttl=1)
    assert text in explain(OSError(number, "no"), settings)
