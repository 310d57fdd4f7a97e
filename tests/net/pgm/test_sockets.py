"""Sockets for multicast, on the loopback interface."""

import socket
from ipaddress import IPv4Address

from openmsmq.net.pgm.sockets import SocketSettings, open_group, open_sending

HERE = IPv4Address("127.0.0.1")
SETTINGS = SocketSettings(interface=str(HERE), raw=False, udp_port=0, udp_unicast_port=0, ttl=7)
# Linux, not in the module of Python.
IP_MULTICAST_ALL = 49


def test_multicast_leaves_by_the_interface_of_the_address() -> None:
    with open_sending(SETTINGS, HERE) as sending:
        interface = sending.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, 4)
        assert IPv4Address(interface) == HERE
        assert sending.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL) == 7


def test_a_group_gets_nothing_that_only_other_sockets_have_joined() -> None:
    with open_group(SETTINGS, IPv4Address("234.1.1.1"), HERE) as listening:
        assert listening.getsockopt(socket.IPPROTO_IP, IP_MULTICAST_ALL) == 0
