"""Counters of sources and receivers."""

from dataclasses import dataclass


@dataclass(slots=True)
class SourceCounters:
    """Packets that a source has sent, and requests that it could not serve.

    `naks_dropped` counts requests for data outside the window, and NAKs beyond the limit.
    """

    odata: int = 0
    rdata: int = 0
    spms: int = 0
    ncfs: int = 0
    bytes: int = 0
    apdus: int = 0
    malformed: int = 0
    ignored: int = 0
    naks_dropped: int = 0


@dataclass(slots=True)
class ReceiverCounters:
    """Data that a receiver has delivered, and data that it has discarded and why.

    Args:
        ignored: packets of other ports, or of kinds that a receiver does not use.
        forged: packets of a known source that came from another address.
        duplicates: data that was delivered or waits already, or precedes the first packet.
        out_of_window: packets that are implausibly far ahead.
        buffer_full: data that was dropped for lack of room, and is asked for again.
        lost_packets: data that can no longer be repaired.
        lost_apdus: APDUs of which a part was lost after their first packet had come.
        bad_fragments: fragments that do not continue their APDU, or of one that is too large.
    """

    apdus: int = 0
    naks: int = 0
    malformed: int = 0
    ignored: int = 0
    forged: int = 0
    sources_refused: int = 0
    duplicates: int = 0
    out_of_window: int = 0
    buffer_full: int = 0
    lost_packets: int = 0
    lost_apdus: int = 0
    bad_fragments: int = 0
