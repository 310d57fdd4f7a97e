"""Datagrams of a source or a receiver."""

from typing import NamedTuple

from openmsmq.wire.pgm import Nla


class OutgoingDatagram(NamedTuple):
    """A packet and its destination.

    Args:
        router_alert: the IP header has the Router Alert option (RFC 3208, section 4).
        ttl: the time to live; None leaves it to the socket.
    """

    data: bytes
    destination: Nla
    router_alert: bool = False
    ttl: int | None = None
