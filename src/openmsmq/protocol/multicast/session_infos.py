"""Multicast groups as records, in the list of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.management.records import SessionInfo
from openmsmq.core.management.sources import Traffic
from openmsmq.core.transfer.transports import Transport
from openmsmq.protocol.pgm.source_states import SourceState

if TYPE_CHECKING:
    from openmsmq.protocol.pgm import Source

    from .receiving import GroupReceiver

PROTOCOL: Final = "multicast"
# Sources are numbered by their ports, and received groups by larger numbers.
LAST_PORT: Final = 0xFFFF
# The maximum number of listed addresses of sources.
SHOWN_SOURCES: Final = 16


def receiver_info(receiver: GroupReceiver, *, joined: bool) -> SessionInfo:
    """A group to which queues listen, and its active sources.

    Args:
        joined: whether it was joined; otherwise that is tried again.
    """
    counters = receiver.pgm.counters
    sources = sorted(set(map(str, receiver.pgm.sources)))
    return SessionInfo(
        id=receiver.number,
        protocol=PROTOCOL,
        direction="incoming",
        peer="",
        address=receiver.group,
        state="LISTENING" if joined else "WAITING",
        queues=0,
        unacknowledged=0,
        waiting_bytes=receiver.waiting_bytes,
        transport=str(Transport.MULTICAST),
        incoming_messages=counters.apdus,
        incoming_bytes=receiver.received_bytes,
        group=receiver.group,
        sources=tuple(sources[:SHOWN_SOURCES]),
        source_count=len(sources),
        lost_packets=counters.lost_packets,
    )


def source_info(source: Source, unsent: int) -> SessionInfo:
    """A group to which messages are sent.

    Args:
        unsent: messages that have not left yet; nothing is acknowledged.
    """
    return SessionInfo(
        id=source.tsi.source_port,
        protocol=PROTOCOL,
        direction="outgoing",
        peer="",
        address=source.group,
        state=source.state.name,
        queues=int(source.state is SourceState.OPEN),
        unacknowledged=unsent,
        waiting_bytes=0,
        transport=str(Transport.MULTICAST),
        outgoing_messages=source.counters.apdus,
        outgoing_bytes=source.counters.bytes,
        group=source.group,
    )


def receiver_traffic(receiver: GroupReceiver) -> Traffic:
    """The traffic received from a group."""
    return Traffic(receiver.number, receiver.pgm.counters.apdus, 0, receiver.received_bytes, 0)


def source_traffic(source: Source) -> Traffic:
    """The traffic sent to a group."""
    counters = source.counters
    return Traffic(source.tsi.source_port, 0, counters.apdus, 0, counters.bytes)
