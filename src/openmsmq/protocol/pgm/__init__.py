"""PGM without sockets, clocks and randomness: a source and a receiver (RFC 3208).

`Source` sends APDUs to one group, `Receiver` collects those of all sources of one group. Both are
used in the same way: `receive_datagram` takes received data, `datagrams_to_send` returns output,
`next_timer` is the time at which `handle_timer` is due. A receiver has `next_event`, too. Network
elements, local repair, forward error correction, congestion control, SPM requests and polls are
not implemented ([MC-MQSRM] 2.1.3).
"""

from .counters import ReceiverCounters, SourceCounters
from .datagram import OutgoingDatagram
from .receiver import Receiver
from .receiver_events import ApduReceived, DataLost, ReceiverEvent, SourceEnded
from .settings import ReceiverSettings, SourceSettings
from .source import Source

__all__ = [
    "ApduReceived",
    "DataLost",
    "OutgoingDatagram",
    "Receiver",
    "ReceiverCounters",
    "ReceiverEvent",
    "ReceiverSettings",
    "Source",
    "SourceCounters",
    "SourceEnded",
    "SourceSettings",
]
