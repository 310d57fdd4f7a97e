"""Events of a receiver for its application."""

from typing import NamedTuple, TypeAlias

from openmsmq.wire.pgm import Nla, TransportSessionId


class ApduReceived(NamedTuple):
    """An APDU of a source, in the order in which the source sent it."""

    tsi: TransportSessionId
    source: Nla
    data: bytes


class DataLost(NamedTuple):
    """Packets that can no longer be repaired; the session continues after them."""

    tsi: TransportSessionId
    source: Nla
    first_sequence_number: int
    packet_count: int


class SourceEnded(NamedTuple):
    """A session is over: finished, reset by its source, or silent for too long."""

    tsi: TransportSessionId
    reason: str


ReceiverEvent: TypeAlias = ApduReceived | DataLost | SourceEnded
