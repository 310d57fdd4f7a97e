"""Requests of multicast to the shell that has the sockets."""

from ipaddress import IPv4Address
from typing import NamedTuple, TypeAlias


class OpenSocket(NamedTuple):
    """Open the socket to send from; answer with `opened` or `open_failed`."""


class Join(NamedTuple):
    """Join a group; answer with `join_failed` if that is not possible."""

    group: IPv4Address


class Leave(NamedTuple):
    """Leave a group."""

    group: IPv4Address


class Lost(NamedTuple):
    """Data of a source was lost permanently; for the log.

    Attributes:
        group: the address and port that it was sent to.
        source: the last sender, if there are several.
        packets: the number of packets since the last report.
    """

    group: str
    source: str
    packets: int


MulticastEvent: TypeAlias = OpenSocket | Join | Leave | Lost
