"""Sockets for PGM: raw IP, and UDP in the encapsulation of OpenPGM.

One socket is bound to the address of this machine: it sends, and receives NAKs of receivers. One
more for each group is bound to the address of the group. None is bound to every address, so that
several queue managers on one machine do not receive each other's datagrams.
"""

import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Final

IPPROTO_PGM: Final = 113
# RFC 2113: routers inspect the packet.
ROUTER_ALERT: Final = b"\x94\x04\x00\x00"
RECEIVE_BUFFER_BYTES: Final = 4 * 1024 * 1024
MAX_DATAGRAM: Final = 0x10000
# Linux, not in the module of Python: receive no datagrams of groups that only other sockets joined.
_IP_MULTICAST_ALL: Final = 49
# A sample group: used to find the interface of multicast. Nothing is sent there.
_SOME_GROUP: Final = ("239.255.255.250", 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketSettings:
    """The addresses and options of the sockets.

    Attributes:
        interface: the address of this machine whose interface is used; empty for the system's
            route.
        raw: raw IP with protocol 113 instead of UDP.
        udp_port: the port of groups, with UDP.
        udp_unicast_port: the port of machines, with UDP.
        ttl: the number of routers that a packet may pass.
    """

    interface: str
    raw: bool
    udp_port: int
    udp_unicast_port: int
    ttl: int

    def group_port(self) -> int:
        return 0 if self.raw else self.udp_port

    def unicast_port(self) -> int:
        return 0 if self.raw else self.udp_unicast_port


def own_address(settings: SocketSettings) -> IPv4Address:
    """The address of this machine from which multicast is sent.

    Raises:
        OSError: there is no route.
    """
    if settings.interface:
        return IPv4Address(settings.interface)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_SOME_GROUP)
        return IPv4Address(probe.getsockname()[0])


def open_sending(
    settings: SocketSettings, address: IPv4Address, port: int | None = None
) -> socket.socket:
    """The socket at the address of this machine.

    Args:
        port: the UDP port; by default the one to which receivers send NAKs.

    Raises:
        OSError: it cannot be opened, for lack of a privilege or because the port is in use.
    """
    sending = _socket(settings)
    try:
        sending.bind((str(address), settings.unicast_port() if port is None else port))
        # Multicast leaves by the interface of the address, and is looped back to this machine.
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, address.packed)
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        set_ttl(sending, settings.ttl)
    except OSError:
        sending.close()
        raise
    return sending


def open_group(settings: SocketSettings, group: IPv4Address, address: IPv4Address) -> socket.socket:
    """A socket that receives datagrams of a group on the interface of an address.

    Raises:
        OSError: it cannot be opened, or the group cannot be joined.
    """
    listening = _socket(settings)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # OpenPGM shares its port with sockets that have this option.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind((str(group), settings.group_port()))
        membership = group.packed + address.packed
        listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        # Systems without it may deliver packets of other interfaces, too.
        with suppress(OSError):
            listening.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)
    except OSError:
        listening.close()
        raise
    return listening


def set_ttl(sending: socket.socket, ttl: int) -> None:
    """Set the number of routers that multicast packets may pass."""
    sending.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, ttl)


def set_router_alert(sending: socket.socket, *, alert: bool) -> None:
    """Set whether packets have the Router Alert option."""
    sending.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, ROUTER_ALERT if alert else b"")


def payload_of(data: bytes, *, raw: bool) -> bytes:
    """The PGM packet of a datagram: raw sockets prepend the IP header."""
    return data[(data[0] & 0x0F) * 4 :] if raw and data else data


def _socket(settings: SocketSettings) -> socket.socket:
    if settings.raw:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, IPPROTO_PGM)
    else:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    return sock
