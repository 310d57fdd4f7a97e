"""What multicast asks of the shell that has the sockets."""

from ipaddress import IPv4Address
from typing import NamedTuple, TypeAlias


class OpenSocket(NamedTuple):
    """Open the socket to send from; say `opened` or `open_failed`."""


class Join(NamedTuple):
    """Listen to a group; say `join_failed` if that is not possible."""

    group: IPv4Address


class Leave(NamedTuple):
    """Listen to a group no longer."""

    group: IPv4Address


class Lost(NamedTuple):
    """Data of a source was lost for good; for the log.

    Attributes:
        group: the address and port that it was sent to.
        source: that sent it last, if it is of several.
        packets: how many packets since the last report.
    """

    group: str
    source: str
    packets: int


MulticastEvent: TypeAlias = OpenSocket | Join | Leave | Lost
