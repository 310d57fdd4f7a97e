"""Multicast groups as people see them, in the list of sessions."""

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
# Sources are named by their ports, and groups that are listened to by numbers beyond.
LAST_PORT: Final = 0xFFFF
# Addresses of sources that are listed.
SHOWN_SOURCES: Final = 16


def receiver_info(receiver: GroupReceiver, *, joined: bool) -> SessionInfo:
    """A group that queues listen to, and the sources that are heard.

    Args:
        joined: whether it can be listened to; otherwise that is tried again.
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
    """A group that messages are sent to.

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
    """What came to a group."""
    return Traffic(receiver.number, receiver.pgm.counters.apdus, 0, receiver.received_bytes, 0)


def source_traffic(source: Source) -> Traffic:
    """What was sent to a group."""
    counters = source.counters
    return Traffic(source.tsi.source_port, 0, counters.apdus, 0, counters.bytes)
